// SPDX-License-Identifier: GPL-3.0-or-later
// The window and its study's file: title, saving, closing, recent files, and recovery.
#include "app/gui/autosave.h"
#include "app/gui/main_window.h"
#include "app/gui/notice_bar.h"
#include "app/gui/study_session.h"
#include "app/gui/text.h"
#include "tests/gui/export_helpers.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QDir>
#include <QDropEvent>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <QTest>
#include <QTimer>
#include <QUndoStack>

#include <memory>

namespace kvcaliper::gui {
namespace {

using test::s;

/// Clicks a button of the next dialog, and says what it was asked.
QString answer(QMessageBox::StandardButton button, const std::function<void()>& action) {
    QString asked;
    QTimer::singleShot(0, qApp, [&] {
        auto* question = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (question != nullptr) {
            asked = question->text();
            QTest::mouseClick(question->button(button), Qt::LeftButton);
        }
    });
    action();
    return asked;
}

const char* const later_edits = R"({"kvcaliper_study": 1, "models": ["gpt2-xl"],
    "settings": {"sequences": 3}, "autosave": {"path": ""}})";

class Session : public testing::Test {
  protected:
    Session() { open(); }
    void open() {
        window = std::make_unique<MainWindow>();
        window->show();
        QApplication::processEvents();
    }
    QString path(const char* name) const { return folder.filePath(s(name)); }
    template <typename Widget> Widget* child(const char* name) {
        return window->findChild<Widget*>(s(name));
    }
    Study& study() { return window->study(); }
    bool autosaved() const { return !QDir(path("autosave")).entryList({s("*.json")}).isEmpty(); }

    QTemporaryDir folder;
    std::unique_ptr<MainWindow> window;
};

TEST_F(Session, TheTitleNamesTheFileAndTheMark) {
    EXPECT_EQ(window->windowTitle(), s("Untitled study[*] — kvcaliper"));
    EXPECT_FALSE(window->isWindowModified());
    study().setSequences(2);
    EXPECT_TRUE(window->isWindowModified());
    ASSERT_FALSE(window->session().save(path("plan.kvstudy.json")));
    EXPECT_EQ(window->windowTitle(), s("plan.kvstudy.json[*] — kvcaliper"));
    EXPECT_FALSE(window->isWindowModified());
    child<QAction>("undo")->trigger();
    EXPECT_TRUE(window->isWindowModified());
}

TEST_F(Session, SavesUnderANewNameByKeyboard) {
    study().setContext(Tokens(32768));
    test::name_file(path("plan")); // the ending comes by itself
    QTest::keyClick(window.get(), Qt::Key_S, Qt::ControlModifier);
    EXPECT_EQ(read_study_file(path("plan.kvstudy.json")).state.settings.context, Tokens(32768));
    EXPECT_FALSE(window->isWindowModified());
    study().setContext(Tokens(65536));
    window->activateWindow(); // no window manager gives the focus back
    ASSERT_TRUE(QTest::qWaitForWindowActive(window.get()));
    QTest::keyClick(window.get(), Qt::Key_S, Qt::ControlModifier); // the same file, unasked
    EXPECT_EQ(read_study_file(path("plan.kvstudy.json")).state.settings.context, Tokens(65536));
}

TEST_F(Session, AnUntouchedStudyClosesUnasked) {
    EXPECT_TRUE(window->close());
}

TEST_F(Session, ClosingAsksAboutEdits) {
    study().setSequences(5);
    const QString asked = answer(QMessageBox::Cancel, [&] { EXPECT_FALSE(window->close()); });
    EXPECT_EQ(asked, s("Save the changes to Untitled study?"));
    EXPECT_TRUE(window->isVisible());
    ASSERT_FALSE(window->session().save(path("a.kvstudy.json")));
    study().setSequences(6);
    answer(QMessageBox::Save, [&] { EXPECT_TRUE(window->close()); });
    EXPECT_EQ(read_study_file(path("a.kvstudy.json")).state.settings.sequences, 6);
    open();
    study().setSequences(7);
    answer(QMessageBox::Discard, [&] { EXPECT_TRUE(window->close()); });
}

