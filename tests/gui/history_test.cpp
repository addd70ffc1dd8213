// SPDX-License-Identifier: GPL-3.0-or-later
// Records of runs in the window: kept, shown, imported, exported, deleted, and what they do to the
// badges of figures.
#include "app/gui/chart_view.h"
#include "app/gui/compare_model.h"
#include "app/gui/main_window.h"
#include "app/gui/notice_bar.h"
#include "app/gui/record_book.h"
#include "app/gui/record_history.h"
#include "app/gui/sample_model.h"
#include "app/gui/study_session.h"
#include "app/gui/text.h"
#include "app/gui/text_table.h"
#include "app/gui/verify_page.h"
#include "tests/gui/export_helpers.h"
#include "tests/gui/fake_verifier.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QAction>
#include <QApplication>
#include <QDir>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QTest>
#include <QTextBrowser>
#include <QTimer>
#include <QUndoStack>

#include <memory>

namespace kvcaliper::gui {
namespace {

using test::FakeVerifier;
using test::made_up_record;
using test::MadeUp;
using test::result_of;
using test::s;
constexpr int patience_ms = 30000; // a limit, not a measurement

class History : public testing::Test {
  protected:
    History() { open(); }
    void open() {
        window = std::make_unique<MainWindow>();
        window->show();
        window->keepRecords(path("records"));
        window->showTab(s("verify"));
        QApplication::processEvents();
    }
    QString path(const char* name) const { return folder.filePath(s(name)); }
    template <typename Widget> Widget* child(const char* name) {
        return window->findChild<Widget*>(s(name));
    }
    Study& study() { return window->study(); }
    VerifyPage& page() { return window->verifyPage(); }
    const TextTable& table() { return page().history()->table(); }
    QString cell(int row, RecordHistory::Column column) {
        return table().index(row, column).data().toString();
    }
    QStringList files() const { return QDir(path("records")).entryList({s("*.json")}); }
    QString notice() { return child<NoticeBar>("noticeBar")->words(); }
    const Model& model(const char* id) { return *study().row(s(id))->model; }
    VerifyRecordPtr recordOf(const char* id, const MadeUp& made_up = {}) {
        return made_up_record(model(id), study().settings(), made_up);
    }
    /// A record as another machine would have written it.
    QString writeRecord(const char* name, const VerifyRecord& record) {
        return test::write(folder, name, QByteArray::fromStdString(dump_json(record.json) + "\n"));
    }
    /// A cell of the comparison.
    QVariant figure(const char* id, int column, int role = Qt::DisplayRole) {
        const CompareModel compared(study());
        const auto row = static_cast<int>(study().state().models.indexOf(s(id)));
        return compared.index(row, column).data(role);
    }
    void run(const FakeVerifier& verifier) {
        QSignalSpy ended(&page(), &VerifyPage::runEnded);
        page().setProgram(verifier.path());
        QTest::mouseClick(child<QPushButton>("verifyStart"), Qt::LeftButton);
        ASSERT_TRUE(ended.count() > 0 || ended.wait(patience_ms));
    }
    void clickRow(int row) {
        auto* view = child<QTableView>("recordTable");
        const QRect cell = view->visualRect(view->model()->index(row, 0));
        QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, cell.center());
    }

