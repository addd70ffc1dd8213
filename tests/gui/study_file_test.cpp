// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/study_file.h"

#include "app/gui/study_session.h"
#include "app/gui/text.h"
#include "core/error.h"
#include "tests/gui/helpers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QDir>
#include <QUndoStack>

namespace kvcaliper::gui {
namespace {

using test::s;
using testing::HasSubstr;

/// A study of a later version: members of its own on every level, a model beside it, one elsewhere.
const char* const later_study = R"({
  "kvcaliper_study": 1,
  "version": "9.9",
  "colour": {"deep": [1, 2.5, null]},
  "models": ["gpt2-xl", "models/own.json", "../other/config.json"],
  "baseline": "models/own.json",
  "settings": {"context": 131072, "sequences": 4, "k_format": "q8_0", "speculation": true},
  "budget": {"device": "a100-80", "tensor": 2, "rack": "B7", "weights": {"models/own.json": "16 GB"}},
  "notes": "kept"
})";

class Files : public testing::Test {
  protected:
    QString path(const char* name) const { return folder.filePath(s(name)); }
    std::string problem(const QByteArray& content) {
        const QString file = test::write(folder, "bad.kvstudy.json", content);
        try {
            read_study_file(file);
        } catch (const Error& error) {
            return error.what();
        }
        return "no problem";
    }
    QTemporaryDir folder;
};

TEST_F(Files, AStudyComesBackAsItWasSaved) {
    Study study;
    StudySession session(study);
    session.startNew(seed_state());
    study.setTicked(s("qwen3-8b"), true);
    study.setBaseline(s("llama-3-8b"));
    study.setContext(Tokens(131072));
    study.setSequences(7);
    study.setKFormat(s("q8_0"));
    study.setVFormat(s("q4_0"));
    study.setDevice(s("a100-80"));
    study.setEngine(s("vllm"));
    study.setTensor(4);
    study.setWeights(s("qwen3-8b"), s("16 GB"));
    study.setConfig(s("Own"), {s(test::width_80_config), s("llama-3-8b")});
    const StudyState before = study.state();
    ASSERT_FALSE(session.save(path("a.kvstudy.json")));
    Study other;
    StudySession second(other);
    ASSERT_FALSE(second.open(path("a.kvstudy.json")));
    StudyState after = other.state();
    // The config's text is laid out anew; what it says is the same.
    EXPECT_EQ(dump_json(parse_json(utf8(before.configs[s("Own")].json), "").value),
              utf8(after.configs[s("Own")].json));
    after.configs[s("Own")].json = before.configs[s("Own")].json;
    EXPECT_TRUE(after == before);
    EXPECT_EQ(other.row(s("Own"))->model->spec.layers.size(), 2U);
}

TEST_F(Files, WhatALaterVersionWroteStays) {
    Study study;
    StudySession session(study);
    ASSERT_FALSE(session.open(test::write(folder, "later.kvstudy.json", later_study)));
    study.setContext(Tokens(4096));
    ASSERT_FALSE(session.save(path("later.kvstudy.json")));
    const JsonValue now = read_json_file(utf8(path("later.kvstudy.json"))).value;
    EXPECT_EQ(dump_json(now.at("colour"), -1), R"({"deep":[1,2.5,null]})");
    EXPECT_EQ(now.string_at("notes"), "kept");
    EXPECT_EQ(now.at("settings").integer_at("context"), 4096);
    EXPECT_TRUE(*now.at("settings").at("speculation").if_bool());
    EXPECT_EQ(now.at("budget").string_at("rack"), "B7");
    EXPECT_EQ(now.string_at("version"), "0.1.0");
}

TEST_F(Files, PathsStayRelativeToTheStudy) {
    Study study;
    StudySession session(study);
    QDir(folder.path()).mkpath(s("models"));
    test::write(folder, "models/own.json", test::width_80_config);
    ASSERT_FALSE(session.open(test::write(folder, "later.kvstudy.json", later_study)));
    const QString own = QFileInfo(path("models/own.json")).absoluteFilePath();
    EXPECT_EQ(study.state().models.value(1), own);
    EXPECT_EQ(study.state().baseline, own);
    EXPECT_EQ(study.state().budget.weights.value(own), s("16 GB"));
    EXPECT_TRUE(study.rows()[1].model); // wherever the program was started
    study.setTicked(test::write(folder, "models/new.json", test::width_80_config), true);
    ASSERT_FALSE(session.save(path("later.kvstudy.json")));
    const JsonValue now = read_json_file(utf8(path("later.kvstudy.json"))).value;
    EXPECT_EQ(dump_json(now.at("models"), -1),
              R"(["gpt2-xl","models/own.json","../other/config.json","./models/new.json"])");
    EXPECT_EQ(now.string_at("baseline"), "models/own.json");
    EXPECT_EQ(now.at("budget").at("weights").string_at("models/own.json"), "16 GB");
    // Elsewhere the same files need another spelling.
    const QTemporaryDir elsewhere;
    ASSERT_FALSE(session.save(elsewhere.filePath(s("b.kvstudy.json"))));
    EXPECT_EQ(read_study_file(elsewhere.filePath(s("b.kvstudy.json"))).state.models,
              study.state().models);
}

