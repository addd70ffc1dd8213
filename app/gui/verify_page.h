// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the verifier on one model and shows predicted line, measured points and the verdict; also of
// runs that were kept or imported.
#pragma once

#include "app/gui/pages.h"
#include "app/gui/verify_run.h"

class QProgressBar;
class QPushButton;
class QTableView;

namespace kvcaliper::gui {

class RecordHistory;
class SampleModel;

class VerifyPage : public LazyPage {
    Q_OBJECT

  public:
    explicit VerifyPage(Study& study, QWidget* parent = nullptr);
    /// Where the verifier is looked for; tests give their own.
    void setProgram(const QString& program);
    void start();
    void cancel();
    bool running() const { return run_->running(); }
    /// Shows what a kept run found, and makes its model the current one where the study has it.
    void showRecord(const QString& id);
    /// The kept run that is shown, or empty.
    const QString& shownRecord() const { return shown_; }
    ChartView* chart() const { return chart_; }
    SampleModel* samples() const { return samples_; }
    RecordHistory* history() const { return history_; }
    QString verdictText() const;

  Q_SIGNALS:
    void runEnded();
    void importWanted();
    void exportWanted(const QString& id);
    /// Something that is to be read: a record that could not be kept or used.
    void problem(const QString& words);

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    void buildLayout();
    void connectRun();
    void connectHistory();
    void refresh() override;
    void refreshChart(bool over);
    void refreshRecord();
    bool drawable() const;
    QString bestRecord() const;
    void showVerifier();
    QString introduction() const;
    void showVerdict(const QString& verdict, const JsonValue& result);
    QString keep(const JsonValue& result);
    void setRunning(bool running);
    void say(const QString& words, const QString& style = {});

    QString program_;
    QString missing_;    ///< why there is no program
    QString running_id_; ///< the model of the run that is shown
    Settings running_settings_;
    JsonValue request_; ///< what the verifier was sent
    QString device_;
    QString shown_;     ///< the kept run that is shown, or empty
    QString shown_for_; ///< the current model when it was chosen; another one shows its own
    VerifyRun* run_;
    SampleModel* samples_;
    QComboBox* model_;
    QPushButton* start_;
    QPushButton* cancel_;
    QProgressBar* progress_;
    QLabel* message_;
    QLabel* kernels_;
    ChartView* chart_;
    QTableView* table_;
    RecordHistory* history_;
};

} // namespace kvcaliper::gui
