// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/run_cli.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

namespace kvcaliper::cli {
namespace {

using testing::HasSubstr;

TEST(ClaimsCommand, TheSeedSaysUnderWhichReading) {
    const Ran ran = run_cli({"claims"});
    EXPECT_EQ(ran.code, answered);
    EXPECT_THAT(ran.out, HasSubstr("true for GPT-2 XL only"));
    EXPECT_THAT(ran.out, HasSubstr("KB here means KiB"));
    EXPECT_THAT(ran.out, HasSubstr("0 not consistent"));
    EXPECT_EQ(run_cli({"claims", "seed"}).out, ran.out);
}

TEST(ClaimsCommand, TheGallery) {
    const Ran ran = run_cli({"claims", "gallery", "--json"});
    EXPECT_EQ(ran.code, answered_no); // some rows leave out what engines store
    int consistent = 0;
    const JsonValue json = ran.json();
    for (const JsonValue& claim : json.array_at("claims")) {
        const bool holds = claim.string_at("verdict") == "consistent";
        consistent += holds ? 1 : 0;
        EXPECT_TRUE(holds || !claim.array_at("notes").empty()) << claim.string_at("id");
    }
    EXPECT_EQ(consistent, 59);
}

TEST(ClaimsCommand, ExitOneWhenAClaimHoldsUnderNoReading) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("kvcaliper-own-claims-" + std::to_string(::getpid()) + ".json");
    const std::string start = R"([{"id":"mine","text":"Mine.","model":"llama-3-8b",
        "quantity":"per_token","unit":"KiB","value":)";
    std::ofstream(path) << start << "\"128\"}]";
    EXPECT_EQ(run_cli({"claims", path.string()}).code, answered);
    std::ofstream(path) << start << "\"77\"}]";
    const Ran no = run_cli({"claims", path.string(), "--csv"});
    EXPECT_EQ(no.code, answered_no);
    EXPECT_THAT(no.out, HasSubstr("mine,not consistent,Mine.,77 KiB,\"128 KiB (131,072 B)\""));
    std::filesystem::remove(path);
}

} // namespace
} // namespace kvcaliper::cli
