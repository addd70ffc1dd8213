// SPDX-License-Identifier: Apache-2.0
#include "core/catalog.h"

#include "core/error.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace kvcaliper {
namespace {

TEST(Catalog, NamesAreLowerCaseWithHyphensAndHaveSources) {
    for (const CatalogEntry& entry : bundled_models()) {
        EXPECT_EQ(entry.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-"),
                  std::string::npos)
            << entry.name;
        EXPECT_FALSE(entry.display_name.empty()) << entry.name;
        EXPECT_FALSE(entry.source.empty()) << entry.name;
        EXPECT_FALSE(entry.family.empty()) << entry.name;
        EXPECT_EQ(load_model(entry.name)->plan.confidence, Confidence::rule) << entry.name;
    }
}

TEST(Catalog, TheModelsOfTheFirstScreenAreThere) {
    for (const std::string& name : seed_models()) {
        EXPECT_NO_THROW(load_model(name)) << name;
    }
}

TEST(Catalog, AMistypedNameIsAnsweredWithTheNearest) {
    try {
        load_model("gpt2xl");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("did you mean gpt2-xl?"));
    }
    EXPECT_EQ(nearest_word("estmate", {"estimate", "compare"}), "estimate");
    EXPECT_EQ(nearest_word("fit", {"list", "verify"}), "");
}

TEST(Catalog, AWrongDataFolderIsSaid) {
    ASSERT_EQ(setenv("KVCALIPER_DATA", "/nonexistent", 1), 0);
    EXPECT_THROW(data_folder(), Error);
    ASSERT_EQ(unsetenv("KVCALIPER_DATA"), 0);
    EXPECT_NO_THROW(data_folder());
}

TEST(Catalog, BundledClaims) {
    EXPECT_FALSE(bundled_claims_path("seed").empty());
    EXPECT_FALSE(bundled_claims_path("gallery").empty());
    EXPECT_TRUE(bundled_claims_path("nothing").empty());
    EXPECT_TRUE(bundled_claims_path("../models/gpt2").empty());
}

} // namespace
} // namespace kvcaliper
