// SPDX-License-Identifier: Apache-2.0
#include "core/report.h"

#include "core/catalog.h"

#include <gtest/gtest.h>

namespace kvcaliper {
namespace {

const Table table{{{"name"}, {"size", true}}, {{"a,b", "1"}, {"q\"|", "20"}, {"é", "300"}}};

TEST(Report, TextAlignsByCharactersNotBytes) {
    EXPECT_EQ(format_table(table, TableStyle::text), "name  size\n"
                                                     "----  ----\n"
                                                     "a,b      1\n"
                                                     "q\"|     20\n"
                                                     "é      300\n");
}

TEST(Report, CsvAndMarkdownEscape) {
    EXPECT_EQ(format_table(table, TableStyle::csv), "name,size\n\"a,b\",1\n\"q\"\"|\",20\né,300\n");
    EXPECT_EQ(format_table(table, TableStyle::markdown), "| name | size |\n"
                                                         "|---|---:|\n"
                                                         "| a,b | 1 |\n"
                                                         "| q\"\\| | 20 |\n"
                                                         "| é | 300 |\n");
}

TEST(Report, EstimateHasTheKeysOfTheContract) {
    const JsonValue json = estimate_json(estimate(load_model("gemma-3-27b"), Settings{}), true);
    EXPECT_EQ(json.integer_at("schema"), 1);
    EXPECT_EQ(json.string_at("command"), "estimate");
    EXPECT_EQ(json.string_at("uncapped_bytes_per_token"), "507904");
    EXPECT_EQ(json.string_at("growth_bytes_per_token"), "81920");
    EXPECT_EQ(json.integer_at("constant_bytes"), 436207616);
    EXPECT_EQ(json.integer_at("required_bytes"), 1107296256);
    EXPECT_TRUE(json.at("reserved_bytes").is_null());
    EXPECT_TRUE(json.at("per_rank").is_null());
    EXPECT_EQ(json.at("model").integer_at("layers"), 62);
    EXPECT_EQ(json.at("model").string_at("confidence"), "rule");
    EXPECT_EQ(json.at("settings").string_at("k_format"), "bf16");
    EXPECT_EQ(json.at("settings").string_at("state_format"), "f32");
    const JsonValue& layer = json.array_at("layers").at(0);
    EXPECT_EQ(layer.integer_at("index"), 0);
    EXPECT_TRUE(layer.at("shared_with").is_null());
    const JsonValue& component = layer.array_at("components").at(0);
    EXPECT_EQ(component.string_at("units"), "min(T,1024)");
    EXPECT_EQ(component.integer_at("elements"), 16 * 128);
    EXPECT_EQ(component.integer_at("bytes_at_context"), 16 * 128 * 2 * 1024);
}

TEST(Report, ComponentsAddUpToTheTotal) {
    for (const std::string& name : seed_models()) {
        Settings settings;
        settings.sequences = 5;
        const JsonValue json = estimate_json(estimate(load_model(name), settings), true);
        std::int64_t components = 0;
        for (const JsonValue& component : json.array_at("components")) {
            components += component.integer_at("bytes_at_context");
        }
        EXPECT_EQ(components, json.integer_at("required_bytes")) << name;
    }
}

} // namespace
} // namespace kvcaliper
