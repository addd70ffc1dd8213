// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/record_book.h"

#include "app/gui/chart_export.h"
#include "app/gui/text.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QStandardPaths>

#include <algorithm>
#include <exception>

namespace kvcaliper::gui {

namespace {

constexpr int id_digits = 16;

/// "2026-11-30T005412Z-gpt2-xl-0123456789abcdef.json": sorts by date, holds nothing but letters,
/// digits, dots and dashes, whatever the model is called.
QString file_name(const BookedRecord& entry) {
    static const QRegularExpression others(QStringLiteral("[^A-Za-z0-9.-]+"));
    QString name = text(entry.record->plan.name).left(60);
    QString date = text(entry.record->date);
    return QStringLiteral("%1-%2-%3.json")
        .arg(date.remove(u':'), name.replace(others, QStringLiteral("_")), entry.id);
}

} // namespace

bool is_record_file(const QString& path) {
    if (!path.endsWith(QLatin1String(".json"), Qt::CaseInsensitive) || !QFileInfo(path).isFile()) {
        return false;
    }
    try {
        return looks_like_record(read_json_file(utf8(path)).value);
    } catch (const std::exception&) {
        return false; // whoever opens it will say what is wrong
    }
}

QString RecordBook::idOf(const VerifyRecord& record) {
    const QByteArray content = QByteArray::fromStdString(dump_json(record.json, -1));
    return QString::fromLatin1(
        QCryptographicHash::hash(content, QCryptographicHash::Sha256).toHex().left(id_digits));
}

QString RecordBook::usualFolder() {
    return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) +
           QStringLiteral("/records");
}

std::vector<VerifyRecordPtr> RecordBook::records() const {
    std::vector<VerifyRecordPtr> records;
    for (const BookedRecord& entry : records_) {
        records.push_back(entry.record);
    }
    return records;
}

const BookedRecord* RecordBook::find(const QString& id) const {
    const auto found = std::find_if(records_.begin(), records_.end(),
                                    [&](const BookedRecord& entry) { return entry.id == id; });
    return found == records_.end() ? nullptr : &*found;
}

/// The record's entry, a new one unless it is known already.
BookedRecord& RecordBook::insert(const VerifyRecordPtr& record) {
    const QString id = idOf(*record);
    const auto known = std::find_if(records_.begin(), records_.end(),
                                    [&](const BookedRecord& entry) { return entry.id == id; });
    if (known != records_.end()) {
        return *known;
    }
    const auto older =
        std::find_if(records_.begin(), records_.end(),
                     [&](const BookedRecord& entry) { return entry.record->date <= record->date; });
    return *records_.insert(older, {id, record, QString()});
}

/// Deletes the oldest files until so many are left.
void RecordBook::dropOldest(std::size_t keep) {
    std::size_t kept = 0;
    std::erase_if(records_, [&](const BookedRecord& entry) {
        const bool too_many = !entry.file.isEmpty() && ++kept > keep;
        if (too_many) {
            QFile::remove(entry.file);
        }
        return too_many;
    });
}

QStringList RecordBook::keepIn(const QString& folder) {
    folder_ = folder;
    QStringList problems;
    const QDir place(folder);
    for (const QString& name :
         place.entryList({QStringLiteral("*.json")}, QDir::Files, QDir::Name)) {
        const QString path = place.filePath(name);
        try {
            insert(std::make_shared<const VerifyRecord>(read_verify_record(utf8(path)))).file =
                path;
        } catch (const std::exception& exception) {
            problems << text(exception.what());
        }
    }
    dropOldest(most);
    Q_EMIT changed();
    return problems;
}

std::optional<QString> RecordBook::add(const VerifyRecordPtr& record) {
    if (!folder_.isEmpty() && find(idOf(*record)) == nullptr) {
        dropOldest(most - 1); // room for this one, however old it is
    }
    BookedRecord& entry = insert(record);
    std::optional<QString> problem;
    if (!folder_.isEmpty() && entry.file.isEmpty()) {
        QDir().mkpath(folder_);
        const QString path = QDir(folder_).filePath(file_name(entry));
        problem = write_file(path, QByteArray::fromStdString(dump_json(record->json) + "\n"));
        entry.file = problem ? QString() : path;
    }
    Q_EMIT changed();
    return problem;
}

void RecordBook::setStudyRecords(const std::vector<VerifyRecordPtr>& records) {
    std::erase_if(records_, [](const BookedRecord& entry) { return entry.file.isEmpty(); });
    for (const VerifyRecordPtr& record : records) {
        insert(record);
    }
    Q_EMIT changed();
}

void RecordBook::remove(const QString& id) {
    const BookedRecord* entry = find(id);
    if (entry == nullptr) {
        return;
    }
    if (!entry->file.isEmpty()) {
        QFile::remove(entry->file);
    }
    std::erase_if(records_, [&](const BookedRecord& known) { return known.id == id; });
    Q_EMIT changed();
}

} // namespace kvcaliper::gui
