// SPDX-License-Identifier: GPL-3.0-or-later
// Reports: what they say, as which files, and that the study in them is the study they are of.
// Figures by hand: Llama 3 8B keeps 131,072 B a token and has 8,030,261,248 parameters of 2 bytes.
#include "app/gui/report_export.h"

#include "app/gui/chart_builder.h"
#include "app/gui/command_line.h"
#include "app/gui/main_window.h"
#include "app/gui/notice_bar.h"
#include "app/gui/record_book.h"
#include "app/gui/report_document.h"
#include "app/gui/report_html.h"
#include "app/gui/report_pdf.h"
#include "app/gui/study_session.h"
#include "core/error.h"
#include "tests/gui/export_helpers.h"
#include "tests/gui/fake_verifier.h"

#include <QDate>
#include <QRegularExpression>
#include <QStatusBar>
#include <QXmlStreamReader>

namespace kvcaliper::gui {
namespace {

using test::s;

constexpr const char* endings[] = {"report.html", "report.pdf"};

Report report_on(const Study& study, const JsonValue& document = JsonValue(JsonValue::Object{})) {
    return make_report(study, {QString(), s("report.html"), QDate(2026, 1, 2), document});
}

/// All words of a page, and what a reader of XML finds wrong with it.
struct Page {
    QString words;
    QStringList sources; ///< of images
    QStringList names;   ///< of elements
    QStringList links;   ///< of anything that is fetched
    QString error;
};

Page read_page(const QByteArray& html) {
    Page page;
    QXmlStreamReader reader(html);
    while (!reader.atEnd()) {
        reader.readNext();
        if (reader.isStartElement()) {
            page.names << reader.name().toString();
            page.words += u' ';
            const auto attributes = reader.attributes();
            for (const char* fetched : {"src", "href", "data", "action"}) {
                if (attributes.hasAttribute(s(fetched))) {
                    page.links << attributes.value(s(fetched)).toString();
                }
            }
        } else if (reader.isCharacters()) {
            page.words += reader.text();
        }
    }
    page.error = reader.hasError() ? reader.errorString() : QString();
    return page;
}

Page page_on(const Study& study) {
    return read_page(report_html(report_on(study)));
}

#define EXPECT_SAYS(words, part)                                                                   \
    EXPECT_TRUE((words).contains(s(part))) << part << "\n" << utf8(words)

class Reports : public testing::Test {
  protected:
    QString path(const char* name) const { return folder.filePath(s(name)); }
    QTemporaryDir folder;
};

TEST_F(Reports, TheAnswerIsOneSentence) {
    Study study;
    study.setModels({s("llama-3-8b")});
    // 131,072 B × 8,192 = 1 GiB; 79.6 GiB − 15.0 GiB − 1 GiB
    EXPECT_EQ(report_on(study).answer, s("Llama 3 8B keeps 1 GiB for 1 sequence of 8,192 tokens, "
                                         "and fits on NVIDIA H100 SXM 80 GB, engine ideal with "
                                         "63.7 GiB free."));
    open_seed(study);
    EXPECT_EQ(report_on(study).answer,
              s("For 1 sequence of 8,192 tokens, Falcon-Mamba 7B keeps least with 35 MiB and GPT-2 "
                "XL keeps most with 2.34 GiB; 4 of 5 models fit on NVIDIA H100 SXM 80 GB, engine "
                "ideal."));
    study.setModels({});
    EXPECT_EQ(report_on(study).answer, s("No model is ticked, so there is nothing to answer."));
}

TEST_F(Reports, ThePageIsWellFormedAndFetchesNothing) {
    Study study;
    open_seed(study);
    study.setTicked(test::write(folder, "a <b> & \"c\".json", test::width_80_config), true);
    const QByteArray html = report_html(report_on(study));
    EXPECT_TRUE(html.startsWith("<!DOCTYPE html>\n"));
    const Page page = read_page(html);
    EXPECT_EQ(page.error, QString());
    EXPECT_EQ(page.names.count(s("img")), 4); // comparison, context, layers, budget
    EXPECT_EQ(page.links.size(), 4);
    for (const QString& link : page.links) {
        EXPECT_TRUE(link.startsWith(s("data:image/svg+xml;base64,")));
        const QByteArray svg = QByteArray::fromBase64(link.mid(link.indexOf(u',') + 1).toLatin1());
        EXPECT_EQ(read_page(svg).error, QString());
    }
    EXPECT_FALSE(html.contains("url("));
    EXPECT_FALSE(html.contains("@import"));
    EXPECT_SAYS(page.words, "a <b> & \"c\"");
}

TEST_F(Reports, FiguresAndCommandsAreThere) {
    Study study;
    study.setModels({s("gemma-3-27b"), s("llama-3-8b")});
    const QString words = page_on(study).words;
    for (const char* part : {"496 KiB", "80 KiB", "416 MiB", "1.03 GiB", "google/gemma-3-27b-it",
                             "read as gemma3_text (rule): 52 × sliding attention (window 1,024), "
                             "10 × full attention",
                             "kvcaliper compare gemma-3-27b llama-3-8b -c 8192 --csv",
                             "kvcaliper chart report.html --kind budget -o budget.svg",
                             "kvcaliper 0.1.0, 2026-01-02", "auto: bf16"}) {
        EXPECT_SAYS(words, part);
    }
}

TEST_F(Reports, TheChecklistHasTheAnswersOfTheBudget) {
    Study study;
    study.setModels({s("llama-3-8b")});
    study.setEngine(s("vllm"));
    study.setSequences(4);
    QString words = page_on(study).words;
    for (const char* part :
         {"☑ Load 4 sequences of 8,192 tokens at once", "bf16 K, bf16 V (asked: auto K, auto V)",
          "1 × NVIDIA H100 SXM 80 GB with 79.6 GiB (85,520,809,984 B)", "☑ Engine vllm",
          "☑ What fits all: Llama 3 8B", "☑ Cache 4 GiB on each device (4,294,967,296 B)",
          "☐ Weights 15 GiB, formula", "☐ Workspace 3.05 GiB, assumed",
          "☑ Context the model's maximum is 8,192 tokens",
          "vllm serve MODEL --max-model-len 8192 --max-num-seqs 4",
          "kvcaliper fit llama-3-8b -c 8192 -n 4 --engine vllm --gpu h100-80"}) {
        EXPECT_SAYS(words, part);
    }
    study.setWeights(s("llama-3-8b"), s("75 GiB"));
    study.setContext(Tokens(16384));
    words = page_on(study).words;
    for (const char* part : {"☒ What fits", "☒ Headroom", "☑ Weights 75 GiB, given",
                             "What would make it fit, the cheapest first:", "(--tp 2)",
                             "☒ Context the model's maximum is 8,192 tokens: these 16,384 are "
                             "beyond it"}) {
        EXPECT_SAYS(words, part);
    }
    EXPECT_FALSE(words.contains(s("vllm serve"))); // nothing to start that does not fit
}

TEST_F(Reports, TheComparisonHasEveryAnswer) {
    Study study;
    study.setModels({s("llama-3-8b")});
    // (85,520,809,984 B of an H100 - 16,060,522,496 B of weights) / (131,072 B × 8,192 tokens)
    // = 64.7
    EXPECT_SAYS(page_on(study).words, "64 ●●○ moderate 32");
}

TEST_F(Reports, WhatWasNotMeasuredIsSaid) {
    Study study;
    study.setModels({s("llama-3-8b"), s("gpt2-xl")});
    EXPECT_SAYS(page_on(study).words,
                "☐ What was measured nothing. Not measured: Llama 3 8B, GPT-2 XL");
    study.records().add(test::made_up_record(*study.row(s("gpt2-xl"))->model, study.settings()));
    QString words = page_on(study).words;
    EXPECT_SAYS(words, "☐ What was measured GPT-2 XL. Not measured: Llama 3 8B");
    EXPECT_SAYS(words, "☑ Measured ✓ Measured at 8,192 tokens with exactly this model");
    EXPECT_SAYS(words, "☐ Measured not measured: every figure of this model is computed");
    study.setKFormat(s("f32"));
    words = page_on(study).words;
    EXPECT_FALSE(words.contains(s("☑ Measured"))); // nobody ran that
    EXPECT_FALSE(words.contains(s("with exactly this model")));
}

TEST_F(Reports, AModelWithoutAnAnswerSaysWhy) {
    Study study;
    study.setModels({s("gpt2-xl"), s("no-such-model")});
    study.setTensor(2);
    const QString words = page_on(study).words;
    EXPECT_SAYS(words, "no-such-model");
    EXPECT_SAYS(words, "☒ No answer --tp: expected a divisor of the 25 query heads, found 2");
}

TEST_F(Reports, ManyModelsNoModelAndTheSameTwice) {
    Study study;
    EXPECT_EQ(page_on(study).error, QString());
    EXPECT_TRUE(report_pdf(report_on(study)).startsWith("%PDF-"));
    study.setModels({s("gpt2-xl"), s("llama-3-8b"), s("gemma-3-27b"), s("deepseek-v3"),
                     s("falcon-mamba-7b"), s("qwen3-8b"), s("llama-3.3-70b"), s("gemma-2-9b"),
                     s("gpt2"), s("mistral-7b-v0.1"), s("jamba-v0.1"), s("gpt-oss-20b")});
    const QByteArray html = report_html(report_on(study));
    EXPECT_EQ(html, report_html(report_on(study)));
    EXPECT_EQ(read_page(html).error, QString());
    for (const StudyRow& row : study.rows()) {
        EXPECT_TRUE(read_page(html).words.contains(row.name)) << utf8(row.name);
    }
}

/// Pages of a PDF and the strings of its headings, as the file has them.
int pages_of(const QByteArray& pdf) {
    return static_cast<int>(
        QString::fromLatin1(pdf).count(QRegularExpression(s("/Type\\s*/Page\\b"))));
}

TEST_F(Reports, APdfHasPagesATitleAndTheStudy) {
    Study study;
    open_seed(study);
    JsonValue document;
    document.set("kvcaliper_study", 1);
    document.set("remark", "kept as it is: é \" \\");
    const QByteArray pdf = report_pdf(report_on(study, document));
    EXPECT_TRUE(pdf.startsWith("%PDF-"));
    EXPECT_TRUE(pdf.trimmed().endsWith("%%EOF"));
    EXPECT_GE(pages_of(pdf), 5);
    EXPECT_LE(pages_of(pdf), 8);
    EXPECT_EQ(dump_json(study_of_pdf(pdf, "test")), dump_json(document));
    EXPECT_EQ(dump_json(study_of_html(report_html(report_on(study, document)), "test")),
              dump_json(document));
}

TEST_F(Reports, ByKeysAndBackAgain) {
    MainWindow window;
    window.study().setModels(
        {s("gpt2-xl"), test::write(folder, "own.json", test::width_80_config)});
    window.study().setConfig(s("Edited </script> & one"), {s(test::width_80_config), s("gpt2-xl")});
    window.study().setContext(Tokens(32768));
    window.study().setDevice(s("a100-80"));
    window.show();
    for (const char* name : endings) {
        window.activateWindow();
        ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
        test::name_file(path(name));
        QTest::keyClick(&window, Qt::Key_R, Qt::ControlModifier);
        EXPECT_EQ(window.statusBar()->currentMessage(), s("Written: %1").arg(path(name)));
        MainWindow other;
        other.openFiles({path(name)});
        EXPECT_EQ(dump_json(other.session().documentFor(path("plan.kvstudy.json"))),
                  dump_json(window.session().documentFor(path("plan.kvstudy.json"))));
        ASSERT_EQ(other.study().rows().size(), 3U);
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_EQ(other.study().rows()[i].estimate->required.value(),
                      window.study().rows()[i].estimate->required.value());
        }
        EXPECT_EQ(per_token_chart(other.study()).description,
                  per_token_chart(window.study()).description);
        // It has no file of its own: saving asks for one and leaves the report as it is.
        EXPECT_EQ(other.session().path(), QString());
        EXPECT_FALSE(other.isWindowModified());
    }
    EXPECT_EQ(read_page(test::read(path("report.html"))).error, QString());
    EXPECT_TRUE(test::read(path("report.html")).contains("\"./own.json\""));
    EXPECT_EQ(test::files_in(folder),
              QStringList({s("own.json"), s("report.html"), s("report.pdf")}));
}

TEST_F(Reports, TheProgramNeedsNoWindow) {
    for (const char* name : endings) {
        const test::Ran ran = test::run_line(
            s("kvcaliper-gui --report %1 -c 128K --kv q8_0 gpt2-xl llama-3-8b").arg(s(name)),
            folder.path());
        EXPECT_EQ(ran.code, 0) << ran.err.toStdString();
        const test::Ran chart = test::run_line(
            s("kvcaliper chart %1 --kind per-token -o per-token.svg").arg(s(name)), folder.path());
        EXPECT_EQ(chart.code, 0) << chart.err.toStdString();
        const QByteArray svg = test::read(path("per-token.svg"));
        EXPECT_TRUE(svg.contains("q8_0 K/V, context 131,072"));
        EXPECT_TRUE(svg.contains(">68 KiB<")); // 32 × 8 × 128 × 2 in blocks of 34 B for 32
    }
    for (const char* line :
         {"kvcaliper-gui --report report.docx", "kvcaliper-gui --report none/report.html",
          "kvcaliper-gui --report a.html no-such-model",
          "kvcaliper-gui --report a.html own.html"}) {
        const test::Ran ran = test::run_line(s(line), folder.path());
        EXPECT_EQ(ran.code, 2) << line;
        EXPECT_EQ(ran.err.count('\n'), 1) << ran.err.toStdString();
        EXPECT_TRUE(ran.err.startsWith("kvcaliper-gui: ")) << ran.err.toStdString();
    }
    EXPECT_EQ(test::files_in(folder),
              QStringList({s("per-token.svg"), s("report.html"), s("report.pdf")}));
}

TEST_F(Reports, FilesWithoutAStudyAreRefusedInOneLine) {
    MainWindow window;
    window.show();
    const StudyState before = window.study().state();
    const QByteArray attached = "%PDF-1.4\n54 0 obj\nstream\nrubbish\nendstream\n/EF <</F 54 0 R>>";
    for (const auto& [name, content] :
         {std::pair("a.html", QByteArray("<html><body>a page</body></html>")),
          std::pair("b.html", QByteArray("<script type=\"application/json\" "
                                         "id=\"kvcaliper-study\">{")),
          std::pair("a.pdf", QByteArray("%PDF-1.4")), std::pair("b.pdf", attached),
          std::pair("a.csv", QByteArray("a,b\n1,2\n")),
          std::pair("a.md", QByteArray("# study: {"))}) {
        const QString file = test::write(folder, name, content);
        window.openFiles({file});
        const QString words = window.findChild<NoticeBar*>(s("noticeBar"))->words();
        EXPECT_TRUE(words.contains(s("Not opened: ") + file + s(":"))) << utf8(words);
        EXPECT_FALSE(words.contains(u'\n'));
        EXPECT_TRUE(window.study().state() == before);
    }
}

TEST_F(Reports, WhatCanNotBeWrittenSaysWhyAndLeavesNothing) {
    MainWindow window;
    const auto ending = window.writeReport(path("report.docx"));
    EXPECT_EQ(ending.value_or(QString()),
              s("%1: expected a name ending in .html or .pdf").arg(path("report.docx")));
    const auto nowhere = window.writeReport(path("none/report.pdf"));
    ASSERT_TRUE(nowhere);
    EXPECT_TRUE(nowhere->startsWith(path("none/report.pdf") + s(": "))) << utf8(*nowhere);
    EXPECT_TRUE(test::files_in(folder).isEmpty());
}

TEST(GuiDocuments, EveryOptionIsInTheManPageAndCompleted) {
    const QString resources = s(KVCALIPER_SOURCE) + s("/resources/");
    const QString page =
        QString::fromUtf8(test::read(resources + s("man/kvcaliper-gui.1"))).remove(u'\\');
    const QRegularExpression option(s("--([a-z][a-z-]+|[kv])\\b"));
    QStringList all;
    for (auto match = option.globalMatch(help_text()); match.hasNext();) {
        all << match.next().captured(1);
    }
    EXPECT_TRUE(all.contains(s("report")) && all.contains(s("table"))) << utf8(all.join(u' '));
    for (const QString& name : all) {
        const QRegularExpression whole(s("--%1\\b").arg(name));
        EXPECT_TRUE(page.contains(whole)) << utf8(name);
        for (const char* file : {"kvcaliper-gui.bash", "_kvcaliper-gui"}) {
            const QString words =
                QString::fromUtf8(test::read(resources + s("completions/") + s(file)));
            EXPECT_TRUE(words.contains(whole)) << utf8(name) << " " << file;
        }
        const QString fish =
            QString::fromUtf8(test::read(resources + s("completions/kvcaliper-gui.fish")));
        EXPECT_TRUE(fish.contains(QRegularExpression(s("\\b%1\\b").arg(name)))) << utf8(name);
    }
}

} // namespace
} // namespace kvcaliper::gui
