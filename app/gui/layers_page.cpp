// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/chart_builder.h"
#include "app/gui/chart_view.h"
#include "app/gui/pages.h"
#include "app/gui/text.h"
#include "core/stored_components.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStringList>
#include <QTextBrowser>
#include <QToolTip>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>

namespace kvcaliper::gui {

namespace {

constexpr int row_height = 52;
constexpr int share_height = 16; // more, where layers share
constexpr int frame_height = 130;

QString component_html(const Component& component, const Estimate& estimate) {
    const Bytes bytes = component_bytes(component, estimate.formats, estimate.settings.context);
    const QString rows =
        component.rows == 1 && component.rows_name.empty()
            ? QString()
            : QStringLiteral("%1 %2 × ").arg(component.rows).arg(text(component.rows_name));
    return QStringLiteral("<tr><td>%1</td><td>%2%3 %4</td><td>%5</td><td>%6</td>"
                          "<td align='right'>%7</td></tr>")
        .arg(role_text(component.role), rows.toHtmlEscaped())
        .arg(component.width)
        .arg(text(component.width_name).toHtmlEscaped(), text(component.units.to_string()),
             text(format_of(component, estimate.formats).name), text(format_bytes_exact(bytes)));
}

QString layer_link(std::size_t layer) {
    return QStringLiteral("<a href='layer:%1'>%1</a>").arg(layer);
}

/// Whose cache a layer reads, and who reads its own.
QString sharing_html(const CacheSpec& spec, int layer) {
    const auto& cache = spec.layers[static_cast<std::size_t>(layer)];
    if (cache.shared_with) {
        return LayersPage::tr("<p style='margin:0'>reads the cache of layer %1</p>")
            .arg(layer_link(static_cast<std::size_t>(*cache.shared_with)));
    }
    QStringList readers;
    for (std::size_t i = 0; i < spec.layers.size(); ++i) {
        if (spec.layers[i].shared_with == layer) {
            readers << layer_link(i);
        }
    }
    return readers.isEmpty() ? QString()
                             : LayersPage::tr("<p style='margin:0'>read by layers %1 too</p>")
                                   .arg(readers.join(QStringLiteral(", ")));
}

bool any_shares(const Study& study) {
    return std::any_of(study.rows().begin(), study.rows().end(), [](const StudyRow& row) {
        return row.model &&
               std::any_of(row.model->spec.layers.begin(), row.model->spec.layers.end(),
                           [](const LayerCache& layer) { return layer.shared_with.has_value(); });
    });
}

QSpinBox* make_layer_box(QWidget* parent) {
    auto* box = new QSpinBox(parent);
    box->setObjectName(QStringLiteral("layerIndex"));
    box->setAccessibleName(LayersPage::tr("Layer"));
    return box;
}

} // namespace

QString layer_html(const StudyRow& row, int layer) {
    if (!row.estimate) {
        return QStringLiteral("<p>%1</p>").arg(row.error.toHtmlEscaped());
    }
    const CacheSpec& spec = row.model->spec;
    if (layer < 0 || layer >= static_cast<int>(spec.layers.size())) {
        return {};
    }
    const LayerCache& cache = spec.layers[static_cast<std::size_t>(layer)];
    QString html =
        LayersPage::tr("<p style='margin:0'><b>%1, layer %2: %3</b><br>decided by %4</p>")
            .arg(row.name.toHtmlEscaped())
            .arg(layer)
            .arg(layer_text(cache), text(cache.decided_by).toHtmlEscaped());
    html += sharing_html(spec, layer);
    html += LayersPage::tr("<table cellspacing='0' cellpadding='3'><tr><th align='left'>component"
                           "</th><th align='left'>one unit</th><th align='left'>units</th>"
                           "<th align='left'>format</th><th align='right'>bytes at %1</th></tr>")
                .arg(integer_text(row.estimate->settings.context.count()));
    for_each_stored(cache.components, row.estimate->formats, [&](const Component& component) {
        html += component_html(component, *row.estimate);
    });
    return html + QStringLiteral("</table>");
}

LayersPage::LayersPage(Study& study, QWidget* parent)
    : LazyPage(study, parent), chart_(new ChartView(this)), model_(new QComboBox(this)),
      layer_(make_layer_box(this)), detail_(new QTextBrowser(this)) {
    model_->setObjectName(QStringLiteral("layerModel"));
    model_->setAccessibleName(tr("Model whose layer is shown"));
    detail_->setObjectName(QStringLiteral("layerDetail"));
    detail_->setAccessibleName(tr("What the layer keeps"));
    detail_->setMinimumHeight(80);
    detail_->setMaximumHeight(130);
    detail_->setOpenLinks(false);
    connect(detail_, &QTextBrowser::anchorClicked, this, &LayersPage::onLink);
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(chart_);
    auto* controls = new QHBoxLayout;
    controls->addWidget(model_);
    auto* label = new QLabel(tr("&Layer"), this);
    label->setBuddy(layer_);
    controls->addWidget(label);
    controls->addWidget(layer_);
    controls->addStretch(1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(scroll, 1);
    layout->addLayout(controls);
    layout->addWidget(detail_);
    connect(chart_, &ChartView::hovered, this, &LayersPage::onHover);
    connect(chart_, &ChartView::clicked, this, &LayersPage::onClick);
    connect(model_, &QComboBox::activated, this,
            [this] { study_.setCurrent(model_->currentData().toString()); });
    connect(layer_, &QSpinBox::valueChanged, this, &LayersPage::refreshDetail);
    connect(&study_, &Study::currentChanged, this, &LayersPage::refreshSeen);
}

void LayersPage::refresh() {
    const QSignalBlocker block_model(model_);
    const QSignalBlocker block_layer(layer_);
    model_->clear();
    for (const StudyRow& row : study_.rows()) {
        model_->addItem(row.name, row.id);
    }
    model_->setCurrentIndex(model_->findData(study_.current()));
    const StudyRow* row = study_.row(study_.current());
    const auto layers = row != nullptr && row->model ? row->model->spec.layers.size() : 1;
    layer_->setRange(0, static_cast<int>(layers) - 1);
    const int height = row_height + (any_shares(study_) ? share_height : 0);
    chart_->setMinimumHeight(frame_height + height * static_cast<int>(study_.rows().size()));
    chart_->setData(layers_chart(study_));
    refreshDetail();
}

void LayersPage::refreshDetail() {
    const StudyRow* row = study_.row(study_.current());
    detail_->setHtml(row != nullptr ? layer_html(*row, layer_->value()) : QString());
    chart_->setMarkedLayer(model_->currentIndex(), layer_->value());
}

void LayersPage::choose(const QString& id, int layer) {
    study_.setCurrent(id);
    layer_->setValue(layer);
}

void LayersPage::onLink(const QUrl& link) {
    bool number = false;
    const int layer = link.path().toInt(&number);
    if (link.scheme() == QLatin1String("layer") && number) {
        layer_->setValue(layer);
    }
}

void LayersPage::onHover(const ChartSpot& spot, const QPoint& global) {
    const StudyRow* row = study_.row(study_.state().models.value(spot.row));
    QToolTip::showText(global,
                       row != nullptr && spot.row >= 0 ? layer_html(*row, spot.layer) : QString());
}

void LayersPage::onClick(const ChartSpot& spot) {
    const QString id = study_.state().models.value(spot.row);
    const StudyRow* row = study_.row(id);
    if (row != nullptr && row->model && spot.layer >= 0 &&
        spot.layer < static_cast<int>(row->model->spec.layers.size())) {
        choose(id, spot.layer);
    }
}

} // namespace kvcaliper::gui
