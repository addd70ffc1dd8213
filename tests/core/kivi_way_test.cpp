// SPDX-License-Identifier: Apache-2.0
// A cache that shrinks whenever a group of K is packed: the most on the way, and whoever counts it.
// Figures by hand, as in kivi_test.cpp.
#include "core/fit.h"
#include "core/prefix.h"
#include "core/token_curve.h"
#include "tests/core/kivi_formats.h"

#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

// ---- the most on the way -----------------------------------------------------------------------

TEST(Kivi, TheFullestContextIsRightBeforeAGroupIsPacked) {
    EXPECT_EQ(fullest_context(kivi(), Tokens(8192)), Tokens(8191));
    EXPECT_EQ(fullest_context(kivi(), Tokens(8191)), Tokens(8191));
    EXPECT_EQ(fullest_context(kivi(), Tokens(8190)), Tokens(8063));
    EXPECT_EQ(fullest_context(kivi(), Tokens(126)), Tokens(126)); // K has not packed any
    EXPECT_EQ(fullest_context(kivi("f16", "kivi_2bit"), Tokens(8192)), Tokens(8192));
    EXPECT_EQ(fullest_context(ideal_formats(), Tokens(8192)), Tokens(8192));
}

TEST(Kivi, AnEstimateSaysWhereItWasLarger) {
    const auto notes = [](std::int64_t context) {
        Settings settings = settings_of("kivi_2bit", "kivi_2bit", context);
        settings.sequences = 2;
        return estimate(load_model("llama-3-8b"), settings).notes;
    };
    EXPECT_THAT(notes(8192),
                Contains("K keeps up to 127 recent tokens in f16: the most on the way to 8,192 "
                         "tokens is 410 MiB (429,760,512 B) at 8,191"));
    EXPECT_THAT(notes(8191), testing::Not(Contains(HasSubstr("on the way"))));
    EXPECT_THAT(notes(100), testing::Not(Contains(HasSubstr("on the way"))));
}

/// The curve of Llama 3 8B, and its greatest bytes up to every count, one by one.
struct Counted {
    TokenCurve curve{load_model("llama-3-8b")->spec, kivi(), 1};
    std::vector<Bytes> most{Bytes(0)};

    explicit Counted(std::int64_t to) {
        for (std::int64_t tokens = 1; tokens <= to; ++tokens) {
            most.push_back(std::max(most.back(), curve.at(Tokens(tokens))));
        }
    }
};

TEST(KiviCurve, IsTheCacheAndKnowsItsMost) {
    const Counted counted(3000);
    for (std::int64_t tokens = 1; tokens <= 3000; ++tokens) {
        ASSERT_EQ(counted.curve.most_until(Tokens(tokens)),
                  counted.most[static_cast<std::size_t>(tokens)])
            << tokens;
    }
    for (const std::int64_t tokens : {1, 127, 128, 129, 200, 8191, 8192}) {
        EXPECT_EQ(counted.curve.at(Tokens(tokens)), llama(tokens));
    }
    EXPECT_THAT(counted.curve.bends(), ElementsAre(Tokens(128)));
    EXPECT_EQ(counted.curve.period(), 128);
}

TEST(KiviCurve, TheLastCountThatNeverExceededACapacity) {
    // What 8,192 tokens take is exceeded before: K's residual of the 63rd group fills.
    const TokenCurve curve(load_model("llama-3-8b")->spec, kivi(), 1);
    // 8,192 + 86: a token adds 2,048 B of K and 384 B of V in 32 layers, and 6,737,920 / 77,824 is
    // 86.6.
    EXPECT_EQ(last_within(curve, Bytes(214'880'256), Tokens(1), Tokens(1 << 20)), Tokens(8278));
    EXPECT_EQ(last_within(curve, Bytes(214'880'255), Tokens(1), Tokens(1 << 20)), Tokens(8190));
    const Counted counted(3000);
    for (const std::int64_t capacity : {9'961'472, 16'646'144, 30'000'000, 60'000'000}) {
        const auto last = last_within(curve, Bytes(capacity), Tokens(1), Tokens(3000));
        ASSERT_TRUE(last);
        const auto at = static_cast<std::size_t>(last->count());
        EXPECT_LE(counted.most[at], Bytes(capacity));
        EXPECT_GT(counted.most[at + 1], Bytes(capacity));
    }
}

