// SPDX-License-Identifier: Apache-2.0
// Shared prompts and cartridges. Figures by hand from the models' bytes per token.
#include "core/catalog.h"
#include "core/error.h"
#include "core/prefix.h"

#include <gtest/gtest.h>

namespace kvcaliper {
namespace {

Bytes shared(const std::string& model, std::int64_t context, std::int64_t prefix,
             std::int64_t sequences) {
    return shared_prefix_bytes(load_model(model)->spec, ideal_formats(), Tokens(context),
                               Tokens(prefix), sequences)
        .bytes();
}

TEST(SharedPrefix, FullAttentionKeepsItOnce) {
    // Llama 3 8B: 131,072 B a token. 1,000 tokens once, 10 × 200 of their own.
    EXPECT_EQ(shared("llama-3-8b", 1200, 1000, 10), Bytes((1000 + 10 * 200) * 131'072LL));
}

TEST(SharedPrefix, NothingSharedIsWhatSequencesKeep) {
    for (const char* name : {"llama-3-8b", "gemma-3-27b", "deepseek-v3", "falcon-mamba-7b",
                             "qwen3-next-80b-a3b", "deepseek-v4-flash", "llama-4-scout"}) {
        const ModelPtr model = load_model(name);
        const Bytes one = cache_bytes(model->spec, ideal_formats(), Tokens(5000)).bytes();
        EXPECT_EQ(shared(name, 5000, 0, 7), one * 7) << name;
    }
}

TEST(SharedPrefix, AWindowReadsWhatStillLiesInThePrefix) {
    // Gemma 3 27B: 52 sliding layers of 8,192 B a token and window 1,024, 10 full ones. At 3,000
    // tokens the window begins at 1,976: 24 of its rows lie in a prefix of 2,000, whose own last
    // 1,024 rows stay for the next sequence.
    const std::int64_t sliding = 52 * 8192LL * (1024 + 4 * (1024 - 24));
    const std::int64_t full = 10 * 8192LL * (2000 + 4 * 1000);
    EXPECT_EQ(shared("gemma-3-27b", 3000, 2000, 4), Bytes(sliding + full));
}

TEST(SharedPrefix, StatesAreEachSequencesOwn) {
    EXPECT_EQ(shared("falcon-mamba-7b", 4096, 4000, 3), Bytes(3 * 36'700'160LL));
}

TEST(SharedPrefix, LongerThanTheContextIsRefused) {
    EXPECT_THROW(shared("llama-3-8b", 100, 101, 1), Error);
}

TEST(Cartridge, SlotsTakeTheModelsBytesPerToken) {
    // The LongHealth recipe's 2,048 slots on Llama 3.2 3B: 2,048 × 112 KiB = 224 MiB
    // (catalogue section 7).
    const ModelPtr model = load_model("llama-3.2-3b");
    const CartridgeQuestion question{Tokens(2048), Tokens(131'072), Tokens(1024),
                                     Tokens(100'000'000)};
    const CartridgeAnswer answer =
        answer_cartridge(model->spec, ideal_formats(), question, 8, 32LL << 30);
    constexpr std::int64_t per_token = 114'688;
    EXPECT_EQ(answer.slots.bytes(), Bytes(224LL << 20));
    EXPECT_EQ(answer.document.bytes(), Bytes(131'072 * per_token));
    EXPECT_EQ(answer.repeated.bytes.bytes(), Bytes(8 * (131'072 + 1024) * per_token));
    EXPECT_EQ(answer.shared.bytes.bytes(), Bytes((131'072 + 8 * 1024) * per_token));
    EXPECT_EQ(answer.cartridges.bytes.bytes(), Bytes((2048 + 8 * 1024) * per_token));
    // 32 GiB hold 299,593 tokens: 2 of 132,096; 164 of 1,024 behind 131,072; 290 behind 2,048.
    EXPECT_EQ(answer.repeated.most_sequences, 2);
    EXPECT_EQ(answer.shared.most_sequences, 164);
    EXPECT_EQ(answer.cartridges.most_sequences, 290);
    EXPECT_EQ(answer.break_even_queries, 2289); // 300,000,000 / 131,072 = 2,288.8
}

TEST(Cartridge, WithoutATrainingCostNothingIsPaidBack) {
    const ModelPtr model = load_model("llama-3.2-3b");
    EXPECT_FALSE(answer_cartridge(model->spec, ideal_formats(),
                                  {Tokens(512), Tokens(8192), Tokens(1), {}}, 1, 1 << 30)
                     .break_even_queries);
}

} // namespace
} // namespace kvcaliper