    QTemporaryDir folder;
    std::unique_ptr<MainWindow> window;
};

TEST_F(History, ARunIsKeptAndShown) {
    const QAbstractItemModelTester tester(const_cast<TextTable*>(&table()));
    run(FakeVerifier(result_of(study(), "gpt2-xl")));
    ASSERT_EQ(table().rowCount(), 1);
    EXPECT_EQ(child<QTableView>("recordTable")->model()->rowCount(), 1);
    EXPECT_EQ(cell(0, RecordHistory::Model), s("GPT-2 XL"));
    EXPECT_EQ(cell(0, RecordHistory::Context), s("8,192"));
    EXPECT_EQ(cell(0, RecordHistory::Formats), s("bf16"));
    EXPECT_EQ(cell(0, RecordHistory::Device), s("made-up example device (cpu)"));
    EXPECT_EQ(cell(0, RecordHistory::Verdict), s("✓ equal"));
    EXPECT_EQ(page().history()->selected(), page().shownRecord());
    ASSERT_EQ(files().size(), 1);
    const VerifyRecord kept = read_verify_record(utf8(path("records") + u'/' + files().first()));
    EXPECT_EQ(kept.measured_at(8192), Bytes(std::int64_t{8192} * 307200)); // 300 KiB per token
    EXPECT_EQ(kept.seed, 1);
    EXPECT_FALSE(window->isWindowModified()); // a measurement is no edit
}

/// The program itself, on a model of two layers with 8 heads of 80.
TEST_F(History, ARealRunIsMeasured) {
    study().setModels({test::write(folder, "small.json", test::width_80_config)});
    study().setContext(Tokens(64));
    QSignalSpy ended(&page(), &VerifyPage::runEnded);
    page().setProgram(s(KVCALIPER_VERIFY_PROGRAM));
    QTest::mouseClick(child<QPushButton>("verifyStart"), Qt::LeftButton);
    ASSERT_TRUE(ended.count() > 0 || ended.wait(patience_ms));
    ASSERT_EQ(table().rowCount(), 1) << utf8(page().verdictText());
    const VerifyRecord& record = *study().records().all().front().record;
    // 2 layers × K and V × 8 heads × 80 × 2 bytes × 64 tokens
    EXPECT_EQ(record.measured_at(64), Bytes(2 * 2 * 8 * 80 * 2 * 64));
    for (const FigureKind figure : all_figure_kinds) {
        EXPECT_EQ(study().badge(study().current(), figure), Badge::measured);
    }
    EXPECT_TRUE(page().verdictText().contains(s("Equal to the byte")));
}

TEST_F(History, IsThereTheNextTime) {
    run(FakeVerifier(result_of(study(), "gpt2-xl")));
    window.reset();
    open();
    ASSERT_EQ(table().rowCount(), 1);
    EXPECT_EQ(study().badge(s("gpt2-xl")), Badge::measured);
    EXPECT_TRUE(page().verdictText().contains(s("Equal to the byte")));
    EXPECT_EQ(page().samples()->rowCount(), 9);
}

TEST_F(History, EveryFigureSaysHowItIsKnown) {
    EXPECT_EQ(figure("gpt2-xl", CompareModel::Total).toString(), s("2.34 GiB"));
    EXPECT_TRUE(child<QLabel>("badge")->toolTip().contains(s("no record of a run covers")));
    study().records().add(recordOf("gpt2-xl"));
    EXPECT_EQ(figure("gpt2-xl", CompareModel::Total).toString(), s("✓ 2.34 GiB"));
    EXPECT_EQ(figure("gpt2-xl", CompareModel::Total, Qt::AccessibleTextRole).toString(),
              s("2.34 GiB, ✓ measured"));
    EXPECT_TRUE(figure("gpt2-xl", CompareModel::Total, Qt::ForegroundRole).isValid());
    const QString tip = figure("gpt2-xl", CompareModel::Growth, Qt::ToolTipRole).toString();
    EXPECT_TRUE(tip.contains(s("between 4,096 and 8,192 tokens"))) << utf8(tip);
    EXPECT_TRUE(tip.contains(s("made-up example device (cpu), 2026-01-02 03:04 UTC"))) << utf8(tip);
    EXPECT_EQ(figure("llama-3-8b", CompareModel::Total).toString(), s("1 GiB"));
    EXPECT_EQ(child<QLabel>("badge")->text(), s("✓ measured"));
    EXPECT_EQ(child<QLabel>("badge")->toolTip(),
              evidence_text(study().evidence(s("gpt2-xl"), FigureKind::uncapped)));
    EXPECT_TRUE(child<QTextBrowser>("explainText")->toPlainText().contains(s("Measured between")));
    study().setContext(Tokens(9000));
    EXPECT_FALSE(figure("gpt2-xl", CompareModel::Total).toString().contains(u'✓'));
    EXPECT_EQ(child<QLabel>("badge")->text(), s("computed"));
}

TEST_F(History, ARecordOfAnotherMachineIsImported) {
    MadeUp elsewhere;
    elsewhere.device = "made-up remote device";
    const QString file = writeRecord("remote.json", *recordOf("gemma-3-27b", elsewhere));
    window->showTab(s("compare"));
    test::name_file(file);
    child<QAction>("importRecords")->trigger();
    EXPECT_EQ(child<QTabWidget>("tabs")->currentWidget(), &page());
    ASSERT_EQ(table().rowCount(), 1);
    EXPECT_EQ(study().current(), s("gemma-3-27b"));
    EXPECT_TRUE(page().verdictText().contains(s("made-up remote device")));
    EXPECT_EQ(std::get<CurveChart>(page().chart()->data().body).curves.front().measured.size(),
              5U); // 512, 1,024, 2,048, 4,096 and 8,192 tokens
    EXPECT_EQ(files().size(), 1);
    window->importRecords({file}); // again: it is known
    EXPECT_EQ(table().rowCount(), 1);
    EXPECT_EQ(files().size(), 1);
}

TEST_F(History, ADroppedRecordIsNoModel) {
    const QString file = writeRecord("dropped.json", *recordOf("llama-3-8b"));
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(file)});
    QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.get(), &enter);
    QDropEvent drop(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.get(), &drop);
    ASSERT_TRUE(QTest::qWaitFor([&] { return table().rowCount() == 1; }, patience_ms));
    EXPECT_EQ(study().rows().size(), 5U);
    EXPECT_EQ(study().badge(s("llama-3-8b")), Badge::measured);
}

