// SPDX-License-Identifier: GPL-3.0-or-later
// Errors over bytes: what the chart says of an answer, and the program that draws it.
#include "app/gui/quality_chart.h"

#include "core/error.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QProcess>

namespace kvcaliper::gui {
namespace {

using test::s;

/// Bytes of Llama 3 8B; errors made up.
const char* const answer_text =
    R"({"schema":1,"command":"quality","model":"llama-3-8b","tokens":1024,"heads":32,"seed":1,)"
    R"("outlier_period":32,"outlier_factor":8.0,"pairs":[)"
    R"({"k":"f16","v":"f16","bytes_per_token":"131072","errors":[0.001,0,0,0],"best":true},)"
    R"({"k":"q4_0","v":"q4_0","bytes_per_token":"36864","errors":[0.64,0,0,0],"best":true},)"
    R"({"k":"q4_0","v":"q8_0","bytes_per_token":"53248","errors":[0.63,0,0,0],"best":false},)"
    R"({"k":"q8_0","v":"q4_0","bytes_per_token":"53248","errors":[0.09,0,0,0],"best":true},)"
    R"({"k":"q4_0","v":"iq4_nl","bytes_per_token":"36864","errors":[0.66,0,0,0],"best":false},)"
    R"({"k":"f32","v":"f32","bytes_per_token":"262144","errors":[1e-7,0,0,0],"best":true}]})";

JsonValue answer() {
    return parse_json(answer_text, "test").value;
}

TEST(QualityChart, GroupsPairsByWhatTakesMore) {
    const ChartData data = quality_chart(answer());
    const auto& chart = std::get<ScatterChart>(data.body);
    ASSERT_EQ(chart.series.size(), 3U);
    ASSERT_EQ(chart.series[0].points.size(), 1U); // K finer: q8_0 with q4_0
    EXPECT_EQ(chart.series[0].points[0].error, 0.09);
    ASSERT_EQ(chart.series[1].points.size(), 1U); // V finer
    EXPECT_EQ(chart.series[1].points[0].error, 0.63);
    ASSERT_EQ(chart.series[2].points.size(), 3U); // as much: one format, or 18 bytes either way
    EXPECT_EQ(chart.series[2].points[0].label, s("q4_0"));
    EXPECT_TRUE(chart.series[2].points[1].label.isEmpty());
    EXPECT_EQ(data.legend.size(), 3U);
    for (const LegendEntry& entry : data.legend) {
        EXPECT_TRUE(entry.marker); // shapes tell the series apart without their colours
    }
}

TEST(QualityChart, TheFrontFallsAndF32IsNoCache) {
    const auto chart = std::get<ScatterChart>(quality_chart(answer()).body);
    ASSERT_EQ(chart.front.size(), 3U);
    EXPECT_EQ(chart.front[0].bytes, 36864);
    EXPECT_EQ(chart.front[1].bytes, 53248);
    EXPECT_EQ(chart.front[1].label, s("q8_0 / q4_0"));
    EXPECT_EQ(chart.front[2].bytes, 131072);
}

TEST(QualityChart, EightAndFourBitsAtTheSameBytesAreHeldTogether) {
    const auto chart = std::get<ScatterChart>(quality_chart(answer()).body);
    ASSERT_TRUE(chart.span);
    EXPECT_EQ(chart.span->low.label, s("q8_0 / q4_0: 9 %"));
    EXPECT_EQ(chart.span->high.label, s("q4_0 / q8_0: 63 %"));
    EXPECT_EQ(chart.span->low.bytes, chart.span->high.bytes);
    EXPECT_EQ(chart.span->label, s("53,248 B per token"));
}

TEST(QualityChart, ItsDescriptionHasEveryNumber) {
    const QString words = quality_chart(answer()).description;
    EXPECT_TRUE(words.contains(s("q8_0 / q4_0 53,248 B 9 %")));
    EXPECT_TRUE(words.contains(s("f16 131,072 B 0.1 %")));
}

TEST(QualityChart, AnswersThatLackSomethingAreRefused) {
    JsonValue none = answer();
    none.set("pairs", JsonValue::Array{});
    EXPECT_THROW(quality_chart(none), Error);
    JsonValue nameless = answer();
    nameless.set("model", 3);
    EXPECT_THROW(quality_chart(nameless), Error);
    JsonValue pair;
    pair.set("k", "q8_0");
    pair.set("v", "q9_9");
    pair.set("bytes_per_token", "1");
    pair.set("errors", JsonValue::Array{0.5});
    pair.set("best", true);
    JsonValue unknown = answer();
    unknown.set("pairs", JsonValue::Array{pair});
    EXPECT_THROW(quality_chart(unknown), Error);
}

struct Drawn {
    int code;
    QByteArray err;
};

/// The real program, with those figures on its standard input.
Drawn draw(const QString& path, const QByteArray& figures) {
    QProcess process;
    process.start(s(KVCALIPER_GUI_PROGRAM), {s("--chart"), path, s("--kind"), s("quality")});
    process.write(figures);
    process.closeWriteChannel();
    process.waitForFinished(60000);
    return {process.exitCode(), process.readAllStandardError()};
}

TEST(QualityChart, TheProgramDrawsWhatItIsGiven) {
    const QTemporaryDir folder;
    const QString path = folder.filePath(s("quality.svg"));
    const Drawn drawn = draw(path, QByteArray(answer_text) + "\n");
    EXPECT_EQ(drawn.code, 0) << drawn.err.toStdString();
    const QByteArray svg = test::read(path);
    for (const char* words : {">q8_0 / q4_0: 9 %<", ">q4_0 / q8_0: 63 %<", ">K finer than V<",
                              ">10 %<", ">53,248 B per token<"}) {
        EXPECT_TRUE(svg.contains(words)) << words;
    }
}

TEST(QualityChart, WithoutFiguresTheProgramSaysWhereTheyComeFrom) {
    const QTemporaryDir folder;
    const Drawn drawn = draw(folder.filePath(s("quality.svg")), "");
    EXPECT_EQ(drawn.code, 2);
    EXPECT_TRUE(drawn.err.contains("kvcaliper-gui: --kind quality: expected figures on standard "
                                   "input, found none"));
    EXPECT_EQ(drawn.err.count('\n'), 1);
}

} // namespace
} // namespace kvcaliper::gui
