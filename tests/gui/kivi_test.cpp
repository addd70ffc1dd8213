// SPDX-License-Identifier: GPL-3.0-or-later
// KIVI's formats in the window: what can be chosen, what is shown of their parts, and a curve that
// falls. Bytes of Llama 3 8B by hand: tests/core/kivi_test.cpp and kivi_way_test.cpp.
#include "app/gui/budget.h"
#include "app/gui/chart_builder.h"
#include "app/gui/curve_teeth.h"
#include "app/gui/explain_copy.h"
#include "app/gui/format_box.h"
#include "app/gui/pages.h"
#include "app/gui/quality_chart.h"
#include "app/gui/study_tables.h"
#include "app/gui/text.h"
#include "tests/gui/helpers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QStandardItemModel>

namespace kvcaliper::gui {
namespace {

using test::s;

class KiviStudy : public testing::Test {
  protected:
    KiviStudy() {
        study.setModels({s("llama-3-8b")});
        study.setKFormat(s("kivi_2bit"));
        study.setVFormat(s("kivi_2bit"));
        study.setContext(Tokens(8192));
    }
    Curve curve() { return std::get<CurveChart>(context_chart(study).body).curves.at(0); }
    Study study;
};

TEST_F(KiviStudy, FormatBoxesOfferThemWhereTheyCanBeStored) {
    const FormatBox keys(study, FormatClass::k), values(study, FormatClass::v);
    const auto enabled = [](const FormatBox& box, const char* format) {
        const int item = box.findData(s(format));
        return item >= 0 &&
               qobject_cast<const QStandardItemModel*>(box.model())->item(item)->isEnabled();
    };
    for (const char* format :
         {"kivi_2bit", "kivi_4bit", "kivi_2bit_r32", "kivi_4bit_r32", "kivi_2bit_g64",
          "kivi_4bit_g64", "kivi_2bit_g128", "kivi_4bit_g128"}) {
        EXPECT_TRUE(enabled(keys, format)) << format;
        EXPECT_TRUE(enabled(values, format)) << format;
    }
    const QTemporaryDir folder;
    study.setTicked(test::write(folder, "wide.json", test::width_80_config), true);
    EXPECT_TRUE(enabled(keys, "kivi_2bit")); // its groups are tokens
    EXPECT_FALSE(enabled(values, "kivi_2bit"));
    study.setTicked(s("gemma-3-27b"), true);
    EXPECT_FALSE(enabled(keys, "kivi_2bit"));
    EXPECT_TRUE(keys.itemData(keys.findData(s("kivi_2bit")), Qt::ToolTipRole)
                    .toString()
                    .contains(s("consecutive tokens, which a window does not")));
}

TEST_F(KiviStudy, ACurveShowsTeethWhereThereIsRoomElseTheirTips) {
    const Curve drawn = curve();
    const auto bytes_at = [&](std::int64_t tokens) -> std::optional<Bytes> {
        for (const CurvePointData& point : drawn.points) {
            if (point.tokens == Tokens(tokens)) {
                return point.bytes;
            }
        }
        return std::nullopt;
    };
    EXPECT_EQ(bytes_at(127), Bytes(127 * 131'072));
    EXPECT_EQ(bytes_at(128), Bytes(9'961'472));
    EXPECT_TRUE(bytes_at(2047) && bytes_at(2048));
    EXPECT_EQ(bytes_at(8191), Bytes(214'880'256));
    EXPECT_FALSE(bytes_at(8192));
    for (std::size_t i = 1; i < drawn.points.size(); ++i) {
        EXPECT_GT(drawn.points[i].tokens, drawn.points[i - 1].tokens);
        if (drawn.points[i].tokens > Tokens(2048)) {
            EXPECT_EQ(drawn.points[i].tokens.count() % 128, 127);
            EXPECT_GT(drawn.points[i].bytes, drawn.points[i - 1].bytes); // no teeth that are none
        }
    }
    EXPECT_TRUE(context_chart(study).subtitle.contains(s("teeth: K is packed")));
    EXPECT_EQ(drawn.knees.size(), 1U);
}

TEST_F(KiviStudy, ALineRunsThroughWhatWasMeasured) {
    const CurvePointData measured{Tokens(8192), Bytes(208'142'336)};
    const auto line =
        std::get<CurveChart>(verify_chart(study, s("llama-3-8b"), {measured}).body).curves.at(0);
    EXPECT_THAT(line.points, testing::Contains(measured));
    EXPECT_THAT(line.points, testing::Contains(CurvePointData{Tokens(8191), Bytes(214'880'256)}));
}

TEST_F(KiviStudy, OtherCurvesHaveNoTeeth) {
    study.setKFormat(s("f16")); // V alone never falls
    EXPECT_FALSE(has_teeth(*study.rows().at(0).estimate));
    EXPECT_FALSE(context_chart(study).subtitle.contains(s("teeth")));
    const auto drawn = drawn_points(*study.rows().at(0).estimate,
                                    {{Tokens(1), Bytes(7)}, {Tokens(9000), Bytes(8)}});
    EXPECT_EQ(drawn,
              (std::vector<CurvePointData>{{Tokens(1), Bytes(7)}, {Tokens(9000), Bytes(8)}}));
    study.setKFormat(s("kivi_2bit"));
    study.setModels({s("falcon-mamba-7b")}); // keeps no K
    EXPECT_FALSE(has_teeth(*study.rows().at(0).estimate));
}

TEST_F(KiviStudy, LayersAndExplainShowPackedAndRecentTokens) {
    const QString html = layer_html(study.rows().at(0), 3);
    for (const char* words : {"<td>key residual</td>", "<td>T mod 128</td><td>f16</td>",
                              "<td>value residual</td>", "<td>max(T-128,0)</td><td>kivi_2bit</td>",
                              "1024 KV heads × head_dim × 128 residual_length", "3,145,728 B",
                              "3,096,576 B", "262,144 B"}) {
        EXPECT_TRUE(html.contains(s(words))) << words << "\n" << utf8(html);
    }
    const QString text = explain_text(study.rows().at(0), 3, nullptr, false);
    EXPECT_TRUE(text.contains(s("key residual"))) << utf8(text);
    EXPECT_TRUE(text.contains(s("99,090,432"))); // V packed, all layers
    EXPECT_TRUE(text.contains(s("the most on the way to 8,192 tokens")));
}

TEST_F(KiviStudy, TablesAddUp) {
    const Table table = layer_table(study);
    ASSERT_EQ(table.rows.size(), 4U * 32);
    std::int64_t sum = 0;
    for (const auto& row : table.rows) {
        sum += std::stoll(row.at(7));
    }
    EXPECT_EQ(sum, 208'142'336);
    EXPECT_EQ(table.rows[1].at(6), "f16");
}

TEST_F(KiviStudy, BudgetsCountTheMostOnTheWay) {
    const auto rows = budget_rows(study);
    ASSERT_TRUE(rows.at(0).budget) << utf8(rows.at(0).error);
    EXPECT_EQ(rows[0].budget->cache.bytes(), Bytes(214'880'256));
    EXPECT_TRUE(budget_html(study, rows[0]).contains(s("the cache is counted at 8,191 tokens")));
}

TEST(KiviQuality, BytesThatAreNoWholeNumberAreRead) {
    // 80 channels of K in groups of 128 at 2 bits: 80 × 36 / 128 = 45/2 bytes a head.
    const JsonValue answer =
        parse_json(R"({"schema":1,"command":"quality","model":"m","tokens":1024,"heads":1,)"
                   R"("seed":1,"outlier_period":32,"outlier_factor":8.0,"pairs":[)"
                   R"({"k":"kivi_2bit_g128","v":"f16","bytes_per_token":"365/2",)"
                   R"("errors":[0.1,0,0,0],"best":true}]})",
                   "test")
            .value;
    const ChartData data = quality_chart(answer);
    const auto& chart = std::get<ScatterChart>(data.body);
    EXPECT_EQ(chart.series[1].points.at(0).bytes, 182.5); // V finer than K
    EXPECT_TRUE(data.description.contains(s("kivi_2bit_g128 / f16 365/2 B")));
}

} // namespace
} // namespace kvcaliper::gui
