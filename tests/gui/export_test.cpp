// SPDX-License-Identifier: GPL-3.0-or-later
// Tables as files: what is in them, how they are asked for, and what is made from them again.
// Figures by hand: Gemma 3 27B keeps 16 KV heads × 128 × 2 bytes of K and as many of V on each of
// 62 layers, 52 of them for 1,024 tokens at most.
#include "app/gui/budget_page.h"
#include "app/gui/claims_page.h"
#include "app/gui/main_window.h"
#include "app/gui/pages.h"
#include "app/gui/study_session.h"
#include "app/gui/table_text.h"
#include "core/json_value.h"
#include "tests/gui/export_helpers.h"

#include <QAction>
#include <QMenu>
#include <QStatusBar>
#include <QTableView>
#include <QWindow>

namespace kvcaliper::gui {
namespace {

using test::s;

using Cells = std::vector<QStringList>;

/// Rows of a CSV text, the header first; lines of comment are left out.
Cells parse_csv(const QString& csv) {
    Cells rows;
    QStringList row;
    QString cell;
    bool quoted = false;
    for (qsizetype i = 0; i < csv.size(); ++i) {
        const QChar c = csv[i];
        if (row.isEmpty() && cell.isEmpty() && !quoted && c == u'#') {
            i = csv.indexOf(u'\n', i);
        } else if (c == u'"') {
            const bool doubled = quoted && csv.mid(i + 1, 1) == s("\"");
            cell += doubled ? s("\"") : QString();
            quoted = doubled || !quoted;
            i += doubled ? 1 : 0;
        } else if (!quoted && (c == u',' || c == u'\n')) {
            row << cell;
            cell.clear();
            if (c == u'\n') {
                rows.push_back(row);
                row.clear();
            }
        } else {
            cell += c;
        }
    }
    return rows;
}

Cells parse_tsv(const QString& tsv) {
    Cells rows;
    for (const QString& line : tsv.split(u'\n', Qt::SkipEmptyParts)) {
        if (!line.startsWith(u'#')) {
            rows.push_back(line.split(u'\t'));
        }
    }
    return rows;
}

Cells parse_markdown(const QString& text) {
    Cells rows;
    for (const QString& line : text.split(u'\n')) {
        if (line.startsWith(s("| "))) {
            rows.push_back(line.mid(2).chopped(2).split(s(" | ")));
        }
    }
    return rows;
}

QString word(const JsonValue& cell) {
    if (const std::int64_t* number = cell.if_integer()) {
        return QString::number(*number);
    }
    return cell.if_string() ? text(*cell.if_string()) : QString();
}

Cells parse_json_table(const QByteArray& json) {
    const JsonValue file = parse_json(json.toStdString(), "test").value;
    const auto words = [](const JsonValue& row) {
        QStringList cells;
        for (const JsonValue& cell : *row.if_array()) {
            cells << word(cell);
        }
        return cells;
    };
    Cells rows = {words(file.at("columns"))};
    for (const JsonValue& row : file.array_at("rows")) {
        rows.push_back(words(row));
    }
    return rows;
}

/// What a table says by itself, without the program's own reading of it.
Cells cells_of(const QAbstractItemModel& model) {
    Cells rows;
    for (int row = -1; row < model.rowCount(); ++row) {
        QStringList cells;
        for (int column = 0; column < model.columnCount(); ++column) {
            const QVariant exact = row < 0 ? model.headerData(column, Qt::Horizontal, exact_role)
                                           : model.index(row, column).data(exact_role);
            cells << exact.toString();
        }
        rows.push_back(cells);
    }
    return rows;
}

class Exports : public testing::Test {
  protected:
    Exports() {
        window.study().setModels({s("gpt2-xl"), s("gemma-3-27b")});
        window.show();
        QApplication::processEvents();
    }
    QString path(const char* name) const { return folder.filePath(s(name)); }
    QString read(const char* name) const { return QString::fromUtf8(test::read(path(name))); }

    /// File, Export table… by its keys.
    void exportTo(const char* name) {
        window.activateWindow();
        ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
        test::name_file(path(name));
        QTest::keyClick(&window, Qt::Key_E, Qt::ControlModifier | Qt::ShiftModifier);
        EXPECT_EQ(window.statusBar()->currentMessage(), s("Written: %1").arg(path(name)));
    }

