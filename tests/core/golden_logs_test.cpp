// SPDX-License-Identifier: Apache-2.0
// Memory lines that engines wrote, and figures others published of them: tests/golden/logs.tsv
// names the source of each. Where a quoted line gives a whole alone, its K and V were filled in by
// hand.
#include "core/catalog.h"
#include "core/engine_log.h"
#include "tests/core/test_models.h"

#include <fstream>
#include <sstream>

namespace kvcaliper {
namespace {

struct Row {
    std::string model;
    std::string context;
    std::string log;
    std::string verdicts;
    std::string why;
    std::string source;
};

std::string golden(const std::string& name) {
    return std::string(KVCALIPER_SOURCE) + "/tests/golden/" + name;
}

/// "\n" in a cell ends a line of the log.
std::string unescaped(std::string text) {
    for (std::size_t at = text.find("\\n"); at != std::string::npos; at = text.find("\\n", at)) {
        text.replace(at, 2, "\n");
    }
    return text;
}

std::vector<Row> read_rows() {
    std::ifstream file(golden("logs.tsv"));
    std::vector<Row> rows;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#') {
            continue;
        }
        std::istringstream cells(line);
        Row row;
        for (std::string* cell :
             {&row.model, &row.context, &row.log, &row.verdicts, &row.why, &row.source}) {
            std::getline(cells, *cell, '\t');
        }
        row.log = unescaped(row.log);
        rows.push_back(row);
    }
    return rows;
}

LogQuestion question_of(const Row& row) {
    LogQuestion question;
    if (row.model != "-") {
        question.model = row.model.starts_with("logs/") ? golden(row.model) : row.model;
    }
    if (row.context != "-") {
        question.settings.context = parse_tokens(row.context);
        question.context_given = true;
    }
    return question;
}

std::vector<LogResult> check(const Row& row, const std::string& log) {
    return check_engine_log(parse_engine_log(log, "test.log"), question_of(row));
}

std::string verdicts(const std::vector<LogResult>& results) {
    std::string text;
    for (const LogResult& result : results) {
        text += (text.empty() ? "" : ",") + std::string(to_string(result.verdict));
    }
    return text;
}

std::string reasons(const std::vector<LogResult>& results) {
    std::string text;
    for (const LogResult& result : results) {
        text += result.difference;
        for (const std::string& reason : result.explanation) {
            text += "; " + reason;
        }
    }
    return text;
}

TEST(GoldenLogs, PublishedLinesAreWhatTheModelsLeadTo) {
    const auto rows = read_rows();
    EXPECT_GE(rows.size(), 50u);
    for (const Row& row : rows) {
        ASSERT_FALSE(row.source.empty()) << row.log;
        const auto results = check(row, row.log);
        EXPECT_EQ(verdicts(results), row.verdicts) << row.log << "\nsource: " << row.source;
        EXPECT_NE(reasons(results).find(row.why), std::string::npos)
            << row.log << "\nsays: " << reasons(results) << "\nsource: " << row.source;
    }
}

/// The line with the first figure of a size one digit higher in its third place.
std::string with_a_wrong_figure(std::string log) {
    for (const char* unit : {" MiB", " GiB", "GiB.", " GB,", " bytes for"}) {
        const std::size_t at = log.find(unit);
        if (at == std::string::npos) {
            continue;
        }
        const std::size_t first = log.find_last_not_of("0123456789.,", at - 1) + 1;
        char& digit = log[first];
        digit = digit == '9' ? '1' : static_cast<char>(digit + 1);
        return log;
    }
    return log;
}

TEST(GoldenLogs, AWrongFigureIsUnexplained) {
    int wrong = 0;
    for (const Row& row : read_rows()) {
        const std::string log = with_a_wrong_figure(row.log);
        if (log != row.log) {
            ++wrong;
            EXPECT_NE(verdicts(check(row, log)).find("unexplained"), std::string::npos) << log;
        }
    }
    EXPECT_GE(wrong, 45);
}

