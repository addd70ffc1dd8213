// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/model_edit.h"

#include "app/gui/text.h"
#include "core/catalog.h"
#include "core/error.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QDir>

namespace kvcaliper::gui {
namespace {

using test::s;

ModelEdit edit(const std::string& model) {
    return ModelEdit(find_config(model));
}

/// Exact bytes per token with every attention layer growing, under 16-bit K and V.
std::string per_token(const ConfigFile& config) {
    return estimate(make_model(config), {}).uncapped.value().to_string();
}

std::string growth(const ConfigFile& config) {
    return estimate(make_model(config), {}).growth.value().to_string();
}

// The expectations are 2 bytes × 2 (K and V) × layers × KV heads × head width, by hand.

TEST(ModelEdit, FewerKvHeadsAreFewerBytes) {
    const ModelEdit llama = edit("llama-3-8b");
    EXPECT_EQ(llama.state(EditField::kv_heads).value, 8);
    EXPECT_EQ(llama.state(EditField::kv_heads).choices,
              std::vector<std::int64_t>({1, 2, 4, 8, 16, 32}));
    EXPECT_EQ(per_token(llama.config()), "131072");
    EXPECT_EQ(per_token(llama.with(EditField::kv_heads, 4)), "65536");
    EXPECT_EQ(per_token(llama.with(EditField::kv_heads, 1)), "16384");
    EXPECT_THROW(llama.with(EditField::kv_heads, 5), Error);
}

TEST(ModelEdit, LayersAndHeadWidth) {
    const ModelEdit llama = edit("llama-3-8b");
    EXPECT_EQ(per_token(llama.with(EditField::layers, 48)), "196608"); // 4·48·8·128
    EXPECT_EQ(per_token(llama.with(EditField::head_width, 64)), "65536");
    EXPECT_THROW(llama.with(EditField::layers, 0), Error);
}

TEST(ModelEdit, ASlipOfTheFingerIsNoModel) {
    const ModelEdit gemma = edit("gemma-3-27b");
    for (const EditField field : {EditField::layers, EditField::window, EditField::full_every}) {
        EXPECT_THROW(gemma.with(field, 0), Error);
        EXPECT_THROW(gemma.with(field, -1), Error);
        EXPECT_THROW(gemma.with(field, std::int64_t{1} << 40), Error);
    }
}

TEST(ModelEdit, LatentRankOfMla) {
    const ModelEdit deepseek = edit("deepseek-v3");
    EXPECT_EQ(deepseek.state(EditField::latent_rank).value, 512);
    // 2 · 61 · (256 + 64)
    EXPECT_EQ(per_token(deepseek.with(EditField::latent_rank, 256)), "39040");
    EXPECT_TRUE(deepseek.state(EditField::kv_heads).reason.contains(s("MLA")));
    EXPECT_TRUE(edit("llama-3-8b").state(EditField::latent_rank).reason.contains(s("MLA")));
}

TEST(ModelEdit, WindowAndPatternOfGemma) {
    const ModelEdit gemma = edit("gemma-3-27b");
    EXPECT_EQ(gemma.state(EditField::window).value, 1024);
    EXPECT_EQ(gemma.state(EditField::full_every).value, 6);
    EXPECT_EQ(growth(gemma.config()), "81920"); // 10 full layers · 4 · 16 · 128
    const ConfigFile alternating = gemma.with(EditField::full_every, 2);
    EXPECT_EQ(growth(alternating), "253952"); // 31 full layers
    EXPECT_EQ(growth(gemma.with(EditField::full_every, 1)), "507904");
    const Estimate half = estimate(make_model(gemma.with(EditField::window, 512)), {});
    EXPECT_EQ(half.constant.value().to_string(), "218103808"); // 52 · 512 · 8192
}

TEST(ModelEdit, ListsFollowTheLayers) {
    const ModelEdit gemma = edit("gemma-3-27b");
    const ConfigFile longer = gemma.with(EditField::layers, 66);
    // Layer 65 is the 66th: the eleventh full one, as the pattern of six goes on.
    EXPECT_EQ(growth(longer), "90112"); // 11 · 8192
    const JsonValue& list = longer.value.at("text_config").at("layer_types");
    EXPECT_EQ(list.if_array()->size(), 66U);
    EXPECT_EQ(*list.if_array()->back().if_string(), "full_attention");
    EXPECT_EQ(make_model(gemma.with(EditField::layers, 12))->spec.layers.size(), 12U);
}

TEST(ModelEdit, AHybridsInterval) {
    const ModelEdit qwen = edit("qwen3-next-80b-a3b");
    EXPECT_EQ(qwen.state(EditField::full_every).value, 4);
    EXPECT_EQ(growth(qwen.config()), "24576"); // 12 · 4 · 2 · 256
    EXPECT_EQ(growth(qwen.with(EditField::full_every, 8)), "12288");
}

TEST(ModelEdit, AWindowThatIsSwitchedOn) {
    const ModelEdit qwen = edit("qwen3-8b");
    EXPECT_EQ(qwen.state(EditField::window).value, 0);
    EXPECT_TRUE(qwen.state(EditField::full_every).reason.contains(s("window first")));
    const ConfigFile sliding = qwen.with(EditField::window, 4096);
    EXPECT_EQ(growth(sliding), "0");
    const ModelEdit next(sliding);
    EXPECT_EQ(growth(next.with(EditField::full_every, 6)), "24576"); // 6 of 36 · 4 · 8 · 128
    EXPECT_EQ(growth(next.with(EditField::window, 0)), growth(qwen.config()));
}

TEST(ModelEdit, WhatATypeDoesNotHaveSaysWhy) {
    EXPECT_TRUE(edit("gpt2-xl").state(EditField::kv_heads).reason.contains(s("every query head")));
    EXPECT_TRUE(edit("gpt2-xl").state(EditField::head_width).reason.contains(s("hidden_size")));
    EXPECT_TRUE(edit("llama-3-8b").state(EditField::window).reason.contains(s("llama")));
    for (const EditField field : {EditField::kv_heads, EditField::head_width, EditField::window,
                                  EditField::latent_rank, EditField::full_every}) {
        EXPECT_FALSE(edit("falcon-mamba-7b").state(field).reason.isEmpty());
    }
    EXPECT_EQ(edit("falcon-mamba-7b").state(EditField::layers).value, 64);
}

/// Values to try for a field besides the one it has.
std::vector<std::int64_t> other_values(EditField field, const FieldState& state) {
    if (!state.choices.empty()) {
        return {state.choices.front(), state.choices.back()};
    }
    const std::int64_t now = state.value.value_or(0);
    return field == EditField::full_every ? std::vector<std::int64_t>{2, 5}
                                          : std::vector<std::int64_t>{now + 8};
}

/// What of the plan a field is.
bool shows(const ModelPlan& plan, EditField field, std::int64_t value) {
    const auto any = [&](auto matches) {
        for (const LayerPlan& layer : plan.layers) {
            for (const LayerPart& part : layer.parts) {
                if (matches(part)) {
                    return true;
                }
            }
        }
        return false;
    };
    const auto attends = [&](auto of) {
        return any([&](const LayerPart& part) {
            const auto* dims = std::get_if<AttentionDims>(&part.dims);
            return dims != nullptr && of(*dims) == value;
        });
    };
    switch (field) {
    case EditField::layers:
        return std::ssize(plan.layers) % value == 0; // LongCat has two caches in a layer
    case EditField::kv_heads:
        return attends([](const AttentionDims& dims) { return dims.kv_heads; });
    case EditField::head_width:
        return attends([](const AttentionDims& dims) { return dims.key_width; }) ||
               any([&](const LayerPart& part) {
                   const auto* dims = std::get_if<CompressedDims>(&part.dims);
                   return dims != nullptr && dims->width == value;
               });
    case EditField::window:
    case EditField::full_every:
        return true; // of the type's own rules; checked by name above
    case EditField::latent_rank:
        return any([&](const LayerPart& part) {
            const auto* dims = std::get_if<LatentDims>(&part.dims);
            return dims != nullptr && dims->rank == value;
        });
    }
    return false;
}

/// Tries every field a config offers; how many edits that were.
int take_what_is_offered(const ConfigFile& config) {
    int edits = 0;
    const ModelEdit original(config);
    for (const EditField field : all_edit_fields) {
        const FieldState state = original.state(field);
        EXPECT_EQ(state.reason.isEmpty(), !state.key.empty()) << config.path;
        if (!state.reason.isEmpty()) {
            continue;
        }
        for (const std::int64_t value : other_values(field, state)) {
            SCOPED_TRACE(config.path + " " + state.key + " " + std::to_string(value));
            ConfigFile edited;
            try {
                edited = original.with(field, value);
            } catch (const Error& error) {
                ADD_FAILURE() << error.what();
                continue;
            }
            EXPECT_TRUE(shows(plan_model(edited), field, value));
            // And a file of it says the same.
            const ConfigFile again{
                "again", edited.name, parse_json(config_text(edited), "again").value, {}};
            EXPECT_EQ(dump_json(to_json(plan_model(again))),
                      dump_json(to_json(plan_model(edited))));
            ++edits;
        }
    }
    return edits;
}

TEST(ModelEdit, EveryBundledModelTakesWhatItOffers) {
    int edits = 0;
    for (const CatalogEntry& entry : bundled_models()) {
        edits += take_what_is_offered(find_config(entry.name));
    }
    EXPECT_GT(edits, 500);
}

/// Some files name no model_type; that they are refused is another test's business.
bool is_read(const ConfigFile& config) {
    try {
        plan_model(config);
        return true;
    } catch (const Error&) {
        return false;
    }
}

/// Configs as the hub has them, with all their keys: KVCALIPER_CORPUS, else ../shared/corpus.
TEST(ModelEdit, RealConfigsTakeWhatTheyOffer) {
    const QString set = qEnvironmentVariable("KVCALIPER_CORPUS");
    const QDir corpus(set.isEmpty() ? s(KVCALIPER_SOURCE "/../shared/corpus") : set);
    int edits = 0;
    for (const QString& name : QDir(corpus.filePath(s("hf"))).entryList({s("*.json")})) {
        const ConfigFile config = find_config(utf8(corpus.filePath(s("hf/") + name)));
        edits += is_read(config) ? take_what_is_offered(config) : 0;
    }
    if (edits == 0) {
        GTEST_SKIP() << "not available here: no corpus";
    }
    EXPECT_GT(edits, 500);
}

TEST(ModelEdit, ASavedConfigIsReadWithTheSameFigures) {
    const QTemporaryDir folder;
    const ModelEdit gemma(editable_copy(find_config("gemma-3-27b"), "Gemma 3 27B (edited)"));
    const ConfigFile edited = gemma.with(EditField::full_every, 4);
    const QString path =
        test::write(folder, "config.json", QByteArray::fromStdString(config_text(edited)));
    const ModelPtr read = load_model(utf8(path));
    EXPECT_EQ(read->plan.display_name, "Gemma 3 27B (edited)");
    EXPECT_EQ(estimate(read, {}).growth.value().to_string(), "122880"); // 15 · 8192
    EXPECT_EQ(growth(edited), "122880");
}

} // namespace
} // namespace kvcaliper::gui
