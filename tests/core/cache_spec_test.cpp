// SPDX-License-Identifier: Apache-2.0
// Laws that hold for every model, and the views of a windowed one.
#include "tests/core/test_models.h"

#include "core/catalog.h"

namespace kvcaliper {
namespace {

std::vector<ModelPtr> every_bundled_model() {
    std::vector<ModelPtr> models;
    for (const CatalogEntry& entry : bundled_models()) {
        models.push_back(load_model(entry.name));
    }
    return models;
}

TEST(CacheSpec, TheCurveIsTheSumOfItsLayers) {
    for (const ModelPtr& model : every_bundled_model()) {
        for (const std::int64_t tokens : {1, 127, 128, 129, 1024, 5000, 131072}) {
            Bytes sum;
            for (const LayerCache& layer : model->spec.layers) {
                for (const Component& component : layer.components) {
                    sum += component_bytes(component, ideal_formats(), Tokens(tokens));
                }
            }
            EXPECT_EQ(sum, total(*model, tokens)) << model->plan.name << " at " << tokens;
        }
    }
}

TEST(CacheSpec, LinearWithoutWindowsAndConstantPastThem) {
    for (const ModelPtr& model : every_bundled_model()) {
        const std::int64_t limit = model->plan.max_context.value_or(Tokens(1 << 20)).count();
        EXPECT_EQ(Ratio(total(*model, limit).count()),
                  growth(*model) * limit + Ratio(constant(*model).count()))
            << model->plan.name;
        // Steps of compressed entries are averaged over the longest period, 128 tokens.
        EXPECT_EQ(Ratio((total(*model, limit + 128) - total(*model, limit)).count()),
                  growth(*model) * 128)
            << model->plan.name;
        if (knees(model->spec, ideal_formats()).empty()) {
            EXPECT_EQ(growth(*model), uncapped(*model)) << model->plan.name;
        }
    }
}

TEST(CacheSpec, UncappedIsTheSlopeBeforeTheFirstKnee) {
    for (const ModelPtr& model : every_bundled_model()) {
        const auto found = knees(model->spec, ideal_formats());
        if (!found.empty()) {
            EXPECT_EQ(found.front().bytes_per_token_before, uncapped(*model));
            EXPECT_EQ(found.back().bytes_per_token_after, growth(*model));
        }
    }
}

TEST(CacheSpec, Gemma3HasOneKnee) {
    // Required by the design: 507,904 B uncapped, 81,920 B growth, one knee at 1,024.
    const ModelPtr model = load_model("gemma-3-27b");
    const auto found = knees(model->spec, ideal_formats());
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].tokens, Tokens(1024));
    EXPECT_EQ(found[0].bytes_per_token_before, Ratio(507904));
    EXPECT_EQ(found[0].bytes_per_token_after, Ratio(81920));
    EXPECT_EQ(total(*model, 131072), Bytes(11173625856));
}

TEST(CacheSpec, AWindowLongerThanTheContextGrows) {
    // Phi-3-mini-128k's shape (catalogue, erratum 1): the window of 262,144 is never reached.
    const auto model = model_of(R"({"model_type":"mistral","num_hidden_layers":32,
        "hidden_size":3072,"num_attention_heads":32,"num_key_value_heads":32,
        "sliding_window":262144,"max_position_embeddings":131072})");
    EXPECT_EQ(growth(*model), Ratio(393216));
    EXPECT_EQ(constant(*model), Bytes(0));
    EXPECT_TRUE(knees(model->spec, ideal_formats()).empty());
    EXPECT_TRUE(has_note(*model, "window 262,144 exceeds the context of 131,072"));
}

TEST(CacheSpec, MixedFormats) {
    // Catalogue 6: Llama-3-8B q8_0/q8_0 69,632, q8_0/q4_0 53,248, q4_0/q4_0 36,864.
    const ModelPtr model = load_model("llama-3-8b");
    CacheFormats formats = ideal_formats();
    const auto slope = [&](const char* k, const char* v) {
        formats.k = &numeric_format(k);
        formats.v = &numeric_format(v);
        return uncapped_bytes_per_token(model->spec, formats).value();
    };
    EXPECT_EQ(slope("q8_0", "q8_0"), Ratio(69632));
    EXPECT_EQ(slope("q8_0", "q4_0"), Ratio(53248));
    EXPECT_EQ(slope("q4_0", "q8_0"), Ratio(53248));
    EXPECT_EQ(slope("q4_0", "q4_0"), Ratio(36864));
}

TEST(CacheSpec, AProblemOfStorageIsNamed) {
    const auto phi = model_of(R"({"model_type":"llama","num_hidden_layers":32,"hidden_size":2560,
        "num_attention_heads":32})");
    CacheFormats formats = ideal_formats();
    EXPECT_FALSE(storage_problem(phi->spec, formats));
    formats.v = &numeric_format("q8_0");
    EXPECT_EQ(
        *storage_problem(phi->spec, formats),
        "value of full_attention layers (head_dim 80): q8_0 can not store rows of 80: 32 does "
        "not divide 80");
    EXPECT_THROW(check_storable(phi->spec, formats), Error);
}

TEST(CacheSpec, PlansAndSpecsSurviveJson) {
    for (const char* name :
         {"gpt2", "gemma-3-27b", "deepseek-v3", "falcon-mamba-7b", "codestral-mamba-7b"}) {
        const ModelPtr model = load_model(name);
        const ModelPlan plan =
            model_plan_from_json(parse_json(dump_json(to_json(model->plan)), "x").value);
        EXPECT_EQ(dump_json(to_json(plan)), dump_json(to_json(model->plan)));
        const CacheSpec spec =
            cache_spec_from_json(parse_json(dump_json(to_json(model->spec)), "x").value);
        EXPECT_EQ(cache_bytes(spec, ideal_formats(), Tokens(3000)).bytes(), total(*model, 3000));
    }
    EXPECT_EQ(cache_formats_from_json(to_json(ideal_formats())).state, &numeric_format("f32"));
}

TEST(CacheSpec, BytesPassTwoToThe53) {
    // Catalogue 8, trap 28: BLOOM-176B at 2^20 tokens × 4,096 sequences is 1.7e16 bytes.
    const auto bloom = model_of(R"({"model_type":"llama","num_hidden_layers":70,
        "hidden_size":14336,"num_attention_heads":112})");
    EXPECT_EQ(total(*bloom, 1 << 20) * 4096, Bytes(4014080ll * 1048576 * 4096));
    EXPECT_EQ((total(*bloom, 1 << 20) * 4096).count(), 17240342323527680);
}

} // namespace
} // namespace kvcaliper
