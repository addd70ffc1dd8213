// SPDX-License-Identifier: Apache-2.0
// What one of several ranks holds. Formats are bf16 unless a test says otherwise; sources stand
// beside the figures.
#include "core/parallelism.h"

#include "core/rank_estimate.h"
#include "tests/core/test_engines.h"

#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Parallelism tp(std::int64_t ranks) {
    return {ranks, 1, 1, 1};
}
constexpr Parallelism pp(std::int64_t ranks) {
    return {1, ranks, 1, 1};
}
constexpr Parallelism cp(std::int64_t ranks) {
    return {1, 1, ranks, 1};
}
constexpr Parallelism dp(std::int64_t ranks) {
    return {1, 1, 1, ranks};
}

Settings spread(const Parallelism& parallel, std::int64_t context = 8192) {
    Settings settings;
    settings.parallel = parallel;
    settings.context = Tokens(context);
    return settings;
}

RankEstimate rank_of(const ModelPtr& model, const Settings& settings) {
    return *estimate(model, settings).per_rank;
}

std::int64_t required(const ModelPtr& model, const Settings& settings) {
    return rank_of(model, settings).required.bytes().count();
}

std::int64_t required(const char* model, const Settings& settings) {
    return required(load_model(model), settings);
}

std::vector<std::pair<std::int64_t, std::int64_t>> pairs(const std::vector<StageLayers>& stages) {
    std::vector<std::pair<std::int64_t, std::int64_t>> list;
    for (const StageLayers& stage : stages) {
        list.emplace_back(stage.first, stage.last);
    }
    return list;
}

ModelPtr mamba2(const std::string& groups) {
    return model_of(R"({"model_type":"mamba2","num_hidden_layers":1,"hidden_size":256,"expand":2,
        "num_heads":16,"head_dim":32,"state_size":16,"conv_kernel":4,"n_groups":)" +
                    groups + "}");
}

// ---- the rules ---------------------------------------------------------------------------------

TEST(Parallelism, OneRankIsNoRank) {
    EXPECT_FALSE(estimate(load_model("gpt2"), Settings{}).per_rank.has_value());
    EXPECT_EQ((Parallelism{2, 3, 5, 7}.ranks()), 210);
    EXPECT_EQ(to_string(Parallelism{8, 1, 1, 2}), "TP 8, DP 2");
}

TEST(Parallelism, KeyAndValueHeadsAreDividedThenReplicated) {
    // 80 layers × K and V × 128 × 2 bytes: 8 KV heads, of which 16 ranks hold one each, twice.
    EXPECT_EQ(required("llama-3-70b", spread(tp(2), 1)), 163840);
    EXPECT_EQ(required("llama-3-70b", spread(tp(8), 1)), 40960);
    EXPECT_EQ(required("llama-3-70b", spread(tp(16), 1)), 40960);
    const RankEstimate rank = rank_of(load_model("llama-3-70b"), spread(tp(16), 1));
    EXPECT_EQ(rank.required_total, Bytes(16 * 40960));
    EXPECT_THAT(rank.notes, Contains(HasSubstr("fewer KV heads than tensor ranks")));
}

TEST(Parallelism, LatentsAreWholeOnEveryRank) {
    // DeepSeek-V3: 61 layers × 576 values × 2 bytes.
    EXPECT_EQ(required("deepseek-v3", spread(tp(8), 1)), 70272);
    // DeepSeek-V3.2 adds an index key of 128 values.
    EXPECT_EQ(required("deepseek-v3.2", spread(tp(8), 1)), 61 * (576 + 128) * 2);
    const RankEstimate rank = rank_of(load_model("deepseek-v3"), spread(tp(8), 1));
    EXPECT_THAT(rank.notes, Contains(HasSubstr("latents and index keys are whole")));
}

TEST(Parallelism, StatesAreDividedByHeadsOrChannels) {
    // Falcon-Mamba: 64 layers of 8,192 channels, 3 columns in bf16 and 16 values in fp32 each.
    EXPECT_EQ(required("falcon-mamba-7b", spread(tp(4))), 64 * 2048 * (3 * 2 + 16 * 4));
    // Qwen3-Next at 4: 36 layers of 4 key and 8 value heads of 128; 12 layers of one KV head of
    // 256.
    EXPECT_EQ(required("qwen3-next-80b-a3b", spread(tp(4))),
              36 * ((2 * 4 + 8) * 128 * 3 * 2 + 8 * 128 * 128 * 4) + 12 * 8192 * 2 * 256 * 2);
}

