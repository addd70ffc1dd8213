// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/report_export.h"

#include "app/gui/chart_export.h"
#include "app/gui/report_html.h"
#include "app/gui/report_pdf.h"
#include "app/gui/study_session.h"
#include "app/gui/text.h"
#include "core/error.h"
#include "core/table_file.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>

namespace kvcaliper::gui {

namespace {

constexpr qint64 largest_file = qint64{64} << 20;

bool has_ending(const QString& path, const char* ending) {
    return path.endsWith(QLatin1String(ending), Qt::CaseInsensitive);
}

bool is_html(const QString& path) {
    return has_ending(path, ".html") || has_ending(path, ".htm");
}

bool is_pdf(const QString& path) {
    return has_ending(path, ".pdf");
}

/// A model's config is a .json, too.
bool begins_as_table(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) && file.read(64).contains("\"kvcaliper_table\"");
}

QByteArray content_of(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) {
        throw Error(utf8(path) + ": " + utf8(file.errorString()));
    }
    if (file.size() > largest_file) {
        throw Error(utf8(path) + ": expected at most 64 MiB, found " +
                    format_bytes(Bytes(file.size())));
    }
    return file.readAll();
}

} // namespace

std::optional<QString> write_report(const StudySession& session, const QString& path) {
    if (!is_html(path) && !is_pdf(path)) {
        return QCoreApplication::translate("Report", "%1: expected a name ending in .html or .pdf")
            .arg(path);
    }
    const QFileInfo file(path);
    QString name = session.path().isEmpty() ? QString() : session.name();
    const Report report = make_report(
        session.study(), {name.remove(QStringLiteral(".kvstudy.json")), file.fileName(),
                          QDate::currentDate(), session.documentFor(file.absoluteFilePath())});
    return write_file(path, is_pdf(path) ? report_pdf(report) : report_html(report));
}

bool carries_study(const QString& path) {
    if (is_study_file(path)) {
        return false;
    }
    return is_html(path) || is_pdf(path) ||
           (table_format_of(utf8(path)) && (!has_ending(path, ".json") || begins_as_table(path)));
}

JsonValue carried_study(const QString& path) {
    const QByteArray content = content_of(path);
    const std::string source = utf8(path);
    if (is_html(path)) {
        return study_of_html(content, source);
    }
    if (is_pdf(path)) {
        return study_of_pdf(content, source);
    }
    return study_of_table_file({content.constData(), static_cast<std::size_t>(content.size())},
                               source);
}

bool opens_as_study(const QString& path) {
    return is_study_file(path) || carries_study(path);
}

} // namespace kvcaliper::gui