TEST_F(Session, ANewStudyStartsOver) {
    study().setSequences(5);
    answer(QMessageBox::Discard,
           [&] { QTest::keyClick(window.get(), Qt::Key_N, Qt::ControlModifier); });
    EXPECT_EQ(study().settings().sequences, 1);
    EXPECT_FALSE(study().undoStack()->canUndo());
}

TEST_F(Session, ADamagedStudySaysWhatAndWhere) {
    study().setTicked(s("qwen3-8b"), true);
    const StudyState before = study().state();
    const QString bad =
        test::write(folder, "bad.kvstudy.json", R"({"kvcaliper_study": 3, "models": []})");
    answer(QMessageBox::Discard, [&] { window->openFiles({bad}); });
    auto* notice = child<NoticeBar>("noticeBar");
    EXPECT_TRUE(notice->isVisible());
    EXPECT_TRUE(notice->words().contains(bad)) << utf8(notice->words());
    EXPECT_TRUE(notice->words().contains(s("/kvcaliper_study: expected at most 1")));
    EXPECT_TRUE(study().state() == before);
    EXPECT_TRUE(window->isWindowModified());
    QTest::mouseClick(child<QPushButton>("closeNotice"), Qt::LeftButton);
    EXPECT_FALSE(notice->isVisible());
}

TEST_F(Session, ANoticeHasRoomForItsWords) {
    auto* notice = child<NoticeBar>("noticeBar");
    window->say(s("short"));
    QApplication::processEvents();
    const int one_line = notice->height();
    EXPECT_LT(one_line, 3 * window->fontMetrics().height());
    window->say(s("long words ").repeated(60));
    QApplication::processEvents();
    EXPECT_GT(notice->height(), one_line + window->fontMetrics().height());
}

TEST_F(Session, ADroppedStudyIsOpened) {
    ASSERT_FALSE(window->session().save(path("a.kvstudy.json")));
    study().setSequences(3);
    ASSERT_FALSE(window->session().save(path("b.kvstudy.json")));
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(path("a.kvstudy.json"))});
    QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.get(), &enter);
    QDropEvent drop(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.get(), &drop);
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return window->session().name() == s("a.kvstudy.json"); }, 20000));
    EXPECT_EQ(study().settings().sequences, 1);
}

TEST_F(Session, RecentStudiesAreOffered) {
    QSettings().remove(s("recentStudies"));
    ASSERT_FALSE(window->session().save(path("a & b.kvstudy.json")));
    window->openFiles({path("a & b.kvstudy.json")});
    child<QAction>("newStudy")->trigger();
    auto* menu = child<QMenu>("recentStudies");
    Q_EMIT menu->aboutToShow();
    ASSERT_EQ(menu->actions().size(), 3); // the file, a line, and the way to clear it
    menu->actions().first()->trigger();
    EXPECT_EQ(window->session().name(), s("a & b.kvstudy.json"));
    menu->actions().last()->trigger();
    Q_EMIT menu->aboutToShow();
    EXPECT_EQ(menu->actions().size(), 2);
    EXPECT_FALSE(menu->actions().last()->isEnabled());
}

// ---- recovery -----------------------------------------------------------------------------------

TEST_F(Session, AWindowThatVanishesLeavesItsEdits) {
    ASSERT_FALSE(window->session().save(path("plan.kvstudy.json")));
    window->keepAutosave(path("autosave"));
    EXPECT_TRUE(Autosave::leftOvers(path("autosave")).isEmpty());
    study().setSequences(12);
    study().setConfig(s("Own"), {s(test::width_80_config), {}});
    ASSERT_TRUE(QTest::qWaitFor([&] { return autosaved(); }, 20000));
    EXPECT_TRUE(Autosave::leftOvers(path("autosave")).isEmpty()); // it is in use
    window.reset();                                               // no close, no question
    open();
    window->keepAutosave(path("autosave"));
    auto* notice = child<NoticeBar>("noticeBar");
    ASSERT_TRUE(notice->isVisible());
    EXPECT_TRUE(notice->words().contains(s("unsaved edits")));
    QTest::mouseClick(child<QPushButton>("recover"), Qt::LeftButton);
    EXPECT_EQ(study().settings().sequences, 12);
    EXPECT_TRUE(study().row(s("Own"))->estimate);
    EXPECT_EQ(window->session().name(), s("plan.kvstudy.json"));
    EXPECT_TRUE(window->isWindowModified());
    EXPECT_FALSE(notice->isVisible());
    EXPECT_TRUE(Autosave::leftOvers(path("autosave")).isEmpty());
    // Saved where it came from, without the note that it was an autosave.
    child<QAction>("saveStudy")->trigger();
    EXPECT_FALSE(test::read(path("plan.kvstudy.json")).contains("autosave"));
    EXPECT_FALSE(autosaved());
}

