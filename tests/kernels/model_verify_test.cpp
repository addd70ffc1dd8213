// SPDX-License-Identifier: Apache-2.0
// Every bundled model, and every config of the corpus where it is at hand (KVCALIPER_CORPUS, else
// ../shared/corpus beside the project), runs through the kernels in small: what core predicts of
// it, to the byte.
#include "core/catalog.h"
#include "core/error.h"
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
