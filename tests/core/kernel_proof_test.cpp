// SPDX-License-Identifier: Apache-2.0
// What `list architectures` says a model_type keeps, against what its models do keep.
#include "core/kernel_proof.h"

#include "core/architectures/table.h"
#include "core/catalog.h"
#include "tests/core/test_models.h"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <set>

namespace kvcaliper {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

using Subjects = std::set<std::string>;

void add_part(Subjects& subjects, const LayerPart& part) {
    subjects.emplace(to_string(part.kind));
    const auto indexed = [](const auto& dims) {
        if constexpr (requires { dims.index_width; }) {
            return dims.index_width > 0;
        }
        return false;
    };
    if (std::visit(indexed, part.dims)) {
        subjects.emplace(index_keys);
    }
    if (const auto* dims = std::get_if<AttentionDims>(&part.dims); dims && dims->sinks > 0) {
        subjects.emplace(attention_sinks);
    }
}

Subjects kept_by(const ModelPlan& plan) {
    Subjects subjects;
    for (const LayerPlan& layer : plan.layers) {
        if (layer.shared_with) {
            subjects.emplace(shared_cache);
        }
        for (const LayerPart& part : layer.parts) {
            add_part(subjects, part);
        }
    }
    return subjects;
}

std::vector<std::string> keeps(const std::string& model_type) {
    for (const ArchitectureInfo& info : known_architectures()) {
        if (info.model_type == model_type) {
            return info.keeps;
        }
    }
    return {};
}

/// What a model keeps and the row of its type does not name.
std::vector<std::string> unnamed(const ModelPlan& plan) {
    const auto named =
        keeps(plan.confidence == Confidence::generic ? "(any other)" : plan.model_type);
    std::vector<std::string> missing;
    for (const std::string& subject : kept_by(plan)) {
        if (std::find(named.begin(), named.end(), subject) == named.end()) {
            missing.push_back(plan.name + ", " + plan.model_type + ": " + subject);
        }
    }
    return missing;
}

TEST(Keeps, BundledModelsKeepNothingThatTheirTypeDoesNotName) {
    for (const CatalogEntry& entry : bundled_models()) {
        EXPECT_THAT(unnamed(load_model(entry.path)->plan), IsEmpty());
    }
}

TEST(Keeps, NorDoTheConfigsOfTheCorpus) {
    const char* set = std::getenv("KVCALIPER_CORPUS");
    const fs::path corpus =
        (set && *set ? fs::path(set)
                     : fs::path(KVCALIPER_SOURCE).parent_path() / "shared" / "corpus") /
        "hf";
    if (!fs::is_directory(corpus)) {
        GTEST_SKIP() << "not available here: no corpus at " << corpus;
    }
    int read = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(corpus)) {
        try {
            EXPECT_THAT(unnamed(load_model(entry.path().string())->plan), IsEmpty());
            ++read;
        } catch (const Error&) { // one of them is refused: corpus_test says which and why
        }
    }
    EXPECT_GE(read, 200);
}

TEST(Keeps, ARowNamesWhatItsRuleGives) {
    EXPECT_THAT(keeps("llama"), ElementsAre("full_attention"));
    EXPECT_THAT(keeps("gpt_oss"),
                ElementsAre("full_attention", "sliding_attention", "attention_sinks"));
    EXPECT_THAT(keeps("gemma3n_text"),
                ElementsAre("full_attention", "sliding_attention", "shared_cache"));
    EXPECT_THAT(keeps("deepseek_v32"), ElementsAre("mla", "index_keys"));
    EXPECT_THAT(keeps("whisper"), ElementsAre("full_attention", "cross_attention"));
    EXPECT_THAT(keeps("kimi_k2"), ElementsAre("mla")); // read as deepseek_v3
}

TEST(Keeps, EveryRowNamesSubjectsOfTheTableOfProofs) {
    for (const ArchitectureInfo& info : known_architectures()) {
        EXPECT_FALSE(info.keeps.empty()) << info.model_type;
        EXPECT_NO_THROW(proof_text(info.keeps)) << info.model_type;
    }
}

TEST(Sharing, ALayerWithoutALayerOfItsKindToReadIsAnError) {
    // transformers 5.24 raises for it, too (configuration_gemma3n.py, kv_sharing_modes).
    EXPECT_THAT(
        model_error(R"({"model_type":"gemma3n_text","num_hidden_layers":4,"hidden_size":64,
        "num_attention_heads":2,"num_key_value_heads":1,"head_dim":32,"sliding_window":16,
        "num_kv_shared_layers":2,"layer_types":["sliding_attention","sliding_attention",
        "sliding_attention","full_attention"]})"),
        testing::HasSubstr("/num_kv_shared_layers: expected a full_attention layer among the first "
                           "2, for layer 3 to read, found 2"));
}

} // namespace
} // namespace kvcaliper