TEST(Parallelism, GroupsOfMamba2AreDividedOrOneOnEachRank) {
    // vLLM 0.22, extra_groups_for_head_shards: 1 group on 4 ranks becomes 4, 8 groups 2 each.
    const auto conv = [](std::int64_t groups) { return (128 + 2 * groups * 16) * 3 * 2; };
    const std::int64_t state = 4 * 32 * 16 * 4;
    EXPECT_EQ(required(mamba2("1"), spread(tp(4))), conv(1) + state);
    EXPECT_EQ(required(mamba2("8"), spread(tp(4))), conv(2) + state);
    EXPECT_EQ(required(mamba2("2"), spread(tp(4))), conv(1) + state);
    EXPECT_THAT(rank_of(mamba2("1"), spread(tp(4))).notes,
                Contains(HasSubstr("groups of mamba2 are replicated")));
}

TEST(Parallelism, WhatDoesNotDivideIsRefused) {
    const auto text = [](const char* model, const Parallelism& parallel) {
        return refusal(load_model(model), spread(parallel));
    };
    EXPECT_THAT(text("llama-3-8b", tp(3)), HasSubstr("a divisor of the 32 query heads, found 3"));
    EXPECT_THAT(text("gpt2-xl", tp(2)), HasSubstr("a divisor of the 25 query heads, found 2"));
    EXPECT_THAT(text("falcon-mamba-7b", tp(3)), HasSubstr("8192 channels of mamba1"));
    EXPECT_THAT(text("gpt2", pp(13)), HasSubstr("--pp: expected at most the model's 12 layers"));
    EXPECT_THAT(text("gpt2", dp(0)), HasSubstr("--dp: expected 1 to"));
    // 6 KV heads of 12 query heads on 4 ranks: neither divides the other.
    const auto six = model_of(R"({"model_type":"llama","num_hidden_layers":1,"hidden_size":768,
        "num_attention_heads":12,"num_key_value_heads":6})");
    EXPECT_THAT(refusal(six, spread(tp(4))),
                HasSubstr("a divisor or a multiple of the 6 KV heads"));
    EXPECT_EQ(required(six, spread(tp(12), 1)), 2 * 64 * 2);
}

TEST(Parallelism, LayersAreSplitLikeVllms) {
    // tests/distributed/test_pipeline_partition.py of vLLM 0.22.
    EXPECT_THAT(pairs(split_layers(3, 2)), ElementsAre(std::pair(0, 2), std::pair(2, 3)));
    EXPECT_THAT(pairs(split_layers(4, 3)),
                ElementsAre(std::pair(0, 1), std::pair(1, 3), std::pair(3, 4)));
    EXPECT_THAT(pairs(split_layers(5, 3)),
                ElementsAre(std::pair(0, 2), std::pair(2, 4), std::pair(4, 5)));
    EXPECT_THAT(pairs(split_layers(3, 3)),
                ElementsAre(std::pair(0, 1), std::pair(1, 2), std::pair(2, 3)));
}

TEST(Parallelism, TheFullestStageCounts) {
    // 61 layers on 2 stages: 31 and 30.
    const RankEstimate rank = rank_of(load_model("deepseek-v3"), spread(pp(2), 1));
    EXPECT_EQ(rank.required.bytes(), Bytes(31 * 1152));
    EXPECT_EQ(rank.required_total, Bytes(61 * 1152));
    EXPECT_EQ(rank.stage, 0);
    EXPECT_EQ(rank.layers.last, 31);
    // Gemma 4 31B, 60 layers with every sixth full: 5 full and 25 sliding ones on each stage.
    EXPECT_EQ(required("gemma-4-31b", spread(pp(2))), 1509949440 / 2);
}

TEST(Parallelism, LayersThatShareACacheStayTogether) {
    // Gemma 3n: layers 20 to 34 read layers 18 and 19; three stages of 12, 12 and 11 part them.
    EXPECT_THAT(refusal(load_model("gemma-3n-e4b"), spread(pp(3))),
                HasSubstr("reads the cache of layer 19, expected both on one stage"));
    EXPECT_EQ(rank_of(load_model("gemma-3n-e4b"), spread(pp(2))).required_total, Bytes(83886080));
}

TEST(Parallelism, SequencesAreDividedAmongCopies) {
    Settings settings = spread(dp(4), 1);
    settings.sequences = 6; // 2, 2, 1 and 1
    const RankEstimate rank = rank_of(load_model("llama-3-8b"), settings);
    EXPECT_EQ(rank.required.bytes(), Bytes(2 * 131072));
    EXPECT_EQ(rank.required_total, Bytes(6 * 131072));
    settings.sequences = 3; // one copy is idle
    EXPECT_EQ(rank_of(load_model("llama-3-8b"), settings).required_total, Bytes(3 * 131072));
}

