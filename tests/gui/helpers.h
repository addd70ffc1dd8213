// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFile>
#include <QString>
#include <QTemporaryDir>

#include <ostream>

inline void PrintTo(const QString& text, std::ostream* out) {
    *out << '"' << text.toStdString() << '"';
}

namespace kvcaliper::gui::test {

inline QString s(const char* text) {
    return QString::fromUtf8(text);
}

/// Writes a file into a folder and returns its path.
inline QString write(const QTemporaryDir& folder, const char* name, const QByteArray& content) {
    const QString path = folder.filePath(QString::fromUtf8(name));
    QFile file(path);
    if (file.open(QIODevice::WriteOnly)) {
        file.write(content);
    }
    return path;
}

inline QByteArray read(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// A model whose heads are 80 wide: blocks of 32 do not divide them.
inline const char* const width_80_config = R"({"model_type": "llama", "num_hidden_layers": 2,
    "hidden_size": 640, "num_attention_heads": 8, "num_key_value_heads": 8, "head_dim": 80,
    "max_position_embeddings": 4096})";

/// With this set to a folder, the test program is a window with edits and an autosave there, to be
/// killed by a test.
inline const char* const autosave_variable = "KVCALIPER_TEST_AUTOSAVE";
inline constexpr int sequences_of_the_killed = 77;

} // namespace kvcaliper::gui::test
