// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/command_line.h"

int main(int argc, char** argv) {
    return kvcaliper::gui::run_application(argc, argv);
}
