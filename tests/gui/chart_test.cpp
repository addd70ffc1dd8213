// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/chart_builder.h"
#include "app/gui/chart_export.h"
#include "app/gui/chart_view.h"
#include "app/gui/text.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QImage>

#include <algorithm>
#include <set>

namespace kvcaliper::gui {
namespace {

using test::s;

class Chart : public testing::Test {
  protected:
    Chart() { open_seed(study); }
    Study study;
};

TEST_F(Chart, BarsCarryTheirNumbers) {
    const ChartData data = per_token_chart(study);
    const auto& bars = std::get<BarChart>(data.body).bars;
    ASSERT_EQ(bars.size(), 5U);
    EXPECT_EQ(bars[0].label, s("300 KiB"));
    EXPECT_EQ(bars[0].solid, Ratio(307200));
    EXPECT_EQ(bars[0].hatched, Ratio(0));
    EXPECT_EQ(bars[2].label, s("496 KiB"));
    EXPECT_EQ(bars[2].detail, s("80 KiB past 1,024 tokens"));
    EXPECT_EQ(bars[2].solid, Ratio(81920));
    EXPECT_EQ(bars[2].hatched, Ratio(507904 - 81920));
    EXPECT_EQ(bars[4].label, s("0 B/token"));
    EXPECT_EQ(bars[4].detail, s("35 MiB fixed"));
    EXPECT_EQ(data.subtitle, s("required, engine ideal, bf16 K/V, context 8,192"));
    EXPECT_EQ(data.legend.size(), 2U);
}

TEST_F(Chart, TheSubtitleNamesWhatWasChosen) {
    study.setKFormat(s("q8_0"));
    study.setSequences(4);
    EXPECT_EQ(view_text(study),
              s("required, engine ideal, q8_0 K, bf16 V, context 8,192, 4 sequences"));
}

/// The picture of a chart in a view that showed another one before.
QImage picture_after(const std::vector<ChartData>& charts) {
    ChartView view;
    view.resize(800, 500);
    view.show();
    for (const ChartData& chart : charts) {
        view.setData(chart);
        QApplication::processEvents();
    }
    return view.grab().toImage();
}

/// Only the marks are painted anew where the curves stay: nobody is to see a difference.
TEST_F(Chart, AMovedContextLooksLikeAChartDrawnAnew) {
    const ChartData before = context_chart(study);
    study.setContext(Tokens(50'000)); // curves and ranges are those of before
    const ChartData moved = context_chart(study);
    study.setContext(Tokens(3'000'000)); // past every model: longer axes
    const ChartData longer = context_chart(study);
    const QImage picture = picture_after({moved});
    EXPECT_NE(picture_after({before}), picture);
    EXPECT_EQ(picture_after({before, moved}), picture);
    EXPECT_EQ(picture_after({before, longer, moved}), picture);
    EXPECT_EQ(picture_after({before, moved, longer}), picture_after({longer}));
    EXPECT_EQ(picture_after({before, per_token_chart(study), moved}), picture);
    ContextView view = study.state().context_view;
    view.devices = {s("rtx-4090")}; // a line between the curves: the axes stay
    study.setContext(Tokens(50'000));
    study.setContextView(view);
    const ChartData with_line = context_chart(study);
    EXPECT_NE(picture_after({with_line}), picture);
    EXPECT_EQ(picture_after({moved, with_line}), picture_after({with_line}));
    EXPECT_EQ(picture_after({with_line, moved}), picture);
}

TEST_F(Chart, CurvesEndWhereTheModelsDo) {
    const ChartData data = context_chart(study);
    const auto& curves = std::get<CurveChart>(data.body).curves;
    ASSERT_EQ(curves.size(), 5U);
    EXPECT_EQ(curves[0].points.back().tokens, Tokens(1024)); // GPT-2's n_positions
    EXPECT_EQ(curves[0].points.back().bytes, Bytes(307200 * 1024));
    EXPECT_FALSE(curves[0].beyond.empty());
    ASSERT_EQ(curves[2].knees.size(), 1U);
    EXPECT_EQ(curves[2].knees[0].tokens, Tokens(1024));
    EXPECT_EQ(curves[2].knees[0].bytes, Bytes(507904 * 1024));
    for (const CurvePointData& point : curves[4].points) {
        EXPECT_EQ(point.bytes, Bytes(36700160));
    }
    for (const Curve& curve : curves) {
        EXPECT_LE(curve.points.size(), 256U);
    }
}

TEST_F(Chart, LayersShowEveryLayerOfEveryModel) {
    const ChartData data = layers_chart(study);
    const auto& rows = std::get<LayerChart>(data.body).rows;
    ASSERT_EQ(rows.size(), 5U);
    EXPECT_EQ(rows[0].cells.size(), 48U);
    EXPECT_EQ(rows[2].caption, s("52 × sliding attention (window 1,024), 10 × full attention"));
    const auto full =
        std::count_if(rows[2].cells.begin(), rows[2].cells.end(),
                      [](const auto& cell) { return cell.kind == s("full attention"); });
    EXPECT_EQ(full, 10);
    EXPECT_EQ(rows[2].cells[5].fill, 1.0); // the sixth is the first without a window
    EXPECT_EQ(rows[2].cells[0].fill, 1024.0 / 8192.0);
    EXPECT_EQ(data.legend.size(), 4U);
}

TEST_F(Chart, MeasuredPointsLieOnTheirCurve) {
    const ChartData data = verify_chart(study, s("gpt2-xl"), {{Tokens(64), Bytes(64 * 307200)}});
    const auto& curves = std::get<CurveChart>(data.body).curves;
    ASSERT_EQ(curves.size(), 1U);
    EXPECT_EQ(curves[0].measured.size(), 1U);
}

TEST_F(Chart, KindsDifferInColourAndInHatch) {
    std::set<std::pair<QRgb, Hatch>> looks;
    for (const ChartTheme& theme : {light_chart_theme(), dark_chart_theme()}) {
        looks.clear();
        for (const LayerKind kind : all_layer_kinds) {
            const Ink ink = kind_ink(kind);
            EXPECT_TRUE(looks.emplace(theme.ink(ink).rgb(), ink.hatch).second)
                << utf8(kind_text(kind));
        }
    }
}

TEST_F(Chart, EveryKindIsWrittenInEveryFormat) {
    const QTemporaryDir folder;
    for (const ChartData& data :
         {per_token_chart(study), context_chart(study), layers_chart(study)}) {
        for (const char* name : {"chart.svg", "chart.pdf", "chart.png"}) {
            const QString path = folder.filePath(s(name));
            const auto problem = export_chart(data, light_chart_theme(), {960, 540}, path);
            EXPECT_FALSE(problem) << utf8(problem.value_or(QString()));
        }
        const QByteArray svg = test::read(folder.filePath(s("chart.svg")));
        EXPECT_TRUE(svg.contains("<title>" + data.title.toUtf8()));
        EXPECT_TRUE(svg.contains("kvcaliper 0.1.0"));
        EXPECT_TRUE(svg.contains(">GPT-2 XL<"));
        EXPECT_TRUE(test::read(folder.filePath(s("chart.pdf"))).startsWith("%PDF-"));
        const QImage png(folder.filePath(s("chart.png")));
        EXPECT_EQ(png.size(), QSize(1920, 1080));
        EXPECT_EQ(png.text(s("Title")), data.title);
        std::set<QRgb> colours;
        for (int x = 0; x < png.width(); x += 7) {
            for (int y = 0; y < png.height(); y += 7) {
                colours.insert(png.pixel(x, y));
            }
        }
        EXPECT_GT(colours.size(), 4U) << "the picture is blank";
    }
}

TEST_F(Chart, AnUnknownEndingIsRefusedAndLeavesNothing) {
    const QTemporaryDir folder;
    const QString path = folder.filePath(s("chart.gif"));
    const auto problem =
        export_chart(per_token_chart(study), light_chart_theme(), {400, 300}, path);
    ASSERT_TRUE(problem);
    EXPECT_TRUE(problem->contains(s(".svg, .pdf or .png")));
    EXPECT_FALSE(QFile::exists(path));
}

TEST_F(Chart, AFolderThatIsNotThereIsAReason) {
    EXPECT_TRUE(export_chart(per_token_chart(study), light_chart_theme(), {400, 300},
                             s("/no/such/folder/chart.svg")));
}

TEST_F(Chart, TheViewChangesKindsAndDescribesItself) {
    ChartView view;
    view.resize(500, 320);
    view.show();
    for (int round = 0; round < 2; ++round) { // what a chart leaves behind must not hurt the next
        for (const ChartData& data :
             {per_token_chart(study), context_chart(study), layers_chart(study)}) {
            view.setData(data);
            QApplication::processEvents();
            EXPECT_FALSE(view.grab().isNull());
            EXPECT_EQ(view.accessibleDescription(), data.description);
        }
    }
    EXPECT_TRUE(per_token_chart(study).description.contains(s("307,200 B")));
}

TEST_F(Chart, AnEmptyStudyDraws) {
    study.setModels({});
    ChartView view;
    view.show();
    for (const ChartData& data : {per_token_chart(study), context_chart(study), layers_chart(study),
                                  verify_chart(study, QString(), {})}) {
        view.setData(data);
        QApplication::processEvents();
    }
}

} // namespace
} // namespace kvcaliper::gui
