// SPDX-License-Identifier: GPL-3.0-or-later
// The dock "Edit model", by keys and mouse.
#include "app/gui/model_editor.h"

#include "app/gui/main_window.h"
#include "app/gui/text.h"
#include "core/catalog.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>
#include <QUndoStack>

namespace kvcaliper::gui {
namespace {

using test::s;

class Editor : public testing::Test {
  protected:
    Editor() {
        window.show();
        study().setCurrent(s("llama-3-8b"));
        child<QAction>("editModel")->trigger();
        QApplication::processEvents();
    }
    template <typename Widget> Widget* child(const char* name) {
        return window.findChild<Widget*>(s(name));
    }
    Study& study() { return window.study(); }
    QString growth(const QString& id) {
        return text(study().row(id)->estimate->growth.value().to_string());
    }
    void type(const char* name, const char* number) {
        auto* field = child<QSpinBox>(name);
        field->setFocus();
        field->selectAll();
        QTest::keyClicks(field, s(number));
        QTest::keyClick(field, Qt::Key_Return);
    }
    void choose_heads(int steps) {
        auto* box = child<QComboBox>("editKvHeads");
        for (int i = 0; i < std::abs(steps); ++i) {
            QTest::keyClick(box, steps > 0 ? Qt::Key_Down : Qt::Key_Up);
        }
    }

    MainWindow window;
};

TEST_F(Editor, AHeadCountMakesACopyBesideTheOriginal) {
    EXPECT_TRUE(child<QWidget>("editKvHeads")->isVisible());
    choose_heads(-1); // from 8 to 4
    const QString copy = s("Llama 3 8B (edited)");
    EXPECT_EQ(study().state().models,
              QStringList({s("gpt2-xl"), s("llama-3-8b"), copy, s("gemma-3-27b"), s("deepseek-v3"),
                           s("falcon-mamba-7b")}));
    EXPECT_EQ(study().current(), copy);
    EXPECT_EQ(growth(s("llama-3-8b")), s("131072"));
    EXPECT_EQ(growth(copy), s("65536")); // 4 · 32 layers · 4 KV heads · 128
    const QString effect = child<QLabel>("editEffect")->text();
    EXPECT_TRUE(effect.contains(s("128 KiB → 64 KiB (÷2.00)"))) << utf8(effect);
    // The next edit goes into the same copy.
    type("editLayers", "16");
    EXPECT_EQ(growth(copy), s("32768"));
    EXPECT_EQ(study().rows().size(), 6U);
    study().undoStack()->undo();
    EXPECT_EQ(growth(copy), s("65536"));
    study().undoStack()->undo();
    EXPECT_EQ(study().rows().size(), 5U);
    EXPECT_EQ(study().current(), s("llama-3-8b"));
    EXPECT_FALSE(study().undoStack()->canUndo());
}

TEST_F(Editor, StepsOfOneFieldAreOneUndo) {
    auto* field = child<QSpinBox>("editLayers");
    for (int i = 0; i < 5; ++i) {
        QTest::keyClick(field, Qt::Key_Up);
    }
    EXPECT_EQ(field->value(), 37);
    EXPECT_EQ(study().undoStack()->count(), 1);
}

TEST_F(Editor, WhatCanNotBeChangedSaysWhy) {
    EXPECT_FALSE(child<QSpinBox>("editLatentRank")->isEnabled());
    EXPECT_TRUE(child<QSpinBox>("editLatentRank")->toolTip().contains(s("MLA")));
    EXPECT_FALSE(child<QSpinBox>("editWindow")->isEnabled());
    study().setCurrent(s("deepseek-v3"));
    EXPECT_TRUE(child<QSpinBox>("editLatentRank")->isEnabled());
    EXPECT_EQ(child<QSpinBox>("editLatentRank")->value(), 512);
    EXPECT_FALSE(child<QComboBox>("editKvHeads")->isEnabled());
}

TEST_F(Editor, TheSavedConfigHasTheSameFigures) {
    study().setCurrent(s("gemma-3-27b"));
    type("editFullEvery", "2");
    const QString copy = study().current();
    EXPECT_EQ(copy, s("Gemma 3 27B (edited)"));
    EXPECT_EQ(growth(copy), s("253952")); // 31 of 62 layers · 4 · 16 · 128
    const QTemporaryDir folder;
    const QString path = folder.filePath(s("config.json"));
    EXPECT_FALSE(child<ModelEditor>("modelEditor")->saveConfig(path));
    const Estimate read = estimate(load_model(utf8(path)), study().settings());
    const Estimate& shown = *study().row(copy)->estimate;
    EXPECT_EQ(read.growth.value(), shown.growth.value());
    EXPECT_EQ(read.required.value(), shown.required.value());
    EXPECT_EQ(read.constant.value(), shown.constant.value());
}

TEST_F(Editor, BackToTheOriginal) {
    type("editLayers", "16");
    const QString copy = study().current();
    QTest::mouseClick(child<QPushButton>("editReset"), Qt::LeftButton);
    EXPECT_EQ(growth(copy), s("131072"));
    EXPECT_EQ(study().current(), copy);
    study().undoStack()->undo();
    EXPECT_EQ(growth(copy), s("65536"));
}

TEST_F(Editor, WhatTheModelRefusesIsSaidAndUndone) {
    study().setCurrent(s("gemma-4-e2b")); // not ticked: nothing happens
    study().setTicked(s("gemma-3n-e4b"), true);
    study().setCurrent(s("gemma-3n-e4b"));
    const int steps = study().undoStack()->count();
    type("editLayers", "3"); // fewer than the layers that share
    EXPECT_TRUE(child<QLabel>("editProblem")->text().contains(s("num_kv_shared_layers")))
        << utf8(child<QLabel>("editProblem")->text());
    EXPECT_EQ(study().undoStack()->count(), steps);
    EXPECT_EQ(child<QSpinBox>("editLayers")->value(), 35);
}

TEST_F(Editor, ASecondCopyHasANumber) {
    type("editLayers", "16");
    study().setCurrent(s("llama-3-8b"));
    type("editLayers", "8");
    EXPECT_EQ(study().current(), s("Llama 3 8B (edited 2)"));
}

TEST_F(Editor, EveryModelCanBeLookedAt) {
    for (const CatalogEntry& entry : bundled_models()) {
        study().setModels({text(entry.name)});
        study().setCurrent(text(entry.name));
        EXPECT_FALSE(child<QLabel>("editHead")->text().isEmpty()) << entry.name;
        EXPECT_GT(child<QSpinBox>("editLayers")->value(), 0) << entry.name;
    }
    study().setModels({});
    EXPECT_FALSE(child<QSpinBox>("editLayers")->isEnabled());
}

} // namespace
} // namespace kvcaliper::gui
