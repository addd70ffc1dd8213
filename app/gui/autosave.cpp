// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/autosave.h"

#include <QDir>
#include <QFile>
#include <QStandardPaths>
#include <QUndoStack>
#include <QUuid>

namespace kvcaliper::gui {

namespace {

QString lock_of(const QString& file) {
    return file + QStringLiteral(".lock");
}

QString new_file(const QString& folder) {
    QDir().mkpath(folder);
    return QDir(folder).filePath(QUuid::createUuid().toString(QUuid::WithoutBraces) +
                                 QStringLiteral(".kvstudy.json"));
}

} // namespace

Autosave::Autosave(StudySession& session, const QString& folder, QObject* parent)
    : QObject(parent), session_(session), file_(new_file(folder)), lock_(lock_of(file_)) {
    lock_.setStaleLockTime(0); // a program may run for days; its lock goes stale when it ends
    lock_.tryLock(0);
    timer_.setSingleShot(true);
    timer_.setInterval(interval);
    connect(&timer_, &QTimer::timeout, this, &Autosave::write);
    connect(&session_.study(), &Study::changed, this, &Autosave::onChanged);
    connect(&session_, &StudySession::changed, this, &Autosave::onChanged);
    onChanged();
}

void Autosave::onChanged() {
    if (!session_.isModified()) {
        timer_.stop();
        QFile::remove(file_);
    } else if (!timer_.isActive()) {
        timer_.start();
    }
}

bool Autosave::write() {
    if (!session_.isModified()) {
        return true;
    }
    const auto problem = write_study_document(file_, session_.autosaveDocument());
    if (problem) {
        Q_EMIT failed(*problem);
    }
    return !problem;
}

void Autosave::remove() {
    disconnect(&session_, nullptr, this, nullptr);
    disconnect(&session_.study(), nullptr, this, nullptr);
    timer_.stop();
    QFile::remove(file_);
    lock_.unlock();
}

QStringList Autosave::leftOvers(const QString& folder) {
    QStringList files;
    const QDir place(folder);
    for (const QString& name :
         place.entryList({QStringLiteral("*.kvstudy.json")}, QDir::Files, QDir::Time)) {
        QLockFile lock(lock_of(place.filePath(name)));
        lock.setStaleLockTime(0);
        if (lock.tryLock(0)) {
            files << place.filePath(name);
        }
    }
    return files;
}

void Autosave::discard(const QString& file) {
    QFile::remove(file);
    QFile::remove(lock_of(file));
}

QString Autosave::usualFolder() {
    return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) +
           QStringLiteral("/autosave");
}

} // namespace kvcaliper::gui
