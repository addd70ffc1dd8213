// SPDX-License-Identifier: Apache-2.0
// Quality beside memory: what the verifier measures and what core counts, in one answer.
#include "tests/cli/run_cli.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <unistd.h>

namespace kvcaliper::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Quality : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("kvcaliper-quality-" + std::to_string(::getpid()));
        fs::create_directory(folder_);
    }
    void TearDown() override {
        fs::remove_all(folder_);
        ::unsetenv("KVCALIPER_VERIFY");
        ::unsetenv("KVCALIPER_GUI");
    }
    void stand_in(const char* variable, const std::string& script) {
        const fs::path program = folder_ / variable;
        std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
        fs::permissions(program, fs::perms::owner_all);
        ::setenv(variable, program.c_str(), 1);
    }
    fs::path folder_;
};

double number(const JsonValue& value) {
    return value.if_double() != nullptr ? *value.if_double()
                                        : static_cast<double>(*value.if_integer());
}

TEST_F(Quality, NeedsAModelThatKeepsKeysAndValues) {
    for (const char* model : {"deepseek-v3", "falcon-mamba-7b"}) {
        const Ran ran = run_cli({"quality", model});
        expect_one_line_error(ran);
        EXPECT_THAT(ran.err, HasSubstr("expected a model that keeps K and V, found none"));
    }
    expect_one_line_error(run_cli({"quality", "no-such-model"}));
    expect_one_line_error(run_cli({"quality", "--k", "q4_7"}));
}

TEST_F(Quality, WithoutTheVerifierItIsImpossible) {
    ::setenv("KVCALIPER_VERIFY", "/nonexistent/kvcaliper-verify", 1);
    expect_one_line_error(run_cli({"quality"}), impossible_here);
}

TEST_F(Quality, AChartTakesOneModel) {
    const Ran ran = run_cli({"chart", "gpt2", "llama-3-8b", "--kind", "quality", "-o", "a.svg"});
    expect_one_line_error(ran);
    EXPECT_THAT(ran.err, HasSubstr("--kind quality: expected one model"));
}

#if defined(KVCALIPER_VERIFY_PROGRAM)

class RealQuality : public Quality {
  protected:
    void SetUp() override {
        Quality::SetUp();
        ::setenv("KVCALIPER_VERIFY", KVCALIPER_VERIFY_PROGRAM, 1);
    }
};

TEST_F(RealQuality, EightBitsAreBetterSpentOnKeysAtTheSameBytes) {
    const JsonValue answer = run_cli({"quality", "-c", "512", "--json"}).json();
    EXPECT_EQ(answer.integer_at("tokens"), 512);
    EXPECT_EQ(answer.integer_at("key_width"), 128);
    double keys = 0, values = 0;
    std::set<std::string> formats;
    for (const JsonValue& pair : answer.array_at("pairs")) {
        const std::string k = pair.string_at("k"), v = pair.string_at("v");
        formats.insert(k);
        const bool apart = (k == "q8_0" && v == "q4_0") || (k == "q4_0" && v == "q8_0");
        if (apart) { // the seed's pair: llama.cpp's rows of 34 and 18 bytes per 32, 32 layers of 8
            EXPECT_EQ(pair.string_at("bytes_per_token"), "53248");
            EXPECT_EQ(pair.string_at("bytes_per_element"), "13/16");
            (k == "q8_0" ? keys : values) = number(pair.array_at("errors").front());
        }
    }
    EXPECT_EQ(formats.size(), 17u);
    EXPECT_GT(keys, 0);
    EXPECT_GT(values, 3 * keys);
}

TEST_F(RealQuality, RowsAreInTheOrderOfTheirBytesAndTheBestAreMarked) {
    const Ran ran = run_cli({"quality", "-c", "64", "--csv", "--v", "q8_0"});
    EXPECT_EQ(ran.code, answered) << ran.err;
    std::istringstream lines(ran.out);
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "K,V,B/element,B/token,\"large channels, peaky\",\"large channels, flat\","
                    "\"plain keys, peaky\",\"plain keys, flat\",best");
    double last = 0;
    int rows = 0;
    while (std::getline(lines, line)) {
        const std::size_t at = line.find(',', line.find("q8_0,", line.find(',')));
        const double element = std::stod(line.substr(at + 1));
        EXPECT_GE(element, last) << line;
        last = element;
        ++rows;
    }
    EXPECT_EQ(rows, 17);
    EXPECT_THAT(ran.out, HasSubstr("f32,q8_0,2.53125,165888,"));
}

TEST_F(RealQuality, SaysWhatTheSameBytesBuy) {
    const Ran ran = run_cli({"quality", "-c", "256"});
    EXPECT_EQ(ran.code, answered) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("at the same 53,248 B/token: q8_0 K with q4_0 V is off by "));
    EXPECT_THAT(ran.out, HasSubstr("outputs of 32 heads over 256 tokens"));
}

TEST_F(RealQuality, WhatPacksNothingYetIsNotTheBest) {
    const auto best = [](const char* tokens) {
        const Ran ran = run_cli({"quality", "-c", tokens, "--k", "kivi_2bit", "--v", "kivi_2bit"});
        EXPECT_EQ(ran.code, answered) << ran.err;
        return ran.out;
    };
    const std::string few = best("100");
    EXPECT_THAT(few, Not(HasSubstr("yes")));
    EXPECT_THAT(few,
                HasSubstr("100 of K and 100 of V (residual of 128) of which are still in f16"));
    const std::string many = best("300"); // 300 - 256 keys and 128 values are recent
    EXPECT_THAT(many, HasSubstr("yes"));
    EXPECT_THAT(many, HasSubstr("44 of K and 128 of V (residual of 128) of which"));
}

TEST_F(RealQuality, AFormatWithoutKernelsIsRefusedInOneLine) {
    const Ran ran = run_cli({"quality", "--k", "mxfp4"});
    expect_one_line_error(ran);
    EXPECT_THAT(ran.err, HasSubstr("expected a format that has kernels, found string \"mxfp4\""));
}

TEST_F(RealQuality, TheWindowsProgramIsGivenTheFiguresToDraw) {
    stand_in("KVCALIPER_GUI", "echo \"$@\"; head -n 1");
    const Ran ran = run_cli({"chart", "llama-3-8b", "--kind", "quality", "-o", "a.svg", "-c", "64",
                             "--k", "q8_0", "--theme", "dark"});
    EXPECT_EQ(ran.code, answered) << ran.err;
    const std::size_t end = ran.out.find('\n');
    EXPECT_EQ(ran.out.substr(0, end), "--chart a.svg --kind quality --theme dark");
    const JsonValue figures = parse_json(ran.out.substr(end), "figures").value;
    EXPECT_EQ(figures.string_at("command"), "quality");
    EXPECT_EQ(figures.array_at("pairs").size(), 17u);
}

#endif

} // namespace
} // namespace kvcaliper::cli
