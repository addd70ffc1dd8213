// SPDX-License-Identifier: Apache-2.0
#include "core/json_value.h"

#include "core/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvcaliper {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& text) {
    try {
        parse_json(text, "x.json");
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
    return "no error";
}

TEST(Json, KeepsTypesAndOrder) {
    const auto document =
        parse_json(R"({"z":1,"a":[true,null,2.5,"t"],"n":9223372036854775807})", "x");
    const auto& object = *document.value.if_object();
    EXPECT_EQ(object[0].first, "z");
    EXPECT_EQ(document.value.integer_at("n"), 9223372036854775807);
    const auto& array = document.value.array_at("a");
    EXPECT_EQ(*array[0].if_bool(), true);
    EXPECT_TRUE(array[1].is_null());
    EXPECT_EQ(*array[2].if_double(), 2.5);
    EXPECT_EQ(dump_json(document.value, -1),
              R"({"z":1,"a":[true,null,2.5,"t"],"n":9223372036854775807})");
}

TEST(Json, TheLastOfTwoKeysWinsAndIsSaid) {
    const auto document = parse_json(R"({"a":1,"a":2})", "x");
    EXPECT_EQ(document.value.integer_at("a"), 2);
    ASSERT_EQ(document.warnings.size(), 1u);
    EXPECT_THAT(document.warnings[0], HasSubstr("\"a\""));
}

TEST(Json, HostileTextIsOneLineOfError) {
    EXPECT_THAT(error_of(""), HasSubstr("empty file"));
    EXPECT_THAT(error_of(" \n\t"), HasSubstr("empty file"));
    EXPECT_THAT(error_of("{\"a\":"), HasSubstr("line 1"));
    EXPECT_THAT(error_of("{\n\"a\": x}"), HasSubstr("line 2, column 6"));
    EXPECT_THAT(error_of(std::string("\x7f"
                                     "ELF\0\1",
                                     6)),
                HasSubstr("binary"));
    EXPECT_THAT(error_of("{\"a\":\"\xff\"}"), HasSubstr("UTF-8"));
    EXPECT_THAT(error_of("{} {}"), HasSubstr("x.json"));
    EXPECT_THAT(error_of("{\"a\":1e999}"), HasSubstr("x.json"));
}

TEST(Json, BareNumbersOfPythonAreWords) {
    const auto value =
        parse_json(R"({"a":NaN,"b":[-Infinity,Infinity],"c":"NaN \"Infinity","d":1})", "x").value;
    EXPECT_EQ(value.string_at("a"), "NaN");
    EXPECT_EQ(value.string_at("c"), "NaN \"Infinity");
    EXPECT_EQ(dump_json(value.at("b"), -1), R"(["-Infinity","Infinity"])");
    EXPECT_THROW(value.integer_at("a"), Error);
    EXPECT_THAT(error_of("{\"a\":Nan}"), HasSubstr("line 1"));
}

TEST(Json, NestingIsLimitedBeforeTheStackIs) {
    const std::string open(max_json_depth, '[');
    const std::string close(max_json_depth, ']');
    EXPECT_NO_THROW(parse_json(open + close, "x"));
    EXPECT_THAT(error_of("[" + open + close + "]"), HasSubstr("200 levels"));
    EXPECT_THAT(error_of(std::string(1 << 20, '[')), HasSubstr("200 levels"));
}

TEST(Json, SizeIsLimitedBeforeItIsParsed) {
    EXPECT_THAT(error_of(std::string(max_json_bytes + 1, '[')), HasSubstr("64 MiB"));
}

TEST(Json, ManyKeysOfOneObjectAreNotSquared) {
    std::string text = "{";
    for (int i = 0; i < 300'000; ++i) {
        text += "\"k" + std::to_string(i) + "\":" + std::to_string(i) + ",";
    }
    text += "\"last\":1}";
    EXPECT_EQ(parse_json(text, "x").value.integer_at("last"), 1);
}

TEST(Json, RequiredMembersNameTheirKey) {
    const auto value = parse_json(R"({"a":"1"})", "x").value;
    EXPECT_THROW(value.integer_at("a"), Error);
    EXPECT_THROW(value.integer_at("b"), Error);
    EXPECT_THROW(value.array_at("a"), Error);
    EXPECT_EQ(describe(value.at("a")), "string \"1\"");
    EXPECT_EQ(describe(value), "an object");
}

TEST(Json, MissingFilesAndFoldersAreSaid) {
    EXPECT_THROW(read_json_file("/nonexistent/config.json"), Error);
    EXPECT_THROW(read_json_file("/"), Error);
}

} // namespace
} // namespace kvcaliper
