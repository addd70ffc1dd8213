// SPDX-License-Identifier: Apache-2.0
#include "app/cli/verifier.h"

#include "app/cli/child_process.h"
#include "core/error.h"
#include "core/report.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <ostream>
#include <vector>

namespace kvcaliper::cli {

namespace {

/// What has been heard from the child.
struct Heard {
    std::optional<JsonValue> result;
    std::string error;
};

std::string text_or(const JsonValue& json, std::string_view key, const std::string& otherwise) {
    const JsonValue* value = json.find(key);
    return value && value->if_string() ? *value->if_string() : otherwise;
}

void show_progress(const JsonValue& line, const std::string& label, Io& io) {
    const JsonValue* total = line.find("total");
    const JsonValue* done = line.find("done");
    if (!io.progress || !total || !total->if_integer() || !done || !done->if_integer()) {
        return;
    }
    const std::int64_t percent =
        100 * *done->if_integer() / std::max<std::int64_t>(1, *total->if_integer());
    io.err << "\r" << label << " " << percent << " %   " << std::flush;
}

void check_version(const JsonValue& hello) {
    const std::string theirs = text_or(hello, "version", "none");
    if (theirs != version) {
        throw Error("kvcaliper-verify: expected version " + std::string(version) + ", found " +
                        theirs,
                    ErrorKind::impossible_here);
    }
}

void hear(const std::string& text, const std::string& label, Heard& heard, Io& io) {
    const JsonValue line = parse_json(text, "kvcaliper-verify").value;
    const std::string type = text_or(line, "type", "");
    if (type == "hello") {
        check_version(line);
    } else if (type == "progress") {
        show_progress(line, label, io);
    } else if (type == "result") {
        heard.result = line;
    } else if (type == "error") {
        heard.error = text_or(line, "message", "an error without a message");
    }
}

std::vector<std::string> child_arguments(const std::string& record) {
    std::vector<std::string> arguments{"--quiet"};
    if (!record.empty()) {
        arguments.insert(arguments.end(), {"--record", record});
    }
    return arguments;
}

/// What run_child's code says about a child that gave no result.
std::string end_text(int code) {
    return code > 128 ? "death by signal " + std::to_string(code - 128) + " (" +
                            strsignal(code - 128) + ")"
                      : "an end with code " + std::to_string(code);
}

} // namespace

VerifierAnswer run_verifier(JsonValue request, const std::string& label, const std::string& record,
                            Io& io) {
    request.set("cancel_on_eof", true); // a front end that dies takes its run with it
    const std::string program = find_program("KVCALIPER_VERIFY", "kvcaliper-verify");
    Heard heard;
    const int code = run_child(program, child_arguments(record), dump_json(request, -1) + "\n",
                               [&](const std::string& line) { hear(line, label, heard, io); });
    if (io.progress) {
        io.err << "\r" << std::string(label.size() + 10, ' ') << "\r";
    }
    if (!heard.error.empty()) {
        throw Error(heard.error, code == bad_input ? ErrorKind::input : ErrorKind::impossible_here);
    }
    if (!heard.result) {
        throw Error(program + ": expected a result, found " + end_text(code),
                    ErrorKind::impossible_here);
    }
    return {std::move(*heard.result), std::min<int>(code, impossible_here)};
}

} // namespace kvcaliper::cli
