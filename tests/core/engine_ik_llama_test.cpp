// SPDX-License-Identifier: Apache-2.0
// What ik_llama.cpp reserves. Most figures are lines "KV self size = …" of its logs, quoted in its
// own issues, discussions and pull requests (github-data/ of ikawrakow/ik_llama.cpp).
#include "core/engines/engine.h"
#include "tests/core/test_engines.h"

#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr std::int64_t hundredth = 1048576; ///< hundredths of a MiB are bytes × 100 / this

Settings asked(std::int64_t context, std::vector<EngineSetting> options = {},
               const char* k = "auto", const char* v = "auto") {
    Settings settings = asked_of("ik_llama", context, std::move(options));
    settings.k_format = k;
    settings.v_format = v;
    return settings;
}

/// Hundredths of a MiB, rounded half up, as the log prints them: 976000 for "9760.00 MiB".
std::int64_t printed(const char* model, const Settings& settings) {
    return (reserved(model, settings) * 100 + hundredth / 2) / hundredth;
}

TEST(IkLlama, PublishedLogs) {
    const std::vector<EngineSetting> no_mla = {{"mla", "0"}};
    const std::vector<EngineSetting> no_flash = {{"mla", "1"}, {"fa", "off"}};
    EXPECT_EQ(printed("deepseek-r1", asked(2048, no_mla)), 976000);      // issue 271
    EXPECT_EQ(printed("deepseek-r1", asked(20480)), 137250);             // pull request 235
    EXPECT_EQ(printed("deepseek-r1", asked(163840)), 1098000);           // pull request 237
    EXPECT_EQ(printed("deepseek-r1", asked(2048, {}, "q8_0")), 7291);    // discussion 258
    EXPECT_EQ(printed("deepseek-v3", asked(16384, no_flash)), 207400);   // pull request 394
    EXPECT_EQ(printed("deepseek-v3", asked(512)), 3431);                 // discussion 286
    EXPECT_EQ(printed("deepseek-v3", asked(98304, {}, "q8_0")), 349988); // discussion 586
    EXPECT_EQ(printed("kimi-k2", asked(512, no_mla)), 122000);           // pull request 616
    // Rows of 192 q8_KV values have 8 bytes more (pull request 240).
    EXPECT_EQ(printed("deepseek-v2-lite", asked(65536, no_mla, "q8_KV")), 1231200);
    EXPECT_EQ(printed("qwen3-235b-a22b", asked(65536, {}, "q8_0")), 921200);         // issue 437
    EXPECT_EQ(printed("qwen3-235b-a22b", asked(32768, {}, "q4_0", "q4_0")), 169200); // issue 425
    // DeepSeek-V2.5-1210 (pull request 386) has DeepSeek-V2's dimensions.
    EXPECT_EQ(printed("deepseek-v2", asked(32768)), 216000);
    EXPECT_EQ(printed("qwen3-32b", asked(8192)), 204800);                      // discussion 397
    EXPECT_EQ(printed("llama-3.1-8b", asked(1024, {}, "iq4_nl")), 8200);       // issue 103
    EXPECT_EQ(printed("llama-3.1-8b", asked(2048, {}, "q5_1", "q5_0")), 9200); // issue 92
    EXPECT_EQ(printed("llama-3.1-8b", asked(4096)), 51200);                    // issue 437
    EXPECT_EQ(printed("llama-2-13b", asked(512)), 40000);                      // pull request 328
}

TEST(IkLlama, APublishedLogThatPrintsItsDimensions) {
    // GLM-Z1-Rumination-32B: 61 layers of 1,024 values, "1952.00 MiB" (pull request 333).
    const auto glm = model_of(R"({"model_type":"glm4","num_hidden_layers":61,"hidden_size":6144,
        "num_attention_heads":48,"num_key_value_heads":8,"head_dim":128})");
    EXPECT_EQ(reserved(glm, asked(8192)), 2046820352);
}

