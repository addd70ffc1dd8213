// SPDX-License-Identifier: GPL-3.0-or-later
// Random edits through every setter of a study, undone and done again.
#include "app/gui/study.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QUndoStack>

#include <functional>
#include <random>

namespace kvcaliper::gui {
namespace {

using test::s;

class RandomEdits {
  public:
    RandomEdits(Study& study, unsigned seed) : study_(study), random_(seed) {}

    void one() { edits_[pick(edits_.size())](); }
    std::size_t kinds() const { return edits_.size(); }
    void of_kind(std::size_t kind) { edits_[kind](); }

  private:
    std::size_t pick(std::size_t count) {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
    }
    QString word(const QStringList& words) {
        return words.at(static_cast<qsizetype>(pick(static_cast<std::size_t>(words.size()))));
    }
    std::int64_t number() { return static_cast<std::int64_t>(1 + pick(100'000)); }
    Study::Merge merge() { return pick(2) == 0 ? Study::Merge::no : Study::Merge::yes; }
    QString model() {
        return word({s("gpt2-xl"), s("llama-3-8b"), s("gemma-3-27b"), s("qwen3-8b"), s("none")});
    }
    QString format() { return word({s("auto"), s("f16"), s("q8_0"), s("f32")}); }

    Study& study_;
    std::mt19937 random_;
    std::vector<std::function<void()>> edits_{
        [this] {
            study_.setModels({model(), model(), model()});
        },
        [this] { study_.setTicked(model(), pick(2) == 0); },
        [this] { study_.setBaseline(model()); },
        [this] { study_.setContext(Tokens(number()), merge()); },
        [this] { study_.setSequences(number(), merge()); },
        [this] { study_.setKFormat(format()); },
        [this] { study_.setVFormat(format()); },
        [this] {
            study_.setDevice(word({s("h100-80"), s("a100-80"), s("no such device")}));
        },
        [this] {
            study_.setEngine(word({s("ideal"), s("vllm"), s("llama_cpp")}));
        },
        [this] {
            study_.setBudget({s("a100-80"), s("vllm"), number() % 8 + 1, {}});
        },
        [this] { study_.setTensor(number() % 8 + 1); },
        [this] {
            study_.setParallel({number() % 3 + 1, number() % 3 + 1, 1, number() % 3 + 1});
        },
        [this] {
            study_.setEngineOption(word({s("block-size"), s("ubatch-size")}),
                                   word({QString(), s("16"), s("32")}));
        },
        [this] { study_.setFormat(FormatClass::index, format()); },
        [this] { study_.setFormat(FormatClass::conv, format()); },
        [this] { study_.setFormat(FormatClass::state, format()); },
        [this] {
            study_.setWeights(model(), word({QString(), s("16 GB"), s("2 GiB")}));
        },
        [this] {
            study_.setConfig(word({s("Own"), s("Other")}),
                             {QString::fromLatin1(test::width_80_config)
                                  .replace(s("\"num_hidden_layers\": 2"),
                                           s("\"num_hidden_layers\": %1").arg(number() % 30 + 1)),
                              model()},
                             merge());
        },
        [this] { study_.endMerge(); },
    };
};

class Undo : public testing::TestWithParam<unsigned> {};

TEST_P(Undo, TwoHundredEditsComeAllTheWayBack) {
    Study study;
    open_seed(study);
    const StudyState start = study.state();
    RandomEdits edits(study, GetParam());
    std::vector<StudyState> states{start}; // after each command on the stack
    const auto note = [&] {
        const auto count = static_cast<std::size_t>(study.undoStack()->index());
        states.resize(count + 1); // a merge changes the last state, or takes it away
        states[count] = study.state();
    };
    for (std::size_t kind = 0; kind < edits.kinds(); ++kind) {
        edits.of_kind(kind);
        note();
    }
    for (int i = 0; i < 200; ++i) {
        edits.one();
        note();
    }
    const StudyState end = study.state();
    ASSERT_GT(study.undoStack()->count(), 100);
    for (int index = study.undoStack()->index(); index > 0; --index) {
        ASSERT_TRUE(study.state() == states[static_cast<std::size_t>(index)]) << index;
        study.undoStack()->undo();
    }
    EXPECT_TRUE(study.state() == start);
    EXPECT_EQ(study.rows().size(), 5U);
    EXPECT_FALSE(study.undoStack()->canUndo());
    while (study.undoStack()->canRedo()) {
        study.undoStack()->redo();
    }
    EXPECT_TRUE(study.state() == end);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Undo, testing::Values(1U, 2U, 3U));

} // namespace
} // namespace kvcaliper::gui
