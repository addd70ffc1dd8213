// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"
#include "core/catalog.h"
#include "core/claim.h"

#include <algorithm>
#include <ostream>

namespace kvcaliper::cli {

std::string claims_path(const std::string& subject) {
    const std::string bundled = bundled_claims_path(subject.empty() ? "seed" : subject);
    return bundled.empty() ? subject : bundled;
}

namespace {

std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) {
        all += (all.empty() ? "" : "; ") + text;
    }
    return all;
}

std::int64_t count(const std::vector<ClaimResult>& results, ClaimVerdict verdict) {
    return std::count_if(results.begin(), results.end(),
                         [&](const ClaimResult& result) { return result.verdict == verdict; });
}

std::string summary(const std::vector<ClaimResult>& results) {
    return std::to_string(results.size()) +
           " claims: " + std::to_string(count(results, ClaimVerdict::consistent)) +
           " consistent, " + std::to_string(count(results, ClaimVerdict::only_if)) +
           " only under another reading, " + std::to_string(count(results, ClaimVerdict::refuted)) +
           " not consistent";
}

/// Claims are sentences: a paragraph each reads better than a table 200 columns wide.
void write_paragraphs(const std::vector<ClaimResult>& results, Io& io) {
    constexpr std::string_view indent = "                ";
    for (const ClaimResult& result : results) {
        std::string verdict(to_string(result.verdict));
        verdict.resize(indent.size(), ' ');
        io.out << verdict << result.claim.text << "\n"
               << indent << "claimed " << result.claimed << ", computed " << result.computed
               << "\n";
        for (const std::string& reading : result.reading) {
            io.out << indent << reading << "\n";
        }
        for (const std::string& note : result.notes) {
            io.out << indent << "note: " << note << "\n";
        }
    }
    io.out << "\n" << summary(results) << "\n";
}

Table claims_table(const std::vector<ClaimResult>& results) {
    Table table{{{"id"},
                 {"verdict"},
                 {"claim"},
                 {"claimed", true},
                 {"computed", true},
                 {"reading"},
                 {"notes"},
                 {"source"}},
                {}};
    for (const ClaimResult& result : results) {
        table.rows.push_back({result.claim.id, std::string(to_string(result.verdict)),
                              result.claim.text, result.claimed, result.computed,
                              joined(result.reading), joined(result.notes), result.claim.source});
    }
    return table;
}

} // namespace

int claims_command(const Options& options, Io& io) {
    const auto claims = read_claims(claims_path(options.subject));
    const auto catalog = bundled_models();
    std::vector<ClaimResult> results;
    for (const Claim& claim : claims) {
        results.push_back(check_claim(claim, catalog));
    }
    if (options.output.json) {
        io.out << dump_json(claims_json(results)) << "\n";
    } else if (options.output.style() == TableStyle::text) {
        write_paragraphs(results, io);
    } else {
        io.out << format_table(claims_table(results), options.output.style());
    }
    return count(results, ClaimVerdict::refuted) == 0 ? answered : answered_no;
}

} // namespace kvcaliper::cli