TEST_F(History, AnotherPredictionTodayIsStale) {
    const Model before = test::with_a_head_less(model("gpt2-xl"));
    window->importRecords({writeRecord("old.json", *made_up_record(before, study().settings()))});
    EXPECT_EQ(cell(0, RecordHistory::Verdict), s("△ stale"));
    EXPECT_EQ(figure("gpt2-xl", CompareModel::Total).toString(), s("△ 2.34 GiB"));
    EXPECT_EQ(child<QLabel>("badge")->text(), s("△ stale"));
    // 48 layers × 2,048 tokens × 64 × 2 bytes × 24 or 25 heads
    EXPECT_TRUE(page().verdictText().contains(s("predicted 301,989,888 B when it was measured, "
                                                "314,572,800 B today")))
        << utf8(page().verdictText());
    window->importRecords({writeRecord("new.json", *recordOf("gpt2-xl"))});
    EXPECT_EQ(figure("gpt2-xl", CompareModel::Total).toString(), s("✓ 2.34 GiB"));
}

TEST_F(History, ARefutationOutlivesThePageItWasSeenOn) {
    MadeUp refuted;
    refuted.verdict = "refuted";
    refuted.key_bytes_off = 1;
    run(FakeVerifier(result_of(study(), "gpt2-xl", refuted)));
    EXPECT_EQ(cell(0, RecordHistory::Verdict), s("✗ refuted"));
    EXPECT_EQ(figure("gpt2-xl", CompareModel::Uncapped).toString(), s("✗ 300 KiB"));
    EXPECT_TRUE(figure("gpt2-xl", CompareModel::Uncapped, Qt::ToolTipRole)
                    .toString()
                    .contains(s("a made-up contradiction")));
}

TEST_F(History, WhatIsDamagedIsNamedAndTheOthersStay) {
    window->importRecords({writeRecord("good.json", *recordOf("gpt2-xl"))});
    test::write(folder, "records/torn.json", "{\"schema\": 1, \"requ");
    test::write(folder, "records/newer.json",
                R"({"schema": 2, "version": "9", "date": "x", "request": {}, "result": {}})");
    window.reset();
    open();
    EXPECT_EQ(table().rowCount(), 1);
    EXPECT_TRUE(child<NoticeBar>("noticeBar")->isVisible());
    EXPECT_TRUE(notice().contains(s("torn.json: expected JSON"))) << utf8(notice());
    EXPECT_TRUE(notice().contains(s("newer.json: /schema: expected 1, found 2")));
    EXPECT_EQ(files().size(), 3); // nobody deleted them
}

TEST_F(History, AnImportThatFailsSaysWhy) {
    const QString torn = test::write(folder, "torn.json", "{\"schema\": 1, \"requ");
    const QString good = writeRecord("good.json", *recordOf("gpt2-xl"));
    window->importRecords({torn, good});
    EXPECT_TRUE(notice().contains(s("Not imported: ") + torn)) << utf8(notice());
    EXPECT_EQ(table().rowCount(), 1);
}

TEST_F(History, AFolderThatCanNotBeWrittenIsSaid) {
    test::write(folder, "file", "no folder");
    window->keepRecords(path("file/records"));
    run(FakeVerifier(result_of(study(), "gpt2-xl")));
    EXPECT_TRUE(notice().contains(s("could not be written"))) << utf8(notice());
    EXPECT_EQ(study().badge(s("gpt2-xl")), Badge::measured); // it is known all the same
}

TEST_F(History, DeletingIsUndone) {
    window->importRecords({writeRecord("a.json", *recordOf("gpt2-xl")),
                           writeRecord("b.json", *recordOf("llama-3-8b"))});
    clickRow(0);
    EXPECT_EQ(page().shownRecord(), page().history()->selected());
    const QString chosen = page().shownRecord();
    window->activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(window.get()));
    child<QTableView>("recordTable")->setFocus();
    QTest::keyClick(child<QTableView>("recordTable"), Qt::Key_Delete);
    EXPECT_EQ(table().rowCount(), 1);
    EXPECT_EQ(files().size(), 1);
    EXPECT_EQ(study().records().find(chosen), nullptr);
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(table().rowCount(), 2);
    EXPECT_EQ(files().size(), 2);
    child<QAction>("redo")->trigger();
    EXPECT_EQ(files().size(), 1);
}

