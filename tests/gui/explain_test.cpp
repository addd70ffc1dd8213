// SPDX-License-Identifier: GPL-3.0-or-later
// The Explain dock: what each kind of cache is, and the explanation on the clipboard. And the
// layers that share a cache.
#include "app/gui/chart_builder.h"
#include "app/gui/chart_layout.h"
#include "app/gui/chart_view.h"
#include "app/gui/explain_copy.h"
#include "app/gui/explain_panel.h"
#include "app/gui/main_window.h"
#include "app/gui/pages.h"
#include "app/gui/text.h"
#include "core/kind_notes.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QSpinBox>
#include <QTest>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextCursor>
#include <QTextDocument>

namespace kvcaliper::gui {
namespace {

using test::s;

QString plain(const QString& html) {
    QTextDocument document;
    document.setHtml(html);
    return document.toPlainText();
}

class Explain : public testing::Test {
  protected:
    Explain() {
        window.show();
        QApplication::processEvents();
    }
    void trigger(const char* name) { window.findChild<QAction*>(s(name))->trigger(); }
    static QString clipboard() { return QApplication::clipboard()->text(); }
    MainWindow window;
};

TEST_F(Explain, KindsCarryTheirNotes) {
    window.study().setCurrent(s("deepseek-v3"));
    const QString shown = window.findChild<QTextBrowser*>(s("explainText"))->toPlainText();
    EXPECT_TRUE(shown.contains(s("Latent attention (MLA)"))) << utf8(shown);
    EXPECT_TRUE(shown.contains(s("93.3 % less cache"))); // DeepSeek-V2, abstract
    EXPECT_TRUE(shown.contains(s("source DeepSeek-V2, arXiv 2405.04434, abstract")));
}

TEST_F(Explain, EveryKindsWordsAreShownWhole) {
    for (const StudyRow& row : window.study().rows()) {
        const QString shown = plain(explain_html(row, 0, {}, {}));
        for (const KindNote* note : notes_of(*row.estimate)) {
            for (const auto part : {note->keeps, note->saves, note->trades, note->result}) {
                EXPECT_TRUE(shown.contains(text(part))) << utf8(row.name) << part;
            }
        }
    }
}

TEST_F(Explain, TheExplanationIsCopiedAsText) {
    window.study().setCurrent(s("llama-3-8b"));
    trigger("copyAsText");
    const QString copied = clipboard();
    EXPECT_TRUE(copied.startsWith(
        s("Llama 3 8B\nuncapped bytes per token: 128 KiB (131,072 B)\n  full attention, key: 32 "
          "layers × 8 KV heads × 128 head_dim × 2 bytes per element (bf16) = 65,536 B\n")))
        << utf8(copied);
    EXPECT_TRUE(copied.contains(s("\nKinds of cache\nFull attention\n  keeps: ")));
    EXPECT_TRUE(copied.contains(s("Grouped heads (GQA)\n")));
    EXPECT_TRUE(copied.endsWith(s("computed by kvcaliper 0.1.0\n")));
}

TEST_F(Explain, TheExplanationIsCopiedAsMarkdown) {
    window.study().setCurrent(s("gemma-3-27b"));
    window.findChild<QComboBox*>(s("explainFigure"))->setCurrentIndex(2);
    trigger("copyAsMarkdown");
    const QString copied = clipboard();
    EXPECT_TRUE(copied.startsWith(
        s("## Gemma 3 27B\n\nconstant bytes per sequence: 416 MiB (436,207,616 B)\n\n- sliding")))
        << utf8(copied);
    EXPECT_TRUE(copied.contains(s("\n### Components at 8,192 tokens, one sequence\n\n| layers |")));
    EXPECT_TRUE(copied.contains(s("| 52 | sliding attention | key | min(T,1024) |")) ||
                copied.contains(s("52 | sliding attention")))
        << utf8(copied);
    EXPECT_TRUE(copied.contains(s("- **Sliding window** K and V of the last W tokens")));
    EXPECT_TRUE(copied.contains(s("arXiv 2503.19786")));
}

TEST_F(Explain, WithoutAModelThereIsNothingToCopy) {
    window.study().setModels({});
    QApplication::clipboard()->setText(s("before"));
    trigger("copyAsText");
    EXPECT_EQ(clipboard(), s("before"));
}

// --- layers that share

LayerRow row_of(const char* model) {
    Study study;
    study.setModels({s(model)});
    return std::get<LayerChart>(layers_chart(study).body).rows.at(0);
}

TEST(SharedLayers, BorrowersPointAtTheirOwner) {
    // Gemma 3n E4B: 35 layers, the last 15 read the last layer of their kind that has a cache: 18
    // (sliding) and 19 (full, every fifth).
    const LayerRow row = row_of("gemma-3n-e4b");
    ASSERT_EQ(row.cells.size(), 35U);
    const ShareLanes shares = share_lanes(row);
    ASSERT_EQ(shares.lanes.size(), 2U);
    EXPECT_EQ(shares.lanes[0].owner, 18);
    EXPECT_EQ(shares.lanes[0].borrowers.size(), 12U);
    EXPECT_EQ(shares.lanes[1].owner, 19);
    EXPECT_EQ(shares.lanes[1].borrowers, std::vector<int>({24, 29, 34}));
    EXPECT_NE(shares.lanes[0].lane, shares.lanes[1].lane); // they overlap
    EXPECT_GT(shares.height(), 0);
}

TEST(SharedLayers, PairsNeedOneLane) {
    // Hunyuan-Large: cla_share_factor 2, 64 layers.
    const ShareLanes shares = share_lanes(row_of("hunyuan-large"));
    ASSERT_EQ(shares.lanes.size(), 32U);
    for (const ShareLane& share : shares.lanes) {
        EXPECT_EQ(share.lane, 0);
        EXPECT_EQ(share.borrowers, std::vector<int>({share.owner + 1}));
    }
    EXPECT_FALSE(borrows(row_of("gpt2-xl")));
    EXPECT_EQ(share_lanes(row_of("gpt2-xl")).height(), 0);
}

TEST(SharedLayers, TheSubtitleSaysWhatTheArrowIs) {
    Study study;
    study.setModels({s("gemma-3n-e4b")});
    EXPECT_TRUE(layers_chart(study).subtitle.contains(s("↑ the layer whose cache others read")));
    study.setModels({s("gpt2-xl")});
    EXPECT_FALSE(layers_chart(study).subtitle.contains(s("↑")));
}

class LayersOfMany : public Explain {
  protected:
    LayersOfMany() {
        window.study().setModels({s("gemma-3n-e4b"), s("hunyuan-large"), s("llama-3.1-405b")});
        window.showTab(s("layers"));
        QApplication::processEvents();
    }
    QString detail() { return browser()->toPlainText(); }
    QTextBrowser* browser() { return window.findChild<QTextBrowser*>(s("layerDetail")); }
    QSpinBox* layer() { return window.findChild<QSpinBox*>(s("layerIndex")); }
};

TEST_F(LayersOfMany, AClickShowsTheLayerItsUnitsAndItsKey) {
    auto* chart = window.findChild<LayersPage*>()->chart();
    auto* plot = chart->findChild<QWidget*>();
    // The third of three rows, 126 layers over the width: whichever is hit is one of Llama's.
    QTest::mouseClick(plot, Qt::LeftButton, {}, QPoint(plot->width() / 2, plot->height() * 2 / 3));
    EXPECT_EQ(window.study().current(), s("llama-3.1-405b")) << utf8(detail());
    EXPECT_NEAR(layer()->value(), 63, 8);
    EXPECT_TRUE(detail().contains(s("decided by ")));
    EXPECT_TRUE(detail().contains(s("8 KV heads × 128 head_dim")));
}

TEST_F(LayersOfMany, ALinkLeadsToTheLayerThatIsRead) {
    auto* page = window.findChild<LayersPage*>();
    page->choose(s("gemma-3n-e4b"), 34);
    EXPECT_TRUE(detail().contains(s("reads the cache of layer 19"))) << utf8(detail());
    QTextCursor link = browser()->document()->find(s("layer 19"));
    ASSERT_FALSE(link.isNull());
    Q_EMIT browser()->anchorClicked(QUrl(link.charFormat().anchorHref()));
    EXPECT_EQ(layer()->value(), 19);
    EXPECT_TRUE(detail().contains(s("read by layers 24, 29, 34 too"))) << utf8(detail());
}

TEST_F(LayersOfMany, ArrowsAreDrawnOnScreenAndIntoFiles) {
    EXPECT_FALSE(window.findChild<LayersPage*>()->chart()->grab().isNull());
    window.findChild<LayersPage*>()->choose(s("hunyuan-large"), 1);
    QApplication::processEvents();
    EXPECT_FALSE(window.grab().isNull());
}

} // namespace
} // namespace kvcaliper::gui
