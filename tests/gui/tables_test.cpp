// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/compare_model.h"
#include "app/gui/format_box.h"
#include "app/gui/log_slider.h"
#include "app/gui/model_list.h"
#include "app/gui/sample_model.h"
#include "app/gui/table_text.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QLineEdit>
#include <QSignalSpy>
#include <QSlider>
#include <QStandardItemModel>

namespace kvcaliper::gui {
namespace {

using test::s;
constexpr auto strict = QAbstractItemModelTester::FailureReportingMode::Fatal;

QString cell(const CompareModel& model, int row, int column) {
    return model.index(row, column).data().toString();
}

// Published figures: GPT-2 XL 48 layers x 2 x 1600 x 2 B; Llama 3 8B 32 x 2 x 8 x 128 x 2 B;
// Gemma 3 27B 62 x 2 x 16 x 128 x 2 B, of which 10 layers have no window (Gemma 3 report, table 1);
// DeepSeek-V3 61 x (512 + 64) x 2 B = 70,272 B (arXiv 2505.09343, table 1); Falcon-Mamba 64 layers
// x 8192 x (3 x 2 B + 16 x 4 B) = 36,700,160 B. Worked out by hand, not with this program.
TEST(CompareModel, ShowsThePublishedFigures) {
    Study study;
    open_seed(study);
    const CompareModel model(study);
    using M = CompareModel;
    EXPECT_EQ(cell(model, 0, M::Uncapped), s("300 KiB"));
    EXPECT_EQ(cell(model, 1, M::Uncapped), s("128 KiB"));
    EXPECT_EQ(cell(model, 2, M::Uncapped), s("496 KiB"));
    EXPECT_EQ(cell(model, 2, M::Growth), s("80 KiB"));
    EXPECT_EQ(cell(model, 2, M::Constant), s("416 MiB"));
    EXPECT_EQ(cell(model, 3, M::Uncapped), s("68.6 KiB"));
    EXPECT_EQ(cell(model, 4, M::Uncapped), s("0 B"));
    EXPECT_EQ(cell(model, 4, M::Constant), s("35 MiB"));
    EXPECT_EQ(cell(model, 4, M::Total), s("35 MiB"));
    EXPECT_EQ(cell(model, 1, M::Total), s("1 GiB")); // 131,072 B x 8,192
    EXPECT_EQ(cell(model, 0, M::RatioColumn), s("1.000×"));
    EXPECT_EQ(cell(model, 1, M::RatioColumn), s("0.427×")); // 128 / 300
    EXPECT_EQ(cell(model, 0, M::Layers), s("48"));
    EXPECT_EQ(cell(model, 2, M::Kind), s("sliding + full attention"));
    EXPECT_EQ(model.index(3, M::Uncapped).data(Qt::ToolTipRole).toString(),
              s("70,272 B; −77.1% against GPT-2 XL")); // 68.625 / 300
    EXPECT_EQ(model.index(3, M::Uncapped).data(sort_role).toDouble(), 70272.0);
}

TEST(CompareModel, KeepsItsContractThroughEdits) {
    Study study;
    open_seed(study);
    CompareModel model(study);
    const QAbstractItemModelTester tester(&model, strict);
    study.setTicked(s("qwen3-8b"), true);
    EXPECT_EQ(model.rowCount(), 6);
    study.setContext(Tokens(1000));
    study.setModels({});
    EXPECT_EQ(model.rowCount(), 0);
    study.setModels({s("no-such-model")});
    EXPECT_TRUE(cell(model, 0, CompareModel::Kind).contains(s("no-such-model")));
    EXPECT_EQ(cell(model, 0, CompareModel::Total), s("–"));
}

TEST(CompareModel, RatioFollowsTheBaseline) {
    Study study;
    open_seed(study);
    const CompareModel model(study);
    study.setBaseline(s("llama-3-8b"));
    EXPECT_EQ(cell(model, 1, CompareModel::RatioColumn), s("1.000×"));
    EXPECT_EQ(cell(model, 0, CompareModel::RatioColumn), s("2.344×")); // 300 / 128
}

TEST(TableText, CopiesExactBytesUnderAHeader) {
    Study study;
    study.setModels({s("deepseek-v3")});
    const CompareModel model(study);
    const Table table = exact_table(model);
    const QStringList lines = table_tsv(table).split(u'\n');
    EXPECT_TRUE(lines[0].startsWith(s("Model\tAttention\tUncapped (B/token)\t")))
        << lines[0].toStdString();
    // 70,272 B x 8,192 tokens
    // 671,026,419,200 weights of 2 bytes are more than the device has: no sequence fits.
    EXPECT_EQ(lines[1], s("DeepSeek-V3\tlatent attention\t70272\t70272\t0\t575668224\t1.000000\t0"
                          "\tlow\t61"));
    EXPECT_TRUE(table.columns[2].number);
    EXPECT_FALSE(table.columns[1].number);
    EXPECT_EQ(shown_table(model).rows[0][2], "68.6 KiB");
}

TEST(ModelList, TicksThroughTheStudy) {
    Study study;
    open_seed(study);
    ModelList model(study);
    const QAbstractItemModelTester tester(&model, strict);
    EXPECT_GE(model.rowCount(), 50);
    const QModelIndex first = model.index(0);
    const QString id = first.data(id_role).toString();
    EXPECT_TRUE(model.setData(first, Qt::Checked, Qt::CheckStateRole));
    EXPECT_TRUE(study.state().models.contains(id));
    EXPECT_EQ(first.data(Qt::CheckStateRole).toInt(), Qt::Checked);
}

TEST(ModelList, OpenedFilesJoinTheList) {
    const QTemporaryDir folder;
    Study study;
    ModelList model(study);
    const QAbstractItemModelTester tester(&model, strict);
    const int bundled = model.rowCount();
    study.setTicked(test::write(folder, "mine.json", test::width_80_config), true);
    EXPECT_EQ(model.rowCount(), bundled + 1);
    EXPECT_EQ(model.index(0).data().toString(), s("mine"));
}

TEST(SampleModel, AddsUpComponents) {
    SampleModel model;
    const QAbstractItemModelTester tester(&model, strict);
    model.add({1024, s("full_attention"), s("key"), 100, 100, {}, 0, 0, {}, {}});
    model.add({1024, s("full_attention"), s("value"), 100, 99, {}, 0, 0, {}, {}});
    EXPECT_TRUE(model.totals(false).empty()); // the context may go on
    ASSERT_EQ(model.totals(true).size(), 1U);
    EXPECT_EQ(model.totals(true)[0].bytes, Bytes(199));
    model.add({1024, {}, s("total"), 200, 199, 4096, 0, 0, {}, {}});
    ASSERT_EQ(model.totals(false).size(), 1U);
    EXPECT_EQ(model.totals(false)[0].bytes, Bytes(199)); // counted once
    EXPECT_EQ(model.index(0, SampleModel::ComponentName).data().toString(),
              s("full attention, key"));
    EXPECT_EQ(model.index(1, SampleModel::Difference).data().toString(), s("-1 B"));
}

TEST(FormatBox, DisablesWhatCanNotBeStoredAndSaysWhy) {
    const QTemporaryDir folder;
    Study study;
    study.setModels({s("llama-3-8b")});
    const FormatBox box(study, FormatClass::k);
    const auto* items = qobject_cast<const QStandardItemModel*>(box.model());
    const int q8 = box.findData(s("q8_0"));
    EXPECT_TRUE(items->item(q8)->isEnabled());
    study.setTicked(test::write(folder, "wide.json", test::width_80_config), true);
    EXPECT_FALSE(items->item(q8)->isEnabled());
    EXPECT_TRUE(box.itemData(q8, Qt::ToolTipRole).toString().contains(s("32 does not divide 80")));
    EXPECT_TRUE(items->item(box.findData(s("f16")))->isEnabled());
    EXPECT_EQ(box.format(), s("auto"));
}

TEST(LogSlider, StepsArePowersOfTwoAndSixteenthsBetween) {
    const auto steps = log_steps(1024);
    EXPECT_EQ(steps.front(), 1);
    EXPECT_EQ(steps.back(), 1024);
    EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
    for (std::int64_t power = 1; power <= 1024; power *= 2) {
        EXPECT_TRUE(std::binary_search(steps.begin(), steps.end(), power)) << power;
    }
}

TEST(LogSlider, TakesExactEntries) {
    LogSlider slider(s("&Context"), 1 << 20);
    qint64 value = 0;
    QObject::connect(&slider, &LogSlider::edited, [&](qint64 edited) { value = edited; });
    const std::pair<const char*, qint64> entries[] = {
        {"128K", 131072}, {"100000", 100000}, {"100,001", 100001}, {"3M", 3145728}};
    for (const auto& [entry, expected] : entries) {
        slider.field()->setText(s(entry));
        Q_EMIT slider.field()->editingFinished();
        EXPECT_EQ(value, expected) << entry;
    }
    slider.setValue(8192);
    slider.field()->setText(s("many"));
    Q_EMIT slider.field()->editingFinished();
    EXPECT_EQ(slider.field()->text(), s("8,192"));
    EXPECT_FALSE(slider.field()->toolTip().isEmpty());
}

} // namespace
} // namespace kvcaliper::gui