TEST_F(History, TheChosenRunIsShown) {
    MadeUp refuted;
    refuted.verdict = "refuted";
    refuted.key_bytes_off = 128;
    refuted.date = "2026-01-01T00:00:00Z";
    study().records().add(recordOf("gpt2-xl", refuted));
    study().records().add(recordOf("llama-3-8b")); // later, so the first row
    clickRow(1);
    EXPECT_EQ(study().current(), s("gpt2-xl"));
    EXPECT_TRUE(page().verdictText().contains(s("Refuted")));
    EXPECT_EQ(page().samples()->index(0, SampleModel::Verdict).data().toString(), s("✗ differs"));
    clickRow(0);
    EXPECT_EQ(study().current(), s("llama-3-8b"));
    EXPECT_TRUE(page().verdictText().contains(s("Equal")));
}

TEST_F(History, AnExportedRecordIsTheOneThatWasWritten) {
    window->importRecords({writeRecord("a.json", *recordOf("gpt2-xl"))});
    test::name_file(path("exported.json"));
    QTest::mouseClick(child<QPushButton>("recordExport"), Qt::LeftButton);
    EXPECT_EQ(test::read(path("exported.json")), test::read(path("a.json")));
}

TEST_F(History, TheSettingsOfARunComeInOneStep) {
    Settings settings;
    settings.context = Tokens(2048);
    settings.sequences = 3;
    settings.k_format = "q8_0";
    const ModelPtr qwen = load_model("qwen3-8b"); // not in the study
    window->importRecords({writeRecord("q.json", *made_up_record(*qwen, settings))});
    EXPECT_TRUE(page().verdictText().contains(s("not drawn")));
    QTest::mouseClick(child<QPushButton>("recordUse"), Qt::LeftButton);
    EXPECT_EQ(study().current(), s("qwen3-8b"));
    EXPECT_EQ(study().settings().context, Tokens(2048));
    EXPECT_EQ(study().settings().sequences, 3);
    EXPECT_EQ(study().settings().k_format, "q8_0");
    EXPECT_EQ(study().badge(s("qwen3-8b")), Badge::measured);
    EXPECT_FALSE(page().verdictText().contains(s("not drawn")));
    study().undoStack()->undo();
    EXPECT_EQ(study().rows().size(), 5U);
    EXPECT_EQ(study().settings().context, Tokens(8192));
}

TEST_F(History, ARecordOfAnUnknownModelHasNoSettingsToUse) {
    const QString file = test::write(folder, "own.json", test::width_80_config);
    const ModelPtr own = load_model(utf8(file));
    window->importRecords({writeRecord("o.json", *made_up_record(*own, {}))});
    EXPECT_EQ(cell(0, RecordHistory::Verdict), s("✓ equal")); // against its own layers
    QTest::mouseClick(child<QPushButton>("recordUse"), Qt::LeftButton);
    EXPECT_TRUE(notice().contains(s("neither in this study nor bundled"))) << utf8(notice());
}

TEST_F(History, KernelsWereEmulatedUntilADeviceRanThem) {
    const QString never = s("executed by emulation only, never on a GPU");
    if (kinds_run_on_gpu({}).contains(LayerKind::full_attention)) {
        GTEST_SKIP() << "the project has a record of a GPU";
    }
    const auto said = [&] { return child<QLabel>("verifyKernels")->text(); };
    EXPECT_TRUE(said().contains(never)) << utf8(said());
    EXPECT_TRUE(child<QTextBrowser>("explainText")->toPlainText().contains(never));
    EXPECT_TRUE(all_kernels_text({}).contains(never));
    study().records().add(recordOf("gpt2-xl")); // on a CPU
    EXPECT_TRUE(said().contains(never));
    MadeUp cuda;
    cuda.backend = "cuda";
    study().records().add(recordOf("gpt2-xl", cuda));
    EXPECT_FALSE(said().contains(never));
    EXPECT_TRUE(said().contains(s("full attention: run on made-up example device (cuda)")))
        << utf8(said());
    study().setCurrent(s("gemma-3-27b"));
    EXPECT_TRUE(said().contains(s("sliding attention: ") + never)) << utf8(said());
    EXPECT_TRUE(all_kernels_text(study().records().records()).contains(never));
}

