// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/verify_page.h"

#include "app/gui/chart_builder.h"
#include "app/gui/chart_view.h"
#include "app/gui/format_setting.h"
#include "app/gui/record_book.h"
#include "app/gui/record_history.h"
#include "app/gui/sample_model.h"
#include "app/gui/text.h"
#include "core/error.h"

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

#include <exception>

namespace kvcaliper::gui {

namespace {

std::vector<VerifySample> recorded_samples(const VerifyRecord& record) {
    std::vector<VerifySample> samples;
    for (const JsonValue& sample : record.json.at("result").array_at("samples")) {
        samples.push_back(verify_sample(sample));
    }
    return samples;
}

/// Of an answer that leaves no record.
QString end_words(const QString& verdict, const QString& device) {
    if (verdict == QLatin1String("refused")) {
        return VerifyPage::tr("Refused by %1:").arg(device);
    }
    if (verdict == QLatin1String("cancelled")) {
        return VerifyPage::tr("Cancelled.");
    }
    return VerifyPage::tr("The verifier's verdict: %1, on %2.").arg(verdict, device);
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

VerifyPage::VerifyPage(Study& study, QWidget* parent)
    : LazyPage(study, parent), run_(new VerifyRun(this)), samples_(new SampleModel(this)),
      model_(new QComboBox(this)), start_(new QPushButton(tr("&Run verification"), this)),
      cancel_(new QPushButton(tr("Ca&ncel"), this)), progress_(new QProgressBar(this)),
      message_(new QLabel(this)), kernels_(new QLabel(this)), chart_(new ChartView(this)),
      table_(new QTableView(this)), history_(new RecordHistory(study, this)) {
    model_->setObjectName(QStringLiteral("verifyModel"));
    model_->setAccessibleName(tr("Model to verify"));
    start_->setObjectName(QStringLiteral("verifyStart"));
    cancel_->setObjectName(QStringLiteral("verifyCancel"));
    progress_->setAccessibleName(tr("Progress of the verification"));
    message_->setObjectName(QStringLiteral("verifyMessage"));
    message_->setWordWrap(true);
    message_->setTextFormat(Qt::PlainText); // names in records come from elsewhere
    message_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    kernels_->setObjectName(QStringLiteral("verifyKernels"));
    kernels_->setWordWrap(true);
    kernels_->setTextFormat(Qt::PlainText);
    kernels_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    table_->setObjectName(QStringLiteral("verifyTable"));
    table_->setModel(samples_);
    table_->setAccessibleName(tr("Measured components"));
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 10);
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table_->horizontalHeader()->setStretchLastSection(true);
    buildLayout();
    connectRun();
    connectHistory();
    setRunning(false);
    connect(&study_, &Study::currentChanged, this, &VerifyPage::refreshSeen);
    connect(&study_, &Study::recordsChanged, this, &VerifyPage::refreshSeen);
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
    split->addWidget(history_);
    split->setSizes({400, 200, 190});
    split->setStretchFactor(0, 4);
    split->setStretchFactor(1, 2);
    split->setStretchFactor(2, 2);
    split->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->addLayout(row);
    layout->addWidget(message_);
    layout->addWidget(kernels_);
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

void VerifyPage::connectHistory() {
    connect(history_, &RecordHistory::chosen, this, &VerifyPage::showRecord);
    connect(history_, &RecordHistory::importWanted, this, &VerifyPage::importWanted);
    connect(history_, &RecordHistory::exportWanted, this, &VerifyPage::exportWanted);
    connect(history_, &RecordHistory::useWanted, this, [this](const QString& id) {
        if (const auto reason = study_.useRecord(id)) {
            Q_EMIT problem(*reason);
        } else {
            showRecord(id);
        }
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
    missing_ = place.missing;
    if (shown_.isEmpty()) {
        say(introduction());
    }
}

QString VerifyPage::introduction() const {
    return program_.isEmpty()
               ? missing_
               : tr("Allocates what the model keeps, runs decode steps through our own kernels and "
                    "compares what was used with what was predicted.");
}

void VerifyPage::start() {
    const StudyRow* row = study_.row(study_.current());
    if (row == nullptr || !row->estimate || program_.isEmpty() || running()) {
        return;
    }
    running_id_ = row->id;
    running_settings_ = study_.settings();
    try {
        request_ = verify_request(*row->estimate);
    } catch (const Error& error) { // settings that can not be run, such as a context of 2 tokens
        say(tr("Not started: %1").arg(text(error.what())), QStringLiteral("font-weight:bold"));
        return;
    }
    shown_.clear();
    shown_for_ = study_.current();
    history_->select(QString());
    samples_->clear();
    refreshChart(false);
    say(tr("Starting …"));
    setRunning(true);
    run_->start(program_, request_);
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
    const StudyRow* row = study_.row(study_.current());
    kernels_->setText(row != nullptr && row->model
                          ? kernels_text(*row->model, study_.records().records())
                          : QString());
    if (!running()) {
        refreshRecord();
    }
    refreshChart(!running());
}

/// Another model shows the run that says most about it, until one is chosen.
void VerifyPage::refreshRecord() {
    const BookedRecord* entry = study_.records().find(shown_);
    if (study_.current() != shown_for_ || (entry == nullptr && !shown_.isEmpty())) {
        shown_ = bestRecord();
        shown_for_ = study_.current();
        running_id_ = shown_for_;
        entry = study_.records().find(shown_);
        samples_->clear();
        say(introduction());
    }
    history_->select(shown_);
    if (entry != nullptr) {
        samples_->setSamples(recorded_samples(*entry->record));
        QString words = record_text(*entry->record, check_in_study(*entry->record, study_));
        if (!drawable()) {
            words += u' ' + tr("It ran under other settings than the study's: its points are not "
                               "drawn.");
        }
        say(words, QStringLiteral("font-weight:bold"));
    }
}

/// Of the study's current model: the run its badge is from, else the latest one.
QString VerifyPage::bestRecord() const {
    const Evidence evidence = study_.evidence(study_.current(), FigureKind::total);
    if (evidence.record) {
        return RecordBook::idOf(*evidence.record);
    }
    const StudyRow* row = study_.row(study_.current());
    for (const BookedRecord& entry : study_.records().all()) {
        if (row != nullptr && row->model && same_model(*entry.record, row->model->plan)) {
            return entry.id;
        }
    }
    return {};
}

void VerifyPage::showRecord(const QString& id) {
    const BookedRecord* entry = study_.records().find(id);
    if (entry == nullptr || running()) {
        return;
    }
    const StudyRow* row = study_.rowOf(*entry->record);
    shown_ = id;
    running_id_ = row != nullptr ? row->id : text(entry->record->plan.name);
    shown_for_ = row != nullptr ? row->id : study_.current();
    study_.setCurrent(shown_for_);
    refresh();
}

/// Points belong to the settings they were measured under; under others they are not shown.
bool VerifyPage::drawable() const {
    if (const BookedRecord* entry = study_.records().find(shown_)) {
        const StudyRow* row = study_.rowOf(*entry->record);
        return row != nullptr && row->estimate && same_settings(*entry->record, *row->estimate);
    }
    const Settings& now = study_.settings();
    const Settings& then = running_settings_;
    return now.sequences == then.sequences && same_formats(now, then);
}

void VerifyPage::refreshChart(bool over) {
    chart_->setData(verify_chart(
        study_, running_id_, drawable() ? samples_->totals(over) : std::vector<CurvePointData>()));
}

/// Keeps what a run found; why not, when that fails.
QString VerifyPage::keep(const JsonValue& result) {
    try {
        const auto record = std::make_shared<const VerifyRecord>(verify_record_from_json(
            verify_record_json(request_, result, record_date_now()), "kvcaliper-verify"));
        shown_ = RecordBook::idOf(*record);
        shown_for_ = running_id_;
        if (const auto reason = study_.records().add(record)) {
            Q_EMIT problem(tr("The record of this run could not be written: %1").arg(*reason));
        }
        return {};
    } catch (const std::exception& exception) {
        return tr("No record was kept: %1.").arg(text(exception.what()));
    }
}

void VerifyPage::showVerdict(const QString& verdict, const JsonValue& result) {
    QString words = end_words(verdict, device_) + reasons_of(result);
    setRunning(false);
    if (verdict != QLatin1String("refused") && verdict != QLatin1String("cancelled")) {
        if (const QString reason = keep(result); !reason.isEmpty()) {
            words += u' ' + reason;
        }
    }
    say(words, QStringLiteral("font-weight:bold"));
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
