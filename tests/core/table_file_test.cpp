// SPDX-License-Identifier: Apache-2.0
#include "core/table_file.h"

#include "core/error.h"

#include <gtest/gtest.h>

namespace kvcaliper {
namespace {

/// Cells and words that each format has to escape, or to do without.
const Table table{{{"name"}, {"size", true}},
                  {{"a,b", "1"}, {"tab\there", "-20"}, {"line\nend", "2725/2"}, {"q\"|", ""}}};

TableOrigin origin() {
    JsonValue study;
    study.set("kvcaliper_study", 1);
    study.set("models", JsonValue::Array{JsonValue("a --> b & <c>.json"), JsonValue("line\nend")});
    return {"compare", "context 8,192", {"kvcaliper compare 'a --> b'", "two\nlines"}, study};
}

TEST(TableFile, TheEndingChoosesTheFormat) {
    EXPECT_EQ(table_format_of("a/b.csv"), TableFormat::csv);
    EXPECT_EQ(table_format_of("A.TSV"), TableFormat::tsv);
    EXPECT_EQ(table_format_of("a.md"), TableFormat::markdown);
    EXPECT_EQ(table_format_of("a.json"), TableFormat::json);
    EXPECT_FALSE(table_format_of("a.csv.xlsx"));
    EXPECT_FALSE(table_format_of("csv"));
}

TEST(TableFile, CsvHasItsOriginInComments) {
    EXPECT_EQ(write_table_file(table, origin(), TableFormat::csv),
              "# kvcaliper 0.1.0, table compare\n"
              "# context 8,192\n"
              "# command: kvcaliper compare 'a --> b'\n"
              "# command: two lines\n"
              "# study: {\"kvcaliper_study\":1,\"models\":[\"a --\\u003e b \\u0026 "
              "\\u003cc\\u003e.json\",\"line\\nend\"]}\n"
              "name,size\n\"a,b\",1\ntab\there,-20\n\"line\nend\",2725/2\n\"q\"\"|\",\n");
}

TEST(TableFile, TsvKeepsOneRowOnOneLine) {
    const std::string text = write_table_file(table, origin(), TableFormat::tsv);
    EXPECT_TRUE(text.ends_with("\nname\tsize\na,b\t1\ntab here\t-20\nline end\t2725/2\nq\"|\t\n"))
        << text;
}

TEST(TableFile, AMarkdownCommentEndsWhereItShould) {
    const std::string text = write_table_file(table, origin(), TableFormat::markdown);
    EXPECT_EQ(text.find("-->"), text.find("\n-->\n\n| name | size |\n|---|---:|\n") + 1) << text;
    EXPECT_TRUE(text.ends_with("| line end | 2725/2 |\n| q\"\\| |  |\n")) << text;
}

TEST(TableFile, JsonHasNumbersWhereTheyAreWhole) {
    const JsonValue json =
        parse_json(write_table_file(table, origin(), TableFormat::json), "test").value;
    EXPECT_EQ(json.string_at("version"), version);
    EXPECT_EQ(json.string_at("table"), "compare");
    EXPECT_EQ(*json.array_at("columns").at(1).if_string(), "size");
    const auto size = [&](std::size_t row) { return json.array_at("rows")[row].if_array()->at(1); };
    EXPECT_EQ(*size(0).if_integer(), 1);
    EXPECT_EQ(*size(1).if_integer(), -20);
    EXPECT_EQ(*size(2).if_string(), "2725/2");
    EXPECT_TRUE(size(3).is_null());
}

TEST(TableFile, EveryFormatGivesItsStudyBack) {
    for (const TableFormat format :
         {TableFormat::csv, TableFormat::tsv, TableFormat::markdown, TableFormat::json}) {
        const JsonValue study =
            study_of_table_file(write_table_file(table, origin(), format), "test");
        EXPECT_EQ(dump_json(study), dump_json(origin().study));
    }
}

TEST(TableFile, WithoutAStudyThereIsAReason) {
    for (const char* text : {"", "a,b\n1,2\n", "{\"study\": {}}", "{\"kvcaliper_table\": 1}"}) {
        try {
            study_of_table_file(text, "FILE");
            FAIL() << text;
        } catch (const Error& error) {
            EXPECT_STREQ(error.what(), "FILE: expected a table that kvcaliper exported, found no "
                                       "study in it");
        }
    }
    EXPECT_THROW(study_of_table_file("# study: {\n", "FILE"), Error);
}

} // namespace
} // namespace kvcaliper
