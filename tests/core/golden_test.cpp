// SPDX-License-Identifier: Apache-2.0
// Every bundled model against figures that come from somewhere else: tests/golden/models.tsv names
// the source of each row.
#include "tests/core/test_models.h"

#include "core/catalog.h"

#include <fstream>
#include <map>
#include <sstream>

namespace kvcaliper {
namespace {

using Row = std::vector<std::string>;

std::vector<Row> read_rows(const std::string& name) {
    std::ifstream file(std::string(KVCALIPER_SOURCE) + "/tests/golden/" + name);
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
    for (const Row& row : read_rows("models.tsv")) {
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
    for (const Row& row : read_rows("models.tsv")) {
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

/// What a published row speaks of, in bytes.
Ratio published_quantity(const ModelPtr& model, const Row& row) {
    Settings settings;
    settings.k_format = row[2];
    settings.v_format = row[3];
    settings.context = parse_tokens(row[4]);
    const Estimate answer = estimate(model, settings);
    const Ratio tokens(settings.context.count());
    const std::map<std::string, Ratio> quantities = {
        {"total", answer.required.value()},
        {"uncapped", answer.uncapped.value()},
        {"uncapped × tokens", answer.uncapped.value() * tokens},
        {"growth × tokens", answer.growth.value() * tokens},
        {"constant", answer.constant.value()}};
    return quantities.at(row[1]);
}

TEST(Golden, PublishedFiguresHoldToTheirLastDigit) {
    const auto rows = read_rows("published.tsv");
    EXPECT_GE(rows.size(), 35u);
    for (const Row& row : rows) {
        ASSERT_EQ(row.size(), 8u) << row[0];
        const WrittenNumber written = parse_written_number(row[5]);
        const Ratio unit(bytes_of_unit(row[6]));
        const Ratio value = published_quantity(load_model(row[0]), row);
        const Ratio half = written.step * Ratio(1, 2);
        EXPECT_TRUE((written.value - half) * unit <= value &&
                    value <= (written.value + half) * unit)
            << row[0] << ": published " << row[5] << " " << row[6] << ", computed "
            << value.to_string() << " B; source: " << row[7];
    }
}

TEST(Golden, CrossAttentionCaches) {
    for (const Row& row : read_rows("cross.tsv")) {
        Settings settings;
        settings.encoder_tokens = parse_tokens(row[1]);
        const ModelPtr model = apply_settings(load_model(row[0]), settings);
        Bytes cross;
        for (const ComponentGroup& group : group_components(model->spec)) {
            if (group.component.kind == LayerKind::cross_attention) {
                cross +=
                    component_bytes(group.component, ideal_formats(), Tokens(1)) * group.layers;
            }
        }
        EXPECT_EQ(std::to_string(cross.count()), row[2]) << row[0] << "; source: " << row[3];
    }
}

} // namespace
} // namespace kvcaliper
