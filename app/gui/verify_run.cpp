// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/verify_run.h"

#include "core/verify_request.h"

#include "app/gui/text.h"
#include "core/error.h"
#include "core/report.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QTimer>

#include <exception>
#include <set>

namespace kvcaliper::gui {

namespace {

constexpr int kill_after_ms = 5000;

std::optional<std::int64_t> integer_of(const JsonValue& json, std::string_view key) {
    const JsonValue* member = json.find(key);
    return member != nullptr && member->if_integer() != nullptr
               ? std::optional(*member->if_integer())
               : std::nullopt;
}

std::optional<double> number_of(const JsonValue& json, std::string_view key) {
    const JsonValue* member = json.find(key);
    if (member != nullptr && member->if_double() != nullptr) {
        return *member->if_double();
    }
    const std::optional<std::int64_t> whole = integer_of(json, key);
    return whole ? std::optional(static_cast<double>(*whole)) : std::nullopt;
}

QString string_of(const JsonValue& json, std::string_view key) {
    const JsonValue* member = json.find(key);
    return member != nullptr && member->if_string() != nullptr ? text(*member->if_string())
                                                               : QString();
}

/// "name (backend)", from an object or from a plain name.
QString device_of(const JsonValue& hello) {
    const JsonValue* device = hello.find("device");
    if (device == nullptr || !device->is_object()) {
        return string_of(hello, "device");
    }
    return QStringLiteral("%1 (%2)").arg(string_of(*device, "name"), string_of(*device, "backend"));
}

} // namespace

VerifySample verify_sample(const JsonValue& json) {
    VerifySample sample;
    sample.context = json.integer_at("context");
    sample.kind = string_of(json, "kind");
    sample.component = string_of(json, "component");
    sample.predicted = json.integer_at("predicted");
    sample.requested = json.integer_at("requested");
    sample.device_delta = integer_of(json, "device_delta");
    sample.bytes_read = integer_of(json, "bytes_read").value_or(0);
    sample.seconds = number_of(json, "seconds").value_or(0);
    sample.max_error = number_of(json, "max_error");
    sample.bound = number_of(json, "bound");
    sample.used = integer_of(json, "used");
    sample.refuted = string_of(json, "verdict") == QLatin1String("refuted");
    return sample;
}

VerifierPlace find_verifier() {
    const QString set = qEnvironmentVariable("KVCALIPER_VERIFY");
    const QString beside =
        QDir(QCoreApplication::applicationDirPath()).filePath(QStringLiteral("kvcaliper-verify"));
    for (const QString& path : {set, beside}) {
        if (!path.isEmpty() && QFileInfo(path).isFile() && QFileInfo(path).isExecutable()) {
            return {path, {}};
        }
    }
    return {{},
            VerifyRun::tr("The verifier is not installed. Looked at KVCALIPER_VERIFY (%1) and %2.")
                .arg(set.isEmpty() ? VerifyRun::tr("not set") : set, beside)};
}

JsonValue verify_request(const Estimate& estimate) {
    JsonValue request = kvcaliper::verify_request(*estimate.model, estimate.settings, {});
    request.set("cancel_on_eof", true); // a window that dies takes its run with it
    return request;
}

VerifyRun::VerifyRun(QObject* parent) : QObject(parent), process_(new QProcess(this)) {
    connect(process_, &QProcess::readyReadStandardOutput, this, &VerifyRun::readLines);
    connect(process_, &QProcess::readyReadStandardError, this,
            [this] { errors_ = (errors_ + process_->readAllStandardError()).right(4096); });
    connect(process_, &QProcess::finished, this, &VerifyRun::processEnded);
    connect(process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart) {
            fail(tr("%1 could not be started: %2")
                     .arg(process_->program(), process_->errorString()));
            report();
        }
    });
}

VerifyRun::~VerifyRun() {
    process_->disconnect(this);
    if (running()) {
        process_->terminate();
        if (!process_->waitForFinished(1000)) {
            process_->kill();
            process_->waitForFinished(1000);
        }
    }
}

bool VerifyRun::running() const {
    return process_->state() != QProcess::NotRunning;
}

void VerifyRun::start(const QString& program, const JsonValue& request) {
    if (running()) {
        return;
    }
    answered_ = false;
    cancelled_ = false;
    verdict_.clear();
    failure_.clear();
    errors_.clear();
    process_->start(program, QStringList());
    // Standard input stays open: closing it means cancel.
    process_->write(QByteArray::fromStdString(dump_json(request, -1)) + '\n');
}

void VerifyRun::cancel() {
    if (running()) {
        cancelled_ = true;
        process_->terminate();
        killLater();
    }
}

/// A verifier that does not go by itself is not waited for.
void VerifyRun::killLater() {
    const qint64 pid = process_->processId();
    QTimer::singleShot(kill_after_ms, this, [this, pid] {
        if (running() && process_->processId() == pid) {
            process_->kill();
        }
    });
}

void VerifyRun::readLines() {
    while (process_->canReadLine()) {
        readLine(process_->readLine().trimmed());
    }
}

void VerifyRun::readLine(const QByteArray& line) {
    if (line.isEmpty() || answered_) {
        return;
    }
    try {
        const JsonValue message =
            parse_json(std::string_view(line.constData(), static_cast<std::size_t>(line.size())),
                       "kvcaliper-verify")
                .value;
        handle(text(message.string_at("type")), message);
    } catch (const std::exception& exception) {
        fail(tr("The verifier said something unexpected: %1").arg(text(exception.what())));
        process_->kill();
    }
}

void VerifyRun::handle(const QString& type, const JsonValue& message) {
    if (type == QLatin1String("hello")) {
        const QString theirs = string_of(message, "version");
        if (theirs != text(version)) {
            throw Error("version " + utf8(theirs) + ", this window is " + std::string(version));
        }
        Q_EMIT greeted(device_of(message));
    } else if (type == QLatin1String("plan")) {
        Q_EMIT planned(integer_of(message, "bytes_needed").value_or(0),
                       integer_of(message, "limit").value_or(0));
    } else if (type == QLatin1String("progress")) {
        Q_EMIT progressed(integer_of(message, "done").value_or(0),
                          integer_of(message, "total").value_or(0));
    } else if (type == QLatin1String("sample")) {
        Q_EMIT sampled(verify_sample(message));
    } else if (type == QLatin1String("result")) {
        answered_ = true;
        verdict_ = string_of(message, "verdict");
        result_ = message;
        killLater();
    } else if (type == QLatin1String("error")) {
        fail(string_of(message, "message"));
        killLater();
    } // later versions may say more
}

void VerifyRun::processEnded() {
    readLines();
    if (!answered_ && cancelled_) {
        answered_ = true;
        verdict_ = QStringLiteral("cancelled");
        result_ = JsonValue();
    }
    const QString said = QString::fromUtf8(errors_).trimmed();
    fail(tr("The verifier ended without a result (%1)%2")
             .arg(endWords(), said.isEmpty() ? QString() : QStringLiteral(": ") + said));
    report();
}

QString VerifyRun::endWords() const {
    return process_->exitStatus() == QProcess::CrashExit
               ? tr("it died")
               : tr("exit code %1").arg(process_->exitCode());
}

/// Keeps the first failure, and none after an answer.
void VerifyRun::fail(const QString& message) {
    if (!answered_) {
        answered_ = true;
        failure_ = message;
    }
}

void VerifyRun::report() {
    if (failure_.isEmpty()) {
        Q_EMIT finished(verdict_, result_);
    } else {
        Q_EMIT failed(failure_);
    }
}

} // namespace kvcaliper::gui
