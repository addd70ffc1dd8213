// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/model_editor.h"

#include "app/gui/chart_export.h"
#include "app/gui/text.h"
#include "core/catalog.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>
#include <exception>

namespace kvcaliper::gui {

namespace {

struct FieldLooks {
    const char* name; ///< of the input's object
    QString label;
    int step;
};

FieldLooks looks_of(EditField field) {
    switch (field) {
    case EditField::layers:
        return {"editLayers", ModelEditor::tr("&Layers"), 1};
    case EditField::kv_heads:
        return {"editKvHeads", ModelEditor::tr("KV &heads"), 1};
    case EditField::head_width:
        return {"editHeadWidth", ModelEditor::tr("Head &width"), 16};
    case EditField::window:
        return {"editWindow", ModelEditor::tr("W&indow, tokens"), 256};
    case EditField::latent_rank:
        return {"editLatentRank", ModelEditor::tr("Latent &rank"), 64};
    case EditField::full_every:
        return {"editFullEvery", ModelEditor::tr("F&ull layers: one in"), 1};
    }
    return {"", QString(), 1};
}

QString without_ampersand(QString label) {
    return label.remove(u'&');
}

QLabel* words_label(const char* name, QWidget* parent) {
    auto* label = new QLabel(parent);
    label->setObjectName(QLatin1String(name));
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

ConfigFile config_of(const Study& study, const QString& id) {
    const auto own = study.state().configs.constFind(id);
    if (own == study.state().configs.constEnd()) {
        return find_config(utf8(id));
    }
    const std::string name = utf8(id);
    return {name, name, parse_json(utf8(own->json), name).value, {}};
}

std::optional<ModelEdit> edit_of(const Study& study, const QString& id) {
    try {
        return ModelEdit(config_of(study, id));
    } catch (const std::exception&) {
        return std::nullopt; // the row of the model says why it can not be read
    }
}

QString value_text(EditField field, const FieldState& state) {
    if (!state.value) {
        return ModelEditor::tr("irregular");
    }
    return field == EditField::window && *state.value == 0 ? ModelEditor::tr("none")
                                                           : integer_text(*state.value);
}

QString heads_text(std::int64_t heads, std::int64_t most) {
    return heads == 1      ? ModelEditor::tr("1, multi-query")
           : heads == most ? ModelEditor::tr("%1, all of them").arg(heads)
                           : ModelEditor::tr("%1, grouped").arg(heads);
}

/// The values there are; of a field that can not be changed, the one it has.
void show_choice(QComboBox& box, const FieldState& state, bool open) {
    box.clear();
    for (const std::int64_t heads : state.choices) {
        box.addItem(heads_text(heads, state.choices.back()), QVariant::fromValue<qlonglong>(heads));
    }
    if (!open && state.value) {
        box.addItem(integer_text(*state.value));
    }
    const auto value = QVariant::fromValue<qlonglong>(state.value.value_or(0));
    box.setCurrentIndex(open ? box.findData(value) : box.count() - 1);
}

void show_number(QSpinBox& box, EditField field, const FieldState& state, bool open) {
    const std::int64_t largest = largest_value(field);
    const bool has_words = state.may_be_none || !state.value; // they stand for 0
    box.setSpecialValueText(!has_words          ? QString()
                            : !open             ? QStringLiteral("—")
                            : state.may_be_none ? ModelEditor::tr("none")
                                                : ModelEditor::tr("irregular"));
    box.setRange(has_words ? 0 : 1, static_cast<int>(largest));
    box.setValue(static_cast<int>(std::min<std::int64_t>(state.value.value_or(0), largest)));
}

/// "128 KiB → 64 KiB (÷2.00)".
QString change_text(const Figure& before, const Figure& after) {
    const QString words =
        QStringLiteral("%1 → %2").arg(bytes_text(before.value()), bytes_text(after.value()));
    const double from = before.value().to_double();
    const double to = after.value().to_double();
    if (from <= 0 || to <= 0 || before.value() == after.value()) {
        return words;
    }
    return to < from ? ModelEditor::tr("%1 (÷%2)").arg(words).arg(from / to, 0, 'f', 2)
                     : ModelEditor::tr("%1 (×%2)").arg(words).arg(to / from, 0, 'f', 2);
}

} // namespace

ModelEditor::ModelEditor(Study& study, QWidget* parent)
    : QWidget(parent), study_(study), fields_(new QFormLayout),
      head_(words_label("editHead", this)), effect_(words_label("editEffect", this)),
      problem_(words_label("editProblem", this)),
      reset_(new QPushButton(tr("&Back to the original"), this)),
      save_(new QPushButton(tr("&Save as config.json…"), this)) {
    setObjectName(QStringLiteral("modelEditor"));
    reset_->setObjectName(QStringLiteral("editReset"));
    save_->setObjectName(QStringLiteral("editSave"));
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(head_);
    layout->addWidget(effect_);
    layout->addWidget(makeFieldsPart(), 1);
    layout->addWidget(problem_);
    layout->addWidget(reset_);
    layout->addWidget(save_);
    setFocusProxy(rows_.front().number);
    connect(reset_, &QPushButton::clicked, this, &ModelEditor::reset);
    connect(save_, &QPushButton::clicked, this, &ModelEditor::saveDialog);
    connect(&study_, &Study::changed, this, &ModelEditor::refreshSeen);
    connect(&study_, &Study::currentChanged, this, &ModelEditor::refreshSeen);
}

QWidget* ModelEditor::makeFieldsPart() {
    auto* part = new QWidget(this);
    part->setLayout(fields_);
    fields_->setContentsMargins(0, 0, 0, 0);
    fields_->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    for (const EditField field : all_edit_fields) {
        addRow(field);
    }
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(part);
    return scroll;
}

void ModelEditor::addRow(EditField field) {
    const FieldLooks looks = looks_of(field);
    Row row{field};
    if (field == EditField::kv_heads) {
        row.choice = new QComboBox(this);
        connect(row.choice, &QComboBox::activated, this, [this, box = row.choice] {
            change(EditField::kv_heads, box->currentData().toLongLong());
        });
    } else {
        row.number = new QSpinBox(this);
        row.number->setKeyboardTracking(false); // a number half written is not wanted
        row.number->setSingleStep(looks.step);
        row.number->setGroupSeparatorShown(true);
        connect(row.number, &QSpinBox::valueChanged, this,
                [this, field](int value) { change(field, value); });
    }
    row.input()->setObjectName(QLatin1String(looks.name));
    row.input()->setAccessibleName(without_ampersand(looks.label));
    row.note = words_label("editNote", this);
    row.note->setEnabled(false); // quieter than the values
    fields_->addRow(looks.label, row.input());
    fields_->addRow(row.note);
    rows_.push_back(row);
}

QWidget* ModelEditor::Row::input() const {
    return choice != nullptr ? static_cast<QWidget*>(choice) : number;
}

void ModelEditor::showEvent(QShowEvent* event) {
    refresh();
    QWidget::showEvent(event);
}

void ModelEditor::refreshSeen() {
    if (isVisible()) {
        refresh();
    }
}

QString ModelEditor::originalOf(const QString& id) const {
    return study_.state().configs.value(id).from;
}

std::optional<ModelEdit> ModelEditor::current() const {
    return study_.current().isEmpty() ? std::nullopt : edit_of(study_, study_.current());
}

void ModelEditor::refresh() {
    const QString original_id = originalOf(study_.current());
    const auto now = current();
    const auto original = original_id.isEmpty() ? std::nullopt : edit_of(study_, original_id);
    for (const Row& row : rows_) {
        const FieldState state = now ? now->state(row.field) : FieldState{};
        showRow(row, state, original ? original->state(row.field) : state);
    }
    problem_->hide();
    reset_->setEnabled(original.has_value());
    save_->setEnabled(now.has_value());
    showHead();
    showEffect();
}

void ModelEditor::showRow(const Row& row, const FieldState& state, const FieldState& original) {
    const bool open = state.reason.isEmpty() && !state.key.empty();
    QWidget* input = row.input();
    const QSignalBlocker blocker(input);
    if (row.choice != nullptr) {
        show_choice(*row.choice, state, open);
    } else {
        show_number(*row.number, row.field, state, open);
    }
    input->setEnabled(open);
    input->setToolTip(open ? tr("%1 in the config").arg(text(state.key)) : state.reason);
    input->setAccessibleDescription(input->toolTip());
    const bool edited = open && state.value != original.value;
    row.note->setText(!open    ? state.reason
                      : edited ? tr("was %1").arg(value_text(row.field, original))
                               : QString());
    row.note->setVisible(!row.note->text().isEmpty());
}

void ModelEditor::showHead() {
    const StudyRow* row = study_.row(study_.current());
    const StudyRow* original = study_.row(originalOf(study_.current()));
    if (row == nullptr) {
        head_->setText(tr("Tick a model to edit a copy of it."));
    } else if (originalOf(row->id).isEmpty()) {
        head_->setText(
            tr("<b>%1</b><br>A change makes a copy beside it.").arg(row->name.toHtmlEscaped()));
    } else {
        head_->setText(tr("<b>%1</b><br>from %2")
                           .arg(row->name.toHtmlEscaped(),
                                (original ? original->name : originalOf(row->id)).toHtmlEscaped()));
    }
}

void ModelEditor::showEffect() {
    const StudyRow* row = study_.row(study_.current());
    const StudyRow* original = study_.row(originalOf(study_.current()));
    if (row == nullptr || original == nullptr || !row->estimate || !original->estimate) {
        effect_->hide();
        return;
    }
    effect_->show();
    effect_->setText(tr("Uncapped per token: %1<br>Growth per token: %2<br>Total at %3: %4")
                         .arg(change_text(original->estimate->uncapped, row->estimate->uncapped),
                              change_text(original->estimate->growth, row->estimate->growth),
                              integer_text(study_.settings().context.count()),
                              change_text(original->estimate->required, row->estimate->required)));
}

void ModelEditor::change(EditField field, std::int64_t value) {
    const QString id = study_.current();
    const bool own = study_.state().configs.contains(id);
    const QString name = own ? id : edited_name(study_, study_.row(id)->name);
    try {
        ConfigFile config = config_of(study_, id);
        config = own ? config : editable_copy(config, utf8(name));
        const ConfigFile edited = ModelEdit(config).with(field, value);
        if (!own || last_ != field || last_name_ != name) {
            study_.endMerge();
        }
        last_ = field;
        last_name_ = name;
        const QString from = own ? study_.state().configs.value(id).from : id;
        study_.setConfig(name, {text(config_text(edited)), from}, Study::Merge::yes);
    } catch (const std::exception& exception) {
        refresh();
        problem_->setText(tr("Not possible: %1").arg(text(exception.what())));
        problem_->show();
    }
}

void ModelEditor::reset() {
    const QString id = study_.current();
    const QString original = originalOf(id);
    try {
        const ConfigFile config = editable_copy(config_of(study_, original), utf8(id));
        study_.setConfig(id, {text(config_text(config)), original});
    } catch (const std::exception& exception) {
        problem_->setText(text(exception.what()));
        problem_->show();
    }
}

std::optional<QString> ModelEditor::saveConfig(const QString& path) const {
    const auto now = current();
    return now ? write_file(path, QByteArray::fromStdString(config_text(now->config())))
               : tr("no model is chosen");
}

void ModelEditor::saveDialog() {
    const QString path =
        QFileDialog::getSaveFileName(this, tr("Save the model's config"),
                                     QStringLiteral("config.json"), tr("Model configs (*.json)"));
    if (path.isEmpty()) {
        return;
    }
    const auto problem = saveConfig(path);
    problem_->setText(problem ? tr("Not saved: %1").arg(*problem) : tr("Saved: %1").arg(path));
    problem_->show();
}

QString edited_name(const Study& study, const QString& original) {
    // A name and not a path: the study tells them apart by their slashes and endings.
    QString base = original;
    base.replace(u'/', u' ');
    QString name = ModelEditor::tr("%1 (edited)").arg(base);
    for (int i = 2; study.state().configs.contains(name); ++i) {
        name = ModelEditor::tr("%1 (edited %2)").arg(base).arg(i);
    }
    return name;
}

} // namespace kvcaliper::gui
