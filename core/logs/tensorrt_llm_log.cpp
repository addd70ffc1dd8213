// SPDX-License-Identifier: Apache-2.0
// Lines of TensorRT-LLM: cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp of 0.8 ("Allocate N
// bytes for k/v cache", then the tokens) and later ("Allocated N GiB for max tokens").
#include "core/logs/log_check.h"

#include "core/error.h"

namespace kvcaliper::logs {

namespace {

void add_reading(std::vector<Reading>& readings, const Question& question, const Pool& pool,
                 const NumericFormat& format, const std::string& note) {
    if (pool.layers == 0) {
        return;
    }
    CacheFormats formats = ideal_formats();
    formats.k = &format;
    formats.v = &format;
    formats.index = &format;
    std::vector<std::string> texts = question.rank_text();
    if (!note.empty()) {
        texts.push_back(note);
    }
    const std::int64_t tokens = question.count("tokens").value_or(0);
    readings.push_back({pool_bytes(pool, formats, tokens), std::move(texts),
                        pool.name + ": " + format_integer(pool.layers) + " layers × " +
                            format_integer(tokens) + " tokens"});
}

} // namespace

LogResult check_tensorrt_llm_line(const Question& question) {
    const Model rank = question.rank_model();
    const std::string& asked = question.asked.settings.k_format;
    std::vector<Reading> readings;
    for (const Pool& pool : {every_pool(rank.spec), latent_pool(rank.spec, false)}) {
        add_reading(readings, question, pool, numeric_format(asked == "auto" ? "f16" : asked), "");
        if (asked == "auto") {
            add_reading(readings, question, pool, numeric_format("fp8_e4m3"),
                        "with K and V in fp8, which the log does not say");
        }
    }
    const std::string quantity =
        format_integer(question.count("tokens").value_or(0)) + " tokens of paged KV cache";
    if (question.line.values.contains("size")) {
        return judge(question, quantity, "GiB", readings);
    }
    const auto bytes = question.word("bytes");
    if (!bytes || readings.empty()) {
        LogResult result =
            unchecked(question, quantity, "the log does not say how many bytes they take");
        if (!readings.empty()) {
            set_computed(result, readings.front().bytes.total());
        }
        return result;
    }
    return judge_whole(question, quantity, *bytes, "B", readings);
}

} // namespace kvcaliper::logs
