// SPDX-License-Identifier: Apache-2.0
// What the window's program is asked to draw: `echo` in its place says it back.
#include "tests/cli/run_cli.h"

#include <cstdlib>

namespace kvcaliper::cli {
namespace {

class Chart : public testing::Test {
  protected:
    void SetUp() override { ::setenv("KVCALIPER_GUI", "/bin/echo", 1); }
    void TearDown() override { ::unsetenv("KVCALIPER_GUI"); }
};

TEST_F(Chart, AStudyKeepsItsOwnSettings) {
    const Ran ran = run_cli({"chart", "my/plan.kvstudy.json", "-o", "a.svg"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, "--chart a.svg --kind per-token --theme light -- my/plan.kvstudy.json\n");
}

TEST_F(Chart, AReportIsAStudy) {
    for (const std::string report : {"my/report.html", "report.pdf"}) {
        const Ran ran = run_cli({"chart", report, "--kind", "layers", "-o", "a.svg"});
        EXPECT_EQ(ran.code, 0) << ran.err;
        EXPECT_EQ(ran.out, "--chart a.svg --kind layers --theme light -- " + report + "\n");
    }
}

TEST_F(Chart, SettingsThatAreWrittenGoAlong) {
    const Ran ran = run_cli({"chart", "gpt2-xl", "-o", "a.svg", "-c", "128K", "-n", "4", "--k",
                             "q8_0", "--size", "800x600"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, "--chart a.svg --kind per-token --theme light -c 131072 -n 4 --k q8_0 "
                       "--size 800x600 -- gpt2-xl\n");
}

TEST_F(Chart, ABudgetTakesRanksAndOptionsOfItsEngine) {
    const Ran ran =
        run_cli({"chart", "llama-3-8b", "-o", "a.svg", "--kind", "budget", "--engine", "vllm",
                 "--pp", "2", "--dp", "3", "--engine-opt", "block-size=32", "--state", "bf16"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out,
              "--chart a.svg --kind budget --theme light --state bf16 --engine vllm --pp 2 "
              "--dp 3 --engine-opt block-size=32 -- llama-3-8b\n");
}

TEST_F(Chart, AContextHasLinesOfDevices) {
    const Ran ran = run_cli({"chart", "--kind", "context", "--gpu", "h100-80,l4", "--gpu",
                             "rtx-4090", "gpt2-xl", "--recompute", "--linear", "-o", "a.svg"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, "--chart a.svg --kind context --theme light --gpu h100-80 --gpu l4 --gpu "
                       "rtx-4090 --linear --recompute -- gpt2-xl\n");
}

TEST_F(Chart, WhatIsNotOfTheKindIsRefused) {
    expect_one_line_error(run_cli({"chart", "gpt2-xl", "-o", "a.svg", "--recompute"}));
    expect_one_line_error(
        run_cli({"chart", "gpt2-xl", "-o", "a.svg", "--kind", "layers", "--linear"}));
    expect_one_line_error(
        run_cli({"chart", "gpt2-xl", "-o", "a.svg", "--kind", "budget", "--gpu", "h100-80,l4"}));
    expect_one_line_error(
        run_cli({"chart", "gpt2-xl", "-o", "a.svg", "--kind", "context", "--gpu", "h100-81"}));
}

TEST_F(Chart, ModelsAreReadBeforeAnythingIsDrawn) {
    expect_one_line_error(run_cli({"chart", "no-such-model", "-o", "a.svg"}));
}

} // namespace
} // namespace kvcaliper::cli
