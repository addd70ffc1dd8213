// SPDX-License-Identifier: GPL-3.0-or-later
// Unsaved edits on disk, for the day the program does not end as it should.
#pragma once

#include "app/gui/study_session.h"

#include <QLockFile>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTimer>

namespace kvcaliper::gui {

/// Writes the study of a session, while it is modified, to a file of its own in a folder: at most
/// once in `interval` ms. The file goes when there is nothing unsaved in it, or with remove(); it
/// stays when the program dies, and then no process holds its lock.
class Autosave : public QObject {
    Q_OBJECT

  public:
    static constexpr int interval = 2000;

    Autosave(StudySession& session, const QString& folder, QObject* parent = nullptr);

    const QString& file() const { return file_; }
    /// Writes now what is unsaved; false when that fails.
    bool write();
    /// The window was closed as asked: nothing is to be recovered.
    void remove();

    /// Autosaves in a folder whose programs have ended, newest first.
    static QStringList leftOvers(const QString& folder);
    /// Deletes one of them.
    static void discard(const QString& file);
    /// Where programs keep theirs.
    static QString usualFolder();

  Q_SIGNALS:
    void failed(const QString& reason);

  private:
    void onChanged();

    StudySession& session_;
    QString file_;
    QLockFile lock_;
    QTimer timer_;
};

} // namespace kvcaliper::gui
