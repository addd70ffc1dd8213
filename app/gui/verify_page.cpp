// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/verify_page.h"

#include "app/gui/chart_builder.h"
#include "app/gui/chart_view.h"
#include "app/gui/format_setting.h"
#include "app/gui/sample_model.h"
#include "app/gui/text.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

namespace kvcaliper::gui {

VerifyPage::VerifyPage(Study& study, QWidget* parent)
    : LazyPage(study, parent), run_(new VerifyRun(this)), samples_(new SampleModel(this)),
      model_(new QComboBox(this)), start_(new QPushButton(tr("&Run verification"), this)),
      cancel_(new QPushButton(tr("Ca&ncel"), this)), progress_(new QProgressBar(this)),
      message_(new QLabel(this)), chart_(new ChartView(this)), table_(new QTableView(this)) {
    model_->setObjectName(QStringLiteral("verifyModel"));
    model_->setAccessibleName(tr("Model to verify"));
    start_->setObjectName(QStringLiteral("verifyStart"));
    cancel_->setObjectName(QStringLiteral("verifyCancel"));
    progress_->setAccessibleName(tr("Progress of the verification"));
    message_->setObjectName(QStringLiteral("verifyMessage"));
    message_->setWordWrap(true);
    message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    table_->setModel(samples_);
    table_->setAccessibleName(tr("Measured components"));
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 10);
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table_->horizontalHeader()->setStretchLastSection(true);
    buildLayout();
    connectRun();
    setRunning(false);
    connect(&study_, &Study::changed, this, &VerifyPage::refreshSeen);
    connect(&study_, &Study::currentChanged, this, &VerifyPage::refreshSeen);
    showVerifier();
}

void VerifyPage::buildLayout() {
    auto* row = new QHBoxLayout;
    auto* label = new QLabel(tr("Mo&del"), this);
    label->setBuddy(model_);
    row->addWidget(label);
    row->addWidget(model_);
    row->addWidget(start_);
    row->addWidget(cancel_);
    row->addWidget(progress_, 1);
    auto* split = new QSplitter(Qt::Vertical, this);
    split->addWidget(chart_);
    split->addWidget(table_);
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 2);
    split->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(row);
    layout->addWidget(message_);
    layout->addWidget(split, 1);
}

void VerifyPage::connectRun() {
    connect(start_, &QPushButton::clicked, this, &VerifyPage::start);
    connect(cancel_, &QPushButton::clicked, this, &VerifyPage::cancel);
    connect(model_, &QComboBox::activated, this,
            [this] { study_.setCurrent(model_->currentData().toString()); });
    connect(run_, &VerifyRun::greeted, this, [this](const QString& device) {
        device_ = device;
        say(tr("Measuring on %1 …").arg(device));
    });
    connect(run_, &VerifyRun::planned, this, [this](qint64 needed, qint64 limit) {
        progress_->setToolTip(
            tr("needs %1, limit %2").arg(bytes_text(Ratio(needed)), bytes_text(Ratio(limit))));
    });
    connect(run_, &VerifyRun::progressed, this, [this](qint64 done, qint64 total) {
        constexpr int steps = 1000;
        progress_->setRange(0, steps);
        progress_->setValue(total > 0 ? static_cast<int>(done * steps / total) : 0);
    });
    connect(run_, &VerifyRun::sampled, this, [this](const VerifySample& sample) {
        samples_->add(sample);
        refreshChart(false);
    });
    connect(run_, &VerifyRun::finished, this, &VerifyPage::showVerdict);
    connect(run_, &VerifyRun::failed, this, [this](const QString& message) {
        say(tr("No result: %1").arg(message), QStringLiteral("font-weight:bold"));
        setRunning(false);
        Q_EMIT runEnded();
    });
}

void VerifyPage::setProgram(const QString& program) {
    program_ = program;
    start_->setEnabled(!program_.isEmpty());
}

void VerifyPage::showEvent(QShowEvent* event) {
    LazyPage::showEvent(event);
    if (program_.isEmpty()) {
        showVerifier();
    }
}