TEST_F(Session, TheOfferLeavesAnErrorReadable) {
    QDir().mkpath(path("autosave"));
    test::write(folder, "autosave/x.kvstudy.json", later_edits);
    EXPECT_FALSE(window->openStudy(path("none.kvstudy.json")));
    window->keepAutosave(path("autosave"));
    const QString words = child<NoticeBar>("noticeBar")->words();
    EXPECT_TRUE(words.contains(s("none.kvstudy.json")) && words.contains(s("unsaved edits")));
    QTest::mouseClick(child<QPushButton>("recover"), Qt::LeftButton);
    EXPECT_EQ(study().settings().sequences, 3);
}

TEST_F(Session, DiscardedEditsAreGone) {
    window->keepAutosave(path("autosave"));
    study().setSequences(12);
    ASSERT_TRUE(QTest::qWaitFor([&] { return autosaved(); }, 20000));
    window.reset();
    open();
    window->keepAutosave(path("autosave"));
    QTest::mouseClick(child<QPushButton>("discardRecovery"), Qt::LeftButton);
    EXPECT_EQ(study().settings().sequences, 1);
    EXPECT_TRUE(Autosave::leftOvers(path("autosave")).isEmpty());
    EXPECT_FALSE(autosaved());
}

TEST_F(Session, ACleanExitLeavesNothing) {
    window->keepAutosave(path("autosave"));
    study().setSequences(12);
    ASSERT_TRUE(QTest::qWaitFor([&] { return autosaved(); }, 20000));
    answer(QMessageBox::Discard, [&] { EXPECT_TRUE(window->close()); });
    EXPECT_TRUE(QDir(path("autosave")).entryList(QDir::Files).isEmpty());
}

TEST_F(Session, UndoneToTheStartThereIsNothingToKeep) {
    window->keepAutosave(path("autosave"));
    study().setSequences(12);
    ASSERT_TRUE(QTest::qWaitFor([&] { return autosaved(); }, 20000));
    child<QAction>("undo")->trigger();
    EXPECT_FALSE(autosaved());
}

TEST_F(Session, AKilledProcessLeavesItsEdits) {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(s(test::autosave_variable), path("autosave"));
    process.setProcessEnvironment(environment);
    process.start(QCoreApplication::applicationFilePath(), QStringList());
    const auto written = [&] { return autosaved(); };
    ASSERT_TRUE(QTest::qWaitFor(written, 60000));
    EXPECT_TRUE(Autosave::leftOvers(path("autosave")).isEmpty()); // it lives
    process.kill();
    ASSERT_TRUE(process.waitForFinished());
    window->keepAutosave(path("autosave"));
    ASSERT_TRUE(child<NoticeBar>("noticeBar")->isVisible());
    QTest::mouseClick(child<QPushButton>("recover"), Qt::LeftButton);
    EXPECT_EQ(study().settings().sequences, test::sequences_of_the_killed);
    EXPECT_EQ(window->session().name(), s("Untitled study"));
}

TEST_F(Session, ADamagedAutosaveIsNoObstacle) {
    QDir().mkpath(path("autosave"));
    test::write(folder, "autosave/x.kvstudy.json", "{\"kvcaliper_study\": ");
    window->keepAutosave(path("autosave"));
    QTest::mouseClick(child<QPushButton>("recover"), Qt::LeftButton);
    EXPECT_TRUE(
        child<NoticeBar>("noticeBar")->words().contains(s("x.kvstudy.json: expected JSON")));
    EXPECT_EQ(study().rows().size(), 5U);
}

} // namespace
} // namespace kvcaliper::gui
