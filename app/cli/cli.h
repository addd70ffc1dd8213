// SPDX-License-Identifier: Apache-2.0
// The command line as a library, so that tests run it in-process.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace kvcaliper::cli {

/// Answers go to `out`, everything else to `err`.
struct Io {
    std::ostream& out;
    std::ostream& err;
    bool progress = false; ///< err is a terminal: progress may be animated there
};

/// Exit codes of the contract.
enum ExitCode { answered = 0, answered_no = 1, bad_input = 2, impossible_here = 3 };

/// Runs `kvcaliper ARGUMENTS…` and gives its exit code.
int run(const std::vector<std::string>& arguments, Io& io);

} // namespace kvcaliper::cli
