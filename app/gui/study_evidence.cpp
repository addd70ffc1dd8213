// SPDX-License-Identifier: GPL-3.0-or-later
// The study and its records: what was measured of which figure.
#include "app/gui/record_book.h"
#include "app/gui/study.h"
#include "app/gui/text.h"
#include "core/catalog.h"

#include <QUndoCommand>
#include <QUndoStack>

#include <algorithm>
#include <exception>

namespace kvcaliper::gui {

namespace {

constexpr int several_fields = 0; // an edit of its own kind, merged with none

/// Undone, the record and its file are there again.
class DeleteRecord : public QUndoCommand {
  public:
    DeleteRecord(RecordBook& book, BookedRecord entry, const QString& name)
        : QUndoCommand(name), book_(book), entry_(std::move(entry)) {}
    void redo() override { book_.remove(entry_.id); }
    void undo() override { book_.add(entry_.record); }

  private:
    RecordBook& book_;
    BookedRecord entry_;
};

std::optional<QString> bundled_model_of(const VerifyRecord& record) {
    try {
        return same_model(record, load_model(record.plan.name)->plan)
                   ? std::optional(text(record.plan.name))
                   : std::nullopt;
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

} // namespace

void Study::forgetEvidence() {
    evidence_.clear();
    verifications_.clear();
}

const StudyRow* Study::rowOf(const VerifyRecord& record) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const StudyRow& candidate) {
        return candidate.model && same_model(record, candidate.model->plan);
    });
    return found == rows_.end() ? nullptr : &*found;
}

void Study::deleteRecord(const QString& id) {
    if (const BookedRecord* entry = records_->find(id)) {
        undo_->push(new DeleteRecord(
            *records_, *entry, tr("Delete record of %1").arg(text(entry->record->plan.name))));
    }
}

std::optional<QString> Study::useRecord(const QString& id) {
    const BookedRecord* entry = records_->find(id);
    if (entry == nullptr) {
        return std::nullopt;
    }
    const VerifyRecord& record = *entry->record;
    const StudyRow* row = rowOf(record);
    const auto model = row != nullptr ? std::optional(row->id) : bundled_model_of(record);
    if (!model) {
        return tr("The record is about %1, which is neither in this study nor bundled.")
            .arg(text(record.plan.name));
    }
    StudyState next = state_;
    if (!next.models.contains(*model)) {
        next.models << *model;
    }
    next.settings.context = Tokens(record.contexts().back() - record.cartridge);
    next.settings.sequences = record.sequences;
    next.settings.k_format = record.formats.k->name;
    next.settings.v_format = record.formats.v->name;
    next.settings.index_format = record.formats.index->name;
    next.settings.conv_format = record.formats.conv->name;
    next.settings.state_format = record.formats.state->name;
    edit(std::move(next), tr("Use the settings of a record"), several_fields, Merge::no);
    setCurrent(*model);
    return std::nullopt;
}

Evidence Study::evidence(const QString& id, FigureKind figure) const {
    auto known = evidence_.find(id);
    if (known == evidence_.end()) {
        const StudyRow* asked = row(id);
        known = evidence_.insert(id, asked != nullptr && asked->estimate
                                         ? figure_evidence(*asked->estimate, records_->records())
                                         : FigureEvidence{});
    }
    const auto index = static_cast<std::size_t>(figure);
    return index < known->size() ? (*known)[index] : Evidence{}; // others no run can measure
}

Badge Study::badge(const QString& id, FigureKind figure) const {
    return evidence(id, figure).status;
}

const Verification* Study::verification(const QString& id) const {
    const Evidence total = evidence(id, FigureKind::total);
    if (!total.record) {
        return nullptr;
    }
    return &*verifications_.insert(
        id, {total.status == EvidenceStatus::measured, evidence_text(total)});
}

} // namespace kvcaliper::gui
