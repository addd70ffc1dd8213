// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"
#include "core/catalog.h"
#include "core/error.h"
#include "core/fit.h"
#include "core/kind_notes.h"

#include <ostream>

namespace kvcaliper::cli {

namespace {

Device device_of(const FitOptions& fit) {
    if (fit.gpu.empty() == fit.memory.empty()) {
        throw Error(std::string("fit: expected --gpu NAME or --memory SIZE, found ") +
                    (fit.gpu.empty() ? "neither" : "both"));
    }
    if (!fit.gpu.empty()) {
        return find_device(fit.gpu);
    }
    Device device;
    device.name = "memory";
    device.memory = parse_bytes(fit.memory);
    device.usable = device.memory;
    device.display_name = "a device of " + format_bytes(device.memory);
    device.source = "--memory";
    return device;
}

std::optional<CartridgeQuestion> cartridge_of(const Options& options) {
    const FitOptions& fit = options.fit;
    if (!fit.cartridge && !fit.document && !fit.training_tokens) {
        return std::nullopt;
    }
    if (!fit.cartridge || !fit.document) {
        throw Error("--cartridge: expected with --document, the tokens it takes the place of");
    }
    return CartridgeQuestion{*fit.cartridge, *fit.document, options.settings.context,
                             fit.training_tokens};
}

FitQuestion question_of(const Options& options) {
    FitQuestion question;
    Deployment& deployment = question.deployment;
    deployment.model = load_model(options.models.front());
    deployment.settings = options.settings;
    deployment.device = device_of(options.fit);
    deployment.weights = weights_of(*deployment.model, options.fit.weights);
    deployment.utilization = options.fit.utilization;
    if (!options.fit.workspace.empty()) {
        deployment.workspace = parse_bytes(options.fit.workspace);
    }
    deployment.shared_prefix = options.fit.shared_prefix;
    question.context_given = options.context_given;
    question.sequences_given = options.sequences_given;
    question.cartridge = cartridge_of(options);
    return question;
}

/// Signed: a headroom may be missing.
std::string signed_bytes(std::int64_t bytes) {
    return bytes < 0 ? "-" + format_bytes(Bytes(-bytes)) : format_bytes(Bytes(bytes));
}

std::string sequences_text(std::int64_t sequences) {
    if (sequences >= any_sequences) {
        return "any number of sequences";
    }
    return format_integer(sequences) + (sequences == 1 ? " sequence" : " sequences");
}

std::string context_text(Tokens tokens) {
    return tokens >= any_context ? "any context" : format_integer(tokens.count()) + " tokens";
}

void add_budget_row(Table& table, const std::string& name, const Figure& figure, TableStyle style) {
    std::string why;
    for (const Term& term : figure.terms) {
        why += (why.empty() ? "" : "; ") + term.label;
    }
    const Bytes bytes = figure.bytes();
    table.rows.push_back({name, format_bytes(bytes), exact_cell(bytes.count(), style),
                          figure.terms.size() == 1 ? why : ""});
}

Table budget_table(const FitAnswer& answer, TableStyle style) {
    Table table{{{"on each device"}, {"size", true}, {"bytes", true}, {"by"}}, {}};
    const Budget& budget = answer.budget;
    const Bytes memory = answer.deployment.device.memory;
    table.rows.push_back(
        {"memory", format_bytes(memory), exact_cell(memory.count(), style),
         answer.deployment.device.nominal ? "nominal" : "as the driver reports it"});
    add_budget_row(table, "usable", budget.usable, style);
    add_budget_row(table, "weights", budget.weights, style);
    add_budget_row(table, "workspace", budget.workspace, style);
    const auto add = [&](const std::string& name, std::int64_t bytes, const std::string& why) {
        table.rows.push_back({name, signed_bytes(bytes), exact_cell(bytes, style), why});
    };
    add("left for the cache", budget.left_for_cache(),
        budget.cache_share == Ratio(1)
            ? ""
            : format_decimal(budget.cache_share, 2) + " of what is free then");
    add_budget_row(table, "cache", budget.cache, style);
    table.rows.back()[3] = budget.cache.name;
    add("headroom", budget.headroom(), "");
    return table;
}

std::string check_text(const FitAnswer& answer) {
    const Settings& settings = answer.deployment.settings;
    const std::string what =
        sequences_text(settings.sequences) + " of " + context_text(settings.context);
    if (answer.fits) {
        return "fits: " + what + ", " + signed_bytes(answer.budget.headroom()) +
               " to spare; at this context " + sequences_text(answer.most_sequences) +
               " fit, with this many sequences " + context_text(answer.longest_context);
    }
    if (answer.budget.left_for_cache() < 0) {
        return "does not fit: weights and workspace alone lack " +
               signed_bytes(-answer.budget.left_for_cache()) + " on each device";
    }
    return "does not fit: " + what + " lack " + signed_bytes(-answer.budget.headroom()) +
           "; at this context " + sequences_text(answer.most_sequences) +
           " fit, with this many sequences " + context_text(answer.longest_context);
}

std::string verdict_text(const FitAnswer& answer) {
    const Settings& settings = answer.deployment.settings;
    switch (answer.kind) {
    case FitKind::check:
        return check_text(answer);
    case FitKind::sequences:
        return answer.fits ? "most sequences of " + context_text(settings.context) + ": " +
                                 sequences_text(answer.most_sequences)
                           : "does not fit: not one sequence of " + context_text(settings.context) +
                                 "; the longest is " + context_text(answer.longest_context);
    case FitKind::context:
        return answer.fits ? "longest context of " + sequences_text(settings.sequences) + ": " +
                                 context_text(answer.longest_context)
                           : "does not fit: not one token of " + sequences_text(settings.sequences);
    case FitKind::table:
        return answer.fits ? "most sequences at each context and format"
                           : "does not fit: not one token in any format";
    }
    return "";
}

Table fit_table(const FitTable& fit, TableStyle style) {
    Table table{{{"context", true}}, {}};
    const bool exact = style == TableStyle::csv;
    for (const FormatPair& pair : fit.formats) {
        table.columns.push_back({pair.k == pair.v ? pair.k : pair.k + "/" + pair.v, true});
    }
    for (std::size_t row = 0; row < fit.contexts.size(); ++row) {
        std::vector<std::string> cells{exact ? std::to_string(fit.contexts[row].count())
                                             : format_tokens(fit.contexts[row])};
        for (const std::int64_t sequences : fit.sequences[row]) {
            cells.push_back(sequences >= any_sequences ? "any"
                            : exact                    ? std::to_string(sequences)
                                                       : format_integer(sequences));
        }
        table.rows.push_back(std::move(cells));
    }
    std::vector<std::string> last{"longest for one"};
    for (const Tokens tokens : fit.longest) {
        last.push_back(tokens >= any_context ? "any"
                       : exact               ? std::to_string(tokens.count())
                                             : format_integer(tokens.count()));
    }
    table.rows.push_back(std::move(last));
    return table;
}

Table suggestion_table(const FitAnswer& answer) {
    Table table{{{"what would make it fit"}, {"option"}, {"cache", true}, {"headroom", true}}, {}};
    for (const Suggestion& suggestion : answer.suggestions) {
        table.rows.push_back({suggestion.change, suggestion.option, format_bytes(suggestion.cache),
                              signed_bytes(suggestion.headroom)});
    }
    return table;
}

Table cartridge_table(const FitAnswer& answer, TableStyle style) {
    Table table{{{"document of each sequence"},
                 {"cache of all", true},
                 {"bytes", true},
                 {"most sequences", true}},
                {}};
    const auto add = [&](const std::string& name, const CartridgeWay& way) {
        const Bytes bytes = way.bytes.bytes();
        table.rows.push_back({name, format_bytes(bytes), exact_cell(bytes.count(), style),
                              way.most_sequences ? exact_cell(*way.most_sequences, style) : "any"});
    };
    add("in its own context", answer.cartridge->repeated);
    add("shared prefix", answer.cartridge->shared);
    add("cartridge", answer.cartridge->cartridges);
    return table;
}

void write_cartridge(const FitAnswer& answer, TableStyle style, std::ostream& out) {
    const CartridgeAnswer& cartridge = *answer.cartridge;
    out << "\ncartridge: " << format_bytes_exact(cartridge.slots.bytes())
        << " in place of a document of " << format_bytes_exact(cartridge.document.bytes()) << ", "
        << format_decimal(cartridge.document.value() / cartridge.slots.value(), 1)
        << "× less; required view, " << sequences_text(answer.deployment.settings.sequences)
        << "\n\n"
        << format_table(cartridge_table(answer, style), style);
    if (cartridge.break_even_queries) {
        out << "training is paid back after " << format_integer(*cartridge.break_even_queries)
            << " queries that would have read the document (a training token counts as three "
               "forward passes)\n";
    }
    out << "note: the 38.6× of the paper (arXiv 2506.06266) is its average at matched quality on "
           "long-context benchmarks, not a property of a number of slots\n\n"
        << note_text(topic_note(NoteTopic::cartridge));
}

void write_commands(const FitAnswer& answer, std::ostream& out) {
    out << "\n";
    for (const EngineCommand& command : answer.commands) {
        out << "# " << command.engine;
        if (command.headroom) {
            out << (*command.headroom < 0 ? ": does not fit under its own rules, lacks " +
                                                signed_bytes(-*command.headroom)
                                          : ": " + signed_bytes(*command.headroom) + " to spare");
        } else if (command.problem.empty()) {
            out << ": its reservation is not known here";
        }
        out << "\n" << (command.problem.empty() ? command.command : "# " + command.problem) << "\n";
    }
}

void write_naive(const FitAnswer& answer, std::ostream& out) {
    const Ratio real = answer.budget.estimate.growth.value();
    if (!answer.naive || real == Ratio(0) || answer.naive->value() <= real) {
        return;
    }
    out << "naive (" << explain(answer.naive->terms.front())
        << "): " << format_bytes(answer.naive->value()) << " per token, "
        << format_decimal(answer.naive->value() / real, 1) << "× of what it grows by\n";
}

void write_equal_types(const FitAnswer& answer, std::ostream& out) {
    if (answer.equal_types) {
        out << "on this device rather " << answer.equal_types->option << ": cache "
            << format_bytes_exact(answer.equal_types->cache) << ", "
            << (answer.equal_types->headroom < 0 ? "lacks " : "fits with ")
            << signed_bytes(std::abs(answer.equal_types->headroom))
            << (answer.equal_types->headroom < 0 ? "\n" : " to spare\n");
    }
}

std::string title(const FitAnswer& answer) {
    const Deployment& deployment = answer.deployment;
    const std::int64_t ranks = deployment.settings.parallel.ranks();
    return deployment.model->plan.display_name + " on " +
           (ranks == 1 ? "" : format_integer(ranks) + " × ") + deployment.device.display_name +
           (ranks == 1 ? "" : ", " + to_string(deployment.settings.parallel));
}

void write_text(const FitAnswer& answer, TableStyle style, std::ostream& out) {
    out << title(answer) << "\n" << heading(answer.budget.estimate) << "\n\n";
    out << format_table(budget_table(answer, style), style) << "\n" << verdict_text(answer) << "\n";
    if (answer.kind == FitKind::table) {
        out << "\n" << format_table(fit_table(answer.table, style), style);
    }
    if (!answer.suggestions.empty()) {
        out << "\n" << format_table(suggestion_table(answer), style);
    }
    write_equal_types(answer, out);
    write_naive(answer, out);
    if (answer.cartridge) {
        write_cartridge(answer, style, out);
    }
    if (!answer.commands.empty()) {
        write_commands(answer, out);
    }
    out << "note: device: " << answer.deployment.device.source << "\n";
    for (const std::string& note : answer.notes) {
        out << "note: " << note << "\n";
    }
}

} // namespace

int fit_command(const Options& options, Io& io) {
    const FitAnswer answer = answer_fit(question_of(options));
    const TableStyle style = options.output.style();
    if (options.output.json) {
        io.out << dump_json(fit_json(answer)) << "\n";
    } else if (style == TableStyle::csv) {
        io.out << format_table(answer.kind == FitKind::table ? fit_table(answer.table, style)
                                                             : budget_table(answer, style),
                               style);
    } else {
        write_text(answer, style, io.out);
    }
    return answer.fits ? answered : answered_no;
}

} // namespace kvcaliper::cli
