// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/study_session.h"

#include "app/gui/record_book.h"
#include "app/gui/report_export.h"
#include "app/gui/study_records.h"
#include "app/gui/text.h"

#include <QFileInfo>
#include <QUndoStack>

#include <exception>

namespace kvcaliper::gui {

namespace {

constexpr const char* autosave_key = "autosave";

/// Takes the note about its file out of an autosave's document and returns the path in it.
QString take_original(JsonValue& document) {
    QString original;
    if (const JsonValue* note = document.find(autosave_key)) {
        const JsonValue* path = note->find("path");
        original = path && path->if_string() ? text(*path->if_string()) : QString();
    }
    std::erase_if(*document.if_object(),
                  [](const auto& member) { return member.first == autosave_key; });
    return original;
}

} // namespace

StudySession::StudySession(Study& study, QObject* parent) : QObject(parent), study_(study) {
    connect(study_.undoStack(), &QUndoStack::cleanChanged, this, &StudySession::changed);
}

QString StudySession::name() const {
    return path_.isEmpty() ? tr("Untitled study") : QFileInfo(path_).fileName();
}

bool StudySession::isModified() const {
    return !study_.undoStack()->isClean();
}

void StudySession::adopt(StudyFile file, const QString& path) {
    document_ = std::move(file.document);
    path_ = path;
    problems_ = file.problems;
    study_.reset(file.state);
    study_.records().setStudyRecords(file.records);
    study_.undoStack()->setClean();
    Q_EMIT changed();
}

void StudySession::startNew(const StudyState& state) {
    adopt({state, JsonValue(JsonValue::Object{})}, QString());
}

std::optional<QString> StudySession::open(const QString& path) {
    const QString absolute = QFileInfo(path).absoluteFilePath();
    try {
        adopt(read_study_file(absolute), carries_study(absolute) ? QString() : absolute);
    } catch (const std::exception& exception) {
        return text(exception.what());
    }
    return std::nullopt;
}

std::optional<QString> StudySession::save(const QString& path) {
    const QString absolute = QFileInfo(path).absoluteFilePath();
    JsonValue document = documentFor(absolute);
    if (const auto problem = write_study_document(absolute, document)) {
        return problem;
    }
    document_ = std::move(document);
    path_ = absolute;
    study_.undoStack()->setClean();
    Q_EMIT changed();
    return std::nullopt;
}

JsonValue StudySession::documentFor(const QString& path) const {
    JsonValue document = study_document(study_.state(), document_, path);
    set_study_records(document, study_);
    return document;
}

JsonValue StudySession::autosaveDocument() const {
    JsonValue document = documentFor(QString());
    JsonValue note;
    note.set("path", utf8(path_));
    document.set(autosave_key, std::move(note));
    return document;
}

std::optional<QString> StudySession::recover(const QString& autosave) {
    try {
        StudyFile file = read_study_file(autosave);
        const QString original = take_original(file.document);
        adopt(std::move(file), original);
    } catch (const std::exception& exception) {
        return text(exception.what());
    }
    study_.undoStack()->resetClean();
    return std::nullopt;
}

} // namespace kvcaliper::gui
