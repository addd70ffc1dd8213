// SPDX-License-Identifier: Apache-2.0
// The command against stand-ins for the verifier; the real one is tested in tests/kernels.
#include "tests/cli/run_cli.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

namespace kvcaliper::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class VerifyCommand : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("kvcaliper-stand-in-" + std::to_string(::getpid()));
        fs::create_directories(folder_);
    }
    void TearDown() override {
        unsetenv("KVCALIPER_VERIFY");
        fs::remove_all(folder_);
    }
    Ran run_with(const std::string& script, std::vector<std::string> more = {}) {
        const fs::path program = folder_ / "verifier";
        std::ofstream(program) << "#!/bin/sh\nread request\n" << script << "\n";
        fs::permissions(program, fs::perms::owner_all);
        setenv("KVCALIPER_VERIFY", program.c_str(), 1);
        std::vector<std::string> arguments{"verify", "gpt2", "-c", "64"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_cli(arguments);
    }
    fs::path folder_;
};

const char* const hello = R"(echo '{"type":"hello","version":"0.1.0"}')";

std::string result(const std::string& verdict, int measured) {
    return std::string(hello) + R"(; echo '{"type":"result","verdict":")" + verdict +
           R"(","reasons":["because"],"notes":[],"device":{"backend":"cpu","name":"stand-in"},)" +
           R"("samples":[{"context":64,"kind":"full_attention","component":"key","layers":12,)" +
           R"("predicted":10,"requested":)" + std::to_string(measured) + R"(,"used":10}]}')";
}

TEST_F(VerifyCommand, AnEqualResult) {
    const Ran ran = run_with(result("equal", 10) + "; exit 0");
    EXPECT_EQ(ran.code, answered) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("GPT-2 on cpu: stand-in"));
    EXPECT_THAT(ran.out, HasSubstr("equal: measured memory is what is required"));
}

TEST_F(VerifyCommand, LayersThatReadAnothersCacheAreToldApart) {
    std::string told = result("equal", 10);
    told.insert(told.rfind("}'"), R"(,"kernels":[{"context":64,"kind":"mla","layers":2},)"
                                  R"({"context":64,"kind":"mla","shared":true,"layers":3}])");
    const std::string out = run_with(told + "; exit 0").out;
    EXPECT_THAT(out, HasSubstr("mla (shared)"));
    EXPECT_THAT(out, HasSubstr("mla  "));
}

TEST_F(VerifyCommand, ARefutedResult) {
    const Ran ran = run_with(result("refuted", 11) + "; exit 1");
    EXPECT_EQ(ran.code, answered_no);
    EXPECT_THAT(ran.out, HasSubstr("differs"));
    EXPECT_THAT(ran.out, HasSubstr("reason: because"));
    EXPECT_EQ(run_with(result("refuted", 11) + "; exit 1", {"--json"}).json().string_at("verdict"),
              "refuted");
    EXPECT_THAT(run_with(result("refuted", 11) + "; exit 1", {"--csv"}).out,
                HasSubstr("64,full_attention,key,12,10,11,10,differs"));
}

TEST_F(VerifyCommand, ErrorsAreOneLine) {
    const Ran ran =
        run_with(std::string(hello) +
                 R"(; echo '{"type":"error","code":3,"message":"no GPU here"}'; exit 3)");
    expect_one_line_error(ran, impossible_here);
    EXPECT_THAT(ran.err, HasSubstr("no GPU here"));
}

TEST_F(VerifyCommand, AnEndWithoutAResultIsImpossibleHere) {
    const Ran killed = run_with(std::string(hello) + "; kill -9 $$");
    expect_one_line_error(killed, impossible_here);
    EXPECT_THAT(killed.err, HasSubstr("found death by signal 9"));
    expect_one_line_error(run_with("exit 0"), impossible_here);
}

#if defined(KVCALIPER_VERIFY_PROGRAM)
/// Kills the process that a file names as soon as progress is shown.
class KillAtProgress final : public std::stringbuf {
  public:
    explicit KillAtProgress(fs::path pid_file) : pid_file_(std::move(pid_file)) {}
    int killed() const { return killed_; }

  private:
    int sync() override {
        int child = 0;
        if (killed_ == 0 && str().find('%') != std::string::npos &&
            std::ifstream(pid_file_) >> child) {
            killed_ += ::kill(child, SIGKILL) == 0 ? 1 : 0;
        }
        return 0;
    }
    fs::path pid_file_;
    int killed_ = 0;
};

TEST_F(VerifyCommand, TheRealVerifierKilledInTheMiddleOfItsRun) {
    const fs::path program = folder_ / "verifier";
    std::ofstream(program) << "#!/bin/sh\necho $$ > " << folder_ / "pid"
                           << "\nexec " KVCALIPER_VERIFY_PROGRAM " \"$@\"\n";
    fs::permissions(program, fs::perms::owner_all);
    setenv("KVCALIPER_VERIFY", program.c_str(), 1);
    std::ostringstream out;
    KillAtProgress killer(folder_ / "pid");
    std::ostream err(&killer);
    Io io{out, err, true};
    EXPECT_EQ(run({"verify", "gpt2", "-c", "20K"}, io), impossible_here);
    EXPECT_EQ(killer.killed(), 1);
    EXPECT_EQ(out.str(), "");
    EXPECT_THAT(killer.str(), HasSubstr("kvcaliper: " + program.string() +
                                        ": expected a result, found death by signal 9 (Killed)\n"));
}
#endif

TEST_F(VerifyCommand, VersionsMustMatch) {
    const Ran ran = run_with(R"(echo '{"type":"hello","version":"9.9"}')");
    expect_one_line_error(ran, impossible_here);
    EXPECT_THAT(ran.err, HasSubstr("expected version 0.1.0, found 9.9"));
}

TEST_F(VerifyCommand, WithoutTheProgramBothPlacesAreNamed) {
    setenv("KVCALIPER_VERIFY", "/nonexistent/kvcaliper-verify", 1);
    expect_one_line_error(run_cli({"verify", "gpt2", "-c", "64"}), impossible_here);
}

} // namespace
} // namespace kvcaliper::cli
