// SPDX-License-Identifier: Apache-2.0
// The depths of a verification, the timings, and what each component is told.
#include "core/error.h"
#include "tests/kernels/verify_case.h"

namespace kvcaliper::kernels {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

VerifyRequest at_depth(Depth depth, std::vector<LayerPlan> layers) {
    VerifyRequest request = request_for(std::move(layers));
    request.depth = depth;
    return request;
}

TEST_P(VerifyTest, LayoutAllocatesAndCountsAndRunsNothing) {
    VerifyRequest request =
        at_depth(Depth::layout, {full_layer(), sliding_layer(), mamba1_layer()});
    Hooks hooks;
    hooks.after_fill = [](Backend&, const FilledPlane&) { FAIL() << "nothing is filled"; };
    const VerifyResult result = verify_with(request, hooks);
    EXPECT_EQ(to_string(result.verdict), "equal");
    EXPECT_THAT(result.kernels, IsEmpty());
    for (const Sample& sample : result.samples) {
        EXPECT_EQ(sample.predicted, sample.requested);
        EXPECT_FALSE(sample.used);
        EXPECT_FALSE(sample.device_delta);
        EXPECT_FALSE(sample.refuted);
    }
    EXPECT_EQ(result.slope, Ratio(2 * 2 * 64 * 2)); // of the layer that grows
    EXPECT_TRUE(to_json(result.samples.front()).at("used").is_null());
    EXPECT_EQ(to_json(result).string_at("depth"), "layout");
}

TEST_P(VerifyTest, LayoutHoldsThePredictionAgainstTheGeometry) {
    VerifyRequest request = at_depth(Depth::layout, {full_layer(), full_layer()});
    component_of(request, 1, Role::value).rows = 1;
    const VerifyResult result = verify_with(request);
    EXPECT_EQ(to_string(result.verdict), "refuted");
    EXPECT_THAT(result.reasons, Contains("layer 1 value: 1,536 bytes predicted, the layer's "
                                         "geometry takes 3,072 bytes (at 12 tokens)"));
    int refuted_samples = 0;
    for (const Sample& sample : result.samples) {
        refuted_samples += sample.refuted ? 1 : 0;
        EXPECT_EQ(sample.refuted, sample.component != "key");
    }
    EXPECT_EQ(refuted_samples, 2 * 4); // the values and the total, at each of four contexts
}

TEST_P(VerifyTest, LayoutCountsWhatNoKernelRuns) {
    // A version of RWKV that there is not.
    const VerifyResult result =
        verify_with(at_depth(Depth::layout, {one_part(LayerKind::rwkv, RwkvDims{512, 0, 64, 0})}));
    EXPECT_EQ(to_string(result.verdict), "equal");
    EXPECT_EQ(result.samples.back().requested, 2 * 512 * 2 + 512 * 64 * 4); // bf16 shift, f32 state
}

TEST_P(VerifyTest, DeviceAlsoAsksTheSystem) {
    VerifyRequest request = at_depth(Depth::device, {full_layer()});
    request.contexts = {200'000};
    const VerifyResult result = verify_with(request);
    EXPECT_EQ(to_string(result.verdict), "equal");
    const Sample& total = result.samples.back();
    EXPECT_FALSE(total.used);
    if (std::string(GetParam().name) == "cpu") {
        ASSERT_TRUE(total.device_delta);
        EXPECT_GE(*total.device_delta, total.requested * 9 / 10); // 102 MB: poisoned, so resident
        EXPECT_TRUE(result.memory.context);
    } else {
        EXPECT_THAT(total.note, HasSubstr("no device memory"));
    }
}

TEST_P(VerifyTest, EachComponentHasAVerdictOfItsOwn) {
    VerifyRequest request = request_for({full_layer(), sliding_layer()}, {12, 40});
    component_of(request, 1, Role::value).units.n = 23;
    const VerifyResult result = verify_with(request);
    for (const Sample& sample : result.samples)
        EXPECT_EQ(sample.refuted, sample.context == 40 && (sample.component == "total" ||
                                                           (sample.kind == "sliding_attention" &&
                                                            sample.component == "value")))
            << sample.context << " " << sample.kind << " " << sample.component;
    EXPECT_EQ(to_json(result.samples.back()).string_at("verdict"), "refuted");
}

TEST_P(VerifyTest, TimingsHaveAMedianAndASpread) {
    VerifyRequest request = request_for({full_layer(), full_layer(), mamba1_layer()}, {12, 40});
    request.repeats = 5;
    for (const KernelRow& row : verify_with(request).kernels) {
        EXPECT_EQ(row.timing.repeats, row.kind == "mamba1" ? request.steps : 5) << row.kind;
        EXPECT_GT(row.timing.least, 0);
        EXPECT_LE(row.timing.least, row.timing.median);
        EXPECT_LE(row.timing.median, row.timing.most);
    }
    request.repeats = 2;
    for (const KernelRow& row : verify_with(request).kernels)
        EXPECT_EQ(row.timing.repeats, 2) << row.kind;
}

TEST(Timing, TheMedianIsTheMiddleOne) {
    EXPECT_EQ(timing_of({3, 1, 2}).median, 2);
    EXPECT_EQ(timing_of({4, 1, 3, 2}).median, 2);
    EXPECT_EQ(timing_of({7}).most, 7);
    EXPECT_EQ(timing_of({3, 1, 2}).least, 1);
    EXPECT_EQ(timing_of({3, 1, 2}).repeats, 3);
}

TEST(Depth, IsReadFromTheRequest) {
    VerifyRequest request = request_for({full_layer()});
    EXPECT_EQ(verify_request_from_json(to_json(request)).depth, Depth::use);
    request.depth = Depth::device;
    request.repeats = 7;
    EXPECT_EQ(verify_request_from_json(to_json(request)).depth, Depth::device);
    EXPECT_EQ(verify_request_from_json(to_json(request)).repeats, 7);
    JsonValue json = to_json(request);
    json.set("depth", "deep");
    EXPECT_THROW(verify_request_from_json(json), Error);
    json.set("depth", "use");
    json.set("repeats", 0);
    EXPECT_THROW(verify_request_from_json(json), Error);
}

INSTANTIATE_TEST_SUITE_P(Backends, VerifyTest, testing::ValuesIn(backends),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

} // namespace
} // namespace kvcaliper::kernels