TEST_F(Files, DamageIsNamedWithItsPlace) {
    EXPECT_THAT(problem("{\"kvcaliper_study\": 1, \"models\": [\"gpt2"),
                AllOf(HasSubstr("bad.kvstudy.json: expected JSON"), HasSubstr("line 1")));
    EXPECT_THAT(problem("[]"),
                HasSubstr("expected a JSON object with a study, found an array of 0"));
    EXPECT_THAT(problem("{\"models\": []}"), HasSubstr("/kvcaliper_study: expected the version"));
    EXPECT_THAT(problem("{\"kvcaliper_study\": 2, \"models\": []}"),
                AllOf(HasSubstr("/kvcaliper_study: expected at most 1"), HasSubstr("newer")));
    EXPECT_THAT(problem(R"({"kvcaliper_study": 1, "models": ["gpt2-xl", 7]})"),
                HasSubstr("/models/1: expected a name or a path, found 7"));
    EXPECT_THAT(problem(R"({"kvcaliper_study": 1})"), HasSubstr("/models: expected a list"));
    EXPECT_THAT(problem(R"({"kvcaliper_study": 1, "models": [], "settings": {"context": 0}})"),
                HasSubstr("/settings/context: expected an integer from 1"));
    EXPECT_THAT(problem(R"({"kvcaliper_study": 1, "models": [], "settings": {"k_format": "q9"}})"),
                HasSubstr("/settings/k_format: expected a number format"));
    EXPECT_THAT(problem(R"({"kvcaliper_study": 1, "models": [], "budget": []})"),
                HasSubstr("/budget: expected an object"));
    EXPECT_THAT(problem(R"({"kvcaliper_study": 1, "models": [], "budget": {"weights": {"a": 1}}})"),
                HasSubstr("/budget/weights/a: expected a string"));
    EXPECT_THAT(problem(R"({"kvcaliper_study": 1, "models": [], "configs": {"a": {}}})"),
                HasSubstr("/configs/a/config: expected a model's config"));
}

TEST_F(Files, ADamagedFileLeavesTheOpenStudyAlone) {
    Study study;
    StudySession session(study);
    ASSERT_FALSE(session.open(test::write(folder, "good.kvstudy.json", later_study)));
    study.setSequences(9);
    const StudyState before = study.state();
    const auto problem = session.open(test::write(folder, "bad.kvstudy.json", "{"));
    ASSERT_TRUE(problem);
    EXPECT_TRUE(problem->contains(s("bad.kvstudy.json")));
    EXPECT_TRUE(study.state() == before);
    EXPECT_EQ(session.name(), s("good.kvstudy.json"));
    EXPECT_TRUE(session.isModified());
    EXPECT_TRUE(study.undoStack()->canUndo());
}

TEST_F(Files, AMissingModelIsARowAndIsKept) {
    Study study;
    StudySession session(study);
    ASSERT_FALSE(session.open(test::write(folder, "later.kvstudy.json", later_study)));
    EXPECT_FALSE(study.rows()[2].error.isEmpty());
    ASSERT_FALSE(session.save(path("later.kvstudy.json")));
    EXPECT_EQ(read_study_file(path("later.kvstudy.json")).state.models.size(), 3);
}

TEST_F(Files, TheMarkFollowsTheUndoStack) {
    Study study;
    StudySession session(study);
    session.startNew(seed_state());
    EXPECT_FALSE(session.isModified());
    study.setSequences(2);
    EXPECT_TRUE(session.isModified());
    study.undoStack()->undo();
    EXPECT_FALSE(session.isModified());
    study.setSequences(3);
    ASSERT_FALSE(session.save(path("a.kvstudy.json")));
    EXPECT_FALSE(session.isModified());
    study.undoStack()->undo();
    EXPECT_TRUE(session.isModified());
    study.undoStack()->redo();
    EXPECT_FALSE(session.isModified());
}

TEST_F(Files, AFailedSaveSaysWhyAndKeepsTheOldFile) {
    Study study;
    StudySession session(study);
    session.startNew(seed_state());
    study.setSequences(2);
    const auto problem = session.save(path("no-such-folder/a.kvstudy.json"));
    ASSERT_TRUE(problem);
    EXPECT_TRUE(problem->contains(s("no-such-folder")));
    EXPECT_TRUE(session.isModified());
    EXPECT_TRUE(session.path().isEmpty());
}

} // namespace
} // namespace kvcaliper::gui
