// SPDX-License-Identifier: GPL-3.0-or-later
// A report on a study: what is said, in which order, and nothing of how it looks. One function
// makes it from a study; report_html and report_pdf write it.
#pragma once

#include "app/gui/chart_data.h"
#include "app/gui/study.h"
#include "core/json_value.h"
#include "core/report.h"

#include <QDate>
#include <QString>
#include <QStringList>

#include <variant>
#include <vector>

namespace kvcaliper::gui {

struct ReportText {
    QString words;
};

/// A line for a shell, and what it does.
struct ReportCommand {
    QString caption;
    QString line;
};

struct ReportList {
    QStringList items;
};

/// A heading within a section.
struct ReportHeading {
    QString words;
};

struct ReportChart {
    ChartData chart;
};

struct ReportTable {
    Table table; ///< cells as they are shown
};

/// One line of a checklist.
struct ReportCheck {
    enum class State {
        settled, ///< ☑ known, or as wanted
        failed,  ///< ☒ stands in the way
        open,    ///< ☐ assumed or unknown: somebody has to look
    };
    State state = State::settled;
    QString topic;
    QString answer;
};
struct ReportChecklist {
    std::vector<ReportCheck> checks;
};

using ReportBlock = std::variant<ReportText, ReportHeading, ReportList, ReportCommand, ReportChart,
                                 ReportTable, ReportChecklist>;

struct ReportSection {
    QString title;
    std::vector<ReportBlock> blocks;
};

struct Report {
    QString title;
    QString answer; ///< in one sentence
    QString view;   ///< what the numbers are numbers of
    QString made;   ///< version and date
    std::vector<ReportSection> sections;
    JsonValue study; ///< the whole of it, to be opened again
};

/// What a report has to know beside the study.
struct ReportOrigin {
    QString study_name; ///< of its file; empty when it was never saved
    QString file;       ///< the report's own name, without a folder, for the commands in it
    QDate date;
    JsonValue document; ///< the study as its file holds it
};

Report make_report(const Study& study, const ReportOrigin& origin);

/// The checklist of a deployment: what all models share, then each model with the commands that
/// serve it.
ReportSection checklist_section(const Study& study);

/// "bf16 K, bf16 V"
QString formats_text(const CacheFormats& formats);
/// "1 sequence", "16 sequences", "any number of sequences"
QString sequences_words(std::int64_t sequences);

} // namespace kvcaliper::gui
