// SPDX-License-Identifier: Apache-2.0
// Bad input: each is exit 2 with one line and nothing on stdout.
#include "tests/cli/run_cli.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

namespace kvcaliper::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Input : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("kvcaliper-input-" + std::to_string(::getpid()));
        fs::create_directories(folder_ / "empty-folder");
    }
    void TearDown() override { fs::remove_all(folder_); }
    std::string write(const std::string& name, const std::string& text) {
        const fs::path path = folder_ / name;
        std::ofstream(path, std::ios::binary) << text;
        return path.string();
    }
    void expect_refused(const std::string& path, const std::string& part) {
        const Ran ran = run_cli({"estimate", path});
        expect_one_line_error(ran);
        EXPECT_THAT(ran.err, HasSubstr(part));
        expect_one_line_error(run_cli({"estimate", path, "--json"}));
    }
    std::string llama(const std::string& name, const std::string& layers) {
        return write(name, R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32)" +
                               layers + "}");
    }
    fs::path folder_;
};

TEST_F(Input, FilesThatAreNoConfig) {
    expect_refused((folder_ / "missing.json").string(), "found none");
    expect_refused(write("empty.json", ""), "an empty file");
    expect_refused(write("text.json", "hello"), "line 1, column 1");
    expect_refused(write("truncated.json", R"({"model_type":"llama",)"), "unexpected end of input");
    expect_refused(write("array.json", "[1]"), "an array of 1");
    expect_refused((folder_ / "empty-folder").string(), "config.json");
    expect_refused(write("binary.json", std::string("\x7f"
                                                    "ELF\2\1\1\0\0\0",
                                                    10)),
                   "a binary file");
}

TEST_F(Input, LayerCountsThatAreNone) {
    expect_refused(llama("negative.json", R"(,"num_hidden_layers":-1)"), "/num_hidden_layers");
    expect_refused(llama("string.json", R"(,"num_hidden_layers":"32")"), "string \"32\"");
    expect_refused(llama("huge.json", R"(,"num_hidden_layers":1e30)"), "1e+30");
    expect_refused(llama("missing-key.json", ""), "found nothing");
}

TEST_F(Input, UnknownTypeWithoutUsableKeys) {
    expect_refused(write("unknown.json", R"({"model_type":"foo","vocab_size":10})"), "\"foo\"");
}

TEST_F(Input, AHundredMegabytesOfBrackets) {
    expect_refused(write("brackets.json", std::string(100'000'000, '[')), "64 MiB");
}

TEST_F(Input, RowsThatDoNotDivideIntoBlocks) {
    // Phi-2's head width of 80 (catalogue 8, trap 26).
    const std::string phi = write("phi-2-like.json", R"({"model_type":"llama",
        "num_hidden_layers":32,"hidden_size":2560,"num_attention_heads":32})");
    const Ran ran = run_cli({"estimate", phi, "--kv", "q8_0"});
    expect_one_line_error(ran);
    EXPECT_THAT(ran.err, HasSubstr("phi-2-like"));
    EXPECT_THAT(ran.err, HasSubstr("32 does not divide 80"));
}

TEST_F(Input, AGenericReadingIsLoud) {
    const std::string path = write("mystery.json", R"({"model_type":"mystery",
        "num_hidden_layers":32,"hidden_size":4096,"num_attention_heads":32,
        "num_key_value_heads":8})");
    const Ran ran = run_cli({"estimate", path, "--json"});
    EXPECT_EQ(ran.code, answered);
    EXPECT_THAT(ran.err, HasSubstr("unknown model_type"));
    EXPECT_EQ(ran.json().at("model").string_at("confidence"), "generic");
}

TEST_F(Input, ClaimsFiles) {
    expect_one_line_error(run_cli({"claims", (folder_ / "none.json").string()}));
    expect_one_line_error(run_cli({"claims", write("bad.json", "[{}]")}));
    const Ran ran = run_cli({"claims", write("unknown-model.json", R"([{"id":"a","text":"t",
        "model":"no-such-model","quantity":"per_token","value":"3","unit":"KiB"}])")});
    expect_one_line_error(ran);
}

} // namespace
} // namespace kvcaliper::cli
