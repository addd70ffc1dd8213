// SPDX-License-Identifier: Apache-2.0
#include "core/units.h"

using namespace kvcaliper;

int main() {
    const Bytes bytes(2);
    const Tokens tokens(3);
#ifdef WRONG
    const auto result = bytes * bytes;
#else
    const auto result = bytes * 3;
#endif
    return result.count() == 0 ? 1 : static_cast<int>(bytes.count() - tokens.count());
}