TEST(Parallelism, ContextRanksDivideWhatGrowsByTheToken) {
    EXPECT_EQ(required("deepseek-v3", spread(cp(8))), 70272 * 1024);
    EXPECT_EQ(required("deepseek-v3", spread(cp(8), 8193)), 70272 * 1025); // rounded up
    // Gemma 3 27B: 10 layers of 8,192 bytes divided, 52 windows of 1,024 tokens on every rank.
    EXPECT_EQ(required("gemma-3-27b", spread(cp(4))), 8192 * (10 * 2048 + 52 * 1024));
    EXPECT_THAT(rank_of(load_model("gemma-3-27b"), spread(cp(4))).notes,
                Contains(HasSubstr("what does not grow by the token is whole on each")));
}

TEST(Parallelism, OnlyEstimatesKnowRanks) {
    EXPECT_THROW(curve(*load_model("gpt2"), spread(tp(2)), Tokens(1), Tokens(100), 3), Error);
}

// ---- engines -----------------------------------------------------------------------------------

Settings engine(const char* name, const Parallelism& parallel, std::int64_t context = 8192,
                std::vector<EngineSetting> options = {}) {
    Settings settings = asked_of(name, context, std::move(options));
    settings.parallel = parallel;
    return settings;
}

std::int64_t rank_reserved(const char* model, const Settings& settings) {
    return rank_of(load_model(model), settings).reserved->bytes().count();
}

TEST(Ranks, VllmKeepsALatentOnEveryRank) {
    const RankEstimate rank = rank_of(load_model("deepseek-v3"), engine("vllm", tp(8)));
    EXPECT_EQ(rank.reserved->bytes(), Bytes(8192 * 70272));
    EXPECT_EQ(*rank.reserved_total, Bytes(std::int64_t{8} * 8192 * 70272));
    EXPECT_EQ(rank_reserved("llama-3-70b", engine("vllm", tp(16))), 8192 * 40960);
}

TEST(Ranks, PublishedFigures) {
    // vllm-project/vllm issue 21348, Qwen3-235B-A22B on 4 GPUs: "Available KV cache memory:
    // 8.11 GiB", 178,880 tokens, which take 94 layers × 1 KV head × 2 × 128 × 2 bytes each.
    const std::int64_t tokens = rank_reserved("qwen3-235b-a22b", engine("vllm", tp(4), 178880));
    EXPECT_EQ(tokens, std::int64_t{94} * 512 * 178880);
    EXPECT_LE(tokens, 811 * (std::int64_t{1} << 30) / 100);
    // There, SGLang: 367,404 tokens, "K size: 8.23 GB", which are GiB.
    const std::int64_t both = required("qwen3-235b-a22b", spread(tp(4), 367404));
    EXPECT_EQ(format_decimal(Ratio(both / 2, std::int64_t{1} << 30), 2), "8.23");
}

TEST(Ranks, VllmBlocksOfDividedHybrids) {
    // Published startup logs of Qwen3.5-35B-A3B (the dimensions of Qwen3.6-35B-A3B) at TP 2 with
    // fp32 states: a state of 1,073,152 bytes, 1,024 bytes per token, "Setting attention block size
    // to 1056 tokens".
    const Estimate answer = estimate(load_model("qwen3.6-35b-a3b"), engine("vllm", tp(2)));
    EXPECT_THAT(
        answer.per_rank->notes,
        Contains(HasSubstr("to 1,056 tokens, so that its page holds a state of 1,073,152")));
    // Qwen3-Next: as many blocks of 544 tokens at TP 2, 272 where KV heads are replicated.
    const auto note = [](std::int64_t ranks) {
        return rank_of(load_model("qwen3-next-80b-a3b"), engine("vllm", tp(ranks))).notes;
    };
    EXPECT_THAT(note(2), Contains(HasSubstr("to 544 tokens")));
    EXPECT_THAT(note(4), Contains(HasSubstr("to 272 tokens")));
}

TEST(Ranks, VllmGroupsAreThoseOfTheWholeModel) {
    // Gemma 3 27B on 2 stages: groups of 10 full layers and 6 times 8 or 9 sliding ones, taken in
    // turn; stage 0 holds layers 0 to 30, five full ones and 26 sliding ones, five at most of each
    // group. 512 + 6 × 513 blocks of 5 slots, pages of 131,072 bytes.
    const RankEstimate rank = rank_of(load_model("gemma-3-27b"), engine("vllm", pp(2)));
    EXPECT_EQ(rank.reserved->bytes(), Bytes(std::int64_t{5} * 131072 * (512 + 6 * 513)));
    EXPECT_EQ(*rank.reserved_total, Bytes(4705484800));
}

