// SPDX-License-Identifier: GPL-3.0-or-later
// The dock "Edit model": what if the current model had other heads, layers, windows. The first
// change makes a copy beside the original; the copy lives in the study, and can be saved as a file.
#pragma once

#include "app/gui/model_edit.h"
#include "app/gui/study.h"

#include <QWidget>

#include <vector>

class QComboBox;
class QFormLayout;
class QLabel;
class QPushButton;
class QSpinBox;

namespace kvcaliper::gui {

class ModelEditor : public QWidget {
    Q_OBJECT

  public:
    explicit ModelEditor(Study& study, QWidget* parent = nullptr);
    QSize sizeHint() const override { return {290, 560}; }

    /// Writes the current model's config; the reason when it can not.
    std::optional<QString> saveConfig(const QString& path) const;

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    /// One field: a box of the values there are, or a number.
    struct Row {
        EditField field;
        QComboBox* choice = nullptr;
        QSpinBox* number = nullptr;
        QLabel* note = nullptr;
        QWidget* input() const;
    };
    QWidget* makeFieldsPart();
    void addRow(EditField field);
    void refreshSeen();
    void refresh();
    void showRow(const Row& row, const FieldState& state, const FieldState& original);
    void showHead();
    void showEffect();
    void change(EditField field, std::int64_t value);
    void reset();
    void saveDialog();
    /// The current model's config and, of an edited one, the original's.
    std::optional<ModelEdit> current() const;
    QString originalOf(const QString& id) const;

    Study& study_;
    std::vector<Row> rows_;
    QFormLayout* fields_;
    QLabel* head_;
    QLabel* effect_;
    QLabel* problem_;
    QPushButton* reset_;
    QPushButton* save_;
    std::optional<EditField> last_; ///< edits of one field in a row are one step of undo
    QString last_name_;
};

/// "Llama 3 8B (edited)", with a number behind it where that is taken.
QString edited_name(const Study& study, const QString& original);

} // namespace kvcaliper::gui
