// SPDX-License-Identifier: Apache-2.0
#include "core/token_curve.h"

#include "core/catalog.h"
#include "core/device.h"
#include "tests/core/test_models.h"

namespace kvcaliper {
namespace {

constexpr Tokens one{1};

/// One layer with one component of `bytes` bytes (int8 elements) per unit.
LayerCache layer_of(const Units& units, std::int64_t bytes) {
    Component component;
    component.rows = 1;
    component.width = bytes;
    component.units = units;
    return {"test", {component}, {}, ""};
}

CacheSpec spec_of(std::vector<LayerCache> layers) {
    return {std::move(layers), std::nullopt};
}

/// A byte per element, whatever the class.
CacheFormats bytes_each() {
    const NumericFormat& byte = numeric_format("fp8_e4m3");
    return {&byte, &byte, &byte, &byte, &byte};
}

TokenCurve curve_of(std::vector<LayerCache> layers) {
    return TokenCurve(spec_of(std::move(layers)), bytes_each(), 1);
}

TokenCurve curve_of(const char* model, std::int64_t sequences = 1) {
    return TokenCurve(load_model(model)->spec, ideal_formats(), sequences);
}

constexpr Units per_token{Units::Kind::tokens, 0};
Units window(std::int64_t n) {
    return {Units::Kind::window, n};
}
Units groups(std::int64_t n) {
    return {Units::Kind::groups, n};
}
Units constant(std::int64_t n) {
    return {Units::Kind::constant, n};
}

TEST(TokenCurve, IsTheCacheOfEveryModelAtEveryCount) {
    for (const char* name : {"gpt2-xl", "gemma-3-27b", "deepseek-v3", "falcon-mamba-7b"}) {
        const ModelPtr model = load_model(name);
        const TokenCurve curve(model->spec, ideal_formats(), 3);
        for (const std::int64_t tokens : {1, 1023, 1024, 1025, 8192, 131072}) {
            EXPECT_EQ(curve.at(Tokens(tokens)), total(*model, tokens) * 3) << name << tokens;
        }
    }
}

TEST(TokenCurve, TheLastCountWithinACapacity) {
    // 131,072 B per token (Llama 3 8B: 32 layers × 2 × 8 × 128 × 2): 16 GiB is 131,072 tokens.
    const TokenCurve llama = curve_of("llama-3-8b");
    constexpr std::int64_t gib = std::int64_t{1} << 30;
    EXPECT_EQ(last_within(llama, Bytes(16 * gib), one, Tokens(1 << 20)), Tokens(131072));
    EXPECT_EQ(last_within(llama, Bytes(16 * gib - 1), one, Tokens(1 << 20)), Tokens(131071));
    EXPECT_EQ(last_within(llama, Bytes(16 * gib), one, Tokens(131072)), std::nullopt); // all fit
    EXPECT_EQ(last_within(llama, Bytes(100), one, Tokens(1 << 20)), std::nullopt);     // none does
    EXPECT_EQ(last_within(curve_of("falcon-mamba-7b"), Bytes(gib), one, Tokens(1 << 20)),
              std::nullopt); // it does not grow
}

TEST(TokenCurve, CrossingsAreExact) {
    // Falcon-Mamba's 36,700,160 B against 307,200 B per token of GPT-2 XL: 119.47 tokens.
    const auto gpt = crossings(curve_of("gpt2-xl"), curve_of("falcon-mamba-7b"), one, Tokens(8192));
    ASSERT_EQ(gpt.size(), 1U);
    EXPECT_EQ(gpt[0].tokens, Tokens(120));
    EXPECT_EQ(gpt[0].first, Bytes(120 * 307200));
    EXPECT_EQ(gpt[0].second, Bytes(36700160));
    // Against Llama 3 8B it is 280 exactly: there they are equal, and change places after it.
    const auto llama =
        crossings(curve_of("falcon-mamba-7b"), curve_of("llama-3-8b"), one, Tokens(8192));
    ASSERT_EQ(llama.size(), 1U);
    EXPECT_EQ(llama[0].tokens, Tokens(281));
}

TEST(TokenCurve, AWindowIsCrossedBehindItsKnee) {
    // Gemma 3 27B: 436,207,616 + 81,920 T past 1,024 tokens; Llama 3 8B: 131,072 T. They meet at
    // 436,207,616 / 49,152 = 8,874.67 tokens.
    const auto found =
        crossings(curve_of("gemma-3-27b"), curve_of("llama-3-8b"), one, Tokens(1 << 20));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].tokens, Tokens(8875));
}

