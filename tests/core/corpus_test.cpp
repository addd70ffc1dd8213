// SPDX-License-Identifier: Apache-2.0
// Real config.json files against an independent derivation of their cache (golden.jsonl), where the
// corpus is at hand: KVCALIPER_CORPUS, else ../shared/corpus beside the project. Types that are not
// read yet are counted, not passed.
#include "tests/core/test_models.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace kvcaliper {
namespace {

namespace fs = std::filesystem;

fs::path corpus() {
    const char* set = std::getenv("KVCALIPER_CORPUS");
    return set && *set ? fs::path(set)
                       : fs::path(KVCALIPER_SOURCE).parent_path() / "shared" / "corpus";
}

bool is_read(const std::string& text_type) {
    return find_architecture(text_type) != nullptr;
}

/// Files that are not read by a rule, and why that is right.
const std::map<std::string, std::string> not_read = {
    {"hf/openbmb__MiniCPM3-4B.json",
     "the file names no model_type: refused, because kv_lora_rank is "
     "no key of a plain transformer"},
    {"hf/Qwen__Qwen3-ASR.json", "qwen3_asr_text is no type of the table: generic, said loudly"}};

void expect_totals(const Model& model, const JsonValue& golden) {
    for (const auto& [tokens, bytes] : *golden.at("total_bytes").if_object()) {
        const std::int64_t count = std::stoll(tokens);
        EXPECT_EQ(total(model, count).count(), *bytes.if_integer()) << "at " << tokens;
    }
}

TEST(Corpus, ReadTypesAgreeWithTheIndependentDerivation) {
    std::ifstream file(corpus() / "golden.jsonl");
    if (!file) {
        GTEST_SKIP() << "not available here: no corpus at " << corpus();
    }
    int compared = 0;
    int without_totals = 0;
    for (std::string line; std::getline(file, line);) {
        const JsonValue golden = parse_json(line, "golden.jsonl").value;
        const JsonValue* totals = golden.find("total_bytes");
        const JsonValue* type = golden.find("text_type");
        if (totals == nullptr || !totals->is_object() || type == nullptr || !type->if_string() ||
            !is_read(*type->if_string()) || not_read.contains(golden.string_at("file"))) {
            ++without_totals;
            continue;
        }
        SCOPED_TRACE(golden.string_at("file"));
        Model model;
        ASSERT_NO_THROW(model.plan = plan_model(
                            read_config_file((corpus() / golden.string_at("file")).string())));
        EXPECT_EQ(model.plan.confidence, Confidence::rule);
        model.spec = build_cache_spec(model.plan);
        expect_totals(model, golden);
        EXPECT_EQ(uncapped(model), Ratio(golden.integer_at("uncapped_bytes_per_token")));
        ++compared;
    }
    RecordProperty("compared", compared);
    RecordProperty("without_totals", without_totals);
    EXPECT_GE(compared, 195);
}

} // namespace
} // namespace kvcaliper
