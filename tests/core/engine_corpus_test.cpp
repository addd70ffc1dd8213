// SPDX-License-Identifier: Apache-2.0
// What engines reserve for real config.json files against an independent derivation (golden.jsonl,
// see corpus_test.cpp). Lines of low confidence are left out.
#include "tests/core/test_models.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace kvcaliper {
namespace {

namespace fs = std::filesystem;

using Reasons = std::map<std::string, std::string>; ///< part of a file's name, reason

fs::path corpus() {
    const char* set = std::getenv("KVCALIPER_CORPUS");
    return set && *set ? fs::path(set)
                       : fs::path(KVCALIPER_SOURCE).parent_path() / "shared" / "corpus";
}

/// The files this derivation and ours differ in, and who is right.
const Reasons llama_cpp_differences = {
    {"MiniCPM3-4B", "the file names no model_type: refused (see not_read of corpus_test.cpp); with "
                    "one it agrees, see LlamaCpp.LatentAttentionIsExpandedForMiniCpm3"},
    {"Qwen3-ASR", "qwen3_asr_text is no type of the table: refused. Its text model is a qwen3, so "
                  "golden is right about what a converted file would take"}};

const Reasons vllm_differences = {{"MiniCPM3-4B",
                                   "the file names no model_type: refused; with one it agrees, see "
                                   "Vllm.LatentAttention"}};

bool is_listed(const Reasons& reasons, const std::string& file) {
    for (const auto& [part, reason] : reasons) {
        if (file.find(part) != std::string::npos) {
            return true;
        }
    }
    return false;
}

struct Tally {
    int equal = 0;
    int listed = 0;
};

/// Why our figure is not the golden one, or nothing.
std::string difference(const std::string& file, const std::string& engine, const JsonValue& bytes) {
    try {
        auto model = std::make_shared<Model>();
        model->plan = plan_model(read_config_file((corpus() / file).string()));
        model->spec = build_cache_spec(model->plan);
        for (const auto& [tokens, expected] : *bytes.if_object()) {
            Settings settings;
            settings.engine = engine;
            settings.context = Tokens(std::stoll(tokens));
            const std::int64_t ours = estimate(model, settings).reserved->bytes().count();
            if (ours != *expected.if_integer()) {
                return "at " + tokens + ": " + std::to_string(ours) + ", golden " +
                       std::to_string(*expected.if_integer());
            }
        }
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

Tally compare_all(std::istream& file, const std::string& key, const std::string& engine,
                  const Reasons& reasons) {
    Tally tally;
    for (std::string line; std::getline(file, line);) {
        const JsonValue golden = parse_json(line, "golden.jsonl").value;
        const JsonValue* engines = golden.find("engines");
        const JsonValue* one = engines ? engines->find(key) : nullptr;
        if (one == nullptr || one->string_at("confidence") == "low") {
            continue;
        }
        const std::string name = golden.string_at("file");
        const std::string problem = difference(name, engine, one->at("bytes"));
        const bool listed = is_listed(reasons, name);
        EXPECT_EQ(problem.empty(), !listed) << name << ": " << problem;
        tally.equal += problem.empty() ? 1 : 0;
        tally.listed += listed ? 1 : 0;
    }
    return tally;
}

TEST(EngineCorpus, LlamaCppAgreesWithTheIndependentDerivation) {
    std::ifstream file(corpus() / "golden.jsonl");
    if (!file) {
        GTEST_SKIP() << "not available here: no corpus at " << corpus();
    }
    const Tally tally = compare_all(file, "llamacpp", "llama_cpp", llama_cpp_differences);
    RecordProperty("equal", tally.equal);
    RecordProperty("listed", tally.listed);
    EXPECT_GE(tally.equal, 150);
}

TEST(EngineCorpus, VllmAgreesWithTheIndependentDerivation) {
    std::ifstream file(corpus() / "golden.jsonl");
    if (!file) {
        GTEST_SKIP() << "not available here: no corpus at " << corpus();
    }
    const Tally tally = compare_all(file, "vllm", "vllm", vllm_differences);
    RecordProperty("equal", tally.equal);
    RecordProperty("listed", tally.listed);
    EXPECT_GE(tally.equal, 150);
}

} // namespace
} // namespace kvcaliper