void VerifyPage::showVerifier() {
    const VerifierPlace place = find_verifier();
    setProgram(place.program);
    say(place.program.isEmpty()
            ? place.missing
            : tr("Allocates what the model keeps, runs decode steps through our own kernels and "
                 "compares what was used with what was predicted."));
}

void VerifyPage::start() {
    const StudyRow* row = study_.row(study_.current());
    if (row == nullptr || !row->estimate || program_.isEmpty() || running()) {
        return;
    }
    running_id_ = row->id;
    running_settings_ = study_.settings();
    samples_->clear();
    refreshChart(false);
    say(tr("Starting …"));
    setRunning(true);
    run_->start(program_, verify_request(*row->estimate));
}

void VerifyPage::cancel() {
    run_->cancel();
}

QString VerifyPage::verdictText() const {
    return message_->text();
}

void VerifyPage::refresh() {
    const QSignalBlocker blocker(model_);
    model_->clear();
    for (const StudyRow& row : study_.rows()) {
        model_->addItem(row.name, row.id);
    }
    model_->setCurrentIndex(model_->findData(study_.current()));
    if (!running() && study_.current() != running_id_) {
        samples_->clear();
        running_id_ = study_.current();
    }
    refreshChart(!running());
}

/// Points belong to the settings they were measured under; under others they are not shown.
void VerifyPage::refreshChart(bool over) {
    const Settings& now = study_.settings();
    const Settings& then = running_settings_;
    const bool same = now.sequences == then.sequences && same_formats(now, then);
    chart_->setData(verify_chart(study_, running_id_,
                                 same ? samples_->totals(over) : std::vector<CurvePointData>()));
}

namespace {

QString verdict_words(const QString& verdict, const QString& device) {
    if (verdict == QLatin1String("equal")) {
        return VerifyPage::tr("✓ Equal to the byte: measured what was predicted, on %1.")
            .arg(device);
    }
    if (verdict == QLatin1String("refuted")) {
        return VerifyPage::tr("✗ Refuted: measured something else than predicted, on %1.")
            .arg(device);
    }
    if (verdict == QLatin1String("disturbed")) {
        return VerifyPage::tr("Disturbed: other programs changed the memory of %1; run again.")
            .arg(device);
    }
    if (verdict == QLatin1String("refused")) {
        return VerifyPage::tr("Refused by %1:").arg(device);
    }
    return VerifyPage::tr("Cancelled.");
}

/// The verifier's own reasons, as sentences.
QString reasons_of(const JsonValue& result) {
    QString words;
    const JsonValue* reasons = result.find("reasons");
    if (reasons == nullptr || reasons->if_array() == nullptr) {
        return words;
    }
    for (const JsonValue& reason : *reasons->if_array()) {
        if (const std::string* sentence = reason.if_string()) {
            words += u' ' + text(*sentence) + u'.';
        }
    }
    return words;
}

} // namespace

void VerifyPage::showVerdict(const QString& verdict, const JsonValue& result) {
    const bool equal = verdict == QLatin1String("equal");
    const bool refuted = verdict == QLatin1String("refuted");
    const QString words = verdict_words(verdict, device_) + reasons_of(result);
    say(words, QStringLiteral("font-weight:bold"));
    if (equal || refuted) {
        study_.setVerification(running_id_, {equal, words, running_settings_});
    }
    setRunning(false);
    study_.setCurrent(running_id_); // the verdict and the badge are of that model
    refresh();
    Q_EMIT runEnded();
}

void VerifyPage::setRunning(bool running) {
    start_->setEnabled(!running && !program_.isEmpty());
    cancel_->setEnabled(running);
    model_->setEnabled(!running);
    progress_->setRange(0, running ? 0 : 1);
    progress_->setVisible(running);
}

void VerifyPage::say(const QString& words, const QString& style) {
    message_->setText(words);
    message_->setStyleSheet(style);
}

} // namespace kvcaliper::gui
