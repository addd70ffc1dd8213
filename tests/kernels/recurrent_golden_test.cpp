// SPDX-License-Identifier: Apache-2.0
// The steps of RG-LRU, RWKV and xLSTM, and the references that verifications compare them with,
// against what the engines' own functions give for the same few numbers: transformers 5.24
// (rwkv_linear_attention_cpu, mlstm_recurrent_step_native, RecurrentGemmaRglru) and fla-core 0.6
// (naive_recurrent_rwkv6, dplr_recurrence), run in double precision.
#include "kernels/backend_cpu.h"
#include "kernels/backend_emulated.h"
#include "kernels/reference_recurrent.h"
#include "recurrent_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kvcaliper::kernels::test {
namespace {

using testing::DoubleNear;
using testing::Pointwise;

/// The inputs: multiples of a sixteenth that no format rounds.
Values numbers(std::int64_t seed, std::int64_t count, double factor = 1.0) {
    Values values;
    for (std::int64_t i = 0; i < count; ++i) {
        values.push_back(factor * static_cast<double>((i * 37 + seed * 17 + 5) % 23 - 11) / 16.0);
    }
    return values;
}

Values part(const Values& values, std::size_t first, std::size_t count) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

void append(Values& values, const Values& more) {
    values.insert(values.end(), more.begin(), more.end());
}

std::vector<float> floats(const Values& values) {
    return {values.begin(), values.end()};
}

/// Gives each token its row of a table.
TokenRows rows_of(const Values& table, std::size_t width) {
    return [table, width](std::int64_t token, float* row) {
        const Values values = part(table, static_cast<std::size_t>(token) * width, width);
        std::copy(values.begin(), values.end(), row);
    };
}

/// A convolution of one column that gives a table's rows as they are.
ConvProblem passed_on(const Values& table, std::size_t width) {
    ConvProblem problem;
    problem.channels = static_cast<std::int64_t>(width);
    problem.silu = false;
    problem.weight.assign(width, 1.0f);
    problem.bias.assign(width, 0.0f);
    problem.inputs = [table, width](std::int64_t token, double* x) {
        const Values values = part(table, static_cast<std::size_t>(token) * width, width);
        std::copy(values.begin(), values.end(), x);
    };
    return problem;
}

std::vector<std::unique_ptr<Backend>> backends() {
    std::vector<std::unique_ptr<Backend>> all;
    all.push_back(make_cpu_backend());
    all.push_back(make_emulated_backend());
    return all;
}

/// One step after the other, so that all outputs are seen, and the state at the end.
template <class View, class Data, class Token>
void expect_gives(View view, const Data& start, std::int64_t tokens, Token data_of,
                  const Values& outputs, const Values& state) {
    view.count = 1;
    for (const auto& backend : backends()) {
        SCOPED_TRACE(backend->info().name);
        Values found, kept = start.state;
        for (std::int64_t token = 0; token < tokens; ++token) {
            Data data = data_of(token);
            data.state = kept;
            append(found, run_step(*backend, view, data));
            kept = data.state;
        }
        EXPECT_THAT(found, Pointwise(DoubleNear(1e-6), outputs));
        EXPECT_THAT(kept, Pointwise(DoubleNear(1e-6), state));
    }
}

/// Outputs of a reference, from `skip` numbers on, after each token.
Values outputs_of(StateReference& reference, std::int64_t tokens, std::size_t skip) {
    Values found;
    for (std::int64_t token = 1; token <= tokens; ++token) {
        const Values& out = reference.advance_to(token);
        append(found, part(out, skip, out.size() - skip));
    }
    return found;
}

const Values rglru_outputs{-0.3125,
                           0.03125,
                           -0.2734375,
                           0.3515625,
                           -0.302885385773857,
                           -0.0197674919759709,
                           0.111845685059016,
                           0.028347272298506,
                           -0.216646538677446,
                           -0.0104943808472491,
                           -0.332781302228335,
                           0.219968944144517};

TEST(RecurrentGolden, RglruGivesWhatTransformersGives) {
    const Values x = numbers(16, 12), decay{0.125, 0.5, 1.0, 2.0};
    Values gates;
    for (int token = 0; token < 3; ++token) { // r of the first token: a reset
        append(gates, token == 0 ? Values(4, 1e6) : Values{0.25, 0.5, 0.75, 0.375});
        append(gates, {0.5, 0.125, 0.875, 0.625});
    }
    const RglruData start{x, gates, decay, Values(4, 0.0)};
    expect_gives(
        rglru_view(1, 4, 1), start, 3,
        [&](std::int64_t token) {
            const auto t = static_cast<std::size_t>(token);
            return RglruData{part(x, 4 * t, 4), part(gates, 8 * t, 8), decay, {}};
        },
        rglru_outputs, part(rglru_outputs, 8, 4));
    RglruReference reference(floats(decay), passed_on(x, 4), rows_of(gates, 8));
    EXPECT_THAT(outputs_of(reference, 3, 0), Pointwise(DoubleNear(1e-12), rglru_outputs));
}

const Values rwkv4_outputs{-0.0625,
                           -0.625,
                           0.25,
                           -0.199184537996153,
                           -0.141291587445458,
                           0.179648598142714,
                           -0.295513786925238,
                           0.264024745795421,
                           0.0268906873995313,
                           -0.0684645612581859,
                           0.195503225702071,
                           -0.149548013956063};
const Values rwkv4_final{-0.340076293440031,
                         0.371473991281014,
                         -0.595850124891051,
                         2.48430829889034,
                         2.11283227900755,
                         2.19754026103251,
                         0.25,
                         0.875,
                         -0.25};

TEST(RecurrentGolden, Rwkv4GivesWhatTransformersGives) {
    const Values k = numbers(2, 12, 2.0), v = numbers(3, 12), decay{-0.125, -0.5, -1.0};
    const Values bonus = numbers(1, 3);
    Values rows, state(6, 0.0);
    append(state, Values(3, static_cast<double>(rwkv4_nothing)));
    for (std::size_t token = 0; token < 4; ++token) {
        append(rows, part(k, 3 * token, 3));
        append(rows, part(v, 3 * token, 3));
    }
    expect_gives(
        rwkv4_view(1, 3, 1), Rwkv4Data{rows, decay, bonus, state}, 4,
        [&](std::int64_t token) {
            return Rwkv4Data{part(rows, 6 * static_cast<std::size_t>(token), 6), decay, bonus, {}};
        },
        rwkv4_outputs, rwkv4_final);
    Rwkv4Reference reference(floats(decay), floats(bonus), passed_on(numbers(0, 24), 6),
                             rows_of(rows, 6));
    EXPECT_THAT(outputs_of(reference, 4, 6), Pointwise(DoubleNear(1e-12), rwkv4_outputs));
}

/// Two heads of four, three tokens: r, k, v, decay and, without a bonus, a and b.
Values rwkv_table(bool bonus) {
    Values table;
    for (std::size_t token = 0; token < 3; ++token) {
        for (const std::int64_t seed : {4, 5, 6, 7, 9, 10}) {
            Values row = part(numbers(seed, 24), 8 * token, 8);
            for (double& number : row) { // decays from 6/32 to 28/32
                number = seed == 7 ? number / 2.0 + 17.0 / 32.0 : number;
            }
            append(table, bonus && seed > 7 ? Values{} : row);
        }
    }
    return table;
}

void expect_rwkv_gives(bool with_bonus, const Values& outputs, const Values& state) {
    const Values table = rwkv_table(with_bonus), bonus = with_bonus ? numbers(8, 8) : Values{};
    const std::size_t row = with_bonus ? 32 : 48;
    expect_gives(
        rwkv_view(1, 2, 4, 1), RwkvData{table, bonus, Values(32, 0.0)}, 3,
        [&](std::int64_t token) {
            return RwkvData{part(table, row * static_cast<std::size_t>(token), row), bonus, {}};
        },
        outputs, state);
    RwkvReference reference(2, 4, floats(bonus), passed_on(numbers(0, 48), 16),
                            rows_of(table, row));
    EXPECT_THAT(outputs_of(reference, 3, 16), Pointwise(DoubleNear(1e-12), outputs));
}

TEST(RecurrentGolden, Rwkv6GivesWhatFlaGives) {
    expect_rwkv_gives(
        true, {-0.010498046875,    0.01312255859375,   -0.02362060546875,  0,
               -0.074432373046875, 0.041351318359375,  -0.0330810546875,   0.08270263671875,
               0.00787353515625,   -0.076171875,       0.0545654296875,    -0.02947998046875,
               0.199325561523438,  -0.062591552734375, 0.0180206298828125, -0.107376098632812,
               0.1259765625,       -0.416610717773438, 0.427413940429688,  -0.11517333984375,
               0.247550964355469,  0.194053649902344,  -0.34393310546875,  0.492935180664062},
        {-0.007080078125,    -0.253997802734375,  0.130096435546875,   -0.1168212890625,
         0.042572021484375,  0.248359680175781,   -0.0717544555664062, 0.134033203125,
         -0.1181640625,      -0.20001220703125,   -0.07269287109375,   -0.154541015625,
         0.03076171875,      -0.107666015625,     0.107666015625,      -0.03076171875,
         -0.391273498535156, -0.0165939331054688, 0.468109130859375,   -0.285873413085938,
         0.214576721191406,  0.0272750854492188,  -0.285491943359375,  0.201034545898438,
         -0.20172119140625,  0.03448486328125,    0.156982421875,      -0.0335693359375,
         0.175971984863281,  -0.111732482910156,  -0.233612060546875,  -0.0440216064453125});
}

TEST(RecurrentGolden, Rwkv7GivesWhatFlaGives) {
    expect_rwkv_gives(
        false, {-0.1103515625,       0.137939453125,      -0.248291015625,    0,
                0.1142578125,        -0.0634765625,       0.05078125,         -0.126953125,
                0.00849533081054688, -0.0172109603881836, 0.0227766036987305, -0.0029296875,
                0.0430021286010742,  -0.0971593856811523, 0.126506805419922,  -0.221418380737305,
                0.0870631635189056,  -0.135106019675732,  0.210490487515926,  -0.0116786956787109,
                0.175019666552544,   0.0391013771295547,  -0.13035374879837,  0.13324311375618},
        {0.00223970413208008, -0.283568978309631,  0.161022305488586,  -0.124786376953125,
         0.0159010887145996,  0.347410321235657,   -0.168270707130432, 0.163238525390625,
         -0.126914024353027,  -0.177127122879028,  -0.099017858505249, -0.14923095703125,
         0.0565667152404785,  -0.181738972663879,  0.188958764076233,  -0.049346923828125,
         -0.516029715538025,  0.0587795972824097,  0.403772830963135,  -0.132883310317993,
         0.203045129776001,   0.0319488048553467,  -0.288077354431152, 0.209741115570068,
         -0.0838834047317505, -0.0405105352401733, 0.223323345184326,  -0.187084913253784,
         0.116214871406555,   -0.0759350061416626, -0.263980388641357, 0.0285346508026123});
}

// Two heads, keys of four and values of three, three tokens; q and k are four times as large.
const Values xlstm_outputs{0.103044909526424,    -0.012880613690803, -0.12880613690803,
                           -0.0705956466773686,  0.0882445583467107, -0.158840205024079,
                           -0.00112256867104706, 0.561377272394595,  -0.310395095444921,
                           -0.135952308299832,   0.411160525906479,  0.176547587388756,
                           0.376692671110935,    -0.181853505903004, -0.397752366995952,
                           -1.47071425779306,    0.189642156006579,  0.973011576073591};
/// Rows of C, each with its n; m.
const Values xlstm_final{-0.177245817860206,
                         -1.50333294882268,
                         1.0253278300688,
                         2.53238083752625,
                         0.0837370978714805,
                         -0.294390427727034,
                         0.0585291829427066,
                         0.650365136587128,
                         -0.0207952185764352,
                         0.960241497391065,
                         -0.451375423958884,
                         -1.9626810287112,
                         0.141810607009211,
                         -0.991408163903756,
                         0.341809520110257,
                         2.10205745064175,
                         0.625,
                         -0.83669274860967,
                         -0.210109925558844,
                         0.546895842986381,
                         -1.32251650689264,
                         1.64089379114341,
                         0.0234373988056116,
                         -1.05341094445756,
                         1.72822484607689,
                         -0.0169491595836056,
                         0.0594471164609035,
                         0.0383857248996804,
                         0.177071630346515,
                         -1.49248761983052,
                         -0.425755559174641,
                         0.953703937455741,
                         -2.52218701668396,
                         0.75};

/// y of every head, without what it was divided by.
Values without_divisors(const Values& outputs) {
    Values found;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (i % 4 != 3) {
            found.push_back(outputs[i]);
        }
    }
    return found;
}

