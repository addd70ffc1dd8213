// SPDX-License-Identifier: Apache-2.0
#include "core/engine_log.h"

#include <algorithm>

namespace kvcaliper {

namespace {

/// Words that change neither layers nor widths: tuning, containers, number formats of weights, and
/// dates of later releases of the same architecture.
constexpr std::string_view passed_over[] = {
    "instruct", "it",   "chat", "base",   "thinking", "exp",   "hf",   "gguf",    "ud",
    "imat",     "i1",   "meta", "fp8",    "bf16",     "f16",   "fp16", "awq",     "gptq",
    "int4",     "int8", "4bit", "8bit",   "mxfp4",    "nvfp4", "nl",   "k",       "m",
    "s",        "l",    "xl",   "xs",     "xxs",      "0",     "1",    "dynamic", "w4a16",
    "w8a8",     "qat",  "of",   "latest", "0324",     "0528",  "0905", "2507",    "preview",
    "r4",       "ks",   "kss",  "kt",     "kl",       "pt"};

bool is_digits(std::string_view word) {
    return std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "q4", "iq2", "00001": a type of weights, or a part of a split file.
bool is_quantisation(std::string_view word) {
    if (word.size() == 5 && is_digits(word)) {
        return true;
    }
    const std::size_t at = word.starts_with("iq") ? 2 : word.starts_with("q") ? 1 : 0;
    return at > 0 && word.size() == at + 1 && is_digits(word.substr(at));
}

bool tells_apart(std::string_view word) {
    return std::find(std::begin(passed_over), std::end(passed_over), word) ==
               std::end(passed_over) &&
           !is_quantisation(word);
}

/// The words of a name in lower case, split at everything but letters, digits and the point of a
/// version.
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    for (const char c : name) {
        const bool digit = c >= '0' && c <= '9';
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (digit || c == '.' || letter) {
            words.back() += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    return words;
}

std::vector<std::string> telling_words(std::string_view name) {
    std::vector<std::string> telling;
    for (const std::string& word : words_of(name)) {
        if (!word.empty() && tells_apart(word)) {
            telling.push_back(word);
        }
    }
    return telling;
}

std::string_view without_end(std::string_view name, std::string_view end) {
    return name.ends_with(end) ? name.substr(0, name.size() - end.size()) : name;
}

/// "Llama-3.1-8B" of "meta-llama/Llama-3.1-8B", of a path and of a folder of the hub's cache.
std::string_view last_name(std::string_view name) {
    const std::size_t hub = name.find("models--");
    if (hub != std::string_view::npos) {
        name = name.substr(hub + 8);
        name = name.substr(0, name.find_first_of("/\\"));
        const std::size_t vendor = name.find("--");
        return vendor == std::string_view::npos ? name : name.substr(vendor + 2);
    }
    while (name.ends_with('/')) {
        name.remove_suffix(1);
    }
    const std::size_t slash = name.find_last_of("/\\");
    return without_end(slash == std::string_view::npos ? name : name.substr(slash + 1), ".gguf");
}

} // namespace

std::string bundled_model_for(std::string_view name, const std::vector<CatalogEntry>& catalog) {
    const auto words = telling_words(last_name(name));
    if (words.empty()) {
        return "";
    }
    for (const CatalogEntry& entry : catalog) {
        const std::string_view hub =
            std::string_view(entry.source).substr(0, entry.source.find(' '));
        if (telling_words(entry.name) == words || telling_words(entry.display_name) == words ||
            telling_words(last_name(hub)) == words) {
            return entry.name;
        }
    }
    return "";
}

} // namespace kvcaliper