TEST(GoldenLogs, TheDifferenceIsStated) {
    // 94 layers × 1 KV head of 128 on each of 4 ranks: 48,128 B per token × 178,880 = 8.018 GiB.
    for (const Row& row : read_rows()) {
        if (row.source.find("cause not established") != std::string::npos) {
            const LogResult result = check(row, row.log).front();
            EXPECT_EQ(result.computed_bytes, Bytes(8609136640));
            EXPECT_EQ(result.logged, "8.11 GiB");
            EXPECT_EQ(result.difference, "94.3 MiB more than computed (1.15 %)");
            return;
        }
    }
    FAIL() << "no such row";
}

// ---- published figures that are no log lines
// -----------------------------------------------------

struct StateFigure {
    const char* config;
    const char* k;
    const char* conv;
    const char* state;
    std::int64_t context;
    std::int64_t bytes;
    const char* source;
};

TEST(GoldenLogs, PublishedStateSizes) {
    const StateFigure figures[] = {
        {R"({"model_type":"nemotron_h","num_hidden_layers":24,"hidden_size":4096,
            "hybrid_override_pattern":"MMMMMMMMMMMMMMMMMMMMMMMM","num_attention_heads":32,
            "num_key_value_heads":8,"head_dim":128,"mamba_num_heads":128,"mamba_head_dim":64,
            "n_groups":8,"ssm_state_size":128,"conv_kernel":4})",
         "bf16", "bf16", "bf16", 8192, 51806208,
         "a tool's test constant of Nemotron-H-8B: Mamba-2 states of 24 layers in 2 bytes"},
        {R"({"model_type":"nemotron_h","num_hidden_layers":4,"hidden_size":4096,
            "hybrid_override_pattern":"****","num_attention_heads":32,
            "num_key_value_heads":8,"head_dim":128,"mamba_num_heads":128,"mamba_head_dim":64,
            "n_groups":8,"ssm_state_size":128,"conv_kernel":4})",
         "bf16", "bf16", "f32", 8192, 134217728, "the same: 4 attention layers at 8,192 tokens"},
    };
    for (const StateFigure& figure : figures) {
        Settings settings;
        settings.k_format = figure.k;
        settings.v_format = figure.k;
        settings.conv_format = figure.conv;
        settings.state_format = figure.state;
        settings.context = Tokens(figure.context);
        EXPECT_EQ(estimate(model_of(figure.config), settings).required.bytes().count(),
                  figure.bytes)
            << figure.source;
    }
}

TEST(GoldenLogs, FalconH1StatesInFloat32) {
    // A tool's test constant of Falcon-H1-7B: 44 layers, states and convolution in float32.
    Settings settings;
    settings.conv_format = "f32";
    settings.context = Tokens(1);
    const auto model = model_of(R"({"model_type":"falcon_h1","num_hidden_layers":44,
        "hidden_size":3072,"num_attention_heads":12,"num_key_value_heads":2,"head_dim":128,
        "mamba_d_ssm":3072,"mamba_n_heads":24,"mamba_d_head":128,"mamba_n_groups":1,
        "mamba_d_state":256,"mamba_d_conv":4})");
    Bytes states;
    for (const Term& term : estimate(model, settings).required.terms) {
        if (term.label.find("mamba2") != std::string::npos) {
            states += Bytes(term.value().to_integer());
        }
    }
    EXPECT_EQ(states, Bytes(140304384));
}

TEST(GoldenLogs, AMillionTokensOfLlama70B) {
    // NVIDIA/kvpress, README: Llama 3.1 70B at 1M tokens in float16 takes "up to 330GB".
    Settings settings;
    settings.context = Tokens(1'000'000);
    const Bytes bytes = estimate(load_model("llama-3.1-70b"), settings).required.bytes();
    EXPECT_EQ(bytes, Bytes(327680000000));
    EXPECT_LE(bytes, parse_bytes("330GB"));
}

} // namespace
} // namespace kvcaliper
