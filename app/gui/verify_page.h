// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the verifier on one model and shows predicted line, measured points and the verdict.
#pragma once

#include "app/gui/pages.h"
#include "app/gui/verify_run.h"

class QProgressBar;
class QPushButton;
class QTableView;

namespace kvcaliper::gui {

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
    ChartView* chart() const { return chart_; }
    SampleModel* samples() const { return samples_; }
    QString verdictText() const;

  Q_SIGNALS:
    void runEnded();

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    void buildLayout();
    void connectRun();
    void refresh() override;
    void refreshChart(bool over);
    void showVerifier();
    void showVerdict(const QString& verdict, const JsonValue& result);
    void setRunning(bool running);
    void say(const QString& words, const QString& style = {});

    QString program_;
    QString running_id_; ///< the model of the run that is shown
    Settings running_settings_;
    QString device_;
    VerifyRun* run_;
    SampleModel* samples_;
    QComboBox* model_;
    QPushButton* start_;
    QPushButton* cancel_;
    QProgressBar* progress_;
    QLabel* message_;
    ChartView* chart_;
    QTableView* table_;
};

} // namespace kvcaliper::gui
