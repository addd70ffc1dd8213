// SPDX-License-Identifier: GPL-3.0-or-later
// A number over several powers of two: a slider in its logarithm, and a field for exact entry.
#pragma once

#include "app/gui/study.h"

#include <QWidget>

#include <vector>

class QLabel;
class QLineEdit;
class QSlider;

namespace kvcaliper::gui {

class LogSlider : public QWidget {
    Q_OBJECT

  public:
    /// Slides from 1 to `most`; the field takes what parse_tokens takes, larger numbers too.
    LogSlider(const QString& label, std::int64_t most, QWidget* parent = nullptr);

    std::int64_t value() const { return value_; }
    void setValue(std::int64_t value);
    QLineEdit* field() const { return field_; }
    QSlider* slider() const { return slider_; }

  Q_SIGNALS:
    void edited(qint64 value, kvcaliper::gui::Study::Merge merge);
    /// A drag begins: what follows is one step of undo.
    void dragStarted();

  private:
    void onSlider(int position);
    void onField();

    std::vector<std::int64_t> steps_;
    std::int64_t value_ = 1;
    QLabel* label_;
    QLineEdit* field_;
    QSlider* slider_;
};

/// 1, 2, … 16, 17, … 32, 34, …: sixteen steps in every doubling.
std::vector<std::int64_t> log_steps(std::int64_t most);
/// Reads "128K", "100000" or "100,000"; the reason when it is neither.
std::optional<std::int64_t> parse_count(const QString& entry, QString& error);

} // namespace kvcaliper::gui
