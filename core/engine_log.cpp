// SPDX-License-Identifier: Apache-2.0
#include "core/engine_log.h"

#include "core/error.h"
#include "core/logs/log_patterns.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

namespace kvcaliper {

namespace {

using namespace logs;

constexpr std::size_t longest_line = 16u << 10; ///< what of a line is looked at
constexpr std::size_t shortest_line = 10;       ///< none of the patterns fits into less
constexpr std::size_t longest_shown = 200;
constexpr std::size_t most_ranks = 64; ///< that write the same line one after the other

const char* const known_lines =
    "a memory line of llama.cpp or ik_llama.cpp (\"llama_kv_cache: size = …\", \"KV self size\", "
    "\"llama_memory_recurrent: size = …\"), Ollama (\"kv cache\"), vLLM (\"GPU KV cache size\", "
    "\"# GPU blocks\"), SGLang (\"KV Cache is allocated\") or TensorRT-LLM (\"paged KV cache\")";

/// A piece of an untrusted line that can be printed anywhere.
std::string printable(std::string_view text) {
    std::string shown;
    for (const char c : text.substr(0, longest_shown)) {
        const bool plain = c >= ' ' && c <= '~';
        const bool space = c == ' ' && !shown.empty() && shown.back() == ' ';
        if (!space) {
            shown += plain ? c : c == '\t' ? ' ' : '?';
        }
    }
    return shown;
}

/// True for lines of which each gives the share of one device.
bool is_part(const MemoryLine& line) {
    return line.kind == LogLineKind::buffers || line.kind == LogLineKind::server_cache;
}

/// Reads a log line by line: facts are remembered, memory lines kept with what was known by then.
class LogReader {
  public:
    explicit LogReader(const std::string& source) {
        log_.source = source;
        log_.loads.emplace_back();
    }

    void read(std::string_view text);
    EngineLog finish();

  private:
    void read_line(std::string_view line);
    void take_fact(const FactPattern& pattern, LogFacts values);
    void keep_smallest_memory(LogFacts& values);
    bool begins_load(const FactPattern& pattern) const;
    void keep(const MemoryPattern& pattern, PatternMatch found, std::string_view line);
    bool is_repeated(const MemoryLine& line);

