// SPDX-License-Identifier: Apache-2.0
#include "kernels/findings.h"

#include "core/units.h"

#include <algorithm>

namespace kvcaliper::kernels {

void Findings::add(std::int64_t context, int layer, const std::string& role,
                   const std::string& what, const std::string& text) {
    if (seen_.insert({layer, role, what}).second)
        findings_.push_back({context, layer, role, text});
}

std::vector<std::string> Findings::lines(std::size_t most) const {
    struct Line {
        const Finding* first;
        std::vector<int> layers;
    };
    std::vector<Line> merged;
    for (const Finding& finding : findings_) {
        const auto same = std::find_if(merged.begin(), merged.end(), [&](const Line& line) {
            return line.first->context == finding.context && line.first->role == finding.role &&
                   line.first->text == finding.text;
        });
        if (same != merged.end())
            same->layers.push_back(finding.layer);
        else
            merged.push_back({&finding, {finding.layer}});
    }
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < std::min(most, merged.size()); ++i)
        lines.push_back(layer_ranges(merged[i].layers) + " " + merged[i].first->role + ": " +
                        merged[i].first->text + " (at " + format_integer(merged[i].first->context) +
                        " tokens)");
    if (merged.size() > most)
        lines.push_back("and " + std::to_string(merged.size() - most) + " more");
    return lines;
}

std::string bytes_text(std::int64_t bytes) {
    return format_integer(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string layer_ranges(const std::vector<int>& ascending) {
    std::string text = ascending.size() == 1 ? "layer " : "layers ";
    for (std::size_t i = 0; i < ascending.size();) {
        std::size_t end = i + 1;
        while (end < ascending.size() && ascending[end] == ascending[end - 1] + 1)
            ++end;
        text += (i == 0 ? "" : ", ") + std::to_string(ascending[i]);
        if (end > i + 1)
            text += "-" + std::to_string(ascending[end - 1]);
        i = end;
    }
    return text;
}

} // namespace kvcaliper::kernels
