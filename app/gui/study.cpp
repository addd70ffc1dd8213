// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/study.h"

#include "app/gui/format_setting.h"
#include "app/gui/record_book.h"
#include "app/gui/text.h"
#include "core/catalog.h"
#include "core/error.h"
#include "core/model_config.h"

#include <QFileInfo>
#include <QUndoCommand>
#include <QUndoStack>

#include <algorithm>
#include <exception>

namespace kvcaliper::gui {

namespace {

enum Field {
    models_field = 1,
    baseline_field,
    context_field,
    sequences_field,
    k_field,
    v_field,
    budget_field,
    config_field,
    index_field,
    conv_field,
    state_field,
    context_view_field
};

Field field_of(FormatClass format_class) {
    switch (format_class) {
    case FormatClass::k:
        return k_field;
    case FormatClass::v:
        return v_field;
    case FormatClass::index:
        return index_field;
    case FormatClass::conv:
        return conv_field;
    case FormatClass::state:
        return state_field;
    }
    return k_field;
}

} // namespace

/// Whole states are kept: a state is a few strings, and no edit can then be undone in part.
class EditCommand : public QUndoCommand {
  public:
    EditCommand(Study& study, StudyState next, const QString& name, int field, int serial)
        : QUndoCommand(name), study_(study), before_(study.state()), after_(std::move(next)),
          field_(field), serial_(serial) {}

    void undo() override { study_.apply(before_); }
    void redo() override { study_.apply(after_); }
    int id() const override { return field_; }
    bool mergeWith(const QUndoCommand* other) override {
        const auto& later = static_cast<const EditCommand&>(*other);
        if (later.serial_ != serial_) {
            return false;
        }
        after_ = later.after_;
        setObsolete(after_ == before_);
        return true;
    }

  private:
    Study& study_;
    StudyState before_;
    StudyState after_;
    int field_;
    int serial_;
};

Study::Study(QObject* parent)
    : QObject(parent), undo_(new QUndoStack(this)), records_(new RecordBook(this)) {
    connect(records_, &RecordBook::changed, this, [this] {
        forgetEvidence();
        Q_EMIT recordsChanged();
    });
}

// The stack's commands refer to this object; they go while it is whole. That they go is no undoing:
// whoever keeps unsaved edits is not to believe there are none.
Study::~Study() {
    undo_->blockSignals(true);
    undo_->clear();
}

const StudyRow* Study::row(const QString& id) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(),
                                    [&](const StudyRow& candidate) { return candidate.id == id; });
    return found == rows_.end() ? nullptr : &*found;
}

std::vector<ModelPtr> Study::readModels() const {
    std::vector<ModelPtr> models;
    for (const StudyRow& candidate : rows_) {
        if (candidate.model) {
            models.push_back(candidate.model);
        }
    }
    return models;
}

QString Study::effectiveBaseline() const {
    if (state_.models.contains(state_.baseline)) {
        return state_.baseline;
    }
    return state_.models.isEmpty() ? QString() : state_.models.first();
}

void Study::setModels(const QStringList& models) {
    StudyState next = state_;
    next.models = models;
    next.models.removeDuplicates();
    edit(std::move(next), tr("Choose models"), models_field, Merge::no);
}

void Study::setTicked(const QString& id, bool ticked) {
    StudyState next = state_;
    next.models.removeAll(id);
    if (ticked) {
        next.models << id;
    }
    if (ticked != state_.models.contains(id)) {
        edit(std::move(next), ticked ? tr("Add %1").arg(id) : tr("Remove %1").arg(id), models_field,
             Merge::no);
    }
}

void Study::setBaseline(const QString& id) {
    StudyState next = state_;
    next.baseline = id;
    edit(std::move(next), tr("Choose baseline"), baseline_field, Merge::no);
}

void Study::setContext(Tokens context, Merge merge) {
    StudyState next = state_;
    next.settings.context = context;
    edit(std::move(next), tr("Change context"), context_field, merge);
}

void Study::setSequences(std::int64_t sequences, Merge merge) {
    StudyState next = state_;
    next.settings.sequences = sequences;
    edit(std::move(next), tr("Change sequences"), sequences_field, merge);
}

void Study::setFormat(FormatClass format_class, const QString& format) {
    StudyState next = state_;
    next.settings.*format_member(format_class) = utf8(format);
    edit(std::move(next), tr("Change format of %1").arg(format_class_text(format_class)),
         field_of(format_class), Merge::no);
}

void Study::setBudget(const BudgetState& budget) {
    StudyState next = state_;
    next.budget = budget;
    edit(std::move(next), tr("Change the budget"), budget_field, Merge::no);
}

void Study::setDevice(const QString& name) {
    StudyState next = state_;
    next.budget.device = name;
    edit(std::move(next), tr("Choose device"), budget_field, Merge::no);
}

void Study::setEngine(const QString& name) {
    StudyState next = state_;
    next.budget.engine = name;
    edit(std::move(next), tr("Choose engine"), budget_field, Merge::no);
}

void Study::setTensor(std::int64_t ranks) {
    StudyState next = state_;
    next.budget.tensor = ranks;
    edit(std::move(next), tr("Change tensor ranks"), budget_field, Merge::no);
}

void Study::setParallel(const Parallelism& parallel) {
    StudyState next = state_;
    next.budget.tensor = parallel.tensor;
    next.budget.pipeline = parallel.pipeline;
    next.budget.context = parallel.context;
    next.budget.data = parallel.data;
    edit(std::move(next), tr("Change ranks"), budget_field, Merge::no);
}

