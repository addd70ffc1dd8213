// SPDX-License-Identifier: Apache-2.0
// Runs the command line in-process and keeps what it wrote.
#pragma once

#include "app/cli/cli.h"
#include "core/json_value.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

namespace kvcaliper::cli {

struct Ran {
    int code = 0;
    std::string out;
    std::string err;
    JsonValue json() const { return parse_json(out, "stdout").value; }
};

inline Ran run_cli(const std::vector<std::string>& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    Io io{out, err, false};
    const int code = run(arguments, io);
    return {code, out.str(), err.str()};
}

/// Exit 2, nothing on stdout, one line on stderr that starts with the program's name.
inline void expect_one_line_error(const Ran& ran, int code = bad_input) {
    EXPECT_EQ(ran.code, code) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(ran.err.rfind("kvcaliper: ", 0), 0u) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
}

} // namespace kvcaliper::cli
