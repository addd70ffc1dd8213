// SPDX-License-Identifier: Apache-2.0
#include "core/kind_notes.h"

#include "core/catalog.h"
#include "tests/core/test_models.h"

#include <gmock/gmock.h>

#include <regex>
#include <set>

namespace kvcaliper {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<const KindNote*> all_notes() {
    std::vector<const KindNote*> notes;
    for (const LayerKind kind : all_layer_kinds) {
        notes.push_back(&kind_note(kind));
    }
    for (const NoteTopic topic : all_note_topics) {
        notes.push_back(&topic_note(topic));
    }
    return notes;
}

std::vector<std::string> titles(const std::string& model, const Settings& settings = {}) {
    std::vector<std::string> titles;
    for (const KindNote* note : notes_of(estimate(load_model(model), settings))) {
        titles.emplace_back(note->title);
    }
    return titles;
}

TEST(KindNotes, EveryKindHasOneOfItsOwn) {
    std::set<std::string_view> seen;
    for (const KindNote* note : all_notes()) {
        EXPECT_TRUE(seen.insert(note->title).second) << note->title;
        for (const std::string_view part : {note->keeps, note->saves, note->trades, note->result}) {
            EXPECT_GE(part.size(), 20U) << note->title;
            EXPECT_EQ(part.back(), '.') << note->title;
        }
    }
}

TEST(KindNotes, EachNamesAPaperOrAReport) {
    const std::regex paper("arXiv [0-9]{4}\\.[0-9]{5}");
    const std::set<std::string_view> reports = {
        "Chunked attention", "Compressed attention (CSA, HCA)", "Index key (sparse attention)"};
    for (const KindNote* note : all_notes()) {
        const std::string source(note->source);
        const bool has_paper = std::regex_search(source, paper);
        // These three were published by their makers and not on arXiv: with the year, then.
        EXPECT_NE(has_paper, reports.count(note->title) == 1) << source;
        EXPECT_TRUE(has_paper || std::regex_search(source, std::regex(" 202[0-9]"))) << source;
    }
}

// The figures as their papers print them, so that a slip of the hand in the table is seen.
TEST(KindNotes, FiguresAreThoseOfTheirPapers) {
    // DeepSeek-V2, abstract: 93.3 % and 5.76 times.
    EXPECT_THAT(std::string(kind_note(LayerKind::mla).result),
                AllOf(HasSubstr("93.3 %"), HasSubstr("5.76 times")));
    // GQA, table 1: MHA-XXL 1.51 s, 47.2; MQA-XXL 0.24 s, 46.6; GQA-8-XXL 0.28 s, 47.1.
    EXPECT_THAT(std::string(topic_note(NoteTopic::grouped_heads).result),
                AllOf(HasSubstr("0.28 s"), HasSubstr("47.1"), HasSubstr("1.51 s and 47.2")));
    EXPECT_THAT(std::string(topic_note(NoteTopic::single_head).result),
                AllOf(HasSubstr("0.24 s"), HasSubstr("46.6")));
    // KIVI, abstract: 2.6 times, 4 times, 2.35 to 3.47 times.
    EXPECT_THAT(std::string(topic_note(NoteTopic::quantized).result),
                AllOf(HasSubstr("2.6 times"), HasSubstr("2.35 to 3.47")));
    // Cartridges, abstract: 38.6 times, 26.4 times.
    EXPECT_THAT(std::string(topic_note(NoteTopic::cartridge).result),
                AllOf(HasSubstr("38.6"), HasSubstr("26.4")));
    // Gated Delta Networks, table 2, S-NIAH-2 at 4K: 92.2 and Mamba 2 56.2.
    EXPECT_THAT(std::string(kind_note(LayerKind::gated_delta).result),
                AllOf(HasSubstr("92.2 %"), HasSubstr("56.2 %")));
}

TEST(KindNotes, AModelHasThoseOfWhatItKeeps) {
    EXPECT_THAT(titles("gpt2-xl"), ElementsAre("Full attention"));
    EXPECT_THAT(titles("gemma-3-27b"),
                ElementsAre("Sliding window", "Full attention", "Grouped heads (GQA)"));
    EXPECT_THAT(titles("falcon-mamba-7b"), ElementsAre("Mamba 1"));
    EXPECT_THAT(titles("deepseek-v3"), ElementsAre("Latent attention (MLA)"));
    Settings settings;
    settings.v_format = "q4_0"; // 18 bytes for 32 values
    EXPECT_THAT(titles("gpt2-xl", settings), ElementsAre("Full attention", "Quantised K and V"));
}

TEST(KindNotes, HeadsAndSharingAreReadFromThePlan) {
    // Multi-query: one KV head; falcon-7b's own values.
    const ModelPtr one = model_of(R"({"model_type": "llama", "num_hidden_layers": 2,
        "hidden_size": 512, "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 64,
        "max_position_embeddings": 2048})");
    const auto notes = notes_of(estimate(one, {}));
    ASSERT_EQ(notes.size(), 2U);
    EXPECT_EQ(notes[1], &topic_note(NoteTopic::single_head));
    // Hunyuan's cross-layer attention: every second layer reads the one before it.
    const ModelPtr shared = model_of(R"({"model_type": "hunyuan_v1_moe", "num_hidden_layers": 4,
        "hidden_size": 512, "num_attention_heads": 8, "num_key_value_heads": 8,
        "attention_head_dim": 64, "use_cla": true, "cla_share_factor": 2,
        "max_position_embeddings": 2048})");
    const auto with_sharing = notes_of(estimate(shared, {}));
    EXPECT_EQ(with_sharing.back(), &topic_note(NoteTopic::shared_layers));
}

TEST(KindNotes, TextHasALineForEachPart) {
    const std::string text = note_text(kind_note(LayerKind::mla));
    for (const char* part : {"\n  keeps: ", "\n  saves: ", "\n  costs: ", "\n  published: ",
                             "\n  source: DeepSeek-V2, arXiv 2405.04434"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
    EXPECT_EQ(note_json(kind_note(LayerKind::mla)).string_at("title"), "Latent attention (MLA)");
}

} // namespace
} // namespace kvcaliper
