// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/rebuild.h"

#include "app/gui/chart_builder.h"
#include "app/gui/text.h"

#include <QRegularExpression>

#include <algorithm>

namespace kvcaliper::gui {

namespace {

QString shell_word(QString word) {
    static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_@%+=:,./-]+$"));
    if (plain.match(word).hasMatch()) {
        return word;
    }
    return u'\'' + word.replace(u'\'', QStringLiteral("'\\''")) + u'\'';
}

void add(QStringList& words, const char* option, const std::string& value,
         const std::string& usual) {
    if (value != usual) {
        words << QLatin1String(option) << text(value);
    }
}

QStringList named(const Study& study) {
    QStringList names;
    for (const StudyRow& row : study.rows()) {
        names << row.id;
    }
    return names;
}

QString kvcaliper(const QString& command, const QStringList& words) {
    return shell_line(QStringList{QStringLiteral("kvcaliper"), command} + words);
}

} // namespace

QString shell_line(const QStringList& words) {
    QStringList quoted;
    for (const QString& word : words) {
        quoted << shell_word(word);
    }
    return quoted.join(u' ');
}

QStringList settings_options(const Settings& settings) {
    const Settings usual;
    QStringList words = {QStringLiteral("-c"), QString::number(settings.context.count())};
    const auto number = [](std::int64_t value) { return std::to_string(value); };
    add(words, "-n", number(settings.sequences), number(usual.sequences));
    add(words, "--k", settings.k_format, usual.k_format);
    add(words, "--v", settings.v_format, usual.v_format);
    add(words, "--index", settings.index_format, usual.index_format);
    add(words, "--conv", settings.conv_format, usual.conv_format);
    add(words, "--state", settings.state_format, usual.state_format);
    add(words, "--encoder-tokens", number(settings.encoder_tokens.count()), "0");
    add(words, "--engine", settings.engine, usual.engine);
    for (const EngineSetting& option : settings.engine_options) {
        words << QStringLiteral("--engine-opt") << text(option.name + "=" + option.value);
    }
    add(words, "--tp", number(settings.parallel.tensor), "1");
    add(words, "--pp", number(settings.parallel.pipeline), "1");
    add(words, "--cp", number(settings.parallel.context), "1");
    add(words, "--dp", number(settings.parallel.data), "1");
    return words;
}

bool has_named_models(const Study& study) {
    const StudyState& state = study.state();
    return !state.models.isEmpty() &&
           std::none_of(state.models.begin(), state.models.end(),
                        [&](const QString& id) { return state.configs.contains(id); });
}

QString compare_command(const Study& study) {
    QStringList words = named(study) + settings_options(study.settings());
    if (study.effectiveBaseline() != study.state().models.value(0)) {
        words << QStringLiteral("--baseline") << study.effectiveBaseline();
    }
    return kvcaliper(QStringLiteral("compare"), words << QStringLiteral("--csv"));
}

QString curve_command(const Study& study) {
    return kvcaliper(
        QStringLiteral("curve"),
        named(study) + settings_options(study.settings()) +
            QStringList{QStringLiteral("--from"), QStringLiteral("1"), QStringLiteral("--to"),
                        QString::number(longest_context(study).count()), QStringLiteral("--points"),
                        QString::number(table_points), QStringLiteral("--csv")});
}

QStringList layer_commands(const Study& study) {
    QStringList commands;
    for (const StudyRow& row : study.rows()) {
        commands << kvcaliper(QStringLiteral("estimate"),
                              QStringList{row.id} + settings_options(study.settings()) +
                                  QStringList{QStringLiteral("--layers"), QStringLiteral("--csv")});
    }
    return commands;
}

QString fit_command(const Study& study, const StudyRow& row, const Settings& settings) {
    QStringList words = QStringList{row.id} + settings_options(settings);
    if (settings.sequences == 1) { // both are asked for: a yes or no
        words << QStringLiteral("-n") << QStringLiteral("1");
    }
    words << QStringLiteral("--gpu") << study.state().budget.device;
    const QString weights = study.state().budget.weights.value(row.id);
    if (!weights.isEmpty()) {
        words << QStringLiteral("--weights") << weights;
    }
    return kvcaliper(QStringLiteral("fit"), words);
}

QString verify_command(const Study& study, const StudyRow& row) {
    return kvcaliper(QStringLiteral("verify"),
                     QStringList{row.id} + settings_options(study.settings()));
}

QString chart_command(const QString& kind, const QString& file) {
    return shell_line({QStringLiteral("kvcaliper"), QStringLiteral("chart"), file,
                       QStringLiteral("--kind"), kind, QStringLiteral("-o"),
                       kind + QStringLiteral(".svg")});
}

QString table_command(const QString& tab, const QString& file) {
    return shell_line({QStringLiteral("kvcaliper-gui"), QStringLiteral("--table"),
                       tab + QStringLiteral(".csv"), QStringLiteral("--tab"), tab, file});
}

} // namespace kvcaliper::gui
