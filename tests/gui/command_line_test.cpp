// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/headless.h"

#include "app/gui/study_session.h"
#include "core/error.h"
#include "tests/gui/helpers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QImage>
#include <QProcess>

namespace kvcaliper::gui {
namespace {

using test::s;

Options parse(const QStringList& arguments) {
    return parse_options(QStringList(s("kvcaliper-gui")) + arguments);
}

struct Ran {
    int code;
    QByteArray out;
    QByteArray err;
};

/// The real program, with no display at all.
Ran run(const QStringList& arguments) {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) {
        environment.remove(s(name));
    }
    process.setProcessEnvironment(environment);
    process.start(s(KVCALIPER_GUI_PROGRAM), arguments);
    process.waitForFinished(60000);
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}

TEST(CommandLine, ReadsAChartRequest) {
    const Options options =
        parse({s("--chart"), s("a.svg"), s("--kind"), s("context"), s("--theme"), s("dark"),
               s("--size"), s("800x600"), s("-c"), s("128K"), s("-n"), s("4"), s("--k"), s("q8_0"),
               s("--v"), s("f16"), s("gpt2"), s("llama-3-8b")});
    EXPECT_EQ(options.task, Options::Task::chart);
    EXPECT_EQ(options.file, s("a.svg"));
    EXPECT_EQ(options.kind, s("context"));
    EXPECT_EQ(options.theme, AppTheme::dark);
    EXPECT_EQ(options.size, QSize(800, 600));
    EXPECT_EQ(options.settings.context, Tokens(131072));
    EXPECT_EQ(options.settings.sequences, 4);
    EXPECT_EQ(options.settings.k_format, "q8_0");
    EXPECT_EQ(options.settings.v_format, "f16");
    EXPECT_EQ(options.models, QStringList({s("gpt2"), s("llama-3-8b")}));
}

TEST(CommandLine, AContextHasDevicesAndItsView) {
    const Options options =
        parse({s("--chart"), s("a.svg"), s("--kind"), s("context"), s("--gpu"), s("h100-80,l4"),
               s("--gpu"), s("rtx-4090"), s("--linear"), s("--recompute")});
    EXPECT_EQ(options.context_view.devices, QStringList({s("h100-80"), s("l4"), s("rtx-4090")}));
    EXPECT_TRUE(options.context_view.linear);
    EXPECT_TRUE(options.context_view.recompute);
    Study study;
    StudySession session(study);
    start_study(session, options);
    EXPECT_EQ(study.state().context_view.devices.size(), 3);
    EXPECT_EQ(study.state().budget.device, BudgetState().device); // that of a budget is another
    // The page of the window takes them alike, other pages do not.
    EXPECT_EQ(parse({s("--tab"), s("context"), s("--gpu"), s("l4")}).context_view.devices.size(),
              1);
    EXPECT_THROW(parse({s("--chart"), s("a.svg"), s("--recompute")}), Error);
    EXPECT_THROW(
        parse({s("--chart"), s("a.svg"), s("--kind"), s("budget"), s("--gpu"), s("h100-80,l4")}),
        Error);
    EXPECT_THROW(parse({s("--tab"), s("context"), s("--gpu"), s("h100-81")}), Error);
}

TEST(CommandLine, ABudgetHasADeviceAnEngineRanksAndWeights) {
    const Options options = parse({s("--chart"), s("a.svg"), s("--kind"), s("budget"), s("--gpu"),
                                   s("a100-80"), s("--engine"), s("vllm"), s("--tp"), s("2"),
                                   s("--weights"), s("16 GB"), s("llama-3-8b")});
    EXPECT_EQ(options.kind, s("budget"));
    EXPECT_EQ(options.budget.device, s("a100-80"));
    EXPECT_EQ(options.budget.engine, s("vllm"));
    EXPECT_EQ(options.budget.tensor, 2);
    EXPECT_EQ(options.budget.weights.value(s("llama-3-8b")), s("16 GB"));
    EXPECT_THROW(parse({s("--gpu"), s("no-such-gpu")}), Error);
    EXPECT_THROW(parse({s("--weights"), s("heavy"), s("gpt2")}), Error);
}

TEST(CommandLine, OtherFormatsRanksAndEngineOptions) {
    const Options options = parse(
        {s("--index"), s("q8_0"), s("--conv"), s("f32"), s("--state"), s("bf16"), s("--pp"), s("2"),
         s("--cp"), s("3"), s("--dp"), s("4"), s("--engine"), s("vllm"), s("--engine-opt"),
         s("block-size=32"), s("--engine-opt"), s("dcp=2"), s("llama-3-8b")});
    EXPECT_EQ(options.settings.index_format, "q8_0");
    EXPECT_EQ(options.settings.conv_format, "f32");
    EXPECT_EQ(options.settings.state_format, "bf16");
    EXPECT_TRUE(options.budget.parallel() == (Parallelism{1, 2, 3, 4}));
    Study study;
    StudySession session(study);
    start_study(session, options);
    const auto set = study.state().budget.options.value(s("vllm"));
    EXPECT_EQ(set.value(s("block-size")), s("32"));
    EXPECT_EQ(set.value(s("decode-context-parallel-size")), s("2"));
    EXPECT_EQ(study.settings().state_format, "bf16");
    EXPECT_THROW(start_study(session, parse({s("--engine-opt"), s("block-size=32")})), Error);
    EXPECT_THROW(parse({s("--state"), s("q9")}), Error);
    EXPECT_THROW(parse({s("--pp"), s("none")}), Error);
}

TEST(CommandLine, KvSetsBoth) {
    const Options options = parse({s("--kv"), s("f16"), s("--v"), s("f32")});
    EXPECT_EQ(options.settings.k_format, "f16");
    EXPECT_EQ(options.settings.v_format, "f32");
    EXPECT_EQ(options.task, Options::Task::window);
}

TEST(CommandLine, RefusesWhatItDoesNotKnow) {
    for (const QStringList& arguments : {QStringList{s("--nonsense")},
                                         {s("--kind"), s("pie")},
                                         {s("--theme"), s("pink")},
                                         {s("--size"), s("wide")},
                                         {s("--size"), s("99999x10")},
                                         {s("-c"), s("0")},
                                         {s("-n"), s("many")},
                                         {s("--k"), s("q9")},
                                         {s("--tab"), s("home")}}) {
        EXPECT_THROW(parse(arguments), Error) << arguments.join(u' ').toStdString();
    }
}

TEST(Program, WritesAChartWithoutADisplay) {
    const QTemporaryDir folder;
    const QString path = folder.filePath(s("chart.svg"));
    const Ran ran = run({s("--chart"), path, s("deepseek-v3"), s("gemma-3-27b")});
    EXPECT_EQ(ran.code, 0) << ran.err.toStdString();
    const QByteArray svg = test::read(path);
    for (const char* words : {">68.6 KiB<", ">496 KiB<", ">DeepSeek-V3<", "context 8,192"}) {
        EXPECT_TRUE(svg.contains(words)) << words;
    }
}

TEST(Program, DrawsAStudyUnderItsOwnSettings) {
    const QTemporaryDir folder;
    test::write(folder, "own.json", test::width_80_config);
    const QString study = test::write(
        folder, "a.kvstudy.json",
        R"({"kvcaliper_study": 1, "models": ["gpt2-xl", "./own.json"], "settings": {"context": 131072}})");
    const QString path = folder.filePath(s("chart.svg"));
    const Ran ran = run({s("--chart"), path, study});
    EXPECT_EQ(ran.code, 0) << ran.err.toStdString();
    for (const char* words : {">300 KiB<", ">5 KiB<", ">own<", "context 131,072"}) {
        EXPECT_TRUE(test::read(path).contains(words)) << words;
    }
    // What is written on the command line stands over the file.
    EXPECT_EQ(run({s("--chart"), path, s("-c"), s("4096"), study}).code, 0);
    EXPECT_TRUE(test::read(path).contains("context 4,096"));
    const Ran both = run({s("--chart"), path, study, s("gpt2")});
    EXPECT_EQ(both.code, 2);
    EXPECT_TRUE(both.err.contains("one study file alone")) << both.err.toStdString();
    const QString bad = test::write(folder, "bad.kvstudy.json", R"({"kvcaliper_study": 1})");
    const Ran damaged = run({s("--chart"), path, bad});
    EXPECT_EQ(damaged.code, 2);
    EXPECT_TRUE(damaged.err.contains("bad.kvstudy.json: /models: expected a list"));
}

TEST(Program, AnswersErrorsInOneLineWithCode2) {
    const QTemporaryDir folder;
    const QString path = folder.filePath(s("chart.svg"));
    const QString wide = test::write(folder, "wide.json", test::width_80_config);
    for (const QStringList& arguments : {QStringList{s("--chart"), path, s("no-such-model")},
                                         {s("--chart"), path, s("--kv"), s("q8_0"), wide},
                                         {s("--chart"), s("chart.bmp")},
                                         {s("--no-such-option")}}) {
        const Ran ran = run(arguments);
        EXPECT_EQ(ran.code, 2);
        const QByteArrayList lines = ran.err.trimmed().split('\n');
        ASSERT_EQ(lines.size(), 1) << ran.err.toStdString();
        EXPECT_TRUE(lines[0].startsWith("kvcaliper-gui: "));
        EXPECT_FALSE(QFile::exists(path));
    }
}

TEST(Program, NamesAModelWithoutAnAnswerOnce) {
    const QTemporaryDir folder;
    for (const char* format : {"q8_0", "kivi_2bit"}) { // 32 does not divide 80
        const Ran ran =
            run({s("--chart"), folder.filePath(s("chart.svg")), s("--kv"), s(format), s("phi-2")});
        EXPECT_EQ(ran.code, 2);
        EXPECT_EQ(ran.err.count("phi-2"), 1) << ran.err.toStdString();
    }
}

TEST(Program, SaysVersionAndHelp) {
    EXPECT_EQ(run({s("--version")}).out, QByteArray("kvcaliper-gui 0.1.0\n"));
    EXPECT_TRUE(run({s("--help")}).out.contains("--chart"));
}

TEST(Program, WithoutADisplayItSaysSo) {
    const Ran ran = run({});
    EXPECT_EQ(ran.code, 3);
    EXPECT_TRUE(ran.err.contains("DISPLAY"));
}

TEST(Program, TakesAPictureOfEveryPage) {
    const QTemporaryDir folder;
    const QString path = folder.filePath(s("window.png"));
    for (const char* tab : {"compare", "context", "layers", "budget", "claims", "verify"}) {
        const Ran ran = run({s("--screenshot"), path, s("--tab"), s(tab), s("--theme"), s("dark"),
                             s("--size"), s("1000x640")});
        EXPECT_EQ(ran.code, 0) << ran.err.toStdString();
        EXPECT_EQ(QImage(path).size(), QSize(1000, 640));
    }
}

} // namespace
} // namespace kvcaliper::gui