// ---- in the study's file ------------------------------------------------------------------------

TEST_F(History, AStudyCarriesTheRecordsOfItsModels) {
    study().records().add(recordOf("gpt2-xl"));
    study().records().add(made_up_record(*load_model("qwen3-8b"), {})); // of none of its models
    ASSERT_FALSE(window->session().save(path("a.kvstudy.json")));
    MainWindow elsewhere; // has no folder of its own
    ASSERT_TRUE(elsewhere.openStudy(path("a.kvstudy.json")));
    EXPECT_EQ(elsewhere.study().records().all().size(), 1U);
    EXPECT_EQ(elsewhere.study().badge(s("gpt2-xl")), Badge::measured);
    elsewhere.session().startNew(seed_state());
    EXPECT_EQ(elsewhere.study().badge(s("gpt2-xl")), Badge::computed);
}

TEST_F(History, OpeningAStudyWritesNothingToTheFolder) {
    study().records().add(recordOf("gpt2-xl"));
    ASSERT_FALSE(window->session().save(path("a.kvstudy.json")));
    study().deleteRecord(study().records().all().front().id);
    EXPECT_TRUE(files().isEmpty());
    ASSERT_TRUE(window->openStudy(path("a.kvstudy.json")));
    EXPECT_EQ(table().rowCount(), 1);
    EXPECT_TRUE(files().isEmpty());
}

TEST_F(History, ADamagedRecordInAStudyStaysThere) {
    study().records().add(recordOf("gpt2-xl"));
    ASSERT_FALSE(window->session().save(path("a.kvstudy.json")));
    JsonValue document = read_json_file(utf8(path("a.kvstudy.json"))).value;
    JsonValue::Array records = document.array_at("records");
    records.insert(records.begin(), JsonValue("scribbled over"));
    document.set("records", std::move(records));
    test::write(folder, "b.kvstudy.json", QByteArray::fromStdString(dump_json(document)));
    MainWindow elsewhere;
    ASSERT_TRUE(elsewhere.openStudy(path("b.kvstudy.json")));
    const QString said = elsewhere.findChild<NoticeBar*>(s("noticeBar"))->words();
    EXPECT_TRUE(said.contains(s("b.kvstudy.json: /records/0: "))) << utf8(said);
    EXPECT_EQ(elsewhere.study().badge(s("gpt2-xl")), Badge::measured);
    ASSERT_FALSE(elsewhere.session().save(path("c.kvstudy.json")));
    const QByteArray saved = test::read(path("c.kvstudy.json"));
    EXPECT_TRUE(saved.contains("scribbled over"));
    EXPECT_TRUE(saved.contains("made-up example device"));
}

// ---- the folder ---------------------------------------------------------------------------------

TEST(RecordBook, KeepsTheLatestHundred) {
    const QTemporaryDir folder;
    RecordBook book;
    EXPECT_TRUE(book.keepIn(folder.filePath(s("records"))).isEmpty());
    const ModelPtr model = load_model("gpt2-xl");
    MadeUp made_up;
    for (int i = 0; i < 103; ++i) {
        made_up.date = "2026-01-02T03:" + std::to_string(10 + i / 60) + ":" +
                       std::to_string(10 + i % 60).substr(0, 2) + "Z";
        made_up.options.seed = i;
        EXPECT_FALSE(book.add(made_up_record(*model, {}, made_up)));
    }
    const QDir place(folder.filePath(s("records")));
    EXPECT_EQ(book.all().size(), RecordBook::most);
    EXPECT_EQ(place.entryList({s("*.json")}).size(), 100);
    EXPECT_EQ(book.all().back().record->seed, 3); // the first three went
    RecordBook again;
    EXPECT_TRUE(again.keepIn(place.path()).isEmpty());
    EXPECT_EQ(again.all().size(), 100U);
    EXPECT_EQ(again.all().front().record->seed, 102);
}

TEST(RecordBook, NamesOfModelsNameNoOtherFolder) {
    const QTemporaryDir folder;
    RecordBook book;
    book.keepIn(folder.filePath(s("records")));
    Model model = *load_model("gpt2-xl");
    model.plan.name = "../../etc/pass wd";
    EXPECT_FALSE(book.add(made_up_record(model, {})));
    EXPECT_EQ(QFileInfo(book.all().front().file).path(), folder.filePath(s("records")));
    EXPECT_TRUE(QFileInfo::exists(book.all().front().file));
}

} // namespace
} // namespace kvcaliper::gui
