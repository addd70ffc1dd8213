// SPDX-License-Identifier: Apache-2.0
// The traps of the rule catalogue, section 8, one named test each; figures are the catalogue's.
// Those that concern a bundled model use it; its figures are in tests/golden as well.
#include "tests/core/test_models.h"

#include "core/catalog.h"

#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::HasSubstr;

ModelPtr bundled(const char* name) {
    return load_model(name);
}

std::int64_t count(const Model& model, const std::string& kind) {
    return std::count_if(model.plan.layers.begin(), model.plan.layers.end(),
                         [&](const LayerPlan& layer) { return kind_text(layer) == kind; });
}

std::int64_t role_bytes(const Model& model, Role role, std::int64_t tokens) {
    Bytes sum;
    for (const ComponentGroup& group : group_components(model.spec)) {
        if (group.component.role == role) {
            sum += component_bytes(group.component, ideal_formats(), Tokens(tokens)) * group.layers;
        }
    }
    return sum.count();
}

TEST(Traps, T04KimiLinearListsCountFromOne) {
    const auto model = bundled("kimi-linear-48b");
    EXPECT_EQ(kind_text(model->plan.layers[3]), "mla"); // full_attn_layers begins with 4
    EXPECT_EQ(kind_text(model->plan.layers[0]), "kda");
    EXPECT_EQ(growth(*model), Ratio(8064));
    EXPECT_EQ(constant(*model), Bytes(43417600));
}

TEST(Traps, T05Minicpm3IsALatentUnderIdeal) {
    EXPECT_EQ(growth(*bundled("minicpm3-4b")), Ratio(35712));
}

TEST(Traps, T07MultiQueryAndAttnConfigAbsent) {
    EXPECT_EQ(growth(*bundled("starcoder-15.5b")), Ratio(20480));
    const auto dbrx =
        model_of(R"({"model_type":"dbrx","n_layers":40,"d_model":6144,"n_heads":48})");
    EXPECT_EQ(growth(*dbrx), Ratio(40 * 2 * 1 * 128 * 2)); // attn_config absent: one KV head
    EXPECT_EQ(growth(*bundled("dbrx")), Ratio(163840));
}

TEST(Traps, T08Gemma4HeadsDifferByLayer) {
    const auto model = bundled("gemma-4-31b");
    EXPECT_EQ(uncapped(*model), Ratio(901120));
    EXPECT_EQ(growth(*model), Ratio(81920));
    EXPECT_EQ(constant(*model), Bytes(838860800));
    EXPECT_EQ(kind_text(model->plan.layers.back()), "full_attention");
}

TEST(Traps, T08Gemma4LastLayerIsForcedFull) {
    const auto model = model_of(R"({"model_type":"gemma4_text","num_hidden_layers":7,
        "hidden_size":2304,"sliding_window":512})");
    EXPECT_EQ(kind_text(model->plan.layers[6]), "full_attention");
    EXPECT_EQ(kind_text(model->plan.layers[4]), "sliding_attention");
}

TEST(Traps, T09SharedLayersByClassDefault) {
    const std::string keys = R"("hidden_size":2048,"num_hidden_layers":35,"sliding_window":512)";
    const auto gemma3n = model_of(R"({"model_type":"gemma3n_text",)" + keys + "}");
    EXPECT_EQ(count(*gemma3n, "shared"), 15);
    EXPECT_EQ(growth(*gemma3n), Ratio(8192));
    EXPECT_EQ(constant(*gemma3n), Bytes(16777216));
    EXPECT_EQ(
        count(*model_of(R"({"model_type":"gemma3n_text","num_kv_shared_layers":0,)" + keys + "}"),
              "shared"),
        0);
    EXPECT_EQ(count(*model_of(R"({"model_type":"gemma4_text",)" + keys + "}"), "shared"), 0);
}

TEST(Traps, T09ASharedLayerReadsTheLastOwnerOfItsKind) {
    const auto model = bundled("gemma-3n-e4b");
    const auto& layers = model->plan.layers;
    for (std::size_t i = 20; i < layers.size(); ++i) {
        ASSERT_TRUE(layers[i].shared_with);
        EXPECT_EQ(*layers[i].shared_with, (i + 1) % 5 == 0 ? 19 : 18) << i;
    }
}

TEST(Traps, T11MimoKeysAndValuesDifferInWidth) {
    const auto model = bundled("mimo-v2-flash");
    EXPECT_EQ(uncapped(*model), Ratio(222720));
    EXPECT_EQ(growth(*model), Ratio(23040));
    EXPECT_EQ(constant(*model), Bytes(25559040)); // attention_chunk_size in the file is irrelevant
}

TEST(Traps, T12ListsLongerThanTheTrunk) {
    EXPECT_EQ(bundled("deepseek-v4-flash")->plan.layers.size(), 43u);
    const auto step = bundled("step-3.5-flash");
    EXPECT_EQ(step->plan.layers.size(), 45u);
    EXPECT_EQ(uncapped(*step), Ratio(184320));
}

