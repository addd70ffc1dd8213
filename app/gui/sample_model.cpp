// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/sample_model.h"

#include "app/gui/table_text.h"
#include "app/gui/text.h"

#include <array>

namespace kvcaliper::gui {

namespace {

const QString no_value = QStringLiteral("–");

bool is_total(const VerifySample& sample) {
    return sample.component == QLatin1String("total");
}

/// "sliding attention, key"
QString component_text(const VerifySample& sample) {
    const QString component = QString(sample.component).replace(u'_', u' ');
    if (sample.kind.isEmpty()) {
        return component;
    }
    const auto kind = layer_kind_from(utf8(sample.kind));
    return QStringLiteral("%1, %2").arg(kind ? kind_text(*kind) : sample.kind, component);
}

QString error_text(const VerifySample& sample) {
    if (!sample.max_error || !sample.bound) {
        return no_value;
    }
    return QStringLiteral("%1 (≤ %2)")
        .arg(*sample.max_error, 0, 'g', 3)
        .arg(*sample.bound, 0, 'g', 3);
}

QString measured_tip(const VerifySample& sample) {
    QString requested = SampleModel::tr("requested %1 B").arg(integer_text(sample.requested));
    if (sample.used) {
        requested = SampleModel::tr("%1, used %2 B").arg(requested, integer_text(*sample.used));
    }
    return sample.device_delta ? SampleModel::tr("%1; the device says %2 B")
                                     .arg(requested, integer_text(*sample.device_delta))
                               : requested;
}

bool agrees(const VerifySample& sample) {
    return !sample.refuted && sample.requested == sample.predicted &&
           sample.measured() == sample.predicted;
}

QString display(const VerifySample& sample, int column) {
    switch (column) {
    case SampleModel::Context:
        return integer_text(sample.context);
    case SampleModel::ComponentName:
        return component_text(sample);
    case SampleModel::Predicted:
        return bytes_text(Ratio(sample.predicted));
    case SampleModel::Measured:
        return bytes_text(Ratio(sample.measured()));
    case SampleModel::Difference:
        return QStringLiteral("%1 B").arg(integer_text(sample.measured() - sample.predicted));
    case SampleModel::Verdict:
        return agrees(sample) ? SampleModel::tr("✓ equal") : SampleModel::tr("✗ differs");
    case SampleModel::MaxError:
        return error_text(sample);
    case SampleModel::Bandwidth:
        return sample.seconds > 0 && sample.bytes_read > 0
                   ? QString::number(static_cast<double>(sample.bytes_read) / sample.seconds / 1e9,
                                     'f', 1)
                   : no_value;
    default:
        return {};
    }
}

QVariant exact(const VerifySample& sample, int column) {
    switch (column) {
    case SampleModel::Context:
        return QString::number(sample.context);
    case SampleModel::Predicted:
        return QString::number(sample.predicted);
    case SampleModel::Measured:
        return QString::number(sample.measured());
    case SampleModel::Difference:
        return QString::number(sample.measured() - sample.predicted);
    default:
        return display(sample, column);
    }
}

} // namespace

void SampleModel::clear() {
    beginResetModel();
    samples_.clear();
    endResetModel();
}

void SampleModel::setSamples(std::vector<VerifySample> samples) {
    beginResetModel();
    samples_ = std::move(samples);
    endResetModel();
}

void SampleModel::add(const VerifySample& sample) {
    const int row = static_cast<int>(samples_.size());
    beginInsertRows({}, row, row);
    samples_.push_back(sample);
    endInsertRows();
}

std::vector<CurvePointData> SampleModel::totals(bool over) const {
    std::vector<CurvePointData> points;
    bool complete = true;
    for (const VerifySample& sample : samples_) {
        if (points.empty() || points.back().tokens != Tokens(sample.context)) {
            points.push_back({Tokens(sample.context), Bytes(0)});
        }
        complete = is_total(sample);
        points.back().bytes =
            complete ? Bytes(sample.measured()) : points.back().bytes + Bytes(sample.measured());
    }
    if (!over && !complete) {
        points.pop_back();
    }
    return points;
}

int SampleModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(samples_.size());
}

int SampleModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant SampleModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) {
        return {};
    }
    const VerifySample& sample = samples_[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
        return display(sample, index.column());
    case Qt::ToolTipRole:
        return index.column() == Measured ? QVariant(measured_tip(sample))
                                          : exact(sample, index.column());
    case Qt::TextAlignmentRole:
        return QVariant(Qt::AlignVCenter |
                        (index.column() == ComponentName || index.column() == Verdict
                             ? Qt::AlignLeft
                             : Qt::AlignRight));
    case exact_role:
        return exact(sample, index.column());
    default:
        return {};
    }
}

QVariant SampleModel::headerData(int section, Qt::Orientation orientation, int role) const {
    const std::array exact_names = {
        tr("Tokens"),         tr("Component"), tr("Predicted (B)"),      tr("Measured (B)"),
        tr("Difference (B)"), tr("Verdict"),   tr("Max. error (bound)"), tr("Read, GB/s")};
    static_assert(std::size(exact_names) == ColumnCount);
    if (orientation == Qt::Horizontal && role == exact_role) {
        return exact_names[static_cast<std::size_t>(section)];
    }
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return QAbstractTableModel::headerData(section, orientation, role);
    }
    const std::array names = {
        tr("Tokens"),     tr("Component"), tr("Predicted"),          tr("Measured"),
        tr("Difference"), tr("Verdict"),   tr("Max. error (bound)"), tr("Read, GB/s")};
    static_assert(std::size(names) == ColumnCount);
    return names[static_cast<std::size_t>(section)];
}

} // namespace kvcaliper::gui
