// SPDX-License-Identifier: GPL-3.0-or-later
// The records of verification runs that the window knows: those it keeps in a folder of the user's
// and those of the open study's file. Facts and no edits: they are not undone with the study.
#pragma once

#include "core/verify_record.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace kvcaliper::gui {

struct BookedRecord {
    QString id; ///< of the content: the same record never comes twice
    VerifyRecordPtr record;
    QString file; ///< in the folder; empty for one that is only in a study
};

/// By its content: a JSON file that means to be a record, whatever is wrong with it.
bool is_record_file(const QString& path);

class RecordBook : public QObject {
    Q_OBJECT

  public:
    /// So many are kept in the folder; the oldest go first.
    static constexpr std::size_t most = 100;

    using QObject::QObject;

    /// Newest first.
    const std::vector<BookedRecord>& all() const { return records_; }
    std::vector<VerifyRecordPtr> records() const;
    const BookedRecord* find(const QString& id) const;

    /// Reads a folder and writes new records to it. What can not be read stays where it is: a line
    /// for each.
    QStringList keepIn(const QString& folder);
    /// Adds a record and writes it to the folder, if there is one. The reason when that fails: it
    /// is known all the same.
    std::optional<QString> add(const VerifyRecordPtr& record);
    /// Takes the records of a study's file in place of those of the study before it.
    void setStudyRecords(const std::vector<VerifyRecordPtr>& records);
    /// Forgets a record and deletes its file.
    void remove(const QString& id);

    static QString idOf(const VerifyRecord& record);
    /// Where programs keep theirs.
    static QString usualFolder();

  Q_SIGNALS:
    void changed();

  private:
    BookedRecord& insert(const VerifyRecordPtr& record);
    void dropOldest(std::size_t keep);

    QString folder_;
    std::vector<BookedRecord> records_;
};

} // namespace kvcaliper::gui
