// SPDX-License-Identifier: Apache-2.0
// Claims measured by stand-ins for the verifier, whose bytes are hand-made.
#include "tests/cli/run_cli.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

namespace kvcaliper::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class VerifyClaims : public testing::Test {
  protected:
    void SetUp() override {
        folder_ =
            fs::temp_directory_path() / ("kvcaliper-verify-claims-" + std::to_string(::getpid()));
        fs::create_directories(folder_);
    }
    void TearDown() override {
        unsetenv("KVCALIPER_VERIFY");
        fs::remove_all(folder_);
    }
    /// A file of one claim that a run can measure and one that is arithmetic.
    Ran run_with(const std::string& script, const std::string& value,
                 std::vector<std::string> more = {}) {
        const fs::path program = folder_ / "verifier", claims = folder_ / "claims.json";
        std::ofstream(program) << "#!/bin/sh\nread request\necho run >> " << folder_ / "runs"
                               << "\necho '{\"type\":\"hello\",\"version\":\"0.1.0\"}'\n"
                               << script << "\n";
        fs::permissions(program, fs::perms::owner_all);
        std::ofstream(claims)
            << R"([{"id":"mine","text":"Mine.","model":"llama-2-7b","quantity":"per_token",)"
            << R"("unit":"KiB","value":")" << value << R"("},)"
            << R"({"id":"sum","text":"Sum.","model":"mamba-130m","quantity":"recomputation",)"
            << R"("unit":"","value":"55","context":10}])";
        setenv("KVCALIPER_VERIFY", program.c_str(), 1);
        std::vector<std::string> arguments{"verify", "--claims", claims.string()};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_cli(arguments);
    }
    std::int64_t runs() const {
        std::ifstream file(folder_ / "runs");
        return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
    }
    fs::path folder_;
};

std::string sample(int context, std::int64_t used) {
    return R"({"context":)" + std::to_string(context) +
           R"(,"kind":"full_attention","component":"key","layers":32,"predicted":1,"requested":1,)" +
           R"("used":)" + std::to_string(used) + "}";
}

/// Two contexts that are 512 tokens apart, so that `slope` bytes per token were used.
std::string result(const std::string& verdict, std::int64_t slope) {
    return R"(echo '{"type":"result","verdict":")" + verdict +
           R"(","reasons":["because"],"device":{"backend":"cpu","name":"stand-in"},"samples":[)" +
           sample(512, 0) + "," + sample(1024, 512 * slope) + R"(]}')";
}

// Llama 2 7B: 32 layers × 2 × 32 heads × 128 × 2 bytes = 512 KiB per token.
constexpr std::int64_t llama_2_7b = 32 * 2 * 32 * 128 * 2;

TEST_F(VerifyClaims, MeasuredAsComputed) {
    const Ran ran = run_with(result("equal", llama_2_7b), "512");
    EXPECT_EQ(ran.code, answered) << ran.err << ran.out;
    EXPECT_THAT(ran.out, HasSubstr("mine"));
    EXPECT_THAT(ran.out, HasSubstr("sum: not measured: nothing is kept per token"));
    EXPECT_THAT(ran.out, HasSubstr("2 claims, 1 run on cpu: stand-in: 1 measured as computed, "
                                   "0 measured otherwise, 1 not measured"));
    EXPECT_EQ(runs(), 1);
}

TEST_F(VerifyClaims, InEveryForm) {
    const std::string good = result("equal", llama_2_7b);
    EXPECT_THAT(run_with(good, "512", {"--csv"}).out,
                HasSubstr("mine,as written,512 KiB,\"512 KiB (524,288 B)\",\"512 KiB (524,288 B)\","
                          "consistent\n"));
    EXPECT_THAT(run_with(good, "512", {"--markdown"}).out, HasSubstr("| consistent |"));
    const JsonValue json = run_with(good, "512", {"--json"}).json();
    const JsonValue& claim = json.array_at("claims").front();
    EXPECT_EQ(claim.string_at("verdict"), "consistent");
    EXPECT_EQ(claim.array_at("bases").front().string_at("measured_value"), "524288");
    EXPECT_EQ(json.array_at("claims").back().string_at("verdict"), "not measured");
    EXPECT_EQ(json.array_at("runs").size(), 1U);
    EXPECT_EQ(json.array_at("runs").front().string_at("model"), "llama-2-7b");
}

TEST_F(VerifyClaims, MeasuredOtherwiseAnswersNo) {
    const Ran ran = run_with(result("equal", llama_2_7b - 1), "512");
    EXPECT_EQ(ran.code, answered_no);
    EXPECT_THAT(ran.out, HasSubstr("refuted by measurement"));
    EXPECT_THAT(ran.out, HasSubstr("1 measured otherwise"));
    // A run that refuted its model measures nothing in its favour.
    EXPECT_EQ(run_with(result("refuted", llama_2_7b) + "; exit 1", "512").code, answered_no);
}

TEST_F(VerifyClaims, AFalseClaimAnswersNoThoughMeasuredAsComputed) {
    const Ran ran = run_with(result("equal", llama_2_7b), "77");
    EXPECT_EQ(ran.code, answered_no);
    EXPECT_THAT(ran.out, HasSubstr("not consistent"));
    EXPECT_THAT(ran.out, HasSubstr("1 measured as computed"));
}

TEST_F(VerifyClaims, ARefusedRunLeavesTheQuestionOpen) {
    const Ran ran = run_with(result("refused", 0) + "; exit 3", "512");
    EXPECT_EQ(ran.code, impossible_here);
    EXPECT_THAT(ran.out, HasSubstr("mine: not measured: because"));
    EXPECT_THAT(ran.out, Not(HasSubstr("consistent")));
}

TEST_F(VerifyClaims, AKilledOrMissingVerifierIsOneLine) {
    expect_one_line_error(run_with("kill -9 $$", "512"), impossible_here);
    expect_one_line_error(run_with(result("cancelled", 0) + "; exit 3", "512"), impossible_here);
    setenv("KVCALIPER_VERIFY", "/nonexistent/kvcaliper-verify", 1);
    expect_one_line_error(run_cli({"verify", "--claims"}), impossible_here);
}

TEST_F(VerifyClaims, AModelOrClaims) {
    expect_one_line_error(run_cli({"verify"}));
    expect_one_line_error(run_cli({"verify", "--claims", "/nonexistent/claims.json"}));
    expect_one_line_error(run_cli({"verify", "--claims", "seed", "gpt2"}));
    expect_one_line_error(run_cli({"verify", "--claims", "--depth", "layout"}));
    expect_one_line_error(run_cli({"verify", "--claims", "--paged", "16"}));
    expect_one_line_error(run_cli({"verify", "--claims", "--record", "file"}));
}

} // namespace
} // namespace kvcaliper::cli
