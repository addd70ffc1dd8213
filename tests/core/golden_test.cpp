// SPDX-License-Identifier: Apache-2.0
// Every bundled model against figures that come from somewhere else: tests/golden/models.tsv names
// the source of each row.
#include "tests/core/test_models.h"

#include "core/catalog.h"

#include <fstream>
#include <sstream>

namespace kvcaliper {
namespace {

using Row = std::vector<std::string>;

std::vector<Row> read_rows() {
    std::ifstream file(std::string(KVCALIPER_SOURCE) + "/tests/golden/models.tsv");
    std::vector<Row> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') {
            continue;
        }
        Row row;
        std::istringstream cells(line);
        for (std::string cell; std::getline(cells, cell, '\t');) {
            row.push_back(cell);
        }
        rows.push_back(row);
    }
    return rows;
}

void expect(const std::string& cell, const std::string& computed, const Row& row,
            const char* what) {
    if (cell != "-") {
        EXPECT_EQ(computed, cell) << row[0] << ", " << what << "; source: " << row[6];
    }
}

TEST(Golden, EveryBundledModelHasARow) {
    std::set<std::string> names;
    for (const Row& row : read_rows()) {
        ASSERT_EQ(row.size(), 7u) << row[0];
        EXPECT_FALSE(row[6].empty()) << row[0];
        names.insert(row[0]);
    }
    for (const CatalogEntry& entry : bundled_models()) {
        EXPECT_TRUE(names.contains(entry.name)) << entry.name;
    }
}

TEST(Golden, BundledModelsAgreeWithTheirSources) {
    int figures = 0;
    for (const Row& row : read_rows()) {
        const ModelPtr model = load_model(row[0]);
        expect(row[1], uncapped(*model).to_string(), row, "uncapped");
        expect(row[2], growth(*model).to_string(), row, "growth");
        expect(row[3], std::to_string(constant(*model).count()), row, "constant");
        expect(row[4], std::to_string(total(*model, 8192).count()), row, "total at 8,192");
        expect(row[5], std::to_string(total(*model, 131072).count()), row, "total at 131,072");
        figures += 5 - static_cast<int>(std::count(row.begin() + 1, row.begin() + 6, "-"));
    }
    EXPECT_GT(figures, 200);
}

} // namespace
} // namespace kvcaliper
