// SPDX-License-Identifier: GPL-3.0-or-later
// The Budget and Claims pages. Figures by hand: 8,030,261,248 parameters of Llama 3 8B in 2 bytes
// and 131,072 B a token, on a device of known memory.
#include "app/gui/budget_page.h"
#include "app/gui/chart_view.h"
#include "app/gui/claims_page.h"
#include "app/gui/main_window.h"
#include "app/gui/table_text.h"
#include "app/gui/text.h"
#include "app/gui/text_table.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QTableView>
#include <QTest>
#include <QTextBrowser>
#include <QUndoStack>

namespace kvcaliper::gui {
namespace {

using test::s;

class Budgets : public testing::Test {
  protected:
    Budgets() {
        window.study().setModels({s("llama-3-8b")});
        window.showTab(s("budget"));
        window.show();
        QApplication::processEvents();
    }
    template <typename Widget> Widget* child(const char* name) {
        return window.findChild<Widget*>(s(name));
    }
    QString cell(int column, int role = Qt::DisplayRole) {
        const auto* table = child<QTableView>("budgetTable");
        return table->model()->index(0, column).data(role).toString();
    }
    MainWindow window;
};

TEST_F(Budgets, WeightsAndCacheAgainstTheDevice) {
    const Device device = find_device("h100-80");
    EXPECT_EQ(cell(1), s("✓ fits"));
    EXPECT_EQ(cell(2, exact_role), s("16060522496"));
    EXPECT_EQ(cell(4, exact_role), s("1073741824"));
    EXPECT_EQ(cell(5, exact_role).toLongLong(),
              device.memory.count() - 16'060'522'496 - 1'073'741'824);
    EXPECT_EQ(cell(6, exact_role).toLongLong(),
              (device.memory.count() - 16'060'522'496) / 1'073'741'824);
}

/// The answer is kept over steps of the context alone.
TEST_F(Budgets, TheLongestContextFollowsWhatItDependsOn) {
    const std::int64_t left = find_device("h100-80").memory.count() - 16'060'522'496;
    const auto longest = [this] { return cell(7, exact_role).toLongLong(); };
    EXPECT_EQ(longest(), left / 131'072);
    window.study().setContext(Tokens(100'000));
    EXPECT_EQ(longest(), left / 131'072);
    window.study().setSequences(4);
    EXPECT_EQ(longest(), left / 131'072 / 4);
    window.study().setKFormat(s("q8_0")); // 34 bytes for 32 numbers, V stays at 64
    EXPECT_EQ(longest(), left / (131'072 * (34 + 64) / 128) / 4);
    window.study().setWeights(s("llama-3-8b"), s("1 GiB"));
    EXPECT_EQ(longest(), (left + 16'060'522'496 - 1'073'741'824) / (100'352 * 4));
    window.study().setDevice(s("no-such-device"));
    EXPECT_TRUE(cell(1).contains(s("no-such-device")));
    window.study().setDevice(s("h100-80"));
    EXPECT_EQ(longest(), (left + 16'060'522'496 - 1'073'741'824) / (100'352 * 4));
}

TEST_F(Budgets, ADeviceThatIsTooSmallSaysWhatWouldMakeItFit) {
    window.study().setWeights(s("llama-3-8b"), s("75 GiB"));
    window.study().setSequences(8);
    EXPECT_EQ(cell(1), s("✗ does not"));
    EXPECT_TRUE(child<QTextBrowser>("budgetDetail")->toPlainText().contains(s("--tp 2")));
    window.study().undoStack()->undo();
    window.study().undoStack()->undo();
    EXPECT_EQ(cell(1), s("✓ fits"));
}

TEST_F(Budgets, TheFieldsEditTheStudy) {
    auto* engine = child<QComboBox>("engine");
    engine->setCurrentIndex(engine->findData(s("vllm")));
    Q_EMIT engine->activated(engine->currentIndex());
    EXPECT_EQ(window.study().state().budget.engine, s("vllm"));
    EXPECT_TRUE(
        child<QTextBrowser>("budgetDetail")->toPlainText().contains(s("workspace is assumed")));
    auto* weights = child<QLineEdit>("weights");
    weights->setFocus();
    QTest::keyClicks(weights, s("20 GiB"));
    QTest::keyClick(weights, Qt::Key_Return);
    EXPECT_EQ(cell(2, exact_role), s("21474836480"));
    QTest::keyClicks(weights, s(" of lead"));
    QTest::keyClick(weights, Qt::Key_Return);
    EXPECT_TRUE(cell(1).contains(s("of lead"))) << utf8(cell(1));
}

TEST_F(Budgets, TheChartHasTheDevicesLine) {
    const ChartData& data = window.budgetPage().chart()->data();
    const auto& bars = std::get<BarChart>(data.body);
    ASSERT_TRUE(bars.limit);
    EXPECT_EQ(bars.limit->bytes, Ratio(find_device("h100-80").memory.count()));
    EXPECT_TRUE(data.title.contains(s("H100"))) << utf8(data.title);
}

TEST_F(Budgets, OtherPagesStayWithWhatIsRequired) {
    window.study().setEngine(s("vllm"));
    for (const char* tab : {"compare", "context", "layers"}) {
        window.showTab(s(tab));
        QApplication::processEvents();
        EXPECT_TRUE(window.study().rows().front().error.isEmpty());
    }
}

TEST(TextTables, KeepTheRulesOfModels) {
    TextTable table({s("a"), s("b")});
    QAbstractItemModelTester tester(&table, QAbstractItemModelTester::FailureReportingMode::Fatal);
    table.setRows({{s("1"), {{s("x"), {}, {}, {}, false}, {s("2"), s("2.0"), 2, {}, true}}}});
    table.setRows({{s("1"), {{s("y"), {}, {}, {}, false}, {s("3"), {}, {}, {}, true}}}});
    EXPECT_EQ(table.index(0, 0).data().toString(), s("y"));
    table.setRows({});
    EXPECT_EQ(table.rowCount(), 0);
}

TEST(Claims, TheSeedIsCheckedWhenThePageIsSeen) {
    MainWindow window;
    window.showTab(s("claims"));
    window.show();
    QApplication::processEvents();
    const QAbstractItemModel& table = window.claimsPage().table();
    EXPECT_EQ(table.rowCount(), 18);
    EXPECT_TRUE(table.index(1, 3).data().toString().contains(s("consistent")));
    const auto* detail = window.findChild<QTextBrowser*>(s("claimDetail"));
    EXPECT_TRUE(detail->toPlainText().contains(s("true for GPT-2 XL only")));
}

TEST(Claims, AFileThatIsNoneLeavesWhatIsShown) {
    ClaimsPage page;
    EXPECT_FALSE(page.openClaims(s("gallery")));
    EXPECT_EQ(page.table().rowCount(), 72);
    const auto problem = page.openClaims(s("/no/such/claims.json"));
    ASSERT_TRUE(problem);
    EXPECT_TRUE(problem->contains(s("/no/such/claims.json"))) << utf8(*problem);
    EXPECT_EQ(page.table().rowCount(), 72);
}

} // namespace
} // namespace kvcaliper::gui
