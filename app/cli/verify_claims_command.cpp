// SPDX-License-Identifier: Apache-2.0
// Measures published claims: every model they speak of is run once per pair of formats, and each
// claim's quantity is taken from what those runs used.
#include "app/cli/commands.h"
#include "app/cli/verifier.h"
#include "core/catalog.h"
#include "core/claim_measurement.h"
#include "core/error.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

namespace kvcaliper::cli {

namespace {

/// Model, both formats and tokens without a cache: what one run of the verifier is of.
using RunKey = std::tuple<std::string, std::string, std::string, Tokens>;

struct ClaimRun {
    ModelPtr model;
    Settings settings;
    Tokens baseline{0};
    std::set<std::int64_t> contexts;
    JsonValue result; ///< null where it could not be run
    std::string verdict;
    std::string problem; ///< why it measured nothing
    Measurement measurement;
};

struct MeasuredBasis {
    ClaimBasis basis;
    std::optional<Ratio> measured;
    bool equal = false;
    std::string problem; ///< why nothing was measured
};

struct MeasuredClaim {
    ClaimResult claim;
    std::vector<MeasuredBasis> bases;
    std::string verdict;
};

constexpr const char* contradicted = "refuted by measurement";
constexpr const char* not_measured = "not measured";

CacheFormats formats_of(const ClaimBasis& basis) {
    Settings settings;
    settings.k_format = basis.k_format;
    settings.v_format = basis.v_format;
    return resolve_formats(settings, basis.model->plan);
}

RunKey key_of(const Claim& claim, const ClaimBasis& basis) {
    const CacheFormats formats = formats_of(basis);
    return {basis.model->plan.name, std::string(formats.k->name), std::string(formats.v->name),
            measured_baseline(claim)};
}

using Runs = std::map<RunKey, ClaimRun>;

void add_run(Runs& runs, const Claim& claim, const ClaimBasis& basis) {
    const RunKey key = key_of(claim, basis);
    ClaimRun& run = runs[key];
    run.model = basis.model;
    run.settings.k_format = std::get<1>(key);
    run.settings.v_format = std::get<2>(key);
    run.baseline = std::get<3>(key);
    for (const std::int64_t context : measured_contexts(claim, basis)) {
        run.contexts.insert(context);
    }
}

Runs runs_for(const std::vector<ClaimResult>& claims) {
    Runs runs;
    for (const ClaimResult& result : claims) {
        for (const ClaimBasis& basis : result.bases) {
            if (!unmeasurable(result.claim, basis).empty()) {
                continue;
            }
            add_run(runs, result.claim, basis);
            if (basis.against) {
                add_run(runs, result.claim, against_basis(basis));
            }
        }
    }
    return runs;
}

std::string first_text(const JsonValue& result, std::string_view key) {
    const JsonValue* texts = result.find(key);
    const bool any = texts && texts->if_array() && !texts->if_array()->empty();
    const JsonValue none;
    const JsonValue& first = any ? texts->if_array()->front() : none;
    return first.if_string() ? *first.if_string() : "";
}

/// What stops one run (too little memory, a format that the model can not store) is its claims'
/// business; a verifier that is not there, dies or is cancelled ends the whole question.
void measure(ClaimRun& run, const Options& options, const std::string& label, Io& io) {
    VerifyOptions verify = options.verify;
    verify.baseline = run.baseline;
    try {
        const std::vector<std::int64_t> contexts(run.contexts.begin(), run.contexts.end());
        run.result =
            run_verifier(verify_request(*run.model, run.settings, verify, contexts), label, "", io)
                .result;
    } catch (const Error& error) {
        if (error.kind() == ErrorKind::impossible_here) {
            throw;
        }
        run.problem = error.what();
        return;
    }
    run.verdict = run.result.string_at("verdict");
    if (run.verdict == "cancelled") {
        throw Error("cancelled", ErrorKind::impossible_here);
    }
    if (run.verdict == "refused") {
        run.problem = first_text(run.result, "reasons");
    } else {
        run.measurement = measurement_from_result(run.result);
    }
}

void measure_all(Runs& runs, const Options& options, Io& io) {
    std::size_t number = 0;
    for (auto& [key, run] : runs) {
        measure(run, options,
                "verifying " + run.model->plan.name + " (" + std::to_string(++number) + " of " +
                    std::to_string(runs.size()) + ")",
                io);
    }
}

MeasuredBasis measured(const Claim& claim, const ClaimBasis& basis, const Runs& runs) {
    MeasuredBasis out{basis, std::nullopt, false, unmeasurable(claim, basis)};
    if (!out.problem.empty()) {
        return out;
    }
    const ClaimRun& own = runs.at(key_of(claim, basis));
    const ClaimRun& other = basis.against ? runs.at(key_of(claim, against_basis(basis))) : own;
    out.problem = !own.problem.empty() ? own.problem : other.problem;
    try {
        if (out.problem.empty()) {
            out.measured = measured_value(claim, basis, own.measurement, other.measurement);
        }
    } catch (const Error& error) {
        out.problem = error.what();
    }
    out.equal = out.problem.empty() && out.measured == basis.value && own.verdict != "refuted" &&
                other.verdict != "refuted";
    return out;
}

MeasuredClaim measured(const ClaimResult& result, const Runs& runs) {
    MeasuredClaim claim{result, {}, std::string(to_string(result.verdict))};
    for (const ClaimBasis& basis : result.bases) {
        claim.bases.push_back(measured(result.claim, basis, runs));
    }
    const auto any = [&](auto condition) {
        return std::any_of(claim.bases.begin(), claim.bases.end(), condition);
    };
    if (any([](const MeasuredBasis& b) { return b.problem.empty() && !b.equal; })) {
        claim.verdict = contradicted;
    } else if (any([](const MeasuredBasis& b) { return !b.problem.empty(); })) {
        claim.verdict = not_measured;
    }
    return claim;
}

// ---- for people and for scripts ---------------------------------------------------------------

std::string measured_text(const Claim& claim, const MeasuredBasis& basis) {
    return basis.problem.empty() ? claim_value_text(claim, basis.measured) : "-";
}

/// A row for the claim as written and one for each reading it was measured under.
Table claims_table(const std::vector<MeasuredClaim>& claims) {
    Table table{{{"claim"},
                 {"reading"},
                 {"claimed", true},
                 {"computed", true},
                 {"measured", true},
                 {"verdict"}},
                {}};
    for (const MeasuredClaim& claim : claims) {
        for (const MeasuredBasis& basis : claim.bases) {
            const bool first = &basis == &claim.bases.front();
            table.rows.push_back({claim.claim.claim.id, basis.basis.text, claim.claim.claimed,
                                  claim_value_text(claim.claim.claim, basis.basis.value),
                                  measured_text(claim.claim.claim, basis),
                                  first ? claim.verdict : "true so"});
        }
    }
    return table;
}

std::int64_t count(const std::vector<MeasuredClaim>& claims, std::string_view verdict) {
    return std::count_if(claims.begin(), claims.end(),
                         [&](const MeasuredClaim& claim) { return claim.verdict == verdict; });
}

void write_notes(const std::vector<MeasuredClaim>& claims, Io& io) {
    for (const MeasuredClaim& claim : claims) {
        for (const std::string& reading : claim.claim.reading) {
            io.out << claim.claim.claim.id << ": " << reading << "\n";
        }
        for (const MeasuredBasis& basis : claim.bases) {
            if (!basis.problem.empty()) {
                io.out << claim.claim.claim.id << ": not measured: " << basis.problem << "\n";
            }
        }
    }
}

std::string device_text(const Runs& runs) {
    for (const auto& [key, run] : runs) {
        if (run.result.is_object()) {
            const JsonValue& device = run.result.at("device");
            return device.string_at("backend") + ": " + device.string_at("name");
        }
    }
    return "nowhere";
}

std::string summary(const std::vector<MeasuredClaim>& claims, const Runs& runs) {
    const std::int64_t unmeasured = count(claims, not_measured);
    const std::int64_t refuted = count(claims, contradicted);
    return std::to_string(claims.size()) + " claims, " + std::to_string(runs.size()) +
           (runs.size() == 1 ? " run on " : " runs on ") + device_text(runs) + ": " +
           std::to_string(static_cast<std::int64_t>(claims.size()) - unmeasured - refuted) +
           " measured as computed, " + std::to_string(refuted) + " measured otherwise, " +
           std::to_string(unmeasured) + " not measured";
}

JsonValue exact(const std::optional<Ratio>& value) {
    return value ? JsonValue(value->to_string()) : JsonValue();
}

JsonValue basis_json(const Claim& claim, const MeasuredBasis& basis) {
    JsonValue json;
    json.set("reading", basis.basis.text);
    json.set("model", basis.basis.model->plan.name);
    json.set("computed", claim_value_text(claim, basis.basis.value));
    json.set("computed_value", exact(basis.basis.value));
    json.set("measured", measured_text(claim, basis));
    json.set("measured_value", exact(basis.measured));
    json.set("equal", basis.problem.empty() ? JsonValue(basis.equal) : JsonValue());
    json.set("problem", basis.problem);
    return json;
}

JsonValue claim_json(const MeasuredClaim& measured_claim) {
    const ClaimResult& result = measured_claim.claim;
    JsonValue::Array bases;
    for (const MeasuredBasis& basis : measured_claim.bases) {
        bases.push_back(basis_json(result.claim, basis));
    }
    JsonValue json = claims_json({result}).array_at("claims").front();
    json.set("measured", measured_text(result.claim, measured_claim.bases.front()));
    json.set("verdict", measured_claim.verdict);
    json.set("bases", std::move(bases));
    return json;
}

JsonValue run_json(const ClaimRun& run) {
    JsonValue json;
    json.set("model", run.model->plan.name);
    json.set("k_format", run.settings.k_format);
    json.set("v_format", run.settings.v_format);
    json.set("contexts", JsonValue::Array(run.contexts.begin(), run.contexts.end()));
    json.set("baseline", run.baseline.count());
    json.set("problem", run.problem);
    json.set("result", run.result);
    return json;
}

JsonValue answer_json(const std::vector<MeasuredClaim>& claims, const Runs& runs) {
    JsonValue::Array claim_array, run_array;
    for (const MeasuredClaim& claim : claims) {
        claim_array.push_back(claim_json(claim));
    }
    for (const auto& [key, run] : runs) {
        run_array.push_back(run_json(run));
    }
    JsonValue json;
    json.set("schema", 1);
    json.set("command", "verify");
    json.set("claims", std::move(claim_array));
    json.set("runs", std::move(run_array));
    return json;
}

void write_answer(const std::vector<MeasuredClaim>& claims, const Runs& runs,
                  const Options& options, Io& io) {
    const TableStyle style = options.output.style();
    if (options.output.json) {
        io.out << dump_json(answer_json(claims, runs)) << "\n";
        return;
    }
    io.out << format_table(claims_table(claims), style);
    if (style != TableStyle::csv) {
        io.out << "\n";
        write_notes(claims, io);
        io.out << summary(claims, runs) << "\n";
    }
}

/// True where another machine could have measured what this one did not.
bool left_open(const MeasuredClaim& claim) {
    return std::any_of(claim.bases.begin(), claim.bases.end(), [&](const MeasuredBasis& basis) {
        return !basis.problem.empty() && unmeasurable(claim.claim.claim, basis.basis).empty();
    });
}

/// A claim that is false or measured otherwise answers no; a run that was not possible leaves the
/// question open.
int exit_code(const std::vector<MeasuredClaim>& claims) {
    if (count(claims, contradicted) + count(claims, to_string(ClaimVerdict::refuted)) > 0) {
        return answered_no;
    }
    return std::any_of(claims.begin(), claims.end(), left_open) ? impossible_here : answered;
}

/// Contexts and formats are the claims' own, and they need bytes that were used.
void refuse_other_runs(const Options& options) {
    const std::pair<bool, const char*> refused[] = {
        {options.verify.depth != "use", "--depth"},
        {options.verify.cartridge > Tokens(0), "--cartridge"},
        {options.verify.page > 0, "--paged"},
        {options.without_cache, "--baseline"},
        {!options.record.empty(), "--record"}};
    for (const auto& [given, name] : refused) {
        if (given) {
            throw Error(std::string(name) + ": expected a MODEL, found --claims");
        }
    }
}

} // namespace

int verify_claims_command(const Options& options, Io& io) {
    refuse_other_runs(options);
    const auto catalog = bundled_models();
    std::vector<ClaimResult> results;
    for (const Claim& claim : read_claims(claims_path(options.subject))) {
        results.push_back(check_claim(claim, catalog));
    }
    Runs runs = runs_for(results);
    measure_all(runs, options, io);
    std::vector<MeasuredClaim> claims;
    for (const ClaimResult& result : results) {
        claims.push_back(measured(result, runs));
    }
    write_answer(claims, runs, options, io);
    return exit_code(claims);
}

} // namespace kvcaliper::cli
