// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/study.h"

#include "app/gui/format_setting.h"
#include "app/gui/record_book.h"
#include "app/gui/text.h"
#include "tests/gui/fake_verifier.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QUndoStack>

namespace kvcaliper::gui {
namespace {

using test::s;

TEST(Study, OpensOnTheSeed) {
    Study study;
    open_seed(study);
    QStringList names;
    for (const StudyRow& row : study.rows()) {
        EXPECT_TRUE(row.error.isEmpty()) << utf8(row.error);
        names << row.name;
    }
    EXPECT_EQ(names, QStringList({s("GPT-2 XL"), s("Llama 3 8B"), s("Gemma 3 27B"),
                                  s("DeepSeek-V3"), s("Falcon-Mamba 7B")}));
    EXPECT_FALSE(study.undoStack()->canUndo());
    EXPECT_EQ(study.current(), s("gpt2-xl"));
    EXPECT_EQ(study.effectiveBaseline(), s("gpt2-xl"));
}

TEST(Study, EveryEditIsUndone) {
    Study study;
    open_seed(study);
    const StudyState before = study.state();
    study.setTicked(s("qwen3-8b"), true);
    study.setContext(Tokens(131072));
    study.setSequences(4);
    study.setKFormat(s("q8_0"));
    study.setVFormat(s("f16"));
    study.setBaseline(s("llama-3-8b"));
    EXPECT_EQ(study.undoStack()->count(), 6);
    EXPECT_EQ(study.rows().size(), 6U);
    const StudyState after = study.state();
    while (study.undoStack()->canUndo()) {
        study.undoStack()->undo();
    }
    EXPECT_TRUE(study.state() == before);
    while (study.undoStack()->canRedo()) {
        study.undoStack()->redo();
    }
    EXPECT_TRUE(study.state() == after);
}

TEST(Study, OneDragIsOneStep) {
    Study study;
    open_seed(study);
    study.endMerge();
    study.setContext(Tokens(9000), Study::Merge::yes);
    study.setContext(Tokens(10000), Study::Merge::yes);
    study.endMerge(); // the next drag
    study.setContext(Tokens(11000), Study::Merge::yes);
    study.setSequences(2, Study::Merge::yes); // another field never merges
    EXPECT_EQ(study.undoStack()->count(), 3);
    study.undoStack()->undo();
    study.undoStack()->undo();
    EXPECT_EQ(study.settings().context, Tokens(10000));
    study.undoStack()->undo();
    EXPECT_EQ(study.settings().context, Tokens(8192));
}

TEST(Study, ExactEntryDoesNotJoinADrag) {
    Study study;
    open_seed(study);
    study.setContext(Tokens(9000), Study::Merge::yes);
    study.setContext(Tokens(10000), Study::Merge::no);
    study.setContext(Tokens(11000), Study::Merge::yes);
    EXPECT_EQ(study.undoStack()->count(), 3);
}

TEST(Study, ADragBackToItsStartLeavesNothing) {
    Study study;
    open_seed(study);
    study.setContext(Tokens(9000), Study::Merge::yes);
    study.setContext(Tokens(8192), Study::Merge::yes);
    EXPECT_EQ(study.undoStack()->count(), 0);
}

TEST(Study, AnEditWithoutEffectIsNone) {
    Study study;
    open_seed(study);
    QSignalSpy changed(&study, &Study::changed);
    study.setContext(study.settings().context);
    study.setTicked(s("gpt2-xl"), true);
    EXPECT_EQ(changed.count(), 0);
    EXPECT_EQ(study.undoStack()->count(), 0);
}

TEST(Study, ABadModelIsARowWithAReason) {
    Study study;
    study.setModels({s("no-such-model"), s("llama-3-8b")});
    ASSERT_EQ(study.rows().size(), 2U);
    EXPECT_TRUE(study.rows()[0].error.contains(s("no-such-model")));
    EXPECT_FALSE(study.rows()[0].estimate);
    EXPECT_TRUE(study.rows()[1].estimate);
}

TEST(Study, AFormatThatDoesNotFitIsARowWithAReason) {
    const QTemporaryDir folder;
    Study study;
    study.setModels({test::write(folder, "wide.json", test::width_80_config), s("llama-3-8b")});
    study.setKFormat(s("q8_0"));
    EXPECT_TRUE(study.rows()[0].error.contains(s("32 does not divide 80")))
        << utf8(study.rows()[0].error);
    EXPECT_TRUE(study.rows()[1].estimate);
    study.undoStack()->undo();
    EXPECT_TRUE(study.rows()[0].estimate);
}

TEST(Study, FormatProblemNamesTheModel) {
    const QTemporaryDir folder;
    Study study;
    study.setModels({test::write(folder, "wide.json", test::width_80_config)});
    const auto parts = stored_parts(study.readModels(), FormatClass::k);
    const auto problem = format_problem(numeric_format("q8_0"), parts);
    EXPECT_TRUE(problem.startsWith(s("wide: ")) && problem.contains(s("80"))) << utf8(problem);
    EXPECT_EQ(format_problem(numeric_format("bf16"), parts), QString());
}

TEST(Study, BadgesFollowRecordsAndSettings) {
    Study study;
    open_seed(study);
    const Model& model = *study.row(s("gpt2-xl"))->model;
    EXPECT_EQ(study.badge(s("gpt2-xl")), Badge::computed);
    EXPECT_EQ(study.verification(s("gpt2-xl")), nullptr);
    study.records().add(test::made_up_record(model, study.settings()));
    EXPECT_EQ(study.badge(s("gpt2-xl")), Badge::measured);
    EXPECT_EQ(study.badge(s("llama-3-8b")), Badge::computed);
    ASSERT_NE(study.verification(s("gpt2-xl")), nullptr);
    EXPECT_TRUE(study.verification(s("gpt2-xl"))->equal);
    study.setKFormat(s("f32"));
    EXPECT_EQ(study.badge(s("gpt2-xl")), Badge::computed); // nobody ran that
    study.records().add(test::made_up_record(test::with_a_head_less(model), study.settings()));
    EXPECT_EQ(study.badge(s("gpt2-xl")), Badge::stale);
    study.undoStack()->undo();
    EXPECT_EQ(study.badge(s("gpt2-xl")), Badge::measured);
    open_seed(study); // another study: what is in no folder went with the one before
    study.records().setStudyRecords({});
    EXPECT_EQ(study.badge(s("gpt2-xl")), Badge::computed);
}

} // namespace
} // namespace kvcaliper::gui
