// SPDX-License-Identifier: Apache-2.0
// Every bundled model, every type of the architecture table, and every config of the corpus where
// it is at hand (KVCALIPER_CORPUS, else ../shared/corpus beside the project), runs through the
// kernels in small: what core predicts of it, to the byte.
#include "core/architectures/table.h"
#include "core/catalog.h"
#include "core/error.h"
#include "core/model_config.h"
#include "tests/kernels/shrunk_models.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>

namespace kvcaliper::kernels {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::UnorderedElementsAreArray;

fs::path corpus() {
    const char* set = std::getenv("KVCALIPER_CORPUS");
    return set && *set ? fs::path(set)
                       : fs::path(KVCALIPER_SOURCE_DIR).parent_path() / "shared" / "corpus";
}

std::vector<fs::path> configs_in(const fs::path& folder) {
    std::vector<fs::path> files;
    if (fs::is_directory(folder))
        for (const fs::directory_entry& entry : fs::directory_iterator(folder))
            if (entry.path().extension() == ".json")
                files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<std::string> reasons_of(const Tally& tally) {
    std::vector<std::string> reasons;
    for (const auto& [reason, models] : tally.refused)
        reasons.push_back(reason);
    return reasons;
}

std::vector<ModelPtr> bundled() {
    std::vector<ModelPtr> models;
    for (const CatalogEntry& entry : bundled_models())
        models.push_back(load_model(entry.path));
    return models;
}

ModelPtr read_or_null(const fs::path& file) {
    try {
        return load_model(file.string());
    } catch (const Error& error) {
        std::cout << "not read: " << error.what() << "\n";
        return nullptr;
    }
}

TEST(EveryModel, BundledIsEqualOrRefusedForAKnownReason) {
    ShrunkVerifier verifier;
    Tally tally;
    for (const ModelPtr& model : bundled())
        tally.add(model->plan.name, model->plan, verifier.verify(*model));
    std::cout << tally.text();
    EXPECT_THAT(tally.failed, IsEmpty());
    EXPECT_THAT(reasons_of(tally), UnorderedElementsAreArray(known_refusals()));
    EXPECT_GE(tally.equal, 145); // as many as there were when kernels ran seven kinds fewer
}

TEST(EveryModel, BundledIsRefutedWithARowTooMany) {
    ShrunkVerifier verifier;
    Tally tally;
    for (const ModelPtr& model : bundled())
        tally.add(model->plan.name, model->plan, verifier.verify(*model, Prediction::wrong));
    EXPECT_EQ(tally.equal, 0) << tally.text();
    EXPECT_GE(tally.failed.size(), 145u);
    for (const std::string& line : tally.failed)
        EXPECT_THAT(line, HasSubstr("never touched"));
}

TEST(EveryModel, OfTheCorpusIsEqualOrRefusedForAKnownReason) {
    if (!fs::is_directory(corpus()))
        GTEST_SKIP() << "not available here: no corpus at " << corpus();
    ShrunkVerifier verifier;
    Tally tally;
    for (const char* folder : {"hf", "hf_nonstandard"}) // hf_quant has files beside a config
        for (const fs::path& file : configs_in(corpus() / folder))
            if (const ModelPtr model = read_or_null(file))
                tally.add(file.filename().string(), model->plan, verifier.verify(*model));
    std::cout << tally.text();
    EXPECT_THAT(tally.failed, IsEmpty());
    EXPECT_THAT(known_refusals(), IsSupersetOf(reasons_of(tally)));
    EXPECT_GE(tally.equal, 193);
}

/// Formats that pack older tokens hold what every token adds to full attention, and nothing else.
TEST(EveryModel, BundledIsEqualInAPackedFormatThatHoldsIt) {
    ShrunkVerifier verifier;
    Tally tally;
    int not_held = 0;
    CacheFormats formats = ideal_formats();
    formats.k = formats.v = &numeric_format("kivi_2bit");
    for (const ModelPtr& model : bundled()) {
        if (storage_problem(model->spec, formats))
            ++not_held;
        else
            tally.add(model->plan.name, model->plan,
                      verifier.verify(*model, Prediction::right, "kivi_2bit"));
    }
    std::cout << tally.text() << not_held << " not held\n";
    EXPECT_THAT(tally.failed, IsEmpty());
    EXPECT_THAT(reasons_of(tally), IsEmpty());
    EXPECT_GE(tally.equal_by_kind["full_attention"], 80);
}

// ---- every row of the architecture table -------------------------------------------------------

constexpr std::int64_t type_layers = 10;

/// What a config must state where its class has no default.
constexpr std::pair<std::string_view, std::int64_t> usual_keys[] = {
    {"hidden_size", 1024},    {"num_attention_heads", 32}, {"head_dim", 32},
    {"sliding_window", 64},   {"kv_lora_rank", 64},        {"qk_rope_head_dim", 16},
    {"qk_nope_head_dim", 32}, {"v_head_dim", 32},          {"index_head_dim", 32},
};

/// What some types state beside that, so that all they can keep is there.
const std::map<std::string_view, const char*> own_keys = {
    {"afm7", R"({"num_kv_reuse_layers":4})"},
    {"deci", R"({"num_hidden_layers":2,"block_configs":[{"attention":{"n_heads_in_group":8}},
        {"attention":{"no_op":true}}]})"},
    {"deepseek_v41", R"({"kv_source_layer_ids":[0,2]})"},
    {"diffusion_gemma_text", R"({"num_kv_shared_layers":4})"},
    {"gated_deltanet", R"({"num_heads":32})"},
    {"gemma3n_text", R"({"num_kv_shared_layers":5})"},
    {"gemma4_text", R"({"num_kv_shared_layers":4})"},
    {"gemma4_unified_text", R"({"num_kv_shared_layers":4})"},
    {"gla", R"({"num_heads":32})"},
    {"hunyuan", R"({"use_cla":true,"cla_share_factor":2})"},
    {"hunyuan_v1_dense", R"({"use_cla":true,"cla_share_factor":2})"},
    {"hunyuan_v1_moe", R"({"use_cla":true,"cla_share_factor":3})"},
    {"lfm2", R"({"full_attn_idxs":[2,5]})"},
    {"lfm2_moe", R"({"full_attn_idxs":[2,5]})"},
    {"nemotron-nas", R"({"num_hidden_layers":2,"block_configs":[
        {"attention":{"n_heads_in_group":8}},{"attention":{"no_op":true}}]})"},
    {"nemotron_h", R"({"hybrid_override_pattern":"M*-M"})"},
    {"openelm", R"({"num_hidden_layers":2,"num_kv_heads":[2,3],"num_query_heads":[4,6]})"},
    {"plamo2", R"({"mamba_num_heads":32})"},
};

