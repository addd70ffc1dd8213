// SPDX-License-Identifier: Apache-2.0
#include "app/cli/cli.h"

#include <iostream>
#include <unistd.h>

int main(int argc, char** argv) {
    kvcaliper::cli::Io io{std::cout, std::cerr, isatty(STDERR_FILENO) == 1};
    return kvcaliper::cli::run({argv + 1, argv + argc}, io);
}