TEST(Traps, T13NemotronCountsTheLettersOfItsPattern) {
    const auto model = bundled("nemotron-3-nano-30b-a3b");
    EXPECT_EQ(count(*model, "full_attention"), 6);
    EXPECT_EQ(count(*model, "mamba2"), 23);
    EXPECT_EQ(count(*model, "none"), 23);
    EXPECT_EQ(growth(*model), Ratio(6144));
    EXPECT_EQ(constant(*model), Bytes(49082368));
    const auto lied = model_of(R"({"model_type":"nemotron_h","num_hidden_layers":99,
        "hybrid_override_pattern":"M*-E","hidden_size":2688})");
    EXPECT_EQ(lied->plan.layers.size(), 4u);
    EXPECT_THAT(model_error(R"({"model_type":"nemotron_h","hybrid_override_pattern":"MX"})"),
                HasSubstr("/hybrid_override_pattern"));
}

TEST(Traps, T14RecursionAndTwoCachesPerBlock) {
    EXPECT_EQ(growth(*bundled("longcat-flash")), Ratio(64512));
    const auto hrm = model_of(R"({"model_type":"hrm_text","num_hidden_layers":16,
        "hidden_size":1536,"num_attention_heads":12,"num_key_value_heads":12,"head_dim":128,
        "H_cycles":2,"L_cycles":3})");
    EXPECT_EQ(growth(*hrm), Ratio(16 * 2 * 4 * 2 * 12 * 128 * 2));
}

TEST(Traps, T15ZambaHeadsAreTwiceAsWide) {
    const auto model = bundled("zamba2-7b");
    EXPECT_EQ(growth(*model), Ratio(372736));
    EXPECT_EQ(constant(*model), Bytes(152243712)); // the hybrid layers keep a state, too
    EXPECT_EQ(count(*model, "full_attention + mamba2"), 13);
}

TEST(Traps, T16HybridsWithoutAList) {
    const auto granite = model_of(R"({"model_type":"granitemoehybrid","num_hidden_layers":4,
        "hidden_size":4096,"mamba_n_heads":128})");
    EXPECT_EQ(count(*granite, "mamba2"), 4);
    const auto lfm2 = model_of(R"({"model_type":"lfm2","num_hidden_layers":4,"hidden_size":2048})");
    EXPECT_EQ(count(*lfm2, "full_attention"), 4);
    const auto bamba =
        model_of(R"({"model_type":"bamba","num_hidden_layers":4,"hidden_size":4096})");
    EXPECT_EQ(count(*bamba, "mamba2"), 4);
}

TEST(Traps, T17MinimaxListAndClassDefault) {
    const auto model = model_of(R"({"model_type":"minimax","num_hidden_layers":4,
        "hidden_size":4096,"num_attention_heads":32,"num_key_value_heads":8})");
    EXPECT_EQ(kind_text(model->plan.layers[0]), "full_attention");
    EXPECT_EQ(kind_text(model->plan.layers[1]), "lightning");
    const auto text01 = bundled("minimax-text-01");
    EXPECT_EQ(count(*text01, "full_attention"), 10);
    EXPECT_EQ(constant(*text01), Bytes(293601280)); // fp32 state
}

TEST(Traps, T18MllamaCrossLayersDoNotGrow) {
    const auto model = bundled("llama-3.2-11b-vision");
    EXPECT_EQ(growth(*model), Ratio(131072));
    Settings settings;
    settings.encoder_tokens = Tokens(6404); // one image of four tiles
    const Estimate answer = estimate(model, settings);
    EXPECT_EQ(role_bytes(*answer.model, Role::cross_key, 1) +
                  role_bytes(*answer.model, Role::cross_value, 1),
              209846272);
}

TEST(Traps, T19T5HeadWidthIsItsOwn) {
    EXPECT_EQ(growth(*bundled("t5-11b")), Ratio(1572864));
    const auto model = model_of(R"({"model_type":"t5","d_model":512,"d_kv":64,"num_heads":8,
        "num_layers":6,"num_decoder_layers":null})");
    EXPECT_EQ(model->plan.layers.size(), 6u); // null: as many as the encoder has
}

TEST(Traps, T19WhisperAlwaysHoldsItsFullWindow) {
    const auto model = bundled("whisper-large-v3");
    EXPECT_EQ(growth(*model), Ratio(163840));
    EXPECT_EQ(role_bytes(*model, Role::cross_key, 1) + role_bytes(*model, Role::cross_value, 1),
              245760000);
}