TEST(IkLlama, WindowsReserveTheWholeContext) {
    EXPECT_EQ(printed("gemma-3-27b", asked(32768)), 1587200);  // discussion 334
    EXPECT_EQ(printed("gemma-3-27b", asked(131072)), 6348800); // issue 539
    EXPECT_THAT(estimate(load_model("gemma-3-27b"), asked(8192)).notes,
                Contains(HasSubstr("gives sliding layers the whole context, too")));
}

TEST(IkLlama, AllSequencesShareTheCells) {
    Settings settings = asked(1000);
    settings.sequences = 3;
    EXPECT_EQ(reserved("llama-3-8b", settings), std::int64_t{3072} * 131072); // pad256(3,000)
    settings.engine_options = {{"flash-attn", "off"}};
    EXPECT_EQ(reserved("llama-3-8b", settings), std::int64_t{3008} * 131072); // pad32
    EXPECT_THAT(explain(*estimate(load_model("llama-3-8b"), settings).reserved),
                HasSubstr("3,008 cells = pad32(1,000 × 3)"));
}

TEST(IkLlama, ModesOfLatentAttention) {
    const std::int64_t latent = std::int64_t{61} * 8192 * 576 * 2;
    EXPECT_EQ(reserved("deepseek-v3", asked(8192)), latent);
    EXPECT_EQ(reserved("deepseek-v3", asked(8192, {{"mla", "2"}, {"fa", "off"}})), latent);
    EXPECT_EQ(reserved("deepseek-v3", asked(8192, {{"mla", "1"}})), latent);
    EXPECT_EQ(reserved("deepseek-v3", asked(8192, {{"mla", "1"}, {"fa", "off"}})),
              latent + std::int64_t{61} * 8192 * 512 * 2);
    // Without flash attention modes 2 and 3 keep the row in V's type.
    EXPECT_EQ(reserved("deepseek-v3", asked(8192, {{"fa", "off"}}, "q8_0")), latent);
    EXPECT_THAT(estimate(load_model("deepseek-v3"), asked(8192, {}, "q8_kv")).notes,
                Contains(HasSubstr("less than required: latent and rope key are one row")));
    // One row of 576 values and 8 bytes; V in one row of 8 bytes more for all.
    EXPECT_EQ(reserved("deepseek-v3", asked(8192, {}, "q8_KV")), std::int64_t{61} * 8192 * 584);
    EXPECT_EQ(reserved("deepseek-v3", asked(256, {{"mla", "0"}}, "f16", "q8_KV")),
              std::int64_t{61} * (256 * 128 * (192 * 2 + 128) + 8));
}

TEST(IkLlama, StatesAreOneRowOfFloats) {
    // src/llama-hparams.h, n_embd_v_s: 3 × 8,192 and 32 × 128 × 128 values, 36 layers.
    Settings settings = asked(256, {{"np", "4"}});
    EXPECT_EQ(reserved("qwen3-next-80b-a3b", settings),
              std::int64_t{4} * 36 * (3 * 8192 + 32 * 128 * 128) * 4 +
                  std::int64_t{12} * 256 * 2048);
    settings.sequences = 5;
    EXPECT_THAT(refusal(load_model("qwen3-next-80b-a3b"), settings),
                HasSubstr("expected at least --sequences 5, found 4"));
}

TEST(IkLlama, WhatItDoesNotHaveIsRefused) {
    EXPECT_THAT(refusal(load_model("llama-3-8b"), asked(8192, {{"fa", "off"}}, "q8_0", "q8_0")),
                HasSubstr("needs flash attention for a V that is not 16-bit"));
    EXPECT_THAT(refusal(load_model("llama-3-8b"), asked(8192, {}, "fp8_e4m3")),
                HasSubstr("no cache of type fp8_e4m3"));
    for (const char* name : {"deepseek-v4-flash", "llama-4-scout", "falcon-mamba-7b", "bart-large",
                             "gemma-3n-e4b", "minicpm3-4b"}) {
        EXPECT_THAT(refusal(load_model(name), asked(8192)),
                    HasSubstr("engine ik_llama: no rule for"))
            << name;
    }
}

} // namespace
} // namespace kvcaliper
