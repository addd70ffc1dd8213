// SPDX-License-Identifier: Apache-2.0
// Budgets and their inverse. Figures by hand: what a device has, less weights, over bytes a token.
#include "core/catalog.h"
#include "core/engines/engine.h"
#include "core/error.h"
#include "core/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace kvcaliper {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t gib = std::int64_t{1} << 30;

Device device_of(std::int64_t bytes, const std::string& vendor = "NVIDIA") {
    Device device;
    device.name = "test";
    device.display_name = "test";
    device.vendor = vendor;
    device.memory = Bytes(bytes);
    device.usable = Bytes(bytes);
    return device;
}

Weights weights_of_bytes(std::int64_t bytes) {
    Weights weights;
    weights.total = {"weights", {{"given", {{"bytes", bytes}}}}};
    return weights;
}

Deployment deployment_of(const std::string& model, std::int64_t memory, std::int64_t weights) {
    Deployment deployment;
    deployment.model = load_model(model);
    deployment.device = device_of(memory);
    deployment.weights = weights_of_bytes(weights);
    return deployment;
}

/// 8,030,261,248 parameters (the model's card) in 2 bytes.
constexpr std::int64_t llama_3_8b_weights = 16'060'522'496;

TEST(Budget, LeavesWhatTheWeightsDoNotTake) {
    const Deployment deployment = deployment_of("llama-3-8b", 24 * gib, llama_3_8b_weights);
    const Budget budget = make_budget(deployment);
    EXPECT_EQ(budget.left_for_cache(), 9'709'281'280);
    EXPECT_EQ(budget.headroom(), 9'709'281'280 - 8192 * 131'072LL);
    EXPECT_TRUE(budget.fits());
}

TEST(Budget, VllmTakesItsShareAndAWorkspaceIsAssumed) {
    Deployment deployment = deployment_of("llama-3-8b", 80 * gib, llama_3_8b_weights);
    deployment.settings.engine = "vllm";
    deployment.utilization = Ratio(9, 10);
    const Budget budget = make_budget(deployment);
    EXPECT_EQ(budget.usable.bytes(), Bytes(72 * gib));
    EXPECT_EQ(budget.workspace.bytes(), Bytes(3125LL << 20));
    EXPECT_THAT(budget.notes, testing::Contains(HasSubstr("workspace is assumed: 3.05 GiB")));
    deployment.workspace = Bytes(gib);
    EXPECT_EQ(make_budget(deployment).workspace.bytes(), Bytes(gib));
}

TEST(Budget, LlamaCppLeavesItsFitTargetFree) {
    // common/common.h: fit_params_target is 1,024 MiB for every device.
    Deployment deployment = deployment_of("llama-3-8b", 24 * gib, llama_3_8b_weights);
    deployment.settings.engine = "llama_cpp";
    EXPECT_EQ(make_budget(deployment).usable.bytes(), Bytes(23 * gib));
}

TEST(Budget, WeightsAreDividedByRanksAndTheFullestStageCounts) {
    // 32 layers over 3 stages: the fullest has 11; over 2 tensor ranks half of that.
    Deployment deployment = deployment_of("llama-3-8b", 24 * gib, 3200);
    deployment.settings.parallel.pipeline = 3;
    deployment.settings.parallel.tensor = 2;
    EXPECT_EQ(make_budget(deployment).weights.bytes(), Bytes(550));
    deployment.weights.uncertainty_permille = 100;
    EXPECT_EQ(make_budget(deployment).weights.bytes(), Bytes(605));
}

TEST(Budget, ASharedPrefixIsDividedLikeTheRest) {
    Deployment deployment = deployment_of("llama-3-8b", 24 * gib, 0);
    deployment.settings.context = Tokens(1200);
    deployment.settings.sequences = 10;
    deployment.shared_prefix = Tokens(1000);
    EXPECT_EQ(make_budget(deployment).cache.bytes(), Bytes(3000 * 131'072LL));
    deployment.settings.parallel.tensor = 4;
    EXPECT_EQ(make_budget(deployment).cache.bytes(), Bytes(3000 * 131'072LL / 4));
    deployment.settings.parallel.data = 2;
    EXPECT_EQ(make_budget(deployment).cache.bytes(), Bytes(2000 * 131'072LL / 4));
    deployment.settings.engine = "vllm";
    EXPECT_THROW(make_budget(deployment), Error);
}

TEST(Solve, LlamaOn24GiB) {
    const Deployment deployment = deployment_of("llama-3-8b", 24 * gib, llama_3_8b_weights);
    EXPECT_EQ(most_sequences(deployment), 9);               // 9,709,281,280 / 1,073,741,824
    EXPECT_EQ(longest_context(deployment), Tokens(74'075)); // 9,709,281,280 / 131,072
    EXPECT_TRUE(suggestions(deployment).empty());
}

TEST(Solve, AStateFitsAtAnyContext) {
    // Falcon-Mamba 7B keeps 36,700,160 B of a sequence, at any length.
    const Deployment deployment = deployment_of("falcon-mamba-7b", gib, 0);
    EXPECT_EQ(longest_context(deployment), any_context);
    EXPECT_EQ(most_sequences(deployment), gib / 36'700'160);
}

TEST(Solve, AWindowStopsGrowing) {
    // Mistral 7B v0.1: every layer's window is 4,096; 131,072 B a token, 512 MiB full.
    const Deployment deployment = deployment_of("mistral-7b-v0.1", gib, 0);
    EXPECT_EQ(longest_context(deployment), any_context);
}

TEST(Solve, NothingFitsBesideWeightsThatDoNot) {
    const Deployment deployment = deployment_of("llama-3-8b", 8 * gib, llama_3_8b_weights);
    EXPECT_EQ(most_sequences(deployment), 0);
    EXPECT_EQ(longest_context(deployment), Tokens(0));
    EXPECT_LT(make_budget(deployment).left_for_cache(), 0);
}

TEST(Solve, SuggestsTheCheapestFirst) {
    // 128 KiB a token × 8,192 × 16 = 16 GiB beside 15 GiB of weights on 24 GiB.
    Deployment deployment = deployment_of("llama-3-8b", 24 * gib, 15 * gib);
    deployment.settings.sequences = 16;
    const auto list = suggestions(deployment);
    ASSERT_GE(list.size(), 4U);
    EXPECT_EQ(list[0].option, "--kv fp8_e4m3"); // 8 GiB
    EXPECT_EQ(list[0].headroom, gib);
    const auto has = [&](const std::string& option) {
        return std::any_of(list.begin(), list.end(),
                           [&](const Suggestion& one) { return one.option == option; });
    };
    EXPECT_TRUE(has("-n 9"));
    EXPECT_TRUE(has("-c 4608")); // 9 GiB / (16 × 128 KiB)
    EXPECT_TRUE(has("--tp 2"));
    for (const Suggestion& one : list) {
        EXPECT_GE(one.headroom, 0) << one.option;
    }
}

TEST(Solve, MetalWantsEqualTypes) {
    // Catalogue section 7: Qwen2.5-72B at 32,768: q8_0/q4_0 4.0625 GiB, q8_0/q8_0 5.3125 GiB.
    Deployment deployment = deployment_of("qwen2.5-72b", 96 * gib, 0);
    deployment.device.vendor = "Apple";
    deployment.settings.context = Tokens(32'768);
    deployment.settings.k_format = "q8_0";
    deployment.settings.v_format = "q4_0";
    const Budget budget = make_budget(deployment);
    EXPECT_EQ(budget.cache.bytes(), Bytes(65 * gib / 16));
    EXPECT_THAT(budget.notes, testing::Contains(HasSubstr("leaves the GPU")));
    const auto instead = equal_types_on_metal(deployment);
    ASSERT_TRUE(instead);
    EXPECT_EQ(instead->option, "--kv q8_0");
    EXPECT_EQ(instead->headroom, 96 * gib - 85 * gib / 16);
    deployment.device.vendor = "NVIDIA";
    EXPECT_FALSE(equal_types_on_metal(deployment));
}

TEST(Solve, NaiveIsEveryHeadOfEveryLayer) {
    // Qwen2.5-72B: 2 × 80 × 64 × 128 × 2 = 2,560 KiB, the multi-head figure (catalogue section 7).
    EXPECT_EQ(naive_bytes_per_token(load_model("qwen2.5-72b")->plan)->value(), Ratio(2560 * 1024));
    EXPECT_FALSE(naive_bytes_per_token(load_model("falcon-mamba-7b")->plan));
}

// ---- the answer fits, and one more does not
// ------------------------------------------------------

struct RandomCase {
    Deployment deployment;
    std::string text;
};

RandomCase random_case(std::mt19937& random, const std::vector<CatalogEntry>& models) {
    const auto below = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    const CatalogEntry& entry = models[below(models.size())];
    const auto memory = static_cast<std::int64_t>(8 + below(300)) * gib;
    RandomCase one{deployment_of(entry.name, memory, memory / 4), {}};
    Settings& settings = one.deployment.settings;
    settings.engine = engines()[below(engines().size())].name;
    settings.context = Tokens(static_cast<std::int64_t>(1 + below(200'000)));
    settings.sequences = static_cast<std::int64_t>(1 + below(40));
    settings.parallel.tensor = std::int64_t{1} << below(3);
    one.deployment.workspace = Bytes(gib);
    one.text = entry.name + " on " + format_bytes(Bytes(memory)) + ", " + settings.engine +
               ", -c " + std::to_string(settings.context.count()) + " -n " +
               std::to_string(settings.sequences) + " --tp " +
               std::to_string(settings.parallel.tensor);
    return one;
}

bool fits_at(Deployment deployment, std::int64_t sequences, Tokens context) {
    deployment.settings.sequences = sequences;
    deployment.settings.context = context;
    return make_budget(deployment).fits();
}

void expect_edge(const Deployment& deployment) {
    const Tokens context = deployment.settings.context;
    const std::int64_t sequences = deployment.settings.sequences;
    if (const std::int64_t most = most_sequences(deployment); most < any_sequences) {
        EXPECT_TRUE(most == 0 || fits_at(deployment, most, context));
        EXPECT_FALSE(fits_at(deployment, most + 1, context));
    }
    if (const Tokens longest = longest_context(deployment); longest < any_context) {
        EXPECT_TRUE(longest == Tokens(0) || fits_at(deployment, sequences, longest));
        EXPECT_FALSE(fits_at(deployment, sequences, longest + Tokens(1)));
    }
}

TEST(Solve, TheAnswerFitsAndOneMoreDoesNot) {
    std::mt19937 random(20'261'129);
    const auto models = bundled_models();
    int answered = 0;
    for (int i = 0; i < 150; ++i) {
        const RandomCase one = random_case(random, models);
        SCOPED_TRACE(one.text);
        try {
            make_budget(one.deployment);
        } catch (const Error&) {
            continue; // this engine refuses this model or these ranks
        }
        expect_edge(one.deployment);
        ++answered;
    }
    EXPECT_GT(answered, 60);
}

// ---- commands to paste
// ---------------------------------------------------------------------------

const EngineCommand& command_of(const std::vector<EngineCommand>& commands,
                                const std::string& engine) {
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&](const auto& command) { return command.engine == engine; });
    EXPECT_NE(found, commands.end()) << engine;
    return *found;
}

TEST(EngineCommands, SpeakEachEnginesLanguage) {
    Deployment deployment = deployment_of("llama-3.3-70b", 80 * gib, 70 * gib);
    deployment.settings.context = Tokens(32'768);
    deployment.settings.sequences = 4;
    deployment.settings.parallel.tensor = 2;
    deployment.settings.k_format = deployment.settings.v_format = "fp8_e4m3";
    const auto commands = engine_commands(deployment);
    EXPECT_EQ(command_of(commands, "vLLM").command,
              "vllm serve MODEL --max-model-len 32768 --max-num-seqs 4 --tensor-parallel-size 2 "
              "--kv-cache-dtype fp8");
    EXPECT_THAT(command_of(commands, "SGLang").command,
                HasSubstr("--context-length 32768 --max-running-requests 4 --tp-size 2 "
                          "--kv-cache-dtype fp8_e4m3"));
    EXPECT_EQ(command_of(commands, "llama.cpp").command, "");
    EXPECT_THAT(command_of(commands, "llama.cpp").problem, HasSubstr("fp8_e4m3"));
    EXPECT_THAT(command_of(commands, "TensorRT-LLM").command, HasSubstr("--tp_size 2"));
}

// Under the engines' own flags: vLLM 0.22 (docs, serve arguments and speculative decoding with
// MTP), SGLang 0.5.23 server_args, llama-server --help, TensorRT-LLM KvCacheConfig.
TEST(EngineCommands, CarryTheOptionsOfTheirEngine) {
    const auto with = [](const std::string& model, const std::string& engine,
                         std::vector<EngineSetting> options, const std::string& name) {
        Deployment deployment = deployment_of(model, 800 * gib, 40 * gib);
        deployment.settings.sequences = 2;
        deployment.settings.engine = engine;
        deployment.settings.engine_options = std::move(options);
        return command_of(engine_commands(deployment), name).command;
    };
    EXPECT_EQ(
        with("llama-3-8b", "vllm", {{"block-size", "32"}, {"async-scheduling", "on"}}, "vLLM"),
        "vllm serve MODEL --max-model-len 8192 --max-num-seqs 2 --block-size 32 "
        "--async-scheduling");
    EXPECT_THAT(with("deepseek-v3", "vllm", {{"num-speculative-tokens", "1"}}, "vLLM"),
                HasSubstr(" --speculative-config '{\"method\": \"mtp\", "
                          "\"num_speculative_tokens\": 1}'"));
    EXPECT_EQ(with("llama-3-8b", "vllm", {{"block-size", "16"}}, "vLLM"), // the default
              "vllm serve MODEL --max-model-len 8192 --max-num-seqs 2");
    EXPECT_THAT(with("llama-3-8b", "vllm", {{"block-size", "32"}}, "SGLang"), // another's
                Not(HasSubstr("block-size")));
    EXPECT_THAT(with("llama-3-8b", "sglang", {{"page-size", "64"}, {"disable-radix-cache", "on"}},
                     "SGLang"),
                HasSubstr(" --page-size 64 --disable-radix-cache"));
    EXPECT_EQ(with("llama-3-8b", "llama_cpp",
                   {{"parallel", "4"}, {"ubatch-size", "256"}, {"flash-attn", "off"}}, "llama.cpp"),
              "llama-server -m MODEL.gguf -ngl all -c 32768 --parallel 4 -fa off "
              "--ubatch-size 256");
    EXPECT_THAT(
        with("llama-3-8b", "llama_cpp", {{"parallel", "4"}, {"kv-unified", "on"}}, "llama.cpp"),
        HasSubstr("-c 16384 --parallel 4 -fa on --kv-unified"));
    EXPECT_THAT(with("llama-3-8b", "tensorrt_llm", {{"tokens-per-block", "64"}}, "TensorRT-LLM"),
                HasSubstr("printf 'kv_cache_config: {tokens_per_block: 64}\\n' > kv.yaml; "));
}

TEST(EngineCommands, LlamaCppDividesItsContextAmongSlots) {
    Deployment deployment = deployment_of("qwen2.5-72b", 96 * gib, 40 * gib);
    deployment.settings.context = Tokens(32'768);
    deployment.settings.sequences = 2;
    deployment.settings.k_format = "q8_0";
    deployment.settings.v_format = "q4_0";
    const auto commands = engine_commands(deployment);
    EXPECT_EQ(command_of(commands, "llama.cpp").command,
              "llama-server -m MODEL.gguf -ngl all -c 65536 --parallel 2 -ctk q8_0 -ctv q4_0 "
              "-fa on");
    EXPECT_EQ(command_of(commands, "vLLM").command, "");
}

} // namespace
} // namespace kvcaliper
