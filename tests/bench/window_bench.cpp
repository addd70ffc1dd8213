// SPDX-License-Identifier: GPL-3.0-or-later
// The window under the offscreen platform: a step of a slider until everything is painted again
// (target 16 ms), and the start of the program until its first window is painted (target 150 ms).
#include "app/gui/app_theme.h"
#include "app/gui/main_window.h"
#include "core/catalog.h"

#include <benchmark/benchmark.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QSettings>
#include <QTemporaryDir>
#include <QTimer>

#include <algorithm>
#include <cstdio>

namespace kvcaliper::gui {

namespace {

constexpr int most_models = 50;
/// With this set the program is a window that ends when it has been painted.
constexpr const char* start_variable = "KVCALIPER_BENCH_START";

double percentile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    const double last = static_cast<double>(values.size() - 1);
    return values[static_cast<std::size_t>(share * last + 0.5)];
}

double p95(const std::vector<double>& values) {
    return percentile(values, 0.95);
}

QStringList most_bundled() {
    QStringList names;
    for (const CatalogEntry& entry : bundled_models()) {
        if (names.size() < most_models) {
            names << QString::fromStdString(entry.name);
        }
    }
    return names;
}

/// Until nothing is left to do, paints included.
void settle() {
    for (int round = 0; round < 3; ++round) {
        QCoreApplication::sendPostedEvents();
        QCoreApplication::processEvents();
    }
}

MainWindow& full_window() {
    static MainWindow* const window = [] {
        auto* made = new MainWindow; // lives as long as the application
        made->resize(1280, 800);
        made->study().setModels(most_bundled());
        made->show();
        for (const QString& tab : MainWindow::tabNames()) {
            made->showTab(tab);
            settle();
        }
        return made;
    }();
    return *window;
}

void step_context(Study& study, std::int64_t step) {
    study.setContext(Tokens(4096 + 512 * (step % 200)), Study::Merge::yes);
}

void step_sequences(Study& study, std::int64_t step) {
    study.setSequences(1 + step % 200, Study::Merge::yes);
}

using Slider = void (*)(Study& study, std::int64_t step);

/// One repetition is one step, so that the statistics are those of single steps.
void slider_step(benchmark::State& state, const QString& tab, const QString& engine,
                 Slider slider) {
    MainWindow& window = full_window();
    window.study().setEngine(engine);
    window.showTab(tab);
    settle();
    static std::int64_t step = 0;
    for (auto _ : state) {
        slider(window.study(), ++step);
        settle();
    }
}

/// "VmHWM:  123456 kB" of a process, in MiB; of this one by default.
double memory_peak(const QString& process = QStringLiteral("self")) {
    QFile status(QStringLiteral("/proc/%1/status").arg(process));
    if (!status.open(QIODevice::ReadOnly)) {
        return 0;
    }
    const QByteArray text = status.readAll();
    const qsizetype at = text.indexOf("VmHWM:");
    const QByteArray line = text.mid(at + 6, text.indexOf('\n', at) - at - 6);
    return line.trimmed().split(' ').first().toDouble() / 1024;
}

void start_to_first_paint(benchmark::State& state) {
    QProcess child;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QString::fromLatin1(start_variable), QStringLiteral("1"));
    child.setProcessEnvironment(environment);
    double peak = 0;
    for (auto _ : state) {
        child.start(QCoreApplication::applicationFilePath(), QStringList());
        child.waitForFinished();
        peak = child.readAllStandardOutput().trimmed().toDouble();
    }
    state.counters["MiB"] = peak;
}

/// Ends the program when its window has been painted once.
class FirstPaint : public QObject {
  public:
    using QObject::QObject;
    bool eventFilter(QObject*, QEvent* event) override {
        if (event->type() == QEvent::Paint) {
            QTimer::singleShot(0, qApp, [] { QCoreApplication::quit(); });
        }
        return false;
    }
};

int open_window_once() {
    MainWindow window;
    FirstPaint watch;
    window.installEventFilter(&watch);
    window.restoreSettings();
    open_seed(window.study());
    window.show();
    QApplication::exec();
    std::printf("%.1f\n", memory_peak());
    std::fflush(stdout);
    std::_Exit(0); // what ends is not measured
}

void add_slider_step(const std::string& name, const QString& tab, const char* engine,
                     Slider slider) {
    benchmark::RegisterBenchmark(
        ("slider_step_50_models/" + name).c_str(),
        [=](benchmark::State& state) { slider_step(state, tab, QLatin1String(engine), slider); })
        ->Iterations(1)
        ->Repetitions(101)
        ->ReportAggregatesOnly()
        ->ComputeStatistics("p95", p95)
        ->MeasureProcessCPUTime()
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
}

void add_benchmarks() {
    for (const QString& tab : MainWindow::tabNames()) {
        add_slider_step(tab.toStdString() + "/context", tab, "ideal", step_context);
        add_slider_step(tab.toStdString() + "/sequences", tab, "ideal", step_sequences);
    }
    for (const char* engine : {"vllm", "llama_cpp"}) { // their rules are asked, too
        add_slider_step("budget_" + std::string(engine) + "/context", QStringLiteral("budget"),
                        engine, step_context);
    }
    benchmark::RegisterBenchmark("start_to_first_paint", start_to_first_paint)
        ->Iterations(1)
        ->Repetitions(15)
        ->ReportAggregatesOnly()
        ->ComputeStatistics("p95", p95)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
}

int run(int argc, char** argv) {
    QApplication application(argc, argv);
    use_style();
    apply_theme(AppTheme::light);
    if (qEnvironmentVariableIsSet(start_variable)) {
        return open_window_once();
    }
    add_benchmarks();
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    std::printf("memory with %d models and all pages filled: %.0f MiB\n", most_models,
                memory_peak());
    return 0;
}

} // namespace

} // namespace kvcaliper::gui

int main(int argc, char** argv) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QTemporaryDir settings;
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, settings.path());
    return kvcaliper::gui::run(argc, argv);
}