TEST(Ranks, VllmContextRanks) {
    // kv_cache_interface.py: ceil(8,192 / 8) tokens, in blocks of 16, on every rank.
    const auto shared = [](const char* ranks) {
        return std::vector<EngineSetting>{{"decode-context-parallel-size", ranks}};
    };
    EXPECT_EQ(rank_reserved("deepseek-v3", engine("vllm", tp(8), 8192, shared("8"))), 1024 * 70272);
    EXPECT_EQ(rank_reserved("deepseek-v3", engine("vllm", tp(8), 8193, shared("8"))), 1040 * 70272);
    EXPECT_EQ(rank_reserved("deepseek-v3", engine("vllm", cp(8))), 1024 * 70272);
    EXPECT_EQ(rank_reserved("llama-3-70b", engine("vllm", tp(16), 8192, shared("2"))),
              4096 * 40960);
    const auto text = [&](const char* model, std::int64_t ranks, const char* option) {
        return refusal(load_model(model), engine("vllm", tp(ranks), 8192, shared(option)));
    };
    EXPECT_THAT(text("deepseek-v3", 8, "3"), HasSubstr("a divisor of --tp 8, found 3"));
    EXPECT_THAT(text("deepseek-v3", 1, "2"), HasSubstr("a divisor of --tp 1, found 2"));
    EXPECT_THAT(text("llama-3-70b", 8, "2"), HasSubstr("at most the replicas of 8 KV heads"));
    EXPECT_THAT(text("llama-3-70b", 16, "4"), HasSubstr("at most the replicas of 8 KV heads"));
    EXPECT_THAT(refusal(load_model("gemma-3-27b"), engine("vllm", cp(2))),
                HasSubstr("does not divide the tokens of windows"));
    EXPECT_THAT(refusal(load_model("qwen3-next-80b-a3b"), engine("vllm", cp(2))),
                HasSubstr("models of one group of layers alone"));
}

TEST(Ranks, LlamaCppSplitsLayersOverDevices) {
    // xorbitsai/inference issue 1202, Qwen1.5-72B on two RTX 3090 at 32,768 tokens: "allocating
    // 41984.00 MiB on device 0": 41 of 80 layers, the output being an 81st on device 1.
    const RankEstimate rank = rank_of(load_model("qwen1.5-72b"), engine("llama_cpp", pp(2), 32768));
    EXPECT_EQ(rank.reserved->bytes(), Bytes(std::int64_t{41984} << 20));
    EXPECT_EQ(rank.layers.last, 41);
    EXPECT_EQ(*rank.reserved_total, Bytes(std::int64_t{80} << 30));
    // Layers may read a cache on another device.
    EXPECT_GT(rank_reserved("gemma-3n-e4b", engine("llama_cpp", pp(3))), 0);
    EXPECT_THAT(refusal(load_model("llama-3-8b"), engine("llama_cpp", tp(2))),
                HasSubstr("engine llama_cpp: no rule for --tp 2 yet"));
}

// ---- properties --------------------------------------------------------------------------------

/// Nothing where the model or the engine refuses.
std::optional<RankEstimate> try_rank(const ModelPtr& model, const Settings& settings) {
    try {
        return estimate(model, settings).per_rank;
    } catch (const Error&) {
        return std::nullopt;
    }
}

/// Twice the ranks of one way never hold more on the fullest, and all of them never less than the
/// whole. Stages are left out of the first: of a model with several kinds of layers three stages
/// may put more of the heavy ones together than two.
void check_doubling(const ModelPtr& model, const char* engine_name, Parallelism parallel,
                    std::int64_t Parallelism::*way) {
    const std::string& name = model->plan.name;
    std::optional<RankEstimate> before;
    Settings settings = engine(engine_name, parallel, 5000);
    settings.sequences = 3;
    const Bytes whole = cache_bytes(model->spec, ideal_formats(), Tokens(5000)).bytes() * 3;
    for (std::int64_t ranks = 2; ranks <= 16; ranks *= 2) {
        settings.parallel.*way = ranks;
        const auto now = try_rank(model, settings);
        if (!now) {
            return;
        }
        EXPECT_GE(now->required_total, whole) << name << " " << to_string(settings.parallel);
        if (before) {
            EXPECT_LE(now->required.bytes(), before->required.bytes())
                << name << " " << to_string(settings.parallel);
        }
        before = now;
    }
}

TEST(Ranks, MoreRanksNeverHoldMoreAndTogetherNeverLess) {
    int models = 0;
    for (const CatalogEntry& entry : bundled_models()) {
        const ModelPtr model = load_model(entry.path);
        for (const auto way : {&Parallelism::tensor, &Parallelism::context, &Parallelism::data}) {
            check_doubling(model, "ideal", pp(2), way);
        }
        check_doubling(model, "ideal", {}, &Parallelism::tensor);
        check_doubling(model, "vllm", {}, &Parallelism::tensor);
        ++models;
    }
    EXPECT_GT(models, 80);
}

} // namespace
} // namespace kvcaliper
