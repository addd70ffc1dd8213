// SPDX-License-Identifier: GPL-3.0-or-later
// One run of kvcaliper-verify in a process of its own: a fault there never takes the window down.
// The protocol is one JSON object per line (docs: design, section 3).
#pragma once

#include "core/estimate.h"
#include "core/json_value.h"

#include <QByteArray>
#include <QObject>
#include <QString>

#include <optional>
#include <vector>

class QProcess;

namespace kvcaliper::gui {

/// Where the verifier is, or a message that names the places that were looked at.
struct VerifierPlace {
    QString program;
    QString missing;
};
/// KVCALIPER_VERIFY, else beside the running executable. PATH is not searched.
VerifierPlace find_verifier();

/// The request core writes.
JsonValue verify_request(const Estimate& estimate);

/// One component at one context, predicted and measured.
struct VerifySample {
    std::int64_t context = 0;
    QString kind;      ///< of the layers; empty for the total
    QString component; ///< a role, or "total" for the sum that ends a context
    std::int64_t predicted = 0;
    std::int64_t requested = 0;
    std::optional<std::int64_t> device_delta; ///< what the device says changed, where it can tell
    std::int64_t bytes_read = 0;
    double seconds = 0;
    std::optional<double> max_error; ///< of the outputs, against a double-precision reference
    std::optional<double> bound;
    std::optional<std::int64_t> used{}; ///< touched by the kernels; nothing where none ran
    bool refuted = false;               ///< by its bytes, guard zones or outputs

    /// What was measured: what was touched, or only counted.
    std::int64_t measured() const { return used.value_or(requested); }
};
/// A sample as the protocol and records have it. Throws Error for one that is none.
VerifySample verify_sample(const JsonValue& json);

class VerifyRun : public QObject {
    Q_OBJECT

  public:
    explicit VerifyRun(QObject* parent = nullptr);
    ~VerifyRun() override;

    void start(const QString& program, const JsonValue& request);
    /// Asks the verifier to stop; it is killed when it does not within some seconds.
    void cancel();
    bool running() const;

  Q_SIGNALS:
    void greeted(const QString& device);
    void planned(qint64 needed, qint64 limit);
    void progressed(qint64 done, qint64 total);
    void sampled(const kvcaliper::gui::VerifySample& sample);
    /// Exactly one of these two ends a run, when its process is gone, so that another may start.
    /// Verdicts: equal, refuted, disturbed, refused, cancelled.
    void finished(const QString& verdict, const kvcaliper::JsonValue& result);
    void failed(const QString& message);

  private:
    void readLines();
    void readLine(const QByteArray& line);
    void handle(const QString& type, const JsonValue& message);
    void processEnded();
    void report();
    void fail(const QString& message);
    void killLater();
    QString endWords() const;

    QProcess* process_;
    QByteArray errors_;
    bool answered_ = true; ///< the last message was seen: it is in one of the next three
    QString verdict_;
    JsonValue result_;
    QString failure_;
    bool cancelled_ = false;
};

} // namespace kvcaliper::gui