TEST(Traps, T20HeadsLayerByLayer) {
    EXPECT_EQ(growth(*bundled("openelm-270m")), Ratio(16128));
    const auto nas = model_of(R"({"model_type":"nemotron-nas","num_hidden_layers":3,
        "hidden_size":8192,"num_attention_heads":64,"block_configs":[
        {"attention":{"n_heads_in_group":8,"no_op":false,"replace_with_linear":false}},
        {"attention":{"n_heads_in_group":null,"no_op":true}},
        {"attention":{"n_heads_in_group":16}}]})");
    EXPECT_EQ(growth(*nas), Ratio((8 + 4) * 2 * 128 * 2));
    EXPECT_EQ(kind_text(nas->plan.layers[1]), "none");
}

TEST(Traps, T21CompressedEntriesAreNotLinear) {
    const auto model = bundled("deepseek-v4-flash");
    const auto at = [&](std::int64_t tokens) { return total(*model, tokens).count(); };
    // Windows: 43 × 1,024 B per token up to 128. Entries: 21 × 1,280 B every 4 tokens and 20 ×
    // 1,024 B every 128 (catalogue 4).
    EXPECT_EQ(at(127), 43 * 1024 * 127 + 31 * 21 * 1280);
    EXPECT_EQ(at(128), 43 * 1024 * 128 + 32 * 21 * 1280 + 20 * 1024);
    EXPECT_EQ(at(129), at(128));
    EXPECT_EQ(growth(*model), Ratio(6880));
}

TEST(Traps, T21OnlySourceLayersOwnCompressedEntries) {
    // Catalogue 4: three sources every 2 tokens and one every token, 2.5 entries per token. In bf16
    // an entry is (512 + 128) × 2 bytes; 40 windows of 128 vectors of 512 are constant.
    const auto model = model_of(R"({"model_type":"deepseek_v41","num_hidden_layers":40,
        "num_attention_heads":64,"head_dim":512,"sliding_window":128,"index_head_dim":128,
        "kv_source_layer_ids":[2,8,14,20],"compress_ratios":[0,0,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,
        2,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]})");
    EXPECT_EQ(growth(*model), Ratio(5, 2) * Ratio((512 + 128) * 2));
    EXPECT_EQ(constant(*model), Bytes(40 * 128 * 512 * 2));
}

TEST(Traps, T22ChunkedAttentionIsBounded) {
    const auto model = bundled("llama-4-scout");
    EXPECT_EQ(total(*model, 8193) - total(*model, 8192), Bytes(49152));
    EXPECT_EQ(growth(*model), Ratio(49152));
    EXPECT_EQ(total(*model, 8192), Bytes(1610612736));
    Settings settings;
    settings.context = Tokens(8193);
    EXPECT_THAT(estimate(model, settings).notes,
                testing::Contains(HasSubstr("= 1 tokens are exactly needed")));
}

TEST(Traps, T23IndexersOfSomeLayers) {
    const std::string keys = R"("model_type":"glm_moe_dsa","num_hidden_layers":8,
        "num_attention_heads":64,"index_head_dim":128)";
    const auto layers_with_index = [](const Model& model) {
        return std::count_if(
            model.spec.layers.begin(), model.spec.layers.end(), [](const LayerCache& layer) {
                return std::any_of(layer.components.begin(), layer.components.end(),
                                   [](const Component& c) { return c.role == Role::index_key; });
            });
    };
    EXPECT_EQ(layers_with_index(*model_of("{" + keys + "}")), 8);
    // max(i - 2 + 1, 0) mod 4 = 0 for i = 0, 1, 5
    EXPECT_EQ(layers_with_index(*model_of("{" + keys + R"(,"index_topk_freq":4})")), 3);
    EXPECT_EQ(layers_with_index(*model_of("{" + keys + R"(,"index_topk_pattern":"FSSSFSSS"})")), 2);
    EXPECT_EQ(growth(*bundled("deepseek-v3.2")), Ratio(85888)); // every layer, bf16 index key
}

TEST(Traps, T25ListsAndFloatsWhereNumbersBelong) {
    EXPECT_THAT(model_error(R"({"model_type":"llama","num_hidden_layers":2,"hidden_size":64,
        "num_attention_heads":4,"num_key_value_heads":[1]})"),
                HasSubstr("/num_key_value_heads"));
    EXPECT_THAT(model_error(R"({"model_type":"llama","num_hidden_layers":2,"hidden_size":64,
        "num_attention_heads":"4"})"),
                HasSubstr("string \"4\""));
}

TEST(Traps, IssueFiguresOfTheOtherFamilies) {
    // Figures the catalogue and the design name for families with no trap of their own.
    EXPECT_EQ(growth(*bundled("qwen3-next-80b-a3b")), Ratio(24576));
    EXPECT_EQ(constant(*bundled("qwen3-next-80b-a3b")), Bytes(77266944));
    EXPECT_EQ(growth(*bundled("kimi-k3")), Ratio(27648)); // 24 latent layers × 1,152
    EXPECT_EQ(growth(*bundled("falcon-40b")), Ratio(122880));
    EXPECT_EQ(growth(*bundled("recurrentgemma-2b")), Ratio(0));
}

} // namespace
} // namespace kvcaliper