/// A model of that type, of its class's own dimensions as far as it has any.
ModelPtr model_of(const Architecture& row) {
    JsonValue json;
    json.set("model_type", row.model_type);
    json.set("use_sliding_window", true);
    if (!row.layers_key.empty())
        json.set(std::string(row.layers_key), type_layers);
    for (const auto& [key, value] : usual_keys)
        if (!class_default(row.model_type, key))
            json.set(std::string(key), value);
    const auto found = own_keys.find(row.model_type);
    const JsonValue own =
        parse_json(found == own_keys.end() ? "{}" : found->second, "own keys").value;
    for (const auto& [key, value] : *own.if_object())
        json.set(key, value);
    const std::string name(row.model_type);
    return make_model({name, name, std::move(json), {}});
}

TEST(EveryType, OfTheArchitectureTableIsEqualOrRefusedForAKnownReason) {
    ShrunkVerifier verifier;
    Tally tally;
    for (const Architecture& row : architecture_table()) {
        ModelPtr model;
        ASSERT_NO_THROW(model = model_of(row)) << row.model_type;
        tally.add(std::string(row.model_type), model->plan, verifier.verify(*model));
    }
    std::cout << tally.text();
    EXPECT_THAT(tally.failed, IsEmpty());
    EXPECT_THAT(reasons_of(tally), UnorderedElementsAreArray(known_refusals()));
    EXPECT_EQ(tally.equal + tally.refusals, std::ssize(architecture_table()));
}

std::vector<std::string> kinds_of_shrunk(const char* name) {
    std::vector<std::string> kinds;
    for (const LayerPlan& layer : shrink(load_model(name)->plan).layers)
        kinds.push_back(kind_text(layer) +
                        (layer.shared_with ? " " + std::to_string(*layer.shared_with) : ""));
    return kinds;
}

TEST(Shrink, KeepsOneLayerOfEachShapeAndWhomItReads) {
    // Gemma 3n E4B: every 5th of 35 layers is full, the last 15 share (its config.json).
    EXPECT_THAT(kinds_of_shrunk("gemma-3n-e4b"),
                ElementsAre("sliding_attention", "full_attention", "shared 0", "shared 1"));
    // Zamba2 has a Mamba-2 state in every layer and attention beside it in some; Whisper holds its
    // encoder's rows in every layer.
    EXPECT_THAT(kinds_of_shrunk("zamba2-7b"), ElementsAre("mamba2", "full_attention + mamba2"));
    EXPECT_THAT(kinds_of_shrunk("whisper-large-v3"),
                ElementsAre("full_attention + cross_attention"));
}

} // namespace
} // namespace kvcaliper::kernels