    QTemporaryDir folder;
    MainWindow window;
};

TEST_F(Exports, EveryFormatHoldsTheComparison) {
    for (const char* name : {"a.csv", "a.tsv", "a.md", "a.json"}) {
        exportTo(name);
    }
    const Cells expected = cells_of(window.comparePage().table());
    const auto gemma = [&](const char* title) {
        return expected[2].value(expected[0].indexOf(s(title)));
    };
    EXPECT_EQ(gemma("Uncapped (B/token)"), s("507904"));       // 62 layers × 16 × 128 × 2 B × 2
    EXPECT_EQ(gemma("Constant (B/sequence)"), s("436207616")); // 52 × 8,192 B × 1,024
    EXPECT_EQ(parse_csv(read("a.csv")), expected);
    EXPECT_EQ(parse_tsv(read("a.tsv")), expected);
    EXPECT_EQ(parse_markdown(read("a.md")), expected);
    EXPECT_EQ(parse_json_table(test::read(path("a.json"))), expected);
    for (const char* name : {"a.csv", "a.tsv", "a.md"}) {
        EXPECT_TRUE(read(name).contains(s("kvcaliper 0.1.0, table compare\n"))) << name;
        EXPECT_TRUE(read(name).contains(
            s("command: kvcaliper compare gpt2-xl gemma-3-27b -c 8192 --csv\n")))
            << name;
    }
}

TEST_F(Exports, EachPageHasItsTable) {
    for (const char* page : {"budget", "claims"}) {
        window.showTab(s(page));
        QApplication::processEvents();
        const QByteArray file = QByteArray(page) + ".csv";
        exportTo(file);
        const auto& model =
            s(page) == s("budget") ? window.budgetPage().table() : window.claimsPage().table();
        EXPECT_EQ(parse_csv(read(file)), cells_of(model)) << page;
        EXPECT_GT(model.rowCount(), 1);
    }
    window.showTab(s("verify"));
    exportTo("verify.csv");
    EXPECT_EQ(parse_csv(read("verify.csv")).front().mid(0, 3),
              QStringList({s("Tokens"), s("Component"), s("Predicted (B)")}));
}

TEST_F(Exports, CurvesAreExactAtEveryKnee) {
    window.study().setSequences(3);
    window.showTab(s("context"));
    exportTo("curve.csv");
    const Cells rows = parse_csv(read("curve.csv"));
    EXPECT_EQ(rows[0], QStringList({s("tokens"), s("gpt2-xl"), s("gemma-3-27b"), s("knee")}));
    const auto at = [&](const char* tokens) {
        return std::find_if(rows.begin(), rows.end(),
                            [&](const QStringList& row) { return row[0] == s(tokens); });
    };
    ASSERT_NE(at("1024"), rows.end());
    // 3 × 1,024 × 307,200 and 3 × 1,024 × 507,904
    EXPECT_EQ(*at("1024"),
              QStringList({s("1024"), s("943718400"), s("1560281088"), s("gemma-3-27b")}));
    // 3 × (436,207,616 + 81,920 × 131,072)
    EXPECT_EQ((*at("131072"))[2], s("33520877568"));
}

TEST_F(Exports, LayersSayWhatDecidedThem) {
    window.showTab(s("layers"));
    exportTo("layers.json");
    const Cells rows = parse_json_table(test::read(path("layers.json")));
    ASSERT_EQ(rows.size(), 1U + 2 * 48 + 2 * 62); // K and V of each layer
    const QStringList gemma = rows[1 + 2 * 48];
    EXPECT_EQ(gemma.mid(0, 8),
              QStringList({s("Gemma 3 27B"), s("0"), s("sliding_attention"), s("key"), s("2048"),
                           s("min(T,1024)"), s("bf16"), s("4194304")}));
    EXPECT_FALSE(gemma[8].isEmpty());
}

TEST_F(Exports, TheCommandsGiveTheFiguresAgain) {
    window.study().setModels(
        {s("gpt2-xl"), test::write(folder, "my model's.json", test::width_80_config)});
    window.study().setSequences(2);
    window.study().setKFormat(s("f32"));
    window.showTab(s("context"));
    ASSERT_FALSE(window.writeTable(path("curve.csv")));
    const QString file = read("curve.csv");
    const auto mark = s("# command: ");
    const auto start = file.indexOf(mark) + mark.size();
    const QString line = file.mid(start, file.indexOf(u'\n', start) - start);
    const test::Ran ran = test::run_line(line, folder.path());
    EXPECT_EQ(ran.code, 0) << utf8(line) << ran.err.toStdString();
    EXPECT_EQ(parse_csv(QString::fromUtf8(ran.out)), parse_csv(file));
}

TEST_F(Exports, AnEditedModelIsMadeAgainFromTheFile) {
    window.study().setConfig(s("Own one"), {s(test::width_80_config), {}});
    window.showTab(s("layers"));
    ASSERT_FALSE(window.writeTable(path("own.csv")));
    ASSERT_TRUE(read("own.csv").contains(
        s("# command: kvcaliper-gui --table layers.csv --tab layers own.csv\n")));
    const test::Ran ran =
        test::run_line(s("kvcaliper-gui --table layers.csv --tab layers own.csv"), folder.path());
    EXPECT_EQ(ran.code, 0) << ran.err.toStdString();
    EXPECT_EQ(parse_csv(read("layers.csv")), parse_csv(read("own.csv")));
    EXPECT_TRUE(read("own.csv").contains(s("Own one,0,full_attention,key,640,")));
}

TEST_F(Exports, EveryFormatOpensAsTheStudyInIt) {
    window.study().setContext(Tokens(32768));
    window.study().setVFormat(s("q8_0"));
    const StudyState state = window.study().state();
    for (const char* name : {"a.csv", "a.tsv", "a.md", "a.json"}) {
        ASSERT_FALSE(window.writeTable(path(name)));
        MainWindow other;
        other.openFiles({path(name)});
        EXPECT_TRUE(other.study().state() == state) << name;
        EXPECT_EQ(other.session().path(), QString());
        EXPECT_FALSE(other.isWindowModified());
        EXPECT_EQ(cells_of(other.comparePage().table()), cells_of(window.comparePage().table()));
    }
}

TEST_F(Exports, ATablesOwnMenuExportsIt) {
    for (const char* name : {"compareTable", "budgetTable"}) {
        window.showTab(s(name).chopped(5));
        QApplication::processEvents();
        const auto* view = window.findChild<QTableView*>(s(name));
        const QPoint at = view->viewport()->mapTo(&window, QPoint(20, 10));
        bool offered = false;
        QTimer::singleShot(0, qApp, [&] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            ASSERT_NE(menu, nullptr);
            for (QAction* action : menu->actions()) {
                if (action->objectName() == s("exportTable")) {
                    offered = true;
                    test::name_file(path("menu.csv"));
                    QTest::mouseClick(menu, Qt::LeftButton, {},
                                      menu->actionGeometry(action).center());
                }
            }
            menu->close();
        });
        QContextMenuEvent event(QContextMenuEvent::Mouse, view->viewport()->mapFrom(&window, at),
                                window.mapToGlobal(at));
        QApplication::sendEvent(view->viewport(), &event);
        QApplication::processEvents();
        EXPECT_TRUE(offered) << name;
        EXPECT_TRUE(QFile::remove(path("menu.csv"))) << name;
    }
}

TEST_F(Exports, WhatCanNotBeWrittenSaysWhyAndLeavesNothing) {
    const auto ending = window.writeTable(path("a.xlsx"));
    ASSERT_TRUE(ending);
    EXPECT_EQ(*ending,
              s("%1: expected a name ending in .csv, .tsv, .md or .json").arg(path("a.xlsx")));
    const auto nowhere = window.writeTable(path("none/a.csv"));
    ASSERT_TRUE(nowhere);
    EXPECT_TRUE(nowhere->startsWith(path("none/a.csv") + s(": "))) << utf8(*nowhere);
    EXPECT_FALSE(nowhere->contains(u'\n'));
    EXPECT_TRUE(test::files_in(folder).isEmpty());
}

TEST_F(Exports, TheProgramWritesWhatTheWindowDoes) {
    window.showTab(s("budget"));
    QApplication::processEvents();
    ASSERT_FALSE(window.writeTable(path("window.csv")));
    test::Ran ran = test::run_line(
        s("kvcaliper-gui --table program.csv --tab budget gpt2-xl gemma-3-27b"), folder.path());
    EXPECT_EQ(ran.code, 0) << ran.err.toStdString();
    EXPECT_EQ(parse_csv(read("program.csv")), parse_csv(read("window.csv")));
    for (const char* line : {"kvcaliper-gui --table a.csv --tab verify", "kvcaliper-gui --table a",
                             "kvcaliper-gui --table none/a.csv"}) {
        ran = test::run_line(s(line), folder.path());
        EXPECT_EQ(ran.code, 2) << line;
        EXPECT_EQ(ran.err.count('\n'), 1) << ran.err.toStdString();
        EXPECT_TRUE(ran.err.startsWith("kvcaliper-gui: ")) << ran.err.toStdString();
    }
    EXPECT_EQ(test::files_in(folder), QStringList({s("program.csv"), s("window.csv")}));
}

} // namespace
} // namespace kvcaliper::gui
