// SPDX-License-Identifier: GPL-3.0-or-later
// The chart over the context: lines of devices, meetings, linear axes, reads without a cache.
#include "app/gui/chart_builder.h"
#include "app/gui/chart_export.h"
#include "app/gui/chart_layout.h"
#include "app/gui/chart_view.h"
#include "app/gui/context_extras.h"
#include "app/gui/main_window.h"
#include "app/gui/pages.h"
#include "app/gui/study_session.h"
#include "app/gui/text.h"
#include "core/device.h"
#include "tests/gui/helpers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QImage>
#include <QMenu>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <QToolTip>
#include <QUndoStack>

#include <algorithm>

namespace kvcaliper::gui {
namespace {

using test::s;

class Context : public testing::Test {
  protected:
    Context() { open_seed(study); }

    void show(const ContextView& view) { study.setContextView(view); }
    CurveChart chart() { return std::get<CurveChart>(context_chart(study).body); }
    QStringList labels() {
        QStringList labels;
        for (const Meeting& meeting : chart().meetings) {
            labels << meeting.label;
        }
        labels.sort();
        return labels;
    }
    Study study;
};

TEST_F(Context, CurvesMeetAtExactCounts) {
    // By hand from the models' figures: 36,700,160 B of Falcon-Mamba against 307,200 (GPT-2 XL,
    // 119.47), 131,072 (Llama 3 8B, 280 exactly), 507,904 (Gemma 3 27B below its window, 72.26) and
    // 70,272 B per token (DeepSeek-V3, 522.26); Gemma's 436,207,616 B + 81,920 B per token past
    // 1,024 against 307,200 (1,936.3) and 131,072 B per token (8,874.7).
    EXPECT_EQ(labels(),
              QStringList({s("1,937"), s("120"), s("281"), s("523"), s("73"), s("8,875")}));
    const auto meetings = chart().meetings;
    const auto found = std::find_if(meetings.begin(), meetings.end(), [](const Meeting& meeting) {
        return meeting.label == s("281");
    });
    ASSERT_NE(found, meetings.end());
    EXPECT_EQ(found->meaning, s("from 281 tokens on Llama 3 8B takes more than Falcon-Mamba 7B"));
    EXPECT_EQ(found->bytes, Bytes(281 * 131072));
    EXPECT_TRUE(context_chart(study).description.contains(found->meaning));
    EXPECT_TRUE(context_chart(study).subtitle.contains(s("numbers: tokens at which lines meet")));
}

TEST_F(Context, MeetingsCanBeLeftOut) {
    show({{}, false, false, false});
    EXPECT_TRUE(chart().meetings.empty());
}

TEST_F(Context, ADeviceIsALineThatSaysWhatItIs) {
    show({{s("rtx-4090"), s("m2-ultra-192")}, false, false, false});
    const auto capacities = chart().capacities;
    ASSERT_EQ(capacities.size(), 2U);
    EXPECT_EQ(capacities[0].bytes, find_device("rtx-4090").memory);
    EXPECT_EQ(capacities[0].label, s("NVIDIA GeForce RTX 4090 24 GB: 24 GiB device memory"));
    // configs/gpus.json: macOS lets a process take three quarters.
    EXPECT_EQ(capacities[1].label, s("Apple M2 Ultra 192 GB: 144 GiB usable of 192 GiB"));
    EXPECT_TRUE(context_chart(study).subtitle.contains(s("weights not taken off")));
}

TEST_F(Context, ACurveMeetsALineAtTheLastCountThatFits) {
    study.setModels({s("llama-3-8b")});
    show({{s("rtx-4090")}, false, true, false});
    study.setContext(Tokens(1 << 20)); // a chart that reaches so far
    const auto meetings = chart().meetings;
    ASSERT_EQ(meetings.size(), 1U);
    const std::int64_t last = find_device("rtx-4090").memory.count() / 131072;
    EXPECT_EQ(meetings[0].tokens, Tokens(last));
    EXPECT_EQ(meetings[0].label, integer_text(last));
    EXPECT_TRUE(meetings[0].meaning.contains(s("beyond the 8,192 tokens of Llama 3 8B")))
        << utf8(meetings[0].meaning);
}

TEST_F(Context, AnUnknownDeviceIsSaidAndTheOthersStay) {
    show({{s("h100-81"), s("rtx-4090")}, false, true, false});
    EXPECT_EQ(chart().capacities.size(), 1U);
    EXPECT_TRUE(context_chart(study).subtitle.contains(s("h100-81")));
}

TEST_F(Context, AThicketIsThatOfTheBaseline) {
    study.setModels({s("gpt2"), s("gpt2-medium"), s("gpt2-xl"), s("llama-3-8b"), s("llama-3-70b"),
                     s("gemma-3-27b"), s("gemma-2-9b"), s("deepseek-v3"), s("falcon-mamba-7b"),
                     s("bamba-9b"), s("jamba-v0.1"), s("qwen3-next-80b-a3b"), s("lfm2-1.2b")});
    study.setBaseline(s("falcon-mamba-7b"));
    show({{}, false, true, false});
    const auto meetings = chart().meetings;
    ASSERT_FALSE(meetings.empty());
    EXPECT_LE(meetings.size(), 24U);
    for (const Meeting& meeting : meetings) {
        EXPECT_TRUE(meeting.meaning.contains(s("Falcon-Mamba 7B"))) << utf8(meeting.meaning);
    }
    EXPECT_TRUE(context_chart(study).subtitle.contains(s("meetings of Falcon-Mamba 7B alone")));
}

TEST_F(Context, ReadsWithoutACacheAreAChartOfTheirOwn) {
    EXPECT_FALSE(chart().reads);
    show({{}, false, true, true});
    const auto reads = chart().reads;
    ASSERT_TRUE(reads);
    for (const ReadsPanel::Point& point : reads->points) {
        const std::int64_t n = point.tokens.count();
        EXPECT_EQ(point.without, n % 2 == 0 ? n / 2 * (n + 1) : n * ((n + 1) / 2));
    }
    EXPECT_EQ(reads->points.front().tokens, Tokens(1));
    EXPECT_TRUE(reads->caption.contains(s("33,558,528"))); // 8,192 · 8,193 / 2
    EXPECT_GT(export_size(context_chart(study)).height(), 540);
}

TEST_F(Context, EveryViewIsDrawnOnScreenAndIntoFiles) {
    const QTemporaryDir folder;
    ChartView view;
    view.resize(720, 560);
    view.show();
    for (int bits = 0; bits < 8; ++bits) { // and each after another: nothing of it may be left
        show(
            {{s("h100-80"), s("h100-pcie-80")}, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
        const ChartData data = context_chart(study);
        view.setData(data);
        QApplication::processEvents();
        EXPECT_FALSE(view.grab().isNull());
        EXPECT_FALSE(
            export_chart(data, dark_chart_theme(), {900, 640}, folder.filePath(s("chart.svg"))));
        const QByteArray svg = test::read(folder.filePath(s("chart.svg")));
        EXPECT_TRUE(svg.contains("NVIDIA H100 SXM 80 GB"));
        // On linear axes below lines of 80 GiB the first counts have no room for their labels.
        EXPECT_EQ(svg.contains(">281<"), (bits & 3) == 2);
        EXPECT_EQ(svg.contains(">no cache<"), (bits & 4) != 0);
    }
}

// --- where labels go

TEST(ChartLayout, LabelsTouchNothing) {
    std::vector<LabelWish> wishes;
    for (int i = 0; i < 40; ++i) { // a crowd along a line, its ends at the edges
        wishes.push_back({QPointF(i * 10, 100 - i), QSizeF(48, 14)});
    }
    const QRectF area(0, 0, 400, 120);
    const QRectF forbidden(100, 0, 90, 60);
    const auto placed = place_labels(wishes, area, {forbidden});
    ASSERT_EQ(placed.size(), wishes.size());
    int found = 0;
    for (std::size_t i = 0; i < placed.size(); ++i) {
        if (!placed[i]) {
            continue;
        }
        ++found;
        EXPECT_TRUE(area.contains(*placed[i]));
        EXPECT_FALSE(placed[i]->intersects(forbidden));
        EXPECT_FALSE(placed[i]->contains(wishes[i].at));
        for (std::size_t j = 0; j < i; ++j) {
            EXPECT_FALSE(placed[j] && placed[j]->intersects(*placed[i])) << i << " " << j;
        }
    }
    EXPECT_GE(found, 10);
    EXPECT_TRUE(placed[0]); // who comes first is placed first
}

TEST(ChartLayout, NamesOfLinesStandApart) {
    EXPECT_EQ(stack_bottoms({50, 100}, 10, 0), std::vector<double>({50, 100}));
    EXPECT_EQ(stack_bottoms({98, 99, 100}, 10, 0), std::vector<double>({80, 90, 100}));
    EXPECT_EQ(stack_bottoms({12, 13}, 10, 0), std::vector<double>({10, 20})); // not past the top
}

TEST(Corners, OnlyPointsOffTheLineAreKept) {
    using Kept = std::vector<std::size_t>;
    const std::vector<QPointF> bent = {{0, 0}, {1, 1}, {2, 2}, {3, 2}, {4, 2}, {5, 2.5}};
    EXPECT_EQ(corners(bent, 0.01), Kept({0, 2, 4, 5})); // by hand
    EXPECT_EQ(corners(bent, 1.1), Kept({0, 5}));
    EXPECT_EQ(corners(bent, 0.9), Kept({0, 2, 5})); // 1.0 above; then nothing by more than 0.33
    EXPECT_EQ(corners({}, 1), Kept());
    EXPECT_EQ(corners({{1, 1}}, 1), Kept({0}));
    EXPECT_EQ(corners({{1, 1}, {2, 5}}, 1), Kept({0, 1}));
}

TEST(ChartLayout, ThinningKeepsTheEnds) {
    const std::vector<int> all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    EXPECT_EQ(thinned(all, 4), std::vector<int>({0, 3, 6, 9}));
    EXPECT_EQ(thinned(all, 20), all);
    EXPECT_EQ(thinned(all, 1), std::vector<int>({0}));
}

// --- in the study and its file

TEST_F(Context, TheViewIsUndoneAndRedone) {
    show({{s("h100-80")}, true, false, true});
    ContextView more = study.state().context_view;
    more.devices << s("a100-80") << s("h100-80"); // twice is once
    show(more);
    EXPECT_EQ(study.state().context_view.devices, QStringList({s("h100-80"), s("a100-80")}));
    study.undoStack()->undo();
    EXPECT_EQ(study.state().context_view.devices, QStringList({s("h100-80")}));
    study.undoStack()->undo();
    EXPECT_TRUE(study.state().context_view == ContextView{});
    study.undoStack()->redo();
    EXPECT_TRUE(study.state().context_view.linear);
}

TEST_F(Context, TheViewIsInTheFileWithWhatElseIsThere) {
    const QTemporaryDir folder;
    const QString path = folder.filePath(s("a.kvstudy.json"));
    StudySession session(study);
    ASSERT_FALSE(session.open(
        test::write(folder, "a.kvstudy.json", R"({"kvcaliper_study": 1, "models": ["gpt2-xl"],
        "context_view": {"devices": ["h100-80"], "recompute": true, "zoom": [1, 2]}})")));
    EXPECT_TRUE(study.state().context_view == (ContextView{{s("h100-80")}, false, true, true}));
    show({{s("a100-80"), s("l4")}, true, false, false});
    ASSERT_FALSE(session.save(path));
    const JsonValue view = read_json_file(utf8(path)).value.at("context_view");
    EXPECT_EQ(dump_json(view.at("zoom"), -1), "[1,2]");
    EXPECT_EQ(dump_json(view.at("devices"), -1), R"(["a100-80","l4"])");
    Study other;
    StudySession second(other);
    ASSERT_FALSE(second.open(path));
    EXPECT_TRUE(other.state().context_view == study.state().context_view);
}

TEST_F(Context, AWrongViewInAFileIsNamed) {
    const QTemporaryDir folder;
    StudySession session(study);
    const auto problem = [&](const char* view) {
        return session
            .open(
                test::write(folder, "bad.kvstudy.json",
                            QByteArray(R"({"kvcaliper_study": 1, "models": [], "context_view": )") +
                                view + "}"))
            .value_or(QString());
    };
    EXPECT_TRUE(problem(R"({"linear": 1})").contains(s("/context_view/linear: expected true or")));
    EXPECT_TRUE(
        problem(R"({"devices": "h100-80"})").contains(s("/context_view/devices: expected")));
    EXPECT_TRUE(problem(R"({"devices": [80]})").contains(s("/context_view/devices/0: expected")));
    EXPECT_TRUE(problem("7").contains(s("/context_view: expected an object")));
}

// --- under the pointer

TEST_F(Context, TheTipHasExactBytesAndTerms) {
    // Llama 3 8B at 1,000 tokens is 131,072,000 B; a pointer at that height is nearest to it.
    const QString tip = context_tip(study, chart(), Tokens(1000), 131072000, -1);
    EXPECT_TRUE(tip.contains(s("<b>1,000 tokens</b>"))) << utf8(tip);
    EXPECT_TRUE(tip.contains(s("<b>Llama 3 8B: 125 MiB (131,072,000 B)</b>")));
    EXPECT_TRUE(tip.contains(s("full attention, key: 32 layers × 1,000 tokens × 8 KV heads × 128 "
                               "head_dim × 2 bytes per element (bf16) = 65,536,000 B")));
    EXPECT_TRUE(tip.contains(s("GPT-2 XL: 293 MiB (307,200,000 B)")));
    EXPECT_FALSE(tip.contains(s("without a cache")));
}

TEST_F(Context, TheTipAtAMeetingIsOfItsCount) {
    show({{}, false, true, true});
    const CurveChart chart = this->chart();
    for (std::size_t i = 0; i < chart.meetings.size(); ++i) {
        const QString tip =
            context_tip(study, chart, Tokens(7), 7, static_cast<int>(i)); // beside the mark
        EXPECT_TRUE(tip.contains(chart.meetings[i].meaning)) << utf8(tip);
        EXPECT_TRUE(tip.contains(chart.meetings[i].label + s(" tokens")));
    }
    EXPECT_TRUE(context_tip(study, chart, Tokens(1000), 0, -1).contains(s("500,500 tokens read")));
}

TEST_F(Context, ThePointerFindsAMark) {
    ChartView view;
    view.resize(640, 420);
    view.setData(context_chart(study));
    view.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&view));
    auto* plot = view.findChild<QWidget*>();
    ASSERT_NE(plot, nullptr);
    QSignalSpy spy(&view, &ChartView::hovered);
    ChartSpot best;
    for (int y = 60; y < 400; y += 6) {
        for (int x = 60; x < 560; x += 6) {
            QTest::mouseMove(plot, {x, y});
            const auto spot = qvariant_cast<ChartSpot>(spy.takeLast().at(0));
            best = spot.meeting >= 0 ? spot : best;
        }
    }
    ASSERT_GE(best.meeting, 0);
    const Meeting met = chart().meetings[static_cast<std::size_t>(best.meeting)];
    EXPECT_NEAR(best.tokens / static_cast<double>(met.tokens.count()), 1, 0.25);
    EXPECT_NEAR(best.bytes / static_cast<double>(met.bytes.count()), 1, 0.5);
}

// --- the page

class ContextControls : public testing::Test {
  protected:
    ContextControls() {
        window.showTab(s("context"));
        window.show();
        QApplication::processEvents();
    }
    const ContextView& view() { return window.study().state().context_view; }
    void click(const char* name) {
        auto* box = window.findChild<QCheckBox*>(s(name));
        ASSERT_NE(box, nullptr);
        QTest::mouseClick(box, Qt::LeftButton, {}, QPoint(8, box->height() / 2));
    }
    /// Opens the menu of devices, and its parts, as a click does.
    QAction* device(const char* name) {
        auto* menu = window.findChild<QToolButton*>(s("capacityDevices"))->menu();
        Q_EMIT menu->aboutToShow();
        return menu->findChild<QAction*>(s("capacity:") + s(name));
    }
    MainWindow window;
};

TEST_F(ContextControls, BoxesAreEditsOfTheStudy) {
    click("linearAxes");
    click("withoutCache");
    click("markMeetings");
    EXPECT_TRUE(view() == (ContextView{{}, true, false, true}));
    window.findChild<QAction*>(s("undo"))->trigger();
    EXPECT_TRUE(view().crossings);
    EXPECT_TRUE(window.findChild<QCheckBox*>(s("markMeetings"))->isChecked());
    QTest::keyClick(window.findChild<QCheckBox*>(s("markMeetings")), Qt::Key_Space);
    EXPECT_FALSE(view().crossings);
}

TEST_F(ContextControls, DevicesAreTickedInTheMenu) {
    ASSERT_NE(device("h100-80"), nullptr);
    EXPECT_FALSE(device("h100-80")->isChecked());
    device("h100-80")->trigger();
    device("l4")->trigger();
    EXPECT_EQ(view().devices, QStringList({s("h100-80"), s("l4")}));
    EXPECT_EQ(window.findChild<QToolButton*>(s("capacityDevices"))->text(), s("&GPU lines: 2"));
    EXPECT_TRUE(device("h100-80")->isChecked());
    device("h100-80")->trigger();
    EXPECT_EQ(view().devices, QStringList({s("l4")}));
}

TEST_F(ContextControls, ADeviceNobodyKnowsCanBeTakenAway) {
    window.study().setContextView({{s("my-own-gpu")}, false, true, false});
    ASSERT_NE(device("my-own-gpu"), nullptr);
    device("my-own-gpu")->trigger();
    EXPECT_TRUE(view().devices.isEmpty());
}

TEST_F(ContextControls, APointerOverTheChartHasATip) {
    auto* chart = window.findChild<ContextPage*>()->chart();
    auto* plot = chart->findChild<QWidget*>();
    QTest::mouseMove(plot, QPoint(plot->width() / 2, plot->height() / 2));
    EXPECT_TRUE(QTest::qWaitFor([] { return QToolTip::text().contains(s("tokens</b>")); }, 2000));
    QToolTip::hideText();
}

} // namespace
} // namespace kvcaliper::gui