    EngineLog log_{};
    std::size_t number_ = 0;
    std::size_t first_of_load_ = 0; ///< index of its first memory line
    std::size_t first_of_context_ = 0;
    std::size_t memory_seen_at_ = 0;
    int context_ = 0;
};

/// Ollama's own lines stand before those of the program it starts for the same model.
bool LogReader::begins_load(const FactPattern& pattern) const {
    return pattern.starts_load &&
           std::any_of(log_.lines.begin() + static_cast<std::ptrdiff_t>(first_of_load_),
                       log_.lines.end(), [&](const MemoryLine& line) {
                           return line.engine != "Ollama" || pattern.engine == "Ollama";
                       });
}

void LogReader::take_fact(const FactPattern& pattern, LogFacts values) {
    if (begins_load(pattern)) {
        log_.loads.emplace_back();
        first_of_load_ = log_.lines.size();
        first_of_context_ = log_.lines.size();
        context_ = 0;
    }
    if (values.contains("n_ctx") && first_of_context_ < log_.lines.size()) {
        first_of_context_ = log_.lines.size();
        ++context_;
    }
    keep_smallest_memory(values);
    for (auto& [name, value] : values) {
        log_.loads.back()[name] = std::move(value);
    }
}

/// Of what the ranks of vLLM have, the least decides.
void LogReader::keep_smallest_memory(LogFacts& values) {
    const auto found = values.find("memory");
    if (found == values.end()) {
        return;
    }
    const auto before = log_.loads.back().find("memory");
    if (before != log_.loads.back().end() && memory_seen_at_ == log_.lines.size() &&
        parse_written_number(before->second).value < parse_written_number(found->second).value) {
        found->second = before->second;
    }
    memory_seen_at_ = log_.lines.size();
}

/// True for a line that another rank, or the same program twice, has written before.
bool LogReader::is_repeated(const MemoryLine& line) {
    if (is_part(line)) {
        return false;
    }
    const std::size_t size = log_.lines.size();
    for (std::size_t i = std::max(first_of_context_, size - std::min(size, most_ranks)); i < size;
         ++i) {
        MemoryLine& other = log_.lines[i];
        if (other.kind == line.kind && other.values == line.values) {
            ++other.times;
            return true;
        }
    }
    return false;
}

void LogReader::keep(const MemoryPattern& pattern, PatternMatch found, std::string_view line) {
    MemoryLine memory;
    memory.number = number_;
    memory.kind = pattern.kind;
    memory.engine = pattern.engine;
    memory.text = printable(line.substr(found.begin, found.end - found.begin));
    memory.values = std::move(found.values);
    memory.known = log_.loads.back();
    memory.load = log_.loads.size() - 1;
    memory.context = context_;
    if (is_repeated(memory)) {
        return;
    }
    if (log_.lines.size() == max_memory_lines) {
        throw Error(log_.source + ": line " + std::to_string(number_) + ": expected at most " +
                    format_integer(max_memory_lines) + " memory lines, found more");
    }
    log_.lines.push_back(std::move(memory));
}

void LogReader::read_line(std::string_view line) {
    line = line.substr(0, longest_line);
    for (const FactPattern& pattern : fact_patterns()) {
        if (auto found = match(pattern.text, line)) {
            take_fact(pattern, std::move(found->values));
        }
    }
    // vLLM writes two of them on one line since 2026.
    std::set<LogLineKind> seen;
    for (const MemoryPattern& pattern : memory_patterns()) {
        if (!seen.empty() && (pattern.engine != "vLLM" || seen.contains(pattern.kind))) {
            continue;
        }
        if (auto found = match(pattern.text, line)) {
            seen.insert(pattern.kind);
            keep(pattern, std::move(*found), line);
        }
    }
}

void LogReader::read(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        ++number_;
        if (const std::string_view line = text.substr(0, end); line.size() >= shortest_line) {
            read_line(line);
        }
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
}

bool names_device_of(const MemoryLine& line, const MemoryLine& next) {
    const auto device = next.values.find("device");
    return device == next.values.end() ||
           line.values.at("device").find(device->second) != std::string::npos;
}

bool adds_up(const MemoryLine& line, const MemoryLine& next) {
    return is_part(line) && line.kind == next.kind && line.load == next.load &&
           line.context == next.context && line.known == next.known &&
           line.values.size() == next.values.size() &&
           (line.kind == LogLineKind::buffers || !names_device_of(line, next));
}

/// Buffers say less than the line that follows them with their sum, cells and types.
bool is_summed_up(const MemoryLine& buffers, const std::vector<MemoryLine>& lines,
                  std::size_t next) {
    return buffers.kind == LogLineKind::buffers && next < lines.size() &&
           lines[next].load == buffers.load && lines[next].context == buffers.context &&
           lines[next].kind != LogLineKind::buffers && lines[next].kind != LogLineKind::states;
}

/// Adds the figures of one line to another: "a + b", each with its own last digit.
void add_up(MemoryLine& sum, const MemoryLine& part) {
    for (auto& [name, value] : sum.values) {
        value += " + " + part.values.at(name);
    }
}

EngineLog LogReader::finish() {
    std::vector<MemoryLine> kept;
    for (std::size_t i = 0; i < log_.lines.size();) {
        MemoryLine line = std::move(log_.lines[i]);
        for (++i; i < log_.lines.size() && adds_up(line, log_.lines[i]); ++i) {
            add_up(line, log_.lines[i]);
        }
        if (!is_summed_up(line, log_.lines, i)) {
            kept.push_back(std::move(line));
        }
    }
    if (kept.empty()) {
        throw Error(log_.source + ": expected " + known_lines + ", found none");
    }
    log_.lines = std::move(kept);
    return std::move(log_);
}

using Stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::string read_stream(std::FILE* stream, const std::string& name) {
    std::string text;
    std::vector<char> chunk(1u << 16);
    std::size_t count = 0;
    while ((count = std::fread(chunk.data(), 1, chunk.size(), stream)) > 0) {
        text.append(chunk.data(), count);
        if (text.size() > max_log_bytes) {
            throw Error(name + ": expected at most 64 MiB of log, found more");
        }
    }
    if (std::ferror(stream) != 0) {
        throw Error(name + ": expected a log, found a file that can not be read");
    }
    return text;
}

} // namespace

EngineLog parse_engine_log(std::string_view text, const std::string& source) {
    LogReader reader(source);
    reader.read(text);
    return reader.finish();
}

EngineLog read_engine_log(const std::string& path) {
    if (path == "-") {
        return parse_engine_log(read_stream(stdin, "standard input"), "standard input");
    }
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
        throw Error(path + ": expected a log, found nothing of that name");
    }
    if (std::filesystem::is_directory(path, error)) {
        throw Error(path + ": expected a log, found a folder");
    }
    const Stream stream(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!stream) {
        throw Error(path + ": expected a log, found a file that can not be read");
    }
    return parse_engine_log(read_stream(stream.get(), path), path);
}

std::string_view to_string(LogVerdict verdict) {
    switch (verdict) {
    case LogVerdict::equal:
        return "equal";
    case LogVerdict::explained:
        return "explained";
    case LogVerdict::unexplained:
        return "unexplained";
    case LogVerdict::unchecked:
        return "unchecked";
    }
    return "";
}

} // namespace kvcaliper
