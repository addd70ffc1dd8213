// SPDX-License-Identifier: Apache-2.0
// kvcaliper-verify: one request on standard input, JSON lines on standard output.
#include "core/error.h"
#include "core/verify_record.h"
#include "kernels/protocol.h"
#include "kernels/quality.h"
#include "kernels/verify_runner.h"

#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace {

using namespace kvcaliper;
using namespace kvcaliper::kernels;

std::atomic<bool> cancel{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void on_signal(int) {
    cancel = true;
}

constexpr const char* help =
    "kvcaliper-verify: proves a KV-cache prediction by running real decode steps.\n"
    "\n"
    "Reads one JSON request on standard input, writes one JSON object per line on standard\n"
    "output. `kvcaliper verify` writes such a request for a model.\n"
    "\n"
    "  --backend auto|cuda|cpu   where to run, instead of what the request says\n"
    "  --record FILE             also write the result, with the request, to FILE\n"
    "  --quiet                   errors as JSON lines alone, nothing on standard error\n"
    "  --version                 print the version\n"
    "  --help                    print this\n"
    "\n"
    "Exit status: 0 equal, 1 refuted, 2 bad request, 3 refused, impossible here or cancelled.\n";

struct Options {
    std::optional<std::string> backend, record;
    bool quiet = false;
    std::optional<int> done; ///< exit at once with this status
};

Options usage_error(const std::string& message) {
    std::fprintf(stderr, "kvcaliper-verify: %s\n", message.c_str());
    Options options;
    options.done = 2;
    return options;
}

Options read_options(int count, char** arguments) {
    Options options;
    for (int i = 1; i < count; ++i) {
        const std::string name = arguments[i];
        if (name == "--help" || name == "-h" || name == "--version") {
            std::fputs(name == "--version" ? "kvcaliper-verify " KVCALIPER_VERSION "\n" : help,
                       stdout);
            options.done = 0;
            return options;
        }
        if (name == "--quiet") {
            options.quiet = true;
            continue;
        }
        if (name != "--backend" && name != "--record")
            return usage_error("unknown option " + name + "; see --help");
        if (i + 1 == count)
            return usage_error(name + ": expected a value, found none");
        (name == "--backend" ? options.backend : options.record) = arguments[++i];
    }
    return options;
}

std::unique_ptr<Backend> make_backend(const std::string& name, std::string& note) {
    if (name == "cpu")
        return make_cpu_backend();
    try {
        return make_cuda_backend();
    } catch (const Error& error) {
        if (name == "cuda" || error.kind() == ErrorKind::input)
            throw;
        note = std::string("no GPU: ") + error.what();
        return make_cpu_backend();
    }
}

/// Ends with its sender: the kernel tells when the parent dies, the pipe when it is closed.
void follow_parent() {
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
}

JsonValue hello(const Backend& backend) {
    JsonValue line;
    line.set("type", "hello");
    line.set("version", KVCALIPER_VERSION);
    line.set("device", to_json(backend.info()));
    return line;
}

void write_record(const std::string& path, const VerifyRequest& request,
                  const VerifyResult& result) {
    const JsonValue record =
        verify_record_json(to_json(request), to_json(result), record_date_now());
    write_file(path, dump_json(record) + "\n");
}

/// The backend named on the command line, before anything is read: "cuda" without a GPU ends here.
std::unique_ptr<Backend> named_backend(const Options& options, std::string& note) {
    return options.backend ? make_backend(*options.backend, note) : nullptr;
}

JsonValue progress_line(std::int64_t done, std::int64_t total) {
    JsonValue line;
    line.set("type", "progress");
    line.set("done", done);
    line.set("total", total);
    return line;
}

/// Always on the CPU: what is measured is the arithmetic, which is the same everywhere.
int run_quality(const JsonValue& json, LineWriter& lines) {
    const QualityRequest request = quality_request_from_json(json);
    std::optional<HangupWatch> watch;
    if (request.cancel_on_eof) {
        follow_parent();
        watch.emplace(STDIN_FILENO, cancel);
    }
    const std::unique_ptr<Backend> backend = make_cpu_backend();
    lines.write(hello(*backend));
    const QualityResult result = measure_quality(
        request, *backend,
        [&](std::int64_t done, std::int64_t total) { lines.write(progress_line(done, total)); },
        &cancel);
    lines.write(to_json(result));
    return result.cancelled ? exit_code(Verdict::cancelled) : 0;
}

int run(const Options& options, LineWriter& lines) {
    std::string note;
    std::unique_ptr<Backend> backend = named_backend(options, note);
    const std::optional<std::string> text = read_request(STDIN_FILENO, cancel);
    if (!text)
        return exit_code(Verdict::cancelled);
    const JsonValue json = parse_json(*text, "request").value;
    if (asks_for_quality(json))
        return run_quality(json, lines);
    VerifyRequest request = verify_request_from_json(json);
    if (options.backend)
        request.backend = *options.backend;
    check_request(request);
    std::optional<HangupWatch> watch;
    if (request.cancel_on_eof) {
        follow_parent();
        watch.emplace(STDIN_FILENO, cancel);
    }
    if (!backend)
        backend = make_backend(request.backend, note);
    lines.write(hello(*backend));
    Hooks hooks;
    hooks.event = [&](const JsonValue& event) { lines.write(event); };
    hooks.cancel = &cancel;
    VerifyResult result = verify(request, *backend, hooks);
    if (!note.empty())
        result.notes.push_back(note);
    if (options.record)
        write_record(*options.record, request, result);
    lines.write(to_json(result));
    return exit_code(result.verdict);
}

int fail(LineWriter& lines, bool quiet, const char* code, const std::string& message, int status) {
    JsonValue line;
    line.set("type", "error");
    line.set("code", code);
    line.set("message", message);
    lines.write(line);
    if (!quiet)
        std::fprintf(stderr, "kvcaliper-verify: %s\n", message.c_str());
    return status;
}

void handle_signals() {
    struct sigaction action {};
    action.sa_handler = on_signal; // no SA_RESTART: a read must return
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

} // namespace

int main(int count, char** arguments) {
    const Options options = read_options(count, arguments);
    if (options.done)
        return *options.done;
    handle_signals();
    LineWriter lines(STDOUT_FILENO, cancel);
    try {
        return run(options, lines);
    } catch (const Error& error) {
        const bool input = error.kind() == ErrorKind::input;
        return fail(lines, options.quiet, input ? "bad_request" : "impossible_here", error.what(),
                    input ? 2 : 3);
    } catch (const std::bad_alloc&) {
        return fail(lines, options.quiet, "out_of_memory", "out of memory", 3);
    } catch (const std::exception& error) {
        return fail(lines, options.quiet, "failed", error.what(), 3);
    }
}