TEST(TokenCurve, CurvesMayChangePlacesTwice) {
    // min(T,10)·30 + T against 100 + 15·T … by hand: 31 T > 100 + 15 T from T = 7 on;
    // 300 + T < 100 + 15 T from T = 15 on (14.29).
    const TokenCurve first = curve_of({layer_of(window(10), 30), layer_of(per_token, 1)});
    const TokenCurve second = curve_of({layer_of(constant(1), 100), layer_of(per_token, 15)});
    const auto found = crossings(first, second, one, Tokens(1000));
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].tokens, Tokens(7));
    EXPECT_EQ(found[1].tokens, Tokens(15));
}

TEST(TokenCurve, TouchingIsNoCrossing) {
    const TokenCurve full = curve_of({layer_of(per_token, 8)});
    EXPECT_TRUE(crossings(full, full, one, Tokens(1000)).empty());
    EXPECT_TRUE(crossings(full, curve_of({layer_of(window(64), 8)}), one, Tokens(1000)).empty());
    // 8·T against min(T,16)·4 + 64: equal at 16 tokens, more from there on.
    const TokenCurve other = curve_of({layer_of(window(16), 4), layer_of(constant(1), 64)});
    const auto found = crossings(full, other, one, Tokens(1000));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].tokens, Tokens(17));
}

TEST(TokenCurve, StepsAreLookedThrough) {
    // floor(T/4)·40 against 9·T + 20: along T = 4 k + r it is 40 k > 36 k + 9 r + 20, so k > 5,
    // 7.25, 9.5 and 11.75 for r = 0 … 3: the last count that is not past it is 4·11 + 3 = 47.
    const TokenCurve steps = curve_of({layer_of(groups(4), 40)});
    const TokenCurve line = curve_of({layer_of(per_token, 9), layer_of(constant(1), 20)});
    const auto found = crossings(steps, line, one, Tokens(1000));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].tokens, Tokens(48));
    for (std::int64_t tokens = 48; tokens <= 1000; ++tokens) {
        EXPECT_GT(steps.at(Tokens(tokens)), line.at(Tokens(tokens)));
    }
    EXPECT_LE(steps.at(Tokens(47)), line.at(Tokens(47)));
    EXPECT_THROW(curve_of({layer_of(groups(1 << 20), 40)}).period(), Error);
}

/// Every count asked one by one, where crossings() searches.
std::vector<Tokens> slow_crossings(const TokenCurve& first, const TokenCurve& second,
                                   std::int64_t to) {
    std::vector<Tokens> found;
    int before = 0;
    std::int64_t changed = 0;
    for (std::int64_t tokens = 1; tokens <= to; ++tokens) {
        const Bytes a = first.at(Tokens(tokens));
        const Bytes b = second.at(Tokens(tokens));
        const int order = a > b ? 1 : a < b ? -1 : 0;
        if (order != 0 && order != before) {
            if (before != 0) {
                found.emplace_back(tokens);
            }
            before = order;
            changed = tokens;
        }
    }
    EXPECT_GT(changed, 0);
    return found;
}

TEST(TokenCurve, SearchFindsWhatCountingFinds) {
    const char* const models[] = {"gpt2-xl", "llama-3-8b", "gemma-3-27b", "deepseek-v3",
                                  "falcon-mamba-7b"};
    for (const char* a : models) {
        for (const char* b : models) {
            if (std::string(a) == b) {
                continue;
            }
            const auto found = crossings(curve_of(a), curve_of(b), one, Tokens(20000));
            std::vector<Tokens> tokens;
            for (const Crossing& crossing : found) {
                tokens.push_back(crossing.tokens);
            }
            EXPECT_EQ(tokens, slow_crossings(curve_of(a), curve_of(b), 20000)) << a << " " << b;
        }
    }
}

} // namespace
} // namespace kvcaliper
