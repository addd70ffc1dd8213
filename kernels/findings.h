// SPDX-License-Identifier: Apache-2.0
// What contradicts the prediction, told once per cause: equal findings of many layers become one
// line.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace kvcaliper::kernels {

class Findings {
  public:
    /// `what` is the cause ("overrun"); of equal (layer, role, what) only the first context is
    /// kept.
    void add(std::int64_t context, int layer, const std::string& role, const std::string& what,
             const std::string& text);
    bool empty() const { return findings_.empty(); }
    /// "layers 0-47 value: kernel wrote … (at 1,024 tokens)", the first `most` and how many are
    /// left.
    std::vector<std::string> lines(std::size_t most = 8) const;

  private:
    struct Finding {
        std::int64_t context;
        int layer;
        std::string role, text;
    };
    std::vector<Finding> findings_;
    std::set<std::tuple<int, std::string, std::string>> seen_;
};

/// "1 byte", "4,096 bytes".
std::string bytes_text(std::int64_t bytes);
/// "layer 3", "layers 0-47", "layers 0-4, 6-10".
std::string layer_ranges(const std::vector<int>& ascending);

} // namespace kvcaliper::kernels