TEST(RecurrentGolden, XlstmGivesWhatTransformersGives) {
    const Values q = numbers(11, 24, 4.0), k = numbers(12, 24, 4.0), v = numbers(13, 18);
    const Values forget{-0.5, -1.375, -0.8125, -0.25, -1.125, -0.5625};
    const Values input{0.5, -1.75, 1.75, -0.5, -2.75, 0.75};
    Values mixed, gates;
    for (std::size_t token = 0; token < 3; ++token) {
        append(mixed, part(q, 8 * token, 8));
        append(mixed, part(k, 8 * token, 8));
        append(mixed, part(v, 6 * token, 6));
        append(gates, part(forget, 2 * token, 2));
        append(gates, part(input, 2 * token, 2));
    }
    XlstmView view = xlstm_view(1, 2, 4, 3, 1);
    view.stride = 8;
    for (const auto& backend : backends()) {
        SCOPED_TRACE(backend->info().name);
        Values found, state(34, 0.0);
        for (std::size_t token = 0; token < 3; ++token) {
            XlstmData data{part(q, 8 * token, 8), part(k, 8 * token, 8), part(v, 6 * token, 6),
                           part(gates, 4 * token, 4), state};
            append(found, run_step(*backend, view, data));
            state = data.state;
        }
        EXPECT_THAT(without_divisors(found), Pointwise(DoubleNear(2e-6), xlstm_outputs));
        EXPECT_THAT(state, Pointwise(DoubleNear(1e-6), xlstm_final));
    }
    XlstmReference reference({2, 4, 3}, passed_on(mixed, 22), rows_of(gates, 4));
    EXPECT_THAT(without_divisors(outputs_of(reference, 3, 0)),
                Pointwise(DoubleNear(1e-12), xlstm_outputs));
}

} // namespace
} // namespace kvcaliper::kernels::test
