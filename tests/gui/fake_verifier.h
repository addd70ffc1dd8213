// SPDX-License-Identifier: GPL-3.0-or-later
// A stand-in for the verifier that answers what a test says. Nothing it says was ever measured.
#pragma once

#include "app/gui/study.h"
#include "core/report.h"
#include "tests/core/made_up_record.h"
#include "tests/gui/helpers.h"

#include <QByteArray>

namespace kvcaliper::gui::test {

using kvcaliper::test::made_up_record;
using kvcaliper::test::MadeUp;

/// Reads its request, keeps it in a file, and then runs a few lines of shell.
class FakeVerifier {
  public:
    explicit FakeVerifier(const QByteArray& answer) {
        path_ = write(folder_, "fake-verify",
                      "#!/bin/sh\nread -r request\nprintf '%s' \"$request\" > '" +
                          folder_.filePath(s("request")).toUtf8() +
                          "'\necho '{\"type\":\"hello\",\"version\":\"0.1.0\",\"device\":"
                          "{\"name\":\"test device\",\"backend\":\"cpu\"}}'\n" +
                          answer);
        QFile::setPermissions(path_, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }
    QString path() const { return path_; }
    QByteArray request() const { return read(folder_.filePath(s("request"))); }

  private:
    QTemporaryDir folder_;
    QString path_;
};

/// The line of shell that ends a run of a model of the study with a whole result.
inline QByteArray result_of(const Study& study, const char* id, const MadeUp& made_up = {}) {
    const JsonValue result =
        kvcaliper::test::made_up_result(*study.row(s(id))->model, study.settings(), made_up);
    return "printf '%s\\n' '" + QByteArray::fromStdString(dump_json(result, -1)) + "'\n";
}

/// A model whose keys were predicted with one head less than today: its records are stale.
inline Model with_a_head_less(const Model& model) {
    Model changed = model;
    for (LayerCache& layer : changed.spec.layers) {
        --layer.components.front().rows;
    }
    return changed;
}

} // namespace kvcaliper::gui::test
