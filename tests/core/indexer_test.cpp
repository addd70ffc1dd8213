// SPDX-License-Identifier: Apache-2.0
// What a config says of indexers, and the rings of compressed attention that the verifier is sent.
#include "test_models.h"

#include "core/catalog.h"
#include "core/verify_request.h"

#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::ElementsAre;

const LatentDims& latent(const Model& model, std::size_t layer) {
    return std::get<LatentDims>(model.plan.layers[layer].parts.front().dims);
}
const CompressedDims& compressed(const Model& model, std::size_t layer) {
    return std::get<CompressedDims>(model.plan.layers[layer].parts.front().dims);
}

// index_n_heads and index_topk of the models' own files.
TEST(Indexers, HeadsAndChosenTokensAreRead) {
    const ModelPtr v32 = load_model("deepseek-v3.2"), glm = load_model("glm-5");
    EXPECT_EQ(latent(*v32, 60).index_heads, 64);
    EXPECT_EQ(latent(*v32, 60).index_top, 2048);
    EXPECT_EQ(latent(*glm, 0).index_heads, 32);
    const ModelPtr flash = load_model("deepseek-v4-flash");
    EXPECT_EQ(compressed(*flash, 2).index_heads, 64);
    EXPECT_EQ(compressed(*flash, 2).index_top, 512);
    EXPECT_EQ(compressed(*flash, 3).index_heads, 0); // heavily compressed: all entries are attended
}

// transformers' MiniMaxM3VLTextConfig: blocks of index_block_size keys, or their older names.
TEST(Indexers, BlocksAreCountedInTokens) {
    const auto model = [](const char* keys) {
        return model_of(std::string(R"({"model_type":"minimax_m3_vl_text","num_hidden_layers":2,
            "hidden_size":512,"num_attention_heads":8,"num_key_value_heads":2,"head_dim":64,
            "layer_types":["full_attention","minimax_m3_sparse"],)") +
                        keys + "}");
    };
    for (const char* keys : {R"("index_head_dim":128,"index_n_heads":2,"index_block_size":128,
                                "index_topk_blocks":16)",
                             R"("sparse_attention_config":{"sparse_index_dim":128,
                                "sparse_num_index_heads":2,"sparse_block_size":128,
                                "sparse_topk_blocks":16})"}) {
        const auto read = model(keys);
        const auto dims = [&](std::size_t layer) {
            return std::get<AttentionDims>(read->plan.layers[layer].parts.front().dims);
        };
        EXPECT_EQ(dims(0).index_top, 0);
        EXPECT_EQ(dims(1).index_width, 128);
        EXPECT_EQ(dims(1).index_heads, 2);
        EXPECT_EQ(dims(1).index_top, 2048);
    }
}

// vLLM 0.22 (compressor.py): 8 slots of 2,048 floats and 8 of 512 for an index key; 128 of 1,024.
TEST(Indexers, RingsOfCompressedAttentionAreThoseOfVllm) {
    const ModelPtr flash = load_model("deepseek-v4-flash");
    CacheSpec spec = flash->spec;
    add_compressor_buffers(spec, flash->plan);
    const auto rings = [&](std::size_t layer) {
        std::vector<std::string> texts;
        for (const Component& c : spec.layers[layer].components) {
            if (c.role == Role::tail || c.role == Role::index_tail) {
                texts.push_back(c.units.to_string() + " of " + std::to_string(c.elements()));
            }
        }
        return texts;
    };
    EXPECT_TRUE(rings(0).empty()); // a window alone
    EXPECT_THAT(rings(2), ElementsAre("min(T,8) of 2048", "min(T,8) of 512"));
    EXPECT_THAT(rings(3), ElementsAre("min(T,128) of 1024"));
    EXPECT_EQ(component_bytes(spec.layers[3].components.back(), ideal_formats(), Tokens(8192)),
              Bytes(128 * 1024 * 4));
    // What is required is what it was.
    EXPECT_EQ(growth_bytes_per_token(spec, ideal_formats()).value(),
              growth_bytes_per_token(flash->spec, ideal_formats()).value());
}

TEST(Indexers, TheVerifierIsSentTheRings) {
    const JsonValue json = verify_request(*load_model("deepseek-v4-flash"), Settings{}, {});
    const CacheSpec spec = cache_spec_from_json(json.at("spec"));
    EXPECT_EQ(spec.layers[2].components.back().role, Role::index_tail);
    EXPECT_EQ(spec.layers[3].components.back().role, Role::tail);
    const ModelPlan plan = model_plan_from_json(json.at("config"));
    EXPECT_EQ(std::get<CompressedDims>(plan.layers[2].parts.front().dims).index_top, 512);
    const CacheSpec other = cache_spec_from_json(
        verify_request(*load_model("deepseek-v3.2"), Settings{}, {}).at("spec"));
    EXPECT_EQ(other.layers[0].components.back().role, Role::index_key);
}

TEST(Indexers, ContextsOnBothSidesOfAnEntry) {
    EXPECT_THAT(verify_contexts(*load_model("deepseek-v4-flash"), ideal_formats(), Tokens(8192)),
                ElementsAre(128, 129, 2048, 4096, 8192));
}

} // namespace
} // namespace kvcaliper
