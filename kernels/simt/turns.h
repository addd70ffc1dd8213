// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/simt/emulator.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace kvcaliper::simt {

/// In which order blocks, warps and lanes get their turn. Shuffled by splitmix64: enough for that,
/// and the same on every machine.
class Turns {
  public:
    Turns(Order order, std::uint64_t seed) : order_(order), state_(seed) {}

    /// The numbers 0 … count - 1.
    template <class Number> void deal(std::vector<Number>& turns, std::size_t count) {
        turns.resize(count);
        std::iota(turns.begin(), turns.end(), Number{0});
        if (order_ == Order::reverse) {
            std::reverse(turns.begin(), turns.end());
        } else if (order_ == Order::shuffled) {
            for (std::size_t left = count; left > 1; --left) {
                std::swap(turns[left - 1], turns[below(left)]);
            }
        }
    }

  private:
    std::uint64_t below(std::uint64_t limit) {
        state_ += 0x9e3779b97f4a7c15u;
        std::uint64_t mixed = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
        return (mixed ^ (mixed >> 31)) % limit;
    }

    Order order_;
    std::uint64_t state_;
};

} // namespace kvcaliper::simt
