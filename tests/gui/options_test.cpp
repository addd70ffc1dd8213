// SPDX-License-Identifier: GPL-3.0-or-later
// Formats of the Scenario, ranks and engine options of the Budget page, through keys and mouse.
#include "app/gui/budget_page.h"
#include "app/gui/chart_view.h"
#include "app/gui/engine_option_model.h"
#include "app/gui/format_box.h"
#include "app/gui/main_window.h"
#include "app/gui/study_file.h"
#include "app/gui/table_text.h"
#include "app/gui/text.h"
#include "core/error.h"
#include "tests/gui/helpers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QStatusBar>
#include <QTableView>
#include <QTest>
#include <QTextBrowser>
#include <QToolButton>
#include <QUndoStack>

namespace kvcaliper::gui {
namespace {

using test::s;
using testing::HasSubstr;

class Choices : public testing::Test {
  protected:
    Choices() {
        window.show();
        window.activateWindow();
        EXPECT_TRUE(QTest::qWaitForWindowActive(&window));
        QApplication::processEvents();
    }
    template <typename Widget> Widget* child(const char* name) {
        return window.findChild<Widget*>(s(name));
    }
    const StudyState& state() { return window.study().state(); }
    void undoAll() {
        for (int step = 0; step < 50 && window.study().undoStack()->canUndo(); ++step) {
            QTest::keyClick(&window, Qt::Key_Z, Qt::ControlModifier);
        }
    }
    /// Types a choice into a list that has the focus, as its users do.
    void choose(const char* box, const char* words) {
        auto* list = child<QComboBox>(box);
        list->setFocus();
        QTest::keyClicks(list, s(words));
    }
    MainWindow window;
};

// ---- formats ------------------------------------------------------------------------------------

TEST_F(Choices, FormatsOfNothingAreClosedAndSayWhy) {
    auto* index = child<QComboBox>("indexFormat");
    EXPECT_FALSE(index->isEnabled());
    EXPECT_EQ(index->toolTip(), s("No ticked model keeps index keys."));
    EXPECT_TRUE(child<QComboBox>("convFormat")->isEnabled()); // of Falcon-Mamba
    EXPECT_TRUE(child<QComboBox>("stateFormat")->isEnabled());
    window.study().setTicked(s("falcon-mamba-7b"), false);
    EXPECT_FALSE(child<QComboBox>("convFormat")->isEnabled());
    EXPECT_FALSE(child<QComboBox>("stateFormat")->isEnabled());
    EXPECT_TRUE(child<QComboBox>("kFormat")->isEnabled());
    window.study().setFormat(FormatClass::state, s("bf16"));
    EXPECT_TRUE(child<QComboBox>("stateFormat")->isEnabled()); // what is set can be set back
}

// DeepSeek-V3.2: 61 x (512 + 64) x 2 B, and an index key of 128 in each layer: 256 B in bf16, as
// q8_0 four blocks of 32 in 34 B.
TEST_F(Choices, AnIndexFormatIsChosenByKeysAndReachesEveryPage) {
    window.study().setTicked(s("deepseek-v3.2"), true);
    const StudyState before = state();
    const auto uncapped = [&] {
        return window.study().row(s("deepseek-v3.2"))->estimate->uncapped.value();
    };
    EXPECT_EQ(uncapped(), Ratio(61 * (1152 + 256)));
    choose("indexFormat", "q8_0");
    EXPECT_EQ(state().settings.index_format, "q8_0");
    EXPECT_EQ(uncapped(), Ratio(61 * (1152 + 136)));
    EXPECT_TRUE(window.statusBar()->currentMessage().contains(s("index keys q8_0")));
    window.showTab(s("budget"));
    QApplication::processEvents();
    EXPECT_TRUE(window.budgetPage().chart()->data().subtitle.contains(s("index keys q8_0")));
    for (int step = 0; step < 50 && !(state() == before); ++step) {
        QTest::keyClick(&window, Qt::Key_Z, Qt::ControlModifier);
    }
    EXPECT_TRUE(state() == before);
    EXPECT_EQ(child<QComboBox>("indexFormat")->currentData().toString(), s("auto"));
}

TEST(FormatBoxes, TakeTheCheckpointsSchemeWhereEveryFileHasOne) {
    Study study;
    study.setModels({s("llama-3-8b")});
    const FormatBox box(study, FormatClass::k);
    const int row = box.findData(s("checkpoint"));
    ASSERT_GE(row, 0);
    EXPECT_FALSE(box.model()->flags(box.model()->index(row, 0)).testFlag(Qt::ItemIsEnabled));
    EXPECT_TRUE(box.itemData(row, Qt::ToolTipRole).toString().startsWith(s("Llama 3 8B: ")));
    EXPECT_LT(FormatBox(study, FormatClass::state).findData(s("checkpoint")), 0);
    const QTemporaryDir folder;
    study.setModels({test::write(folder, "fp8.json", R"({"model_type": "llama",
        "num_hidden_layers": 2, "hidden_size": 512, "num_attention_heads": 8,
        "num_key_value_heads": 8, "head_dim": 64, "max_position_embeddings": 4096,
        "quantization_config": {"quant_method": "compressed-tensors", "kv_cache_scheme":
            {"num_bits": 8, "type": "float", "strategy": "tensor"}}})")});
    EXPECT_TRUE(box.model()->flags(box.model()->index(row, 0)).testFlag(Qt::ItemIsEnabled));
    study.setKFormat(s("checkpoint"));
    EXPECT_EQ(box.format(), s("checkpoint"));
    // 2 layers x 8 heads x 64 x (1 + 2) B: fp8 K and bf16 V
    EXPECT_EQ(study.rows()[0].estimate->uncapped.value(), Ratio(3072));
}

// ---- ranks and engine options -------------------------------------------------------------------

class BudgetChoices : public Choices {
  protected:
    BudgetChoices() {
        window.study().setModels({s("llama-3-8b")});
        window.showTab(s("budget"));
        QApplication::processEvents();
    }
    QString cell(int column, int role = Qt::DisplayRole) {
        return child<QTableView>("budgetTable")->model()->index(0, column).data(role).toString();
    }
    void type(const char* option) {
        auto* entry = child<QLineEdit>("optionEntry");
        entry->clear();
        QTest::keyClicks(entry, s(option));
        QTest::keyClick(entry, Qt::Key_Return);
    }
    QMap<QString, QString> options() { return state().budget.options.value(state().budget.engine); }
    QString message() {
        const auto* label = child<QLabel>("optionMessage");
        return label->isVisible() ? label->text() : QString();
    }
};

// Half of 32 layers on each of two stages: 16 x 4,096 B x 8,192 tokens.
TEST_F(BudgetChoices, StagesAndOtherRanksAreStepsOfTheStudy) {
    auto* stages = child<QSpinBox>("pipeline");
    stages->setFocus();
    QTest::keyClick(stages, Qt::Key_Up);
    EXPECT_EQ(state().budget.pipeline, 2);
    EXPECT_EQ(cell(4, exact_role), s("536870912"));
    EXPECT_TRUE(window.budgetPage().chart()->data().title.contains(
        s("on 2 × NVIDIA H100 SXM 80 GB, PP 2, engine ideal")));
    auto* copies = child<QSpinBox>("dataRanks");
    QTest::keyClick(copies, Qt::Key_Up);
    EXPECT_EQ(state().budget.data, 2);
    QTest::keyClick(&window, Qt::Key_Z, Qt::ControlModifier);
    QTest::keyClick(&window, Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(stages->value(), 1);
    EXPECT_EQ(copies->value(), 1);
    EXPECT_EQ(cell(4, exact_role), s("1073741824"));
}

TEST_F(BudgetChoices, WaysWithoutARuleAreClosedAndSayWhy) {
    window.study().setEngine(s("transformers"));
    auto* tensor = child<QSpinBox>("tensor");
    EXPECT_FALSE(tensor->isEnabled());
    EXPECT_TRUE(tensor->toolTip().contains(s("engine transformers"))) << utf8(tensor->toolTip());
    EXPECT_TRUE(child<QSpinBox>("dataRanks")->isEnabled());
    window.study().setTensor(2);
    EXPECT_TRUE(tensor->isEnabled()); // what is set can be set back
    EXPECT_TRUE(cell(1).contains(s("--tp 2"))) << utf8(cell(1));
}

// vLLM admits a request with whole blocks (v1/core/kv_cache_utils.py): 8,200 tokens are 513 blocks
// of 16, or 257 of 32; a token takes 131,072 B.
TEST_F(BudgetChoices, AnEngineOptionIsTypedAsOnTheCommandLine) {
    const StudyState start = state();
    choose("engine", "vllm");
    window.study().setContext(Tokens(8200));
    EXPECT_EQ(cell(4, exact_role).toLongLong(), 513LL * 16 * 131'072);
    QTest::mouseClick(child<QToolButton>("showOptions"), Qt::LeftButton);
    ASSERT_TRUE(child<QTableView>("engineOptions")->isVisible());
    type("block-size=32");
    EXPECT_EQ(options().value(s("block-size")), s("32"));
    EXPECT_EQ(message(), QString());
    EXPECT_EQ(cell(4, exact_role).toLongLong(), 257LL * 32 * 131'072);
    EXPECT_TRUE(window.budgetPage().chart()->data().subtitle.contains(s(", block-size=32")));
    EXPECT_TRUE(child<QToolButton>("showOptions")->text().contains(s("1 set")));
    const QString detail = child<QTextBrowser>("budgetDetail")->toPlainText();
    EXPECT_TRUE(detail.contains(s("vllm serve MODEL")) && detail.contains(s("--block-size 32")))
        << utf8(detail);
    undoAll();
    EXPECT_EQ(state().budget.engine, start.budget.engine);
    EXPECT_TRUE(state().budget.options.isEmpty());
}

TEST_F(BudgetChoices, WhatTheEngineRefusesChangesNothingAndSaysWhy) {
    choose("engine", "vllm");
    QTest::mouseClick(child<QToolButton>("showOptions"), Qt::LeftButton);
    const int steps = window.study().undoStack()->count();
    const std::pair<const char*, const char*> refused[] = {
        {"block-sise=32", "did you mean block-size?"},
        {"block-size=7", "expected 1|8|16|32|64|128|256"},
        {"block-size", "KEY=VALUE"},
        {"max-num-batched-tokens=none", "a whole number from 1"}};
    for (const auto& [written, reason] : refused) {
        type(written);
        EXPECT_THAT(utf8(message()), HasSubstr(reason)) << written;
        EXPECT_EQ(child<QLineEdit>("optionEntry")->text(), s(written)); // to be corrected
    }
    EXPECT_TRUE(options().isEmpty());
    EXPECT_EQ(window.study().undoStack()->count(), steps);
    type("dcp=2"); // a short name is kept under the long one
    EXPECT_EQ(options().value(s("decode-context-parallel-size")), s("2"));
    EXPECT_EQ(message(), QString());
    type("block-size=16"); // the default is not set
    EXPECT_FALSE(options().contains(s("block-size")));
}

TEST_F(BudgetChoices, TheTableOffersWordsAndDeleteGoesBack) {
    choose("engine", "vllm");
    QTest::mouseClick(child<QToolButton>("showOptions"), Qt::LeftButton);
    auto* view = child<QTableView>("engineOptions");
    int row = 0;
    while (view->model()->index(row, 0).data().toString() != s("disable-hybrid-kv-cache-manager")) {
        ASSERT_LT(++row, view->model()->rowCount());
    }
    const QModelIndex value = view->model()->index(row, EngineOptionModel::Value);
    EXPECT_EQ(value.data().toString(), s("off"));
    view->scrollTo(value);
    QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, view->visualRect(value).center());
    auto* words = view->findChild<QComboBox*>(s("optionWords"));
    ASSERT_NE(words, nullptr);
    EXPECT_EQ(words->count(), 2);
    QTest::keyClicks(words, s("on"));
    EXPECT_EQ(options().value(s("disable-hybrid-kv-cache-manager")), s("on"));
    EXPECT_TRUE(value.data(Qt::FontRole).value<QFont>().bold());
    view->setCurrentIndex(view->model()->index(row, EngineOptionModel::Name));
    view->setFocus();
    QTest::keyClick(view, Qt::Key_Delete);
    EXPECT_TRUE(options().isEmpty());
}

TEST_F(BudgetChoices, EachEngineKeepsItsOptions) {
    window.study().setEngine(s("llama_cpp"));
    window.study().setEngineOption(s("parallel"), s("4"));
    window.study().setEngine(s("vllm"));
    EXPECT_EQ(cell(1), s("✓ fits"));
    EXPECT_TRUE(options().isEmpty());
    window.study().setEngine(s("llama_cpp"));
    EXPECT_EQ(options().value(s("parallel")), s("4"));
    EXPECT_TRUE(child<QToolButton>("showOptions")->text().contains(s("1 set")));
    window.study().setEngine(s("ideal"));
    EXPECT_FALSE(child<QToolButton>("showOptions")->isEnabled());
}

TEST(EngineOptionModels, KeepTheRulesOfModels) {
    Study study;
    EngineOptionModel model(study);
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    EXPECT_EQ(model.rowCount(), 0); // ideal
    study.setEngine(s("vllm"));
    const int known = model.rowCount();
    EXPECT_GT(known, 5);
    study.setEngineOption(s("of-the-future"), s("1"));
    ASSERT_EQ(model.rowCount(), known + 1);
    const QModelIndex unknown = model.index(known, EngineOptionModel::Value);
    EXPECT_TRUE(unknown.data(Qt::ToolTipRole).toString().contains(s("no such option")));
    EXPECT_FALSE(model.setData(unknown, s("2")));
    EXPECT_TRUE(model.setData(unknown, QString()));
    EXPECT_EQ(model.rowCount(), known);
    study.undoStack()->undo();
    EXPECT_EQ(model.rowCount(), known + 1);
}

TEST(StudyFiles, RanksAndOptionsAreKeptAndWhatIsUnknownToo) {
    const QTemporaryDir folder;
    const QString path = test::write(folder, "a.kvstudy.json", R"({"kvcaliper_study": 1,
        "models": ["llama-3-8b"], "settings": {"index_format": "q8_0", "state_format": "bf16"},
        "budget": {"engine": "vllm", "pipeline": 2, "context": 3, "data": 4, "host": "A1",
            "engine_options": {"vllm": {"block-size": "32"}, "next": {"x": "y"}}}})");
    StudyFile file = read_study_file(path);
    EXPECT_TRUE(file.state.budget.parallel() == (Parallelism{1, 2, 3, 4}));
    EXPECT_EQ(file.state.budget.options.value(s("vllm")).value(s("block-size")), s("32"));
    EXPECT_EQ(file.state.settings.state_format, "bf16");
    file.state.budget.options[s("vllm")].insert(s("async-scheduling"), s("on"));
    const JsonValue written = study_document(file.state, file.document, path);
    EXPECT_EQ(written.at("budget").string_at("host"), "A1");
    EXPECT_EQ(written.at("budget").at("engine_options").at("next").string_at("x"), "y");
    EXPECT_EQ(written.at("budget").at("engine_options").at("vllm").string_at("async-scheduling"),
              "on");
    EXPECT_EQ(written.at("budget").integer_at("data"), 4);
    // A file of an earlier version has none of them.
    const QString old = test::write(folder, "old.kvstudy.json", R"({"kvcaliper_study": 1,
        "models": [], "budget": {"tensor": 2}})");
    EXPECT_TRUE(read_study_file(old).state.budget.parallel() == (Parallelism{2, 1, 1, 1}));
    const QString bad = test::write(folder, "bad.kvstudy.json", R"({"kvcaliper_study": 1,
        "models": [], "budget": {"engine_options": {"vllm": {"block-size": 32}}}})");
    try {
        read_study_file(bad);
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("/budget/engine_options/vllm/block-size"));
    }
}

} // namespace
} // namespace kvcaliper::gui
