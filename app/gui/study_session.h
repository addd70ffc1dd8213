// SPDX-License-Identifier: GPL-3.0-or-later
// Which file the study of a window is kept in, and whether it was changed since.
#pragma once

#include "app/gui/study_file.h"

#include <QObject>

#include <optional>

namespace kvcaliper::gui {

class StudySession : public QObject {
    Q_OBJECT

  public:
    explicit StudySession(Study& study, QObject* parent = nullptr);

    Study& study() { return study_; }
    const Study& study() const { return study_; }
    /// Empty for a study that was never saved.
    const QString& path() const { return path_; }
    QString name() const;
    /// Edited since it was opened, saved or started, and not undone back to that.
    bool isModified() const;
    /// What could not be read of the study that was opened last: a line each.
    const QStringList& problems() const { return problems_; }

    void startNew(const StudyState& state);
    /// A study's file, or a report or table that carries one, which then is a study without a file.
    /// The reason when it can not be read; the open study then stays as it is.
    std::optional<QString> open(const QString& path);
    std::optional<QString> save(const QString& path);
    /// The study as a file at that path holds it.
    JsonValue documentFor(const QString& path) const;
    /// What an autosave holds: the study, and in which file it belongs.
    JsonValue autosaveDocument() const;
    /// The study of an autosave, as an edit of its file that was not saved.
    std::optional<QString> recover(const QString& autosave);

  Q_SIGNALS:
    /// The file, or whether it differs from the study.
    void changed();

  private:
    void adopt(StudyFile file, const QString& path);

    Study& study_;
    JsonValue document_{JsonValue::Object{}};
    QString path_;
    QStringList problems_;
};

} // namespace kvcaliper::gui
