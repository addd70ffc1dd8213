// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/scenario_panel.h"

#include "app/gui/format_box.h"
#include "app/gui/log_slider.h"
#include "app/gui/model_list.h"
#include "app/gui/table_text.h"
#include "app/gui/words_filter.h"

#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QVBoxLayout>

namespace kvcaliper::gui {

namespace {

constexpr std::int64_t most_context = std::int64_t{1} << 20;
constexpr std::int64_t most_sequences = 1024;

} // namespace

ScenarioPanel::ScenarioPanel(Study& study, QWidget* parent)
    : QWidget(parent), study_(study), models_(new ModelList(study, this)),
      filter_(new WordsFilter(sort_role, this)), search_(new QLineEdit(this)),
      list_(new QListView(this)), ticked_(new QLabel(this)),
      context_(new LogSlider(tr("Conte&xt, tokens"), most_context, this)),
      sequences_(new LogSlider(tr("Se&quences"), most_sequences, this)) {
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(makeModelPart(), 1);
    layout->addWidget(makeSettingsPart());
    connect(&study_, &Study::changed, this, &ScenarioPanel::refresh);
    refresh();
    showTicked();
}

QWidget* ScenarioPanel::makeModelPart() {
    filter_->setSourceModel(models_);
    search_->setObjectName(QStringLiteral("modelSearch"));
    search_->setPlaceholderText(tr("Search models"));
    search_->setAccessibleName(tr("Search models"));
    search_->setClearButtonEnabled(true);
    search_->setAcceptDrops(false); // a file dropped here is a model, not a search
    list_->setObjectName(QStringLiteral("modelList"));
    list_->setAccessibleName(tr("Models"));
    list_->setModel(filter_);
    list_->setUniformItemSizes(true);
    list_->setMinimumHeight(120);
    connect(search_, &QLineEdit::textChanged, filter_, &WordsFilter::setWords);
    auto* part = new QWidget(this);
    auto* label = new QLabel(tr("&Models"), part);
    label->setBuddy(search_);
    auto* layout = new QVBoxLayout(part);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(label);
    layout->addWidget(search_);
    layout->addWidget(list_, 1);
    layout->addWidget(ticked_);
    return part;
}

QWidget* ScenarioPanel::makeSettingsPart() {
    context_->setObjectName(QStringLiteral("context"));
    sequences_->setObjectName(QStringLiteral("sequences"));
    connect(context_, &LogSlider::edited, &study_,
            [this](qint64 value, Study::Merge merge) { study_.setContext(Tokens(value), merge); });
    connect(sequences_, &LogSlider::edited, &study_,
            [this](qint64 value, Study::Merge merge) { study_.setSequences(value, merge); });
    for (LogSlider* slider : {context_, sequences_}) {
        connect(slider, &LogSlider::dragStarted, &study_, &Study::endMerge);
    }
    auto* part = new QWidget(this);
    auto* layout = new QFormLayout(part);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    layout->addRow(context_);
    layout->addRow(sequences_);
    addFormats(*layout);
    return part;
}

void ScenarioPanel::addFormats(QFormLayout& layout) {
    const struct {
        FormatClass format_class;
        const char* name;
        QString label;
        QString spoken;
    } boxes[] = {
        {FormatClass::k, "kFormat", tr("&K format"), tr("K format")},
        {FormatClass::v, "vFormat", tr("&V format"), tr("V format")},
        {FormatClass::index, "indexFormat", tr("&Index keys"), tr("Format of index keys")},
        {FormatClass::conv, "convFormat", tr("Convolutio&n"), tr("Format of convolution history")},
        {FormatClass::state, "stateFormat", tr("&States"), tr("Format of recurrent states")},
    };
    for (const auto& box : boxes) {
        auto* format = new FormatBox(study_, box.format_class, this);
        format->setObjectName(QLatin1String(box.name));
        format->setAccessibleName(box.spoken);
        layout.addRow(box.label, format);
    }
}

void ScenarioPanel::refresh() {
    context_->setValue(study_.settings().context.count());
    sequences_->setValue(study_.settings().sequences);
    ticked_->setText(models_->problem().isEmpty() ? tr("%1 of %2 ticked; drop a config.json here")
                                                        .arg(study_.state().models.size())
                                                        .arg(models_->rowCount())
                                                  : models_->problem());
    ticked_->setWordWrap(true);
}

void ScenarioPanel::showTicked() {
    for (int row = 0; row < filter_->rowCount(); ++row) {
        const QModelIndex index = filter_->index(row, 0);
        if (study_.state().models.contains(index.data(id_role).toString())) {
            list_->scrollTo(index, QAbstractItemView::PositionAtTop);
            return;
        }
    }
}

void ScenarioPanel::addFound(const std::vector<FoundModel>& found) {
    models_->addFound(found);
    refresh();
}

void ScenarioPanel::focusSearch() {
    search_->setFocus(Qt::ShortcutFocusReason);
    search_->selectAll();
}

} // namespace kvcaliper::gui