void Study::setEngineOption(const QString& name, const QString& value) {
    StudyState next = state_;
    auto& options = next.budget.options[next.budget.engine];
    if (value.isEmpty()) {
        options.remove(name);
    } else {
        options.insert(name, value);
    }
    if (options.isEmpty()) { // nothing set is nothing said
        next.budget.options.remove(next.budget.engine);
    }
    edit(std::move(next), value.isEmpty() ? tr("Reset %1").arg(name) : tr("Set %1").arg(name),
         budget_field, Merge::no);
}

void Study::setWeights(const QString& id, const QString& written) {
    StudyState next = state_;
    if (written.isEmpty()) {
        next.budget.weights.remove(id);
    } else {
        next.budget.weights.insert(id, written);
    }
    edit(std::move(next), tr("Set weights of %1").arg(id), budget_field, Merge::no);
}

void Study::setContextView(const ContextView& view) {
    StudyState next = state_;
    next.context_view = view;
    next.context_view.devices.removeDuplicates();
    edit(std::move(next), tr("Change the context chart"), context_view_field, Merge::no);
}

void Study::setConfig(const QString& name, const StudyConfig& config, Merge merge) {
    StudyState next = state_;
    next.configs.insert(name, config);
    if (!next.models.contains(name)) {
        // Behind its original where that is ticked, else at the end.
        const auto at = next.models.indexOf(config.from);
        next.models.insert(at < 0 ? next.models.size() : at + 1, name);
    }
    edit(std::move(next), tr("Edit %1").arg(name), config_field, merge);
    setCurrent(name);
}

void Study::edit(StudyState next, const QString& name, int field, Merge merge) {
    if (next == state_) {
        return;
    }
    if (merge == Merge::no) {
        endMerge();
    }
    undo_->push(new EditCommand(*this, std::move(next), name, field, merge_serial_));
    if (merge == Merge::no) {
        endMerge();
    }
}

void Study::reset(const StudyState& state) {
    loaded_.clear();
    apply(state);
    undo_->clear();
    endMerge();
}

/// Models are kept once read; a config of the study that changes is another model.
void Study::forgetChanged(const QMap<QString, StudyConfig>& next) {
    for (const auto& configs : {state_.configs, next}) {
        for (auto one = configs.begin(); one != configs.end(); ++one) {
            if (state_.configs.value(one.key()) != next.value(one.key())) {
                loaded_.remove(one.key());
            }
        }
    }
}

void Study::apply(const StudyState& state) {
    forgetChanged(state.configs);
    const QString origin = state_.configs.value(current_).from; // an undone copy leads back to it
    state_ = state;
    forgetEvidence();
    rows_.clear();
    for (const QString& id : state_.models) {
        rows_.push_back(makeRow(id));
    }
    const QString before = current_;
    if (!state_.models.contains(current_)) {
        const QString first = state_.models.isEmpty() ? QString() : state_.models.first();
        current_ = state_.models.contains(origin) ? origin : first;
    }
    Q_EMIT changed();
    if (current_ != before) {
        Q_EMIT currentChanged();
    }
}

ModelPtr Study::load(const QString& id, QString& error) {
    if (const auto found = loaded_.constFind(id); found != loaded_.constEnd()) {
        return *found;
    }
    try {
        return *loaded_.insert(id, readConfigOf(id));
    } catch (const std::exception& exception) {
        error = text(exception.what());
        return nullptr;
    }
}

ModelPtr Study::readConfigOf(const QString& id) const {
    const auto own = state_.configs.constFind(id);
    if (own == state_.configs.constEnd()) {
        return load_model(utf8(id));
    }
    const std::string name = utf8(id);
    JsonDocument document = parse_json(utf8(own->json), name);
    return make_model({name, name, std::move(document.value), std::move(document.warnings)});
}

StudyRow Study::makeRow(const QString& id) {
    StudyRow result;
    result.id = id;
    result.name = QFileInfo(id).completeBaseName();
    result.model = load(id, result.error);
    if (!result.model) {
        return result;
    }
    const ModelPlan& plan = result.model->plan;
    result.name = text(plan.display_name.empty() ? plan.name : plan.display_name);
    try {
        result.estimate = estimate(result.model, state_.settings);
    } catch (const std::exception& exception) {
        result.error = text(exception.what());
    }
    return result;
}

std::optional<QString> Study::readModel(const QString& id) {
    QString error;
    loaded_.remove(id); // the file may have changed since
    const bool readable = load(id, error) != nullptr;
    if (state_.models.contains(id)) {
        apply(StudyState(state_));
    }
    return readable ? std::nullopt : std::optional(error);
}

void Study::setCurrent(const QString& id) {
    if (id != current_ && state_.models.contains(id)) {
        current_ = id;
        Q_EMIT currentChanged();
    }
}

const Weights& Study::autoWeights(const StudyRow& row) const {
    auto& known = weights_[row.id];
    if (known == nullptr || known->of != row.model) {
        try {
            known = std::make_shared<const KnownWeights>(
                KnownWeights{row.model, weights_of(*row.model, "auto")});
        } catch (const Error& error) {
            known = std::make_shared<const KnownWeights>(KnownWeights{row.model, error});
        }
    }
    if (const auto* reason = std::get_if<Error>(&known->weights)) {
        throw *reason;
    }
    return std::get<Weights>(known->weights);
}

StudyState seed_state() {
    StudyState state;
    for (const std::string& name : seed_models()) {
        state.models << text(name);
    }
    return state;
}

void open_seed(Study& study) {
    study.reset(seed_state());
}

} // namespace kvcaliper::gui
