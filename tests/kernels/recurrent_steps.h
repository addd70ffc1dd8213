// SPDX-License-Identifier: Apache-2.0
// Test data of the steps of RG-LRU, RWKV and xLSTM, the plainest double-precision computation of
// what their views promise, and a run of each on a backend.
#pragma once

#include "state_steps.h"

namespace kvcaliper::kernels::test {

/// As the views have them; state is advanced in place.
struct RglruData {
    Values x, gates, decay, state;
};
struct Rwkv4Data {
    Values rows, decay, bonus, state;
};
/// Without a bonus there are a and b.
struct RwkvData {
    Values rows, bonus, state;
};
/// Rows of q, k and v are as far apart as the view says; NaN lies between them.
struct XlstmData {
    Values q, k, v, gates, state;
};

RglruView rglru_view(std::int64_t sequences, std::int64_t width, std::int64_t count);
Rwkv4View rwkv4_view(std::int64_t sequences, std::int64_t width, std::int64_t count);
RwkvView rwkv_view(std::int64_t sequences, std::int64_t heads, std::int64_t width,
                   std::int64_t count);
XlstmView xlstm_view(std::int64_t sequences, std::int64_t heads, std::int64_t key_width,
                     std::int64_t value_width, std::int64_t count);

RglruData rglru_data(const RglruView& sizes, std::uint64_t seed);
Rwkv4Data rwkv4_data(const Rwkv4View& sizes, std::uint64_t seed);
RwkvData rwkv_data(const RwkvView& sizes, std::uint64_t seed, bool bonus);
XlstmData xlstm_data(const XlstmView& sizes, std::uint64_t seed);

Values reference(const RglruView& sizes, RglruData& data);
Values reference(const Rwkv4View& sizes, Rwkv4Data& data);
Values reference(const RwkvView& sizes, RwkvData& data);
Values reference(const XlstmView& sizes, XlstmData& data);

Values run_step(Backend& backend, RglruView view, RglruData& data);
Values run_step(Backend& backend, Rwkv4View view, Rwkv4Data& data);
Values run_step(Backend& backend, RwkvView view, RwkvData& data);
Values run_step(Backend& backend, XlstmView view, XlstmData& data);

} // namespace kvcaliper::kernels::test
