// SPDX-License-Identifier: GPL-3.0-or-later
// The comparison's table through keys and mouse: filter, order, bars, marks, distances from the
// baseline, sequences.
#include "app/gui/bar_delegate.h"
#include "app/gui/compare_model.h"
#include "app/gui/main_window.h"
#include "app/gui/pages.h"
#include "app/gui/table_text.h"
#include "app/gui/text.h"
#include "app/gui/words_filter.h"
#include "core/catalog.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QCheckBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QUndoStack>

namespace kvcaliper::gui {
namespace {

using test::s;
using M = CompareModel;
constexpr auto strict = QAbstractItemModelTester::FailureReportingMode::Fatal;

class Comparison : public testing::Test {
  protected:
    Comparison() {
        window.show();
        window.activateWindow();
        EXPECT_TRUE(QTest::qWaitForWindowActive(&window));
        QApplication::processEvents();
    }
    template <typename Widget> Widget* child(const char* name) {
        return window.findChild<Widget*>(s(name));
    }
    QTableView& table() { return *child<QTableView>("compareTable"); }
    QString cell(int row, int column, int role = Qt::DisplayRole) {
        return table().model()->index(row, column).data(role).toString();
    }
    QStringList names() {
        QStringList list;
        for (int row = 0; row < table().model()->rowCount(); ++row) {
            list << cell(row, M::Name);
        }
        return list;
    }
    void clickHeader(int column) {
        QHeaderView& header = *table().horizontalHeader();
        table().scrollTo(table().model()->index(0, column));
        const QPoint at(header.sectionViewportPosition(column) + 12, header.height() / 2);
        QTest::mouseClick(header.viewport(), Qt::LeftButton, {}, at);
    }
    MainWindow window;
};

TEST_F(Comparison, CtrlFFiltersAndEscapeClears) {
    auto* filter = child<QLineEdit>("compareFilter");
    window.showTab(s("budget"));
    QTest::keyClick(&window, Qt::Key_F, Qt::ControlModifier);
    ASSERT_TRUE(filter->hasFocus());
    QTest::keyClicks(filter, s("deep"));
    EXPECT_EQ(names(), QStringList{s("DeepSeek-V3")});
    EXPECT_EQ(child<QLabel>("compareCount")->text(), s("1 of 5 models"));
    QTest::keyClick(filter, Qt::Key_Escape);
    EXPECT_EQ(names().size(), 5);
    EXPECT_TRUE(filter->text().isEmpty());
    EXPECT_EQ(child<QLabel>("compareCount")->text(), s("5 models"));
    EXPECT_FALSE(window.study().undoStack()->canUndo()); // a look is no edit
}

TEST_F(Comparison, FiltersByVendorKindAndModelType) {
    auto* filter = child<QLineEdit>("compareFilter");
    const std::pair<const char*, QStringList> searches[] = {
        {"google", {s("Gemma 3 27B")}},      {"MAMBA", {s("Falcon-Mamba 7B")}},
        {"gemma3_text", {s("Gemma 3 27B")}}, {"latent", {s("DeepSeek-V3")}},
        {"full meta", {s("Llama 3 8B")}},    {"sliding meta", {}},
    };
    for (const auto& [words, found] : searches) {
        filter->clear();
        QTest::keyClicks(filter, s(words));
        EXPECT_EQ(names(), found) << words;
    }
}

TEST_F(Comparison, AHeaderSortsByItsNumbers) {
    clickHeader(M::Total);
    EXPECT_EQ(names().first(), s("Falcon-Mamba 7B")); // 35 MiB
    EXPECT_EQ(names().last(), s("GPT-2 XL"));         // 300 KiB × 8,192
    clickHeader(M::Total);
    EXPECT_EQ(names().first(), s("GPT-2 XL"));
    clickHeader(M::Mark);
    EXPECT_EQ(names().first(), s("Falcon-Mamba 7B")); // nothing grows
    EXPECT_EQ(names().last(), s("GPT-2 XL"));
}

// Growth per token: 300 KiB, 128 KiB, 80 KiB (10 global layers x 8 KiB), 68.6 KiB, none.
TEST_F(Comparison, GrowthIsMarkedWithItsReason) {
    const char* const marks[] = {"●●● high", "●●○ moderate", "●○○ low", "●○○ low", "○○○ none"};
    for (int row = 0; row < 5; ++row) {
        EXPECT_EQ(cell(row, M::Mark), s(marks[row])) << row;
    }
    const QString reason = cell(2, M::Mark, Qt::ToolTipRole);
    for (const char* part : {"Grows by 80 KiB", "up to 80 KiB", "10 GiB for 128K", "160 KiB"}) {
        EXPECT_TRUE(reason.contains(s(part))) << utf8(reason);
    }
    EXPECT_EQ(cell(2, M::Mark, exact_role), s("low"));
}

TEST_F(Comparison, BarsAreSharesOfTheLargest) {
    const auto bar = [&](int row, int column) {
        return table().model()->index(row, column).data(bar_role);
    };
    EXPECT_DOUBLE_EQ(bar(2, M::Uncapped).toDouble(), 1.0);           // Gemma 3, 496 KiB
    EXPECT_DOUBLE_EQ(bar(0, M::Uncapped).toDouble(), 300.0 / 496.0); // GPT-2 XL
    EXPECT_DOUBLE_EQ(bar(4, M::Uncapped).toDouble(), 0.0);
    EXPECT_FALSE(bar(0, M::Name).isValid());
    const QRect area(10, 20, 108, 25);
    EXPECT_EQ(BarDelegate::barOf(area, 1.0).width(), 100);
    EXPECT_EQ(BarDelegate::barOf(area, 0.5).width(), 50);
    EXPECT_EQ(BarDelegate::barOf(area, 0.0).width(), 0);
    EXPECT_EQ(BarDelegate::barOf(area, 0.001).width(), 1); // there is something
    EXPECT_LT(BarDelegate::barOf(area, 1.0).bottom(), area.bottom());
}

TEST_F(Comparison, TheDifferenceFromTheBaselineStandsBehindTheNumber) {
    EXPECT_EQ(cell(0, M::Uncapped, delta_role), QString());   // the baseline
    EXPECT_EQ(cell(1, M::Uncapped, delta_role), s("−57.3%")); // 128 / 300
    EXPECT_EQ(cell(2, M::Uncapped, delta_role), s("+65.3%")); // 496 / 300
    EXPECT_EQ(cell(2, M::Constant, delta_role), QString());   // GPT-2 keeps no constant
    EXPECT_TRUE(cell(1, M::Uncapped, Qt::ToolTipRole).contains(s("−57.3% against GPT-2 XL")));
    EXPECT_EQ(cell(1, M::Uncapped, Qt::AccessibleTextRole),
              s("128 KiB, computed, −57.3% against GPT-2 XL"));
    EXPECT_EQ(cell(1, M::Mark, Qt::AccessibleTextRole), s("moderate"));
    const int before = table().columnWidth(M::Uncapped);
    QTest::mouseClick(child<QCheckBox>("showDeltas"), Qt::LeftButton);
    const int needed = table().fontMetrics().horizontalAdvance(s("496 KiB (+65.3%)"));
    EXPECT_GT(table().columnWidth(M::Uncapped), before);
    EXPECT_GT(table().columnWidth(M::Uncapped), needed);
    QTest::mouseClick(child<QCheckBox>("showDeltas"), Qt::LeftButton);
    EXPECT_EQ(table().columnWidth(M::Uncapped), before);
}

// 8,030,261,248 parameters of Llama 3 8B in 2 bytes, 1 GiB of cache a sequence.
TEST_F(Comparison, SequencesOnTheBudgetsDeviceComeBetweenEvents) {
    ASSERT_TRUE(QTest::qWaitFor([&] { return cell(1, M::Sequences) != s("…"); }));
    const std::int64_t memory = find_device("h100-80").memory.count();
    EXPECT_EQ(cell(1, M::Sequences), integer_text((memory - 16'060'522'496) / 1'073'741'824));
    EXPECT_TRUE(cell(1, M::Sequences, Qt::ToolTipRole).contains(s("8,192 tokens on NVIDIA H100")));
    window.study().setContext(Tokens(16'384)); // 2 GiB
    EXPECT_EQ(cell(1, M::Sequences), s("…"));
    EXPECT_EQ(cell(1, M::Sequences, exact_role), // a copy is never without
              QString::number((memory - 16'060'522'496) / 2'147'483'648));
    window.study().setDevice(s("no-such-device"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return cell(1, M::Sequences) == s("–"); }));
    EXPECT_TRUE(cell(1, M::Sequences, Qt::ToolTipRole).contains(s("no-such-device")));
}

TEST_F(Comparison, SequencesThatCanNotBeToldSayWhy) {
    const QTemporaryDir folder;
    window.study().setModels({test::write(folder, "wide.json", test::width_80_config)});
    window.study().setWeights(window.study().current(), s("much"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return cell(0, M::Sequences) == s("–"); }));
    EXPECT_TRUE(cell(0, M::Sequences, Qt::ToolTipRole).contains(s("much")));
    EXPECT_EQ(cell(0, M::Sequences, exact_role), QString());
}

TEST_F(Comparison, NoNumberOfFortyModelsIsCut) {
    QStringList models;
    for (const CatalogEntry& entry : bundled_models()) {
        models << text(entry.name);
    }
    window.study().setModels(models.mid(0, 40));
    window.study().setSequences(1000);
    QTest::mouseClick(child<QCheckBox>("showDeltas"), Qt::LeftButton);
    window.comparePage().finish();
    ASSERT_EQ(table().model()->rowCount(), 40);
    for (int column = M::Uncapped; column < M::ColumnCount; ++column) {
        for (int row = 0; row < 40; ++row) {
            const QString delta = cell(row, column, delta_role);
            const QString shown =
                cell(row, column) + (delta.isEmpty() ? QString() : s(" (%1)").arg(delta));
            EXPECT_GT(table().columnWidth(column), table().fontMetrics().horizontalAdvance(shown))
                << utf8(shown);
        }
    }
}

TEST(CompareModels, KeepTheRulesOfModelsWhileRowsAreAnsweredAndFiltered) {
    Study study;
    open_seed(study);
    CompareModel model(study);
    WordsFilter filter(search_role);
    filter.setSourceModel(&model);
    const QAbstractItemModelTester tester(&model, strict);
    const QAbstractItemModelTester filtered(&filter, strict);
    QSignalSpy known(&model, &CompareModel::sequencesKnown);
    EXPECT_EQ(model.index(0, M::Sequences).data().toString(), s("…"));
    ASSERT_TRUE(known.wait());
    filter.setWords(s("llama"));
    EXPECT_EQ(filter.rowCount(), 1);
    study.setTicked(s("llama-3.1-8b"), true);
    EXPECT_EQ(filter.rowCount(), 2);
    study.setModels({});
    filter.setWords({});
    EXPECT_EQ(filter.rowCount(), 0);
    model.finishSequences();
}

} // namespace
} // namespace kvcaliper::gui
