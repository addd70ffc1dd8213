// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/run_cli.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

namespace kvcaliper::cli {
namespace {

using testing::HasSubstr;

/// A log in a file of its own, gone with the object.
class LogFile {
  public:
    explicit LogFile(const std::string& text)
        : path_(std::filesystem::temp_directory_path() /
                ("kvcaliper-log-" + std::to_string(::getpid()) + ".log")) {
        std::ofstream(path_, std::ios::binary) << text;
    }
    ~LogFile() { std::filesystem::remove(path_); }
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    std::string path() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

const char* const vllm_log = "model='meta-llama/Llama-3.1-8B-Instruct'\n"
                             "reserved for KV Cache is 3.81GiB.\n# GPU blocks: 1952\n";

Ran run_log(const std::string& text, std::vector<std::string> more = {}) {
    const LogFile file(text);
    std::vector<std::string> arguments{"log", file.path()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_cli(arguments);
}

TEST(LogCommand, ATableAndASummary) {
    const Ran ran = run_log(vllm_log, {"--model", "llama-3.1-8b"});
    EXPECT_EQ(ran.code, answered) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("1,952 blocks"));
    EXPECT_THAT(ran.out, HasSubstr("3.81 GiB"));
    EXPECT_THAT(ran.out, HasSubstr("1 figure: 1 equal, 0 explained, 0 unexplained"));
}

TEST(LogCommand, ExitOneWhereSomethingIsUnexplained) {
    // 1,952 blocks of 2 MiB are 3.81 GiB, not 4.81.
    const Ran ran = run_log("reserved for KV Cache is 4.81GiB.\n# GPU blocks: 1952\n",
                            {"--model", "llama-3.1-8b"});
    EXPECT_EQ(ran.code, answered_no);
    EXPECT_THAT(ran.out, HasSubstr("1021 MiB more than computed"));
}

TEST(LogCommand, Json) {
    const Ran ran = run_log(vllm_log, {"--model", "llama-3.1-8b", "--json"});
    const JsonValue json = ran.json();
    EXPECT_EQ(json.integer_at("schema"), 1);
    EXPECT_EQ(json.string_at("command"), "log");
    const JsonValue& line = json.array_at("lines").at(0);
    EXPECT_EQ(line.integer_at("line"), 3);
    EXPECT_EQ(line.string_at("engine"), "vLLM");
    EXPECT_EQ(line.string_at("model"), "llama-3.1-8b");
    EXPECT_EQ(line.string_at("verdict"), "equal");
    EXPECT_EQ(line.integer_at("computed_bytes"), 4093640704); // 1,952 × 16 × 131,072
    EXPECT_TRUE(line.at("difference").is_null());
}

TEST(LogCommand, CsvAndMarkdown) {
    EXPECT_THAT(run_log(vllm_log, {"--model", "llama-3.1-8b", "--csv"}).out,
                HasSubstr("3,vLLM,llama-3.1-8b,\"1,952 blocks\",3.81 GiB"));
    EXPECT_THAT(run_log(vllm_log, {"--model", "llama-3.1-8b", "--markdown"}).out,
                HasSubstr("| vLLM"));
}

TEST(LogCommand, OneLineErrors) {
    expect_one_line_error(run_cli({"log"}));
    expect_one_line_error(run_cli({"log", "/nowhere/at/all.log"}));
    expect_one_line_error(run_cli({"log", "/"}));
    expect_one_line_error(run_log("nothing of interest\n"));
    const Ran unnamed = run_log("# GPU blocks: 1952\n");
    expect_one_line_error(unnamed);
    EXPECT_THAT(unnamed.err, HasSubstr("expected --model"));
    expect_one_line_error(run_log(vllm_log, {"--model", "no-such-model"}));
    expect_one_line_error(run_log(vllm_log, {"--engine", "vllm"}));
    expect_one_line_error(run_log(vllm_log, {"--model", "llama-3.1-8b", "--pp", "2"}));
    expect_one_line_error(run_log(std::string(200, '\0') + "\x7f\xff\n"));
}

TEST(LogCommand, LogsBeyondSixtyFourMebibytesAreRefused) {
    const LogFile file("");
    std::filesystem::resize_file(file.path(), (64u << 20) + 1);
    const Ran ran = run_cli({"log", file.path()});
    expect_one_line_error(ran);
    EXPECT_THAT(ran.err, HasSubstr("at most 64 MiB"));
}

} // namespace
} // namespace kvcaliper::cli
