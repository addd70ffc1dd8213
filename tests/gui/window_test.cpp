// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/main_window.h"

#include "app/gui/chart_view.h"
#include "app/gui/context_extras.h"
#include "app/gui/pages.h"
#include "app/gui/text.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStatusBar>
#include <QTableView>
#include <QTest>
#include <QTextBrowser>

namespace kvcaliper::gui {
namespace {

using test::s;

class Window : public testing::Test {
  protected:
    Window() {
        window.show();
        QApplication::processEvents();
    }
    template <typename Widget> Widget* child(const char* name) {
        return window.findChild<Widget*>(s(name));
    }
    QString explained() { return child<QTextBrowser>("explainText")->toPlainText(); }
    MainWindow window;
};

TEST_F(Window, OpensWithTheStory) {
    EXPECT_EQ(child<QTableView>("compareTable")->model()->rowCount(), 5);
    EXPECT_TRUE(window.statusBar()->currentMessage().contains(s("context 8,192")));
    EXPECT_TRUE(explained().contains(s("300 KiB")));
    EXPECT_TRUE(explained().contains(s("48 layers × 25 KV heads × 64 head_dim")));
    EXPECT_EQ(child<QLabel>("badge")->text(), s("computed"));
}

TEST_F(Window, EveryPageIsDrawnInEveryTheme) {
    for (const AppTheme theme : {AppTheme::dark, AppTheme::contrast, AppTheme::light}) {
        apply_theme(theme);
        for (const QString& tab : MainWindow::tabNames()) {
            EXPECT_TRUE(window.showTab(tab));
            QApplication::processEvents();
            EXPECT_FALSE(window.grab().isNull());
        }
    }
    EXPECT_FALSE(window.showTab(s("no such page")));
}

TEST_F(Window, ChoosingACellExplainsItsFigure) {
    auto* table = child<QTableView>("compareTable");
    table->setCurrentIndex(table->model()->index(2, 4)); // Gemma's constant
    EXPECT_EQ(window.study().current(), s("gemma-3-27b"));
    EXPECT_TRUE(explained().contains(s("416 MiB"))) << utf8(explained());
}

TEST_F(Window, TheTableSortsByNumbers) {
    auto* table = child<QTableView>("compareTable");
    table->sortByColumn(2, Qt::DescendingOrder);
    EXPECT_EQ(table->model()->index(0, 0).data().toString(), s("Gemma 3 27B"));
    EXPECT_EQ(table->model()->index(4, 0).data().toString(), s("Falcon-Mamba 7B"));
}

TEST_F(Window, ContextEntryReachesEveryView) {
    auto* field = child<QWidget>("context")->findChild<QLineEdit*>();
    field->setText(s("128K"));
    Q_EMIT field->editingFinished();
    EXPECT_EQ(window.study().settings().context, Tokens(131072));
    const auto* table = child<QTableView>("compareTable");
    EXPECT_EQ(table->model()->index(1, 5).data().toString(), s("16 GiB")); // 131,072 B x 131,072
    EXPECT_TRUE(window.comparePage().chart()->data().subtitle.contains(s("context 131,072")));
    child<QAction>("undo")->trigger();
    EXPECT_EQ(field->text(), s("8,192"));
}

TEST_F(Window, SearchNarrowsTheList) {
    child<QLineEdit>("modelSearch")->setText(s("deepseek"));
    const auto* list = child<QAbstractItemView>("modelList");
    EXPECT_GE(list->model()->rowCount(), 2);
    EXPECT_LT(list->model()->rowCount(), 10);
    child<QLineEdit>("modelSearch")->setText(s("meta 405b"));
    ASSERT_EQ(list->model()->rowCount(), 1);
    EXPECT_EQ(list->model()->index(0, 0).data().toString(), s("Llama 3.1 405B"));
}

TEST_F(Window, CopyPutsTheTableOnTheClipboard) {
    child<QAction>("copyTable")->trigger();
    EXPECT_TRUE(QApplication::clipboard()->text().contains(
        s("Gemma 3 27B\tsliding + full attention\t507904\t81920\t436207616\t")));
}

TEST_F(Window, OpensFilesAndSaysWhatIsWrongWithThem) {
    const QTemporaryDir folder;
    const QString good = test::write(folder, "good.json", test::width_80_config);
    const QString bad = test::write(folder, "bad.json", "{");
    window.openModels({bad, good});
    EXPECT_EQ(window.study().rows().size(), 6U);
    EXPECT_TRUE(window.statusBar()->currentMessage().contains(s("bad.json")));
}

TEST_F(Window, OpeningAFileAgainReadsItAgain) {
    const QTemporaryDir folder;
    const QString path = test::write(folder, "mine.json", test::width_80_config);
    window.openModels({path});
    const auto layers = [&] { return window.study().row(path)->model->spec.layers.size(); };
    EXPECT_EQ(layers(), 2U);
    test::write(folder, "mine.json",
                QByteArray(test::width_80_config)
                    .replace("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 5"));
    window.openModels({path});
    EXPECT_EQ(layers(), 5U);
}

TEST_F(Window, LayersShowWhatDecidedThem) {
    window.showTab(s("layers"));
    window.layersPage().choose(s("gemma-3-27b"), 5);
    QString detail = child<QTextBrowser>("layerDetail")->toPlainText();
    EXPECT_TRUE(detail.contains(s("layer 5: full attention"))) << utf8(detail);
    window.layersPage().choose(s("gemma-3-27b"), 0);
    detail = child<QTextBrowser>("layerDetail")->toPlainText();
    EXPECT_TRUE(detail.contains(s("sliding attention")) && detail.contains(s("min(T,1024)")));
    EXPECT_EQ(child<QSpinBox>("layerIndex")->maximum(), 61);
}

TEST_F(Window, HoverNamesExactBytes) {
    const QString totals = context_tip(window.study(), {}, Tokens(1024), 0, -1);
    EXPECT_TRUE(totals.contains(s("GPT-2 XL: 300 MiB (314,572,800 B)"))) << utf8(totals);
    EXPECT_EQ(round_tokens(1000), Tokens(1024));
    EXPECT_EQ(round_tokens(3.2), Tokens(3));
    EXPECT_EQ(round_tokens(0.1), Tokens(1));
}

TEST_F(Window, UntickingEverythingLeavesAWindow) {
    window.study().setModels({});
    for (const QString& tab : MainWindow::tabNames()) {
        window.showTab(tab);
        QApplication::processEvents();
    }
    EXPECT_TRUE(explained().contains(s("Tick a model")));
}

TEST_F(Window, DocksComeBack) {
    child<QDockWidget>("explainDock")->hide();
    child<QAction>("restoreLayout")->trigger();
    EXPECT_TRUE(child<QDockWidget>("explainDock")->isVisible());
}

TEST_F(Window, InputsHaveNames) {
    for (const QWidget* widget : window.findChildren<QWidget*>()) {
        const bool input = qobject_cast<const QComboBox*>(widget) != nullptr ||
                           (qobject_cast<const QLineEdit*>(widget) != nullptr &&
                            qobject_cast<const QAbstractSpinBox*>(widget->parent()) == nullptr) ||
                           qobject_cast<const QTableView*>(widget) != nullptr;
        if (input) {
            EXPECT_FALSE(widget->accessibleName().isEmpty()) << utf8(widget->objectName());
        }
    }
}

} // namespace
} // namespace kvcaliper::gui
