// SPDX-License-Identifier: Apache-2.0
// What MLX-LM's caches keep: KVCache.step 256, RotatingKVCache.max_size, and the models' own
// make_cache (mlx-lm 0.32.2). "Observed" means run on the CPU with mlx 0.32.4: a prompt in chunks
// of 2,048 tokens and one more, all arrays of the cache added up; of models, small ones of that
// type.
#include "core/engines/engine.h"
#include "tests/core/test_engines.h"

#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Settings asked(std::int64_t context, std::vector<EngineSetting> options = {}) {
    return asked_of("mlx", context, std::move(options));
}

Settings in_format(Settings settings, const char* format) {
    settings.k_format = settings.v_format = format;
    return settings;
}

TEST(Mlx, CachesGrowBySteps) {
    // Observed: 256, 256, 512 and, for 4,999 tokens, 5,120 rows.
    EXPECT_EQ(reserved("llama-3-8b", asked(1)), std::int64_t{256} * 131072);
    EXPECT_EQ(reserved("llama-3-8b", asked(256)), std::int64_t{256} * 131072);
    EXPECT_EQ(reserved("llama-3-8b", asked(257)), std::int64_t{512} * 131072);
    Settings settings = asked(257);
    settings.sequences = 3;
    EXPECT_EQ(reserved("llama-3-8b", settings), std::int64_t{3} * 512 * 131072);
}

TEST(Mlx, WindowsRotateInsideTheirRows) {
    // 52 layers of 1,024 tokens and 10 of all, 8,192 bytes per token.
    EXPECT_EQ(reserved("gemma-3-27b", asked(8192)), std::int64_t{52 * 1024 + 10 * 8192} * 8192);
    EXPECT_EQ(reserved("gemma-3-27b", asked(1000)), std::int64_t{62} * 1024 * 8192);
    // Uniform windows are not used: mistral is loaded as llama, phi3 makes no cache of its own.
    const Estimate mistral = estimate(load_model("mistral-7b-v0.1"), asked(8192));
    EXPECT_EQ(mistral.reserved->bytes().count(), std::int64_t{8192} * 131072);
    EXPECT_THAT(mistral.notes, Contains(HasSubstr("does not use the window")));
    EXPECT_THAT(estimate(load_model("mistral-7b-v0.3"), asked(8192)).notes,
                Not(Contains(HasSubstr("does not use the window"))));
    // Gemma 3n: layers that read another's cache get none: 4 full, 16 of 512 tokens.
    EXPECT_EQ(reserved("gemma-3n-e4b", asked(8192)), std::int64_t{4 * 8192 + 16 * 512} * 2048);
}

TEST(Mlx, ChunksAreCutBackBeforeEachStep) {
    // Observed of ChunkedKVCache(8192): 8,448 rows from 8,193 tokens on; 12 full layers.
    EXPECT_EQ(reserved("llama-4-scout", asked(16384)),
              std::int64_t{36 * (8192 + 256) + 12 * 16384} * 4096);
    EXPECT_EQ(reserved("llama-4-scout", asked(8192)), std::int64_t{48} * 8192 * 4096);
}

TEST(Mlx, LatentAttention) {
    EXPECT_EQ(reserved("deepseek-v3", asked(8192)), 575668224);
    // deepseek_v2.py repeats the rotary key and keeps K of 192 and V of 128 for 128 heads.
    EXPECT_EQ(reserved("deepseek-v2", asked(256)), std::int64_t{60} * 256 * 128 * (192 + 128) * 2);
    EXPECT_EQ(reserved("minicpm3-4b", asked(8192)), 6501171200); // rule catalogue, section 4
    // Observed of deepseek_v32: a second KVCache of index keys, its values as large and zero.
    EXPECT_EQ(reserved("deepseek-v3.2", asked(256)),
              std::int64_t{61} * 256 * (576 + 128 + 128) * 2);
}

TEST(Mlx, QuantisedFromAStartOn) {
    // Observed of to_quantized: 68 bytes for 64 values in 8 bits, 36 in 4, for every row there is.
    EXPECT_EQ(reserved("llama-3-8b", in_format(asked(8192), "mlx_8bit")),
              std::int64_t{8192} * 131072 * 68 / 128);
    EXPECT_EQ(reserved("llama-3-8b", in_format(asked(8192), "mlx_4bit")),
              std::int64_t{8192} * 131072 * 36 / 128);
    const Estimate before = estimate(load_model("llama-3-8b"), in_format(asked(4999), "mlx_8bit"));
    EXPECT_EQ(before.reserved->bytes().count(), std::int64_t{5120} * 131072);
    EXPECT_THAT(before.notes, Contains(HasSubstr("quantises a cache from 5,000 tokens on")));
    EXPECT_EQ(
        reserved("llama-3-8b", in_format(asked(4999, {{"quantized-kv-start", "1"}}), "mlx_8bit")),
        std::int64_t{5120} * 131072 * 68 / 128);
    EXPECT_THAT(refusal(load_model("gemma-3-27b"), in_format(asked(8192), "mlx_8bit")),
                HasSubstr("does not quantise caches of windows"));
    EXPECT_THAT(refusal(load_model("deepseek-v3"), in_format(asked(8192), "mlx_8bit")),
                HasSubstr("no rule for latent attention in mlx_8bit"));
}

TEST(Mlx, StatesAreFloat32WhereTheirStepIs) {
    // 36 layers of 3 × 8,192 bf16 and 32 × 128 × 128 float32 (observed), 12 of 2 × 256.
    EXPECT_EQ(reserved("qwen3-next-80b-a3b", asked(256)),
              std::int64_t{36} * (3 * 8192 * 2 + 32 * 128 * 128 * 4) +
                  std::int64_t{12} * 256 * 2048);
    // Observed of mamba and jamba: both arrays in bf16; 8,192 × (3 + 16) values of 64 layers.
    const Estimate mamba = estimate(load_model("falcon-mamba-7b"), asked(256));
    EXPECT_EQ(mamba.reserved->bytes().count(), std::int64_t{64} * 8192 * 19 * 2);
    EXPECT_THAT(mamba.notes, Contains(HasSubstr("states have the activations' type")));
}

TEST(Mlx, WhatHasNoRuleIsRefused) {
    for (const char* name :
         {"falcon-40b", "deepseek-v4-flash", "bart-large", "hunyuan-large", "recurrentgemma-2b"}) {
        EXPECT_THAT(refusal(load_model(name), asked(8192)), HasSubstr("engine mlx: no rule for"))
            << name;
    }
    Settings settings = asked(8192);
    settings.k_format = "mlx_8bit";
    EXPECT_THAT(refusal(load_model("llama-3-8b"), settings), HasSubstr("one type for K and V"));
    EXPECT_THAT(refusal(load_model("llama-3-8b"), in_format(asked(8192), "q8_0")),
                HasSubstr("no cache of type q8_0"));
}

} // namespace
} // namespace kvcaliper
