// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/record_words.h"

#include "app/gui/text.h"

#include <QStringList>

#include <algorithm>

namespace kvcaliper::gui {

namespace {

QString reasons_text(const VerifyRecord& record) {
    QString words;
    for (const std::string& reason : record.reasons) {
        words += u' ' + text(reason) + u'.';
    }
    return words;
}

QString origin_text(const VerifyRecord& record) {
    const QString driver =
        record.driver.empty() ? QString() : tr(", driver %1").arg(text(record.driver));
    return tr("%1, %2%3, kvcaliper %4, seed %5")
        .arg(device_text(record), date_text(record), driver, text(record.version))
        .arg(record.seed);
}

QString kinds_list(const std::set<LayerKind>& kinds) {
    QStringList names;
    for (const LayerKind kind : kinds) {
        names << kind_text(kind);
    }
    return names.join(QStringLiteral(", "));
}

/// The latest GPU record that ran that kind, or null.
const VerifyRecord* gpu_record(LayerKind kind, const std::vector<VerifyRecordPtr>& records) {
    const VerifyRecord* latest = nullptr;
    for (const VerifyRecordPtr& record : records) {
        if (record->backend == "cuda" && record->kinds_run.contains(kind) &&
            (latest == nullptr || latest->date < record->date)) {
            latest = record.get();
        }
    }
    return latest;
}

QString run_on_gpu_text(const std::set<LayerKind>& kinds,
                        const std::vector<VerifyRecordPtr>& records) {
    const VerifyRecord* record = gpu_record(*kinds.begin(), records);
    return record == nullptr
               ? tr("CUDA kernels of %1: run on a GPU.").arg(kinds_list(kinds))
               : tr("CUDA kernels of %1: run on %2, %3.")
                     .arg(kinds_list(kinds), device_text(*record), date_text(*record));
}

} // namespace

QString badge_text(Badge badge) {
    switch (badge) {
    case Badge::computed:
        return tr("computed");
    case Badge::measured:
        return tr("✓ measured");
    case Badge::refuted:
        return tr("✗ refuted");
    case Badge::stale:
        return tr("△ stale");
    }
    return {};
}

QString badge_mark(Badge badge) {
    switch (badge) {
    case Badge::computed:
        return {};
    case Badge::measured:
        return QStringLiteral("✓");
    case Badge::refuted:
        return QStringLiteral("✗");
    case Badge::stale:
        return QStringLiteral("△");
    }
    return {};
}

// Of the Okabe-Ito palette, each with a contrast of at least 4.5 to 1 on its ground.
QColor badge_colour(Badge badge, bool dark) {
    switch (badge) {
    case Badge::computed:
        return {};
    case Badge::measured:
        return dark ? QColor(0x2f, 0xc9, 0x9b) : QColor(0x00, 0x69, 0x4d);
    case Badge::refuted:
        return dark ? QColor(0xff, 0x8a, 0x3d) : QColor(0xa6, 0x3f, 0x00);
    case Badge::stale:
        return dark ? QColor(0xe6, 0x9f, 0x00) : QColor(0x7a, 0x55, 0x00);
    }
    return {};
}

QString date_text(const VerifyRecord& record) {
    const QString date = text(record.date);
    return QStringLiteral("%1 %2 UTC").arg(date.left(10), date.mid(11, 5));
}

QString device_text(const VerifyRecord& record) {
    return text(record.device_text());
}

QString status_text(RecordStatus status) {
    switch (status) {
    case RecordStatus::equal:
        return tr("✓ equal");
    case RecordStatus::refuted:
        return tr("✗ refuted");
    case RecordStatus::disturbed:
        return tr("disturbed");
    case RecordStatus::stale:
        return tr("△ stale");
    }
    return {};
}

QString record_text(const VerifyRecord& record, const RecordCheck& check) {
    const QString origin = origin_text(record);
    switch (check.status) {
    case RecordStatus::equal:
        return record.depth == "use"
                   ? tr("✓ Equal to the byte: measured what was predicted, on %1.").arg(origin)
                   : tr("✓ Equal to the byte: allocated what was predicted, on %1; no "
                        "decode step was run.")
                         .arg(origin);
    case RecordStatus::refuted:
        return tr("✗ Refuted: measured something else than predicted, on %1.").arg(origin) +
               reasons_text(record);
    case RecordStatus::disturbed:
        return tr("Disturbed: other programs changed the memory of %1; run again.").arg(origin) +
               reasons_text(record);
    case RecordStatus::stale:
        return tr("△ Stale: measured on %1, against another prediction than today's: %2.")
            .arg(origin, text(check.reason));
    }
    return {};
}

QString evidence_text(const Evidence& evidence) {
    if (!evidence.record) {
        return tr("Computed: no record of a run covers exactly this model, context, number "
                  "of sequences and formats.");
    }
    const QString origin = origin_text(*evidence.record);
    const QString how = text(evidence.how);
    switch (evidence.status) {
    case EvidenceStatus::measured:
        return tr("✓ Measured %1 with exactly this model, context, number of sequences and "
                  "formats, on %2.")
            .arg(how, origin);
    case EvidenceStatus::refuted:
        return tr("✗ Refuted on %1: %2.").arg(origin, how);
    case EvidenceStatus::stale:
        return tr("△ Stale: measured on %1, against another prediction than today's: %2.")
            .arg(origin, how);
    case EvidenceStatus::computed:
        break;
    }
    return {};
}

QString kernels_text(const Model& model, const std::vector<VerifyRecordPtr>& records) {
    const std::set<LayerKind> on_gpu = kinds_run_on_gpu(records);
    std::set<LayerKind> run, emulated;
    for (const LayerPlan& layer : model.plan.layers) {
        for (const LayerPart& part : layer.parts) {
            (on_gpu.contains(part.kind) ? run : emulated).insert(part.kind);
        }
    }
    QStringList sentences;
    if (!run.empty()) {
        sentences << run_on_gpu_text(run, records);
    }
    if (!emulated.empty()) {
        sentences << tr("CUDA kernels of %1: executed by emulation only, never on a GPU.")
                         .arg(kinds_list(emulated));
    }
    return sentences.join(u' ');
}

QString all_kernels_text(const std::vector<VerifyRecordPtr>& records) {
    const std::set<LayerKind> on_gpu = kinds_run_on_gpu(records);
    return on_gpu.empty() ? tr("CUDA kernels: executed by emulation only, never on a GPU.")
                          : tr("CUDA kernels of %1 have run on a GPU; those of all other kinds of "
                               "layers: executed by emulation only, never on a GPU.")
                                .arg(kinds_list(on_gpu));
}

} // namespace kvcaliper::gui
