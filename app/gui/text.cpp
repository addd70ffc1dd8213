// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/text.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

namespace kvcaliper::gui {

namespace {

QString spaced(std::string_view name) {
    return text(name).replace(u'_', u' ');
}

/// How many layers of one kind and window a model has.
struct KindCount {
    LayerKind kind;
    std::int64_t window;
    int layers;
};

std::int64_t window_of(const LayerCache& layer) {
    for (const Component& component : layer.components) {
        if (component.units.kind == Units::Kind::window) {
            return component.units.n;
        }
    }
    return 0;
}

std::vector<KindCount> count_kinds(const CacheSpec& spec) {
    std::vector<KindCount> counts;
    for (const LayerCache& layer : spec.layers) {
        const std::int64_t window = window_of(layer);
        const auto same = std::find_if(counts.begin(), counts.end(), [&](const KindCount& count) {
            return count.kind == layer.kind && count.window == window;
        });
        if (same != counts.end()) {
            ++same->layers;
        } else {
            counts.push_back({layer.kind, window, 1});
        }
    }
    return counts;
}

} // namespace

QString text(std::string_view utf8) {
    return QString::fromUtf8(utf8.data(), static_cast<qsizetype>(utf8.size()));
}

std::string utf8(const QString& text) {
    return text.toStdString();
}

QString bytes_text(const Ratio& bytes) {
    return text(format_bytes(bytes));
}

QString exact_text(const Ratio& bytes) {
    return (bytes.is_integer() ? integer_text(bytes.numerator()) : text(bytes.to_string())) +
           QStringLiteral(" B");
}

QString integer_text(std::int64_t value) {
    return text(format_integer(value));
}

QString kind_text(LayerKind kind) {
    switch (kind) {
    case LayerKind::full_attention:
        return QCoreApplication::translate("LayerKind", "full attention");
    case LayerKind::sliding_attention:
        return QCoreApplication::translate("LayerKind", "sliding attention");
    case LayerKind::mla:
        return QCoreApplication::translate("LayerKind", "latent attention");
    case LayerKind::mamba1:
        return QCoreApplication::translate("LayerKind", "Mamba 1");
    case LayerKind::mamba2:
        return QCoreApplication::translate("LayerKind", "Mamba 2");
    }
    return {};
}

QString role_text(Role role) {
    return spaced(to_string(role));
}

QString kinds_text(const CacheSpec& spec) {
    QStringList kinds;
    for (const KindCount& count : count_kinds(spec)) {
        kinds << kind_text(count.kind);
    }
    kinds.removeDuplicates();
    // "sliding + full attention": the word once, at the end.
    const QString word = QStringLiteral(" attention");
    for (qsizetype i = 0; i + 1 < kinds.size(); ++i) {
        if (kinds[i].endsWith(word) && kinds[i + 1].endsWith(word)) {
            kinds[i].chop(word.size());
        }
    }
    return kinds.join(QStringLiteral(" + "));
}

QString layers_text(const CacheSpec& spec) {
    QStringList parts;
    for (const KindCount& count : count_kinds(spec)) {
        QString part = QStringLiteral("%1 × %2").arg(count.layers).arg(kind_text(count.kind));
        if (count.window != 0) {
            part += QCoreApplication::translate("LayerKind", " (window %1)")
                        .arg(integer_text(count.window));
        }
        parts << part;
    }
    return parts.join(QStringLiteral(", "));
}

} // namespace kvcaliper::gui
