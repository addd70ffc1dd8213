// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/engine_options_panel.h"

#include "app/gui/engine_option_model.h"
#include "app/gui/pages.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QShortcut>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace kvcaliper::gui {

namespace {

/// A list for options of few words, a line for numbers.
class ValueDelegate : public QStyledItemDelegate {
  public:
    ValueDelegate(const EngineOptionModel& model, QObject* parent)
        : QStyledItemDelegate(parent), model_(model) {}

    QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const override {
        const QStringList words = model_.wordsOf(index.row());
        if (words.isEmpty()) {
            return QStyledItemDelegate::createEditor(parent, option, index);
        }
        auto* box = new QComboBox(parent);
        box->setObjectName(QStringLiteral("optionWords"));
        box->setAccessibleName(index.siblingAtColumn(EngineOptionModel::Name).data().toString());
        box->addItems(words);
        // Chosen is done: no second key to say so.
        auto* self = const_cast<ValueDelegate*>(this); // NOLINT: the interface is const
        connect(box, &QComboBox::activated, self, [self, box] {
            Q_EMIT self->commitData(box);
            Q_EMIT self->closeEditor(box);
        });
        return box;
    }
    void setEditorData(QWidget* editor, const QModelIndex& index) const override {
        if (auto* box = qobject_cast<QComboBox*>(editor)) {
            box->setCurrentText(index.data(Qt::EditRole).toString());
        } else {
            QStyledItemDelegate::setEditorData(editor, index);
        }
    }
    void setModelData(QWidget* editor, QAbstractItemModel* model,
                      const QModelIndex& index) const override {
        if (const auto* box = qobject_cast<QComboBox*>(editor)) {
            model->setData(index, box->currentText());
        } else {
            QStyledItemDelegate::setModelData(editor, model, index);
        }
    }

  private:
    const EngineOptionModel& model_;
};

} // namespace

EngineOptionsPanel::EngineOptionsPanel(Study& study, QWidget* parent)
    : QWidget(parent), model_(new EngineOptionModel(study, this)), view_(new QTableView(this)),
      entry_(new QLineEdit(this)), message_(new QLabel(this)) {
    buildTable();
    message_->setObjectName(QStringLiteral("optionMessage"));
    message_->setWordWrap(true);
    message_->hide();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(view_);
    layout->addWidget(makeEntryLine());
    layout->addWidget(message_);
    connect(model_, &EngineOptionModel::refused, this, &EngineOptionsPanel::say);
    connect(model_, &EngineOptionModel::accepted, message_, &QWidget::hide);
    connect(model_, &QAbstractItemModel::modelReset, this, [this] {
        message_->hide();
        fitHeight();
        Q_EMIT changed();
    });
    connect(model_, &QAbstractItemModel::dataChanged, this, &EngineOptionsPanel::changed);
    fitHeight();
}

void EngineOptionsPanel::buildTable() {
    view_->setObjectName(QStringLiteral("engineOptions"));
    view_->setAccessibleName(tr("Options of the engine"));
    view_->setModel(model_);
    style_table(*view_);
    view_->setSortingEnabled(false);
    view_->setItemDelegateForColumn(EngineOptionModel::Value, new ValueDelegate(*model_, view_));
    view_->setEditTriggers(QAbstractItemView::AllEditTriggers);
    view_->setTabKeyNavigation(false);
    view_->horizontalHeader()->setStretchLastSection(true);
    auto* reset = new QShortcut(QKeySequence::Delete, view_);
    reset->setContext(Qt::WidgetShortcut);
    connect(reset, &QShortcut::activated, this, &EngineOptionsPanel::resetRow);
}

QWidget* EngineOptionsPanel::makeEntryLine() {
    entry_->setObjectName(QStringLiteral("optionEntry"));
    entry_->setAccessibleName(tr("An option as KEY=VALUE"));
    entry_->setPlaceholderText(tr("KEY=VALUE"));
    auto* add = new QPushButton(tr("Se&t"), this);
    add->setObjectName(QStringLiteral("setOption"));
    connect(entry_, &QLineEdit::returnPressed, this, &EngineOptionsPanel::addWritten);
    connect(add, &QPushButton::clicked, this, &EngineOptionsPanel::addWritten);
    auto* line = new QWidget(this);
    auto* layout = new QHBoxLayout(line);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* label = new QLabel(tr("O&ption"), line);
    label->setBuddy(entry_);
    layout->addWidget(label);
    layout->addWidget(entry_, 1);
    layout->addWidget(add);
    layout->addWidget(new QLabel(tr("Del: back to the default"), line));
    return line;
}

void EngineOptionsPanel::addWritten() {
    if (model_->add(entry_->text().trimmed())) {
        entry_->clear();
    }
}

void EngineOptionsPanel::resetRow() {
    const QModelIndex current = view_->currentIndex();
    if (current.isValid()) {
        model_->setData(current.siblingAtColumn(EngineOptionModel::Value), QString());
    }
}

void EngineOptionsPanel::say(const QString& words) {
    message_->setText(words);
    message_->show();
}

/// All rows of an engine that has few options, some and a scroll bar where it has many.
void EngineOptionsPanel::fitHeight() {
    constexpr int most_rows = 6;
    const int rows = std::clamp(model_->rowCount(), 1, most_rows);
    view_->setFixedHeight(view_->horizontalHeader()->sizeHint().height() +
                          rows * view_->verticalHeader()->defaultSectionSize() +
                          2 * view_->frameWidth() + 2);
    view_->resizeColumnsToContents();
}

int EngineOptionsPanel::setCount() const {
    return model_->setCount();
}

int EngineOptionsPanel::optionCount() const {
    return model_->rowCount();
}

} // namespace kvcaliper::gui
