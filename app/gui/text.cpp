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
    QString kind;
    std::int64_t window;
    int layers;
};

std::int64_t window_of(const LayerCache& layer) {
    for (const Component& component : layer.components) {
        if (component.units.kind == Units::Kind::window ||
            component.units.kind == Units::Kind::chunk) {
            return component.units.n;
        }
    }
    return 0;
}

std::vector<KindCount> count_kinds(const CacheSpec& spec) {
    std::vector<KindCount> counts;
    for (const LayerCache& layer : spec.layers) {
        const std::int64_t window = window_of(layer);
        const QString kind = layer_text(layer);
        const auto same = std::find_if(counts.begin(), counts.end(), [&](const KindCount& count) {
            return count.kind == kind && count.window == window;
        });
        if (same != counts.end()) {
            ++same->layers;
        } else {
            counts.push_back({kind, window, 1});
        }
    }
    return counts;
}

} // namespace

QString tr(const char* source) {
    return QCoreApplication::translate("kvcaliper::gui", source);
}

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

QString signed_text(std::int64_t bytes) {
    return bytes < 0 ? QStringLiteral("−") + bytes_text(Ratio(-bytes)) : bytes_text(Ratio(bytes));
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
    case LayerKind::chunked_attention:
        return QCoreApplication::translate("LayerKind", "chunked attention");
    case LayerKind::cross_attention:
        return QCoreApplication::translate("LayerKind", "cross-attention");
    case LayerKind::mla:
        return QCoreApplication::translate("LayerKind", "latent attention");
    case LayerKind::compressed_attention:
        return QCoreApplication::translate("LayerKind", "compressed attention");
    case LayerKind::mamba1:
        return QCoreApplication::translate("LayerKind", "Mamba 1");
    case LayerKind::mamba2:
        return QCoreApplication::translate("LayerKind", "Mamba 2");
    case LayerKind::gated_delta:
        return QCoreApplication::translate("LayerKind", "gated delta");
    case LayerKind::kda:
        return QCoreApplication::translate("LayerKind", "Kimi delta");
    case LayerKind::lightning:
        return QCoreApplication::translate("LayerKind", "lightning");
    case LayerKind::gla:
        return QCoreApplication::translate("LayerKind", "gated linear");
    case LayerKind::rglru:
        return QCoreApplication::translate("LayerKind", "RG-LRU");
    case LayerKind::short_conv:
        return QCoreApplication::translate("LayerKind", "short convolution");
    case LayerKind::rwkv4:
        return QCoreApplication::translate("LayerKind", "RWKV 4");
    case LayerKind::rwkv:
        return QCoreApplication::translate("LayerKind", "RWKV");
    case LayerKind::xlstm:
        return QCoreApplication::translate("LayerKind", "mLSTM");
    case LayerKind::kv_conv:
        return QCoreApplication::translate("LayerKind", "convolution");
    }
    return {};
}

std::vector<LayerKind> kinds_of(const LayerCache& layer) {
    std::vector<LayerKind> kinds;
    for (const Component& component : layer.components) {
        if (std::find(kinds.begin(), kinds.end(), component.kind) == kinds.end()) {
            kinds.push_back(component.kind);
        }
    }
    return kinds;
}

QString layer_text(const LayerCache& layer) {
    QStringList kinds;
    for (const LayerKind kind : kinds_of(layer)) {
        kinds << kind_text(kind);
    }
    if (kinds.isEmpty()) {
        return layer.shared_with
                   ? QCoreApplication::translate("LayerKind", "shared with another layer")
                   : QCoreApplication::translate("LayerKind", "keeps nothing");
    }
    return kinds.join(QStringLiteral(" + "));
}

QString role_text(Role role) {
    return spaced(to_string(role));
}

QString kinds_text(const CacheSpec& spec) {
    QStringList kinds;
    for (const LayerCache& layer : spec.layers) {
        for (const LayerKind kind : kinds_of(layer)) {
            kinds << kind_text(kind);
        }
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
        QString part = QStringLiteral("%1 × %2").arg(count.layers).arg(count.kind);
        if (count.window != 0) {
            part += QCoreApplication::translate("LayerKind", " (window %1)")
                        .arg(integer_text(count.window));
        }
        parts << part;
    }
    return parts.join(QStringLiteral(", "));
}

} // namespace kvcaliper::gui