TEST(KiviCurve, CrossesWhereTheOtherIsLeftForGood) {
    // Falcon-Mamba's 36,700,160 B: the last count at which KIVI takes no more is looked for one by
    // one.
    const TokenCurve packed(load_model("llama-3-8b")->spec, kivi(), 1);
    const TokenCurve state(load_model("falcon-mamba-7b")->spec, ideal_formats(), 1);
    std::int64_t last = 0;
    for (std::int64_t tokens = 1; tokens <= 20'000; ++tokens) {
        last = packed.at(Tokens(tokens)) <= Bytes(36'700'160) ? tokens : last;
    }
    const auto found = crossings(packed, state, Tokens(1), Tokens(20'000));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].tokens, Tokens(last + 1));
    EXPECT_GT(last, 128);
}

// ---- shared prefixes ---------------------------------------------------------------------------

Bytes shared(std::int64_t context, std::int64_t prefix, std::int64_t sequences) {
    return shared_prefix_bytes(load_model("llama-3-8b")->spec, kivi(), Tokens(context),
                               Tokens(prefix), sequences)
        .bytes();
}

TEST(KiviPrefix, PackedTokensAreSharedRecentOnesAreNot) {
    // A layer: 32 groups of K and 4,096 tokens of V once; 32 groups, 3,968 tokens and the residual
    // of V for each.
    const std::int64_t once = 32 * (32 * 49'152LL + 4096 * 384);
    const std::int64_t each = 32 * (32 * 49'152LL + 3968 * 384 + 262'144);
    EXPECT_EQ(shared(8192, 4096, 3), Bytes(once + 3 * each));
    // Nothing but the prefix: of V what is older than 128 tokens.
    EXPECT_EQ(shared(8192, 8192, 3), Bytes(32 * (64 * 49'152LL + 8064 * 384 + 3 * 262'144)));
    // 4,100 of 4,164 tokens: 4 tokens of K and 64 of V of the prefix wait in each sequence.
    EXPECT_EQ(shared(4164, 4100, 5),
              Bytes(32 * (32 * 49'152LL + 4036 * 384 + 5 * (68 * 2048 + 262'144))));
    EXPECT_EQ(shared(100, 60, 2), llama(100) * 2); // all of it is recent
}

TEST(KiviPrefix, OneSequenceSharesNothing) {
    for (const std::int64_t context : {1, 127, 128, 200, 1000, 8191, 8192}) {
        for (const std::int64_t prefix : {0, 1, 127, 128, 129, 1000, 8000}) {
            if (prefix <= context) {
                EXPECT_EQ(shared(context, prefix, 1), llama(context)) << context << " " << prefix;
            }
        }
    }
}

TEST(KiviPrefix, SequencesFitOnTheWayToo) {
    // At 8,191 tokens a sequence behind a prefix of 4,096 keeps 31 groups and 127 tokens of K,
    // 3,967 and 128 of V: more than at 8,192.
    const std::int64_t once = 32 * (32 * 49'152LL + 4096 * 384);
    const std::int64_t each = 32 * (31 * 49'152LL + 127 * 2048 + 3967 * 384 + 262'144);
    const auto most = [&](std::int64_t bytes) {
        return sequences_in(load_model("llama-3-8b")->spec, kivi(), Tokens(8192), Tokens(4096),
                            bytes);
    };
    EXPECT_EQ(most(once + 4 * each), 4);
    EXPECT_EQ(most(once + 4 * each - 1), 3);
}

// ---- budgets -----------------------------------------------------------------------------------

Deployment deployment_of(std::int64_t memory, std::int64_t context = 8192) {
    Deployment deployment;
    deployment.model = load_model("llama-3-8b");
    deployment.settings = settings_of("kivi_2bit", "kivi_2bit", context);
    deployment.device.name = "test";
    deployment.device.display_name = "test";
    deployment.device.vendor = "NVIDIA";
    deployment.device.memory = Bytes(memory);
    deployment.device.usable = Bytes(memory);
    deployment.weights.total = {"weights", {{"given", {{"bytes", 0}}}}};
    return deployment;
}

TEST(KiviBudget, CountsTheMostOnTheWay) {
    Deployment deployment = deployment_of(std::int64_t{1} << 30);
    const Budget budget = make_budget(deployment);
    EXPECT_EQ(budget.cache.bytes(), Bytes(214'880'256));
    EXPECT_EQ(budget.estimate.required.bytes(), Bytes(208'142'336));
    EXPECT_EQ(cache_on_device(deployment).bytes(), Bytes(214'880'256));
    EXPECT_THAT(budget.notes, Contains("the cache is counted at 8,191 tokens, where kivi_2bit "
                                       "takes the most on the way to 8,192"));
    // The estimate's own note knows no device.
    EXPECT_THAT(budget.estimate.notes, testing::Not(Contains(HasSubstr("on the way"))));
    EXPECT_EQ(most_sequences(deployment), 4); // five would end with 992 MiB, after 1,024.6
    deployment.settings.parallel.tensor = 4;
    EXPECT_EQ(make_budget(deployment).cache.bytes(), Bytes(214'880'256 / 4));
    deployment.settings.parallel = {};
    deployment.shared_prefix = Tokens(8192);
    EXPECT_EQ(make_budget(deployment).cache.bytes(), Bytes(214'880'256));
}

TEST(KiviBudget, TheLongestContextIsReachedWithoutRunningOut) {
    EXPECT_EQ(longest_context(deployment_of(214'880'255)), Tokens(8190));
    const Counted counted(3000);
    for (const std::int64_t memory : {9'961'472, 20'000'000, 40'000'000, 60'000'000}) {
        const auto longest =
            static_cast<std::size_t>(longest_context(deployment_of(memory)).count());
        ASSERT_LT(longest, 3000U);
        EXPECT_LE(counted.most[longest], Bytes(memory));
        EXPECT_GT(counted.most[longest + 1], Bytes(memory));
    }
}

TEST(KiviBudget, NothingIsSaidWhereTheContextIsTheMost) {
    EXPECT_THAT(make_budget(deployment_of(std::int64_t{1} << 30, 8191)).notes,
                testing::Not(Contains(HasSubstr("on the way"))));
}

} // namespace
} // namespace kvcaliper
