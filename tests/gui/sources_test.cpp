// SPDX-License-Identifier: GPL-3.0-or-later
// Models from elsewhere: the clipboard, and the folders of other programs.
#include "app/gui/main_window.h"
#include "app/gui/model_list.h"
#include "app/gui/notice_bar.h"
#include "app/gui/paste_model.h"
#include "app/gui/text.h"
#include "core/catalog.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QTest>

namespace kvcaliper::gui {
namespace {

using test::s;

/// Shown, and where the keys go.
void show_active(MainWindow& window) {
    window.show();
    window.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
}

TEST(Paste, AConfigBecomesAModelOfTheStudy) {
    MainWindow window;
    show_active(window);
    QApplication::clipboard()->setText(s(test::width_80_config));
    QTest::keyClick(&window, Qt::Key_V, Qt::ControlModifier);
    const QString name = s("llama (pasted)");
    ASSERT_NE(window.study().row(name), nullptr);
    // 2 bytes · K and V · 2 layers · 8 heads · 80
    EXPECT_EQ(window.study().row(name)->estimate->uncapped.value().to_string(), "5120");
    EXPECT_EQ(window.study().current(), name);
    QTest::keyClick(&window, Qt::Key_V, Qt::ControlModifier);
    EXPECT_NE(window.study().row(s("llama (pasted 2)")), nullptr);
    QTest::keyClick(&window, Qt::Key_Z, Qt::ControlModifier);
    QTest::keyClick(&window, Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(window.study().rows().size(), 5U);
}

TEST(Paste, WhatIsNoConfigSaysSo) {
    MainWindow window;
    show_active(window);
    for (const char* words : {"not JSON", "[1, 2]", R"({"model_type": "llama"})"}) {
        QApplication::clipboard()->setText(s(words));
        QTest::keyClick(&window, Qt::Key_V, Qt::ControlModifier);
        auto* notice = window.findChild<NoticeBar*>(s("noticeBar"));
        EXPECT_TRUE(notice->isVisible());
        EXPECT_TRUE(notice->words().contains(s("expected"))) << utf8(notice->words());
        EXPECT_EQ(window.study().rows().size(), 5U);
    }
}

TEST(Paste, NamesAreTheConfigsOwn) {
    Study study;
    QString config = s(test::width_80_config);
    config.replace(s("{\"model_type\""), s("{\"_name_or_path\": \"maker/Own-1B\", \"model_type\""));
    EXPECT_FALSE(paste_model(study, config));
    EXPECT_EQ(study.state().models, QStringList(s("Own-1B (pasted)")));
}

class Places : public testing::Test {
  protected:
    QString place(const char* name, const QByteArray& content) {
        QDir().mkpath(QFileInfo(folder.filePath(s(name))).path());
        return test::write(folder, name, content);
    }
    QString path(const char* name) const { return folder.filePath(s(name)); }
    QProcessEnvironment environment(const char* variable = nullptr, const char* value = "") const {
        QProcessEnvironment result;
        result.insert(s("HOME"), folder.path());
        if (variable != nullptr) {
            result.insert(s(variable), path(value));
        }
        return result;
    }
    QTemporaryDir folder;
};

TEST_F(Places, TheHubsCacheIsFoundWhereItIsSaidToBe) {
    for (const char* hub : {".cache/huggingface/hub", "elsewhere/hub", "direct"}) {
        place((std::string(hub) + "/models--maker--Own-1B/snapshots/abc/config.json").c_str(),
              test::width_80_config);
        place((std::string(hub) + "/models--maker--no-config/snapshots/abc/README.md").c_str(), "");
        place((std::string(hub) + "/datasets--maker--x/snapshots/abc/config.json").c_str(), "{}");
    }
    for (const auto& [found, hub] :
         {std::pair(hub_models(environment()), ".cache/huggingface/hub"),
          std::pair(hub_models(environment("HF_HOME", "elsewhere")), "elsewhere/hub"),
          std::pair(hub_models(environment("HF_HUB_CACHE", "direct")), "direct")}) {
        ASSERT_EQ(found.size(), 1U) << hub;
        EXPECT_EQ(found[0].name, s("maker/Own-1B"));
        EXPECT_EQ(found[0].path, path(hub) + s("/models--maker--Own-1B"));
        EXPECT_EQ(load_model(utf8(found[0].path))->spec.layers.size(), 2U);
    }
}

TEST_F(Places, OllamasManifestsNameItsBlobs) {
    const QString blob = place(".ollama/models/blobs/sha256-0a1b", "GGUF");
    place(
        ".ollama/models/manifests/registry.ollama.ai/library/llama3/8b",
        R"({"layers": [{"mediaType": "application/vnd.ollama.image.license", "digest": "sha256:ff"},
              {"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:0a1b"}]})");
    place(".ollama/models/manifests/hf.co/maker/Own-GGUF/latest",
          R"({"layers": [{"mediaType": "application/vnd.ollama.image.model",
              "digest": "sha256:0a1b"}]})");
    place(".ollama/models/manifests/registry.ollama.ai/library/gone/latest",
          R"({"layers": [{"mediaType": "application/vnd.ollama.image.model",
              "digest": "sha256:77"}]})");
    place(".ollama/models/manifests/registry.ollama.ai/library/damaged/latest", "{");
    QStringList names;
    for (const FoundModel& model : ollama_models(environment())) {
        EXPECT_EQ(model.path, blob);
        names << model.name;
    }
    names.sort();
    EXPECT_EQ(names, QStringList({s("llama3:8b"), s("maker/Own-GGUF:latest")}));
    EXPECT_EQ(ollama_models(environment("OLLAMA_MODELS", ".ollama/models")).size(), 2U);
}

TEST_F(Places, LmStudiosFoldersHoldFilesAndFolders) {
    place(".lmstudio/models/maker/Own-GGUF/own-q4.gguf", "GGUF");
    place(".lmstudio/models/maker/Own-MLX/config.json", test::width_80_config);
    place(".cache/lm-studio/models/maker/Old-GGUF/old.gguf", "GGUF");
    QStringList names;
    for (const FoundModel& model : lm_studio_models(environment())) {
        names << model.name;
    }
    names.sort();
    EXPECT_EQ(names, QStringList({s("maker/Old-GGUF/old.gguf"), s("maker/Own-GGUF/own-q4.gguf"),
                                  s("maker/Own-MLX")}));
}

TEST_F(Places, FoundModelsJoinTheList) {
    Study study;
    open_seed(study);
    ModelList list(study);
    const QAbstractItemModelTester tester(&list);
    const int bundled = list.rowCount();
    place("hub/models--maker--Own-1B/snapshots/abc/config.json", test::width_80_config);
    const auto found = models_on_this_machine(environment("HF_HOME", ""));
    list.addFound(found);
    list.addFound(found); // once is enough
    ASSERT_EQ(list.rowCount(), bundled + 1);
    const QModelIndex last = list.index(bundled);
    EXPECT_EQ(last.data().toString(), s("maker/Own-1B — hub cache"));
    EXPECT_TRUE(list.setData(last, Qt::Checked, Qt::CheckStateRole));
    ASSERT_EQ(study.rows().size(), 6U);
    EXPECT_TRUE(study.rows()[5].estimate);
    EXPECT_EQ(list.rowCount(), bundled + 1);
}

} // namespace
} // namespace kvcaliper::gui
