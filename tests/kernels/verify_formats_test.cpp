// SPDX-License-Identifier: Apache-2.0
// Whole verifications of quantised caches: the right prediction holds on every backend, every wrong
// one is refuted by name.
#include "core/error.h"
#include "format_rows.h"
#include "kernels/findings.h"
#include "kernels/geometry.h"
#include "kernels/verify_runner.h"
#include "tests/kernels/small_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kvcaliper::kernels::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class VerifyFormats : public testing::TestWithParam<std::shared_ptr<Backend>> {
  protected:
    VerifyResult verify_with(const VerifyRequest& request, Hooks hooks = {}) {
        hooks.measure_bandwidth = false;
        return verify(request, *GetParam(), hooks);
    }

    void expect_equal(const VerifyRequest& request) {
        const VerifyResult result = verify_with(request);
        EXPECT_EQ(to_string(result.verdict), "equal")
            << request.formats.k->name << " " << request.formats.v->name;
        EXPECT_THAT(result.reasons, IsEmpty());
        for (const Sample& sample : result.samples) {
            EXPECT_EQ(sample.predicted, sample.requested);
            EXPECT_EQ(sample.predicted, sample.used);
        }
        for (const KernelRow& row : result.kernels)
            EXPECT_LE(row.max_error, row.bound);
    }

    std::vector<std::string> refuted(const VerifyRequest& request) {
        const VerifyResult result = verify_with(request);
        EXPECT_EQ(to_string(result.verdict), "refuted");
        return result.reasons;
    }
};

VerifyRequest request_in(const char* k, const char* v, std::vector<LayerPlan> layers,
                         std::vector<std::int64_t> contexts = {12, 24, 40, 60}) {
    VerifyRequest request = request_for(std::move(layers), std::move(contexts));
    request.formats.k = &numeric_format(k);
    request.formats.v = &numeric_format(v);
    return request;
}

/// Emulated kernels take their time; they read K and V by the same code, each on its own, so that
/// there a few partners of each format will do.
bool runs_pair(const Backend& backend, Format k, Format v) {
    const int apart = std::abs(static_cast<int>(k) - static_cast<int>(v));
    return divides(k, 64) && divides(v, 64) &&
           (backend.info().backend == "cpu" || apart == 0 || apart == 3);
}

TEST_P(VerifyFormats, EveryPairHoldsForFullAndSlidingLayers) {
    for (const Format k : cache_formats)
        for (const Format v : cache_formats)
            if (runs_pair(*GetParam(), k, v))
                expect_equal(request_in(name_of(k), name_of(v),
                                        {full_layer(), sliding_layer(), full_layer()}, {12, 40}));
}

TEST_P(VerifyFormats, EveryFormatHoldsForLatents) {
    for (const Format k : cache_formats)
        expect_equal(request_in(name_of(k), "bf16", {latent_layer(), latent_layer()}, {10, 33}));
}

LayerPlan wide_layer() {
    return one_part(LayerKind::full_attention, AttentionDims{6, 2, 128, 256, {}});
}

TEST_P(VerifyFormats, AScalePer128HoldsForRowsThatItDivides) {
    expect_equal(request_in("fp8_e4m3_128", "fp8_e4m3_128", {wide_layer()}, {12, 40}));
    expect_equal(request_in("fp8_e4m3_128", "q4_0", {wide_layer()}, {12, 40}));
    EXPECT_THAT(verify_with(request_in("fp8_e4m3_128", "f16", {full_layer()})).reasons,
                ElementsAre("no kernel for keys of 64 in fp8_e4m3_128: blocks of 128"));
}

TEST_P(VerifyFormats, TheFp8RowOfALatentCacheTakes656Bytes) {
    const VerifyRequest request = request_in("fp8_e4m3_128", "bf16", {latent_layer()}, {20, 40});
    const VerifyResult result = verify_with(request);
    EXPECT_EQ(to_string(result.verdict), "equal");
    EXPECT_EQ(result.slope, Ratio(656)); // vLLM fp8_ds_mla: 512 + 4 · 4 + 64 · 2
    EXPECT_TRUE(result.samples[0].quantisation_error);
    EXPECT_FALSE(result.samples[1].quantisation_error); // the rotary key stays what it is
}

TEST_P(VerifyFormats, TheFp8RowOfALatentCountedWithoutItsScalesIsRefuted) {
    NumericFormat forgetful = numeric_format("fp8_e4m3_128");
    forgetful.bytes_per_block = 128;
    VerifyRequest request = request_in("fp8_e4m3_128", "bf16", {latent_layer()}, {20, 40});
    request.formats.k = &forgetful;
    EXPECT_THAT(refuted(request), Contains("layer 0 latent: kernel wrote 320 bytes past the "
                                           "predicted 10,240 bytes (at 20 tokens)"));
    forgetful = numeric_format("fp8_e4m3_128"); // and with a rotary key in 8 bits
    forgetful.rope_format = "fp8_e4m3";
    EXPECT_THAT(refuted(request), Contains("layer 0 rope_key: kernel wrote 1,280 bytes past the "
                                           "predicted 1,280 bytes (at 20 tokens)"));
}

TEST_P(VerifyFormats, SequencesHold) {
    VerifyRequest request = request_in("q8_0", "q4_0", {full_layer(), sliding_layer(7)}, {9, 30});
    request.sequences = 3;
    expect_equal(request);
}

TEST_P(VerifyFormats, TheSlopeOfQ8ZeroKeysAndQ4ZeroValues) {
    const VerifyResult result = verify_with(request_in("q8_0", "q4_0", {full_layer()}));
    EXPECT_EQ(result.slope, Ratio(2 * (2 * 34 + 2 * 18))); // 2 heads, rows of two blocks
    EXPECT_EQ(result.predicted_slope, result.slope);
}

TEST_P(VerifyFormats, TheQuantisationErrorIsANumberOfItsOwn) {
    const VerifyResult result = verify_with(request_in("q8_0", "q4_0", {full_layer()}, {40}));
    const Sample &key = result.samples[0], &value = result.samples[1];
    ASSERT_TRUE(key.quantisation_error && value.quantisation_error);
    EXPECT_NEAR(*key.quantisation_error, 0.005, 0.002);
    EXPECT_NEAR(*value.quantisation_error, 0.08, 0.03);
    EXPECT_LT(*value.max_error, *value.quantisation_error / 50); // the kernel's own error
    EXPECT_EQ(to_json(key).find("quantisation_error") != nullptr, true);
    const VerifyResult plain = verify_with(request_in("f16", "bf16", {full_layer()}, {40}));
    EXPECT_FALSE(plain.samples[0].quantisation_error || plain.samples[1].quantisation_error);
    EXPECT_EQ(to_json(plain.samples[0]).find("quantisation_error"), nullptr);
}

TEST_P(VerifyFormats, ForgottenScaleBytesAreRefuted) {
    NumericFormat forgetful = numeric_format("q8_0");
    forgetful.bytes_per_block = 32;
    VerifyRequest request = request_in("q8_0", "q4_0", {full_layer(), full_layer()}, {12, 40});
    request.formats.k = &forgetful;
    EXPECT_THAT(refuted(request),
                ElementsAre("layers 0-1 key: kernel wrote 96 bytes past the predicted 1,536 bytes "
                            "(at 12 tokens)",
                            "measured slope 416 bytes per token and sequence, predicted 400"));
    forgetful = numeric_format("q4_0");
    forgetful.bytes_per_block = 16;
    request = request_in("q8_0", "q4_0", {full_layer()}, {12, 40});
    request.formats.v = &forgetful;
    EXPECT_THAT(refuted(request), Contains("layer 0 value: kernel wrote 96 bytes past the "
                                           "predicted 768 bytes (at 12 tokens)"));
}

TEST_P(VerifyFormats, AForgottenScaleBehindTheRowIsRefuted) {
    // Rows of 64: 64 + 4 bytes with one scale, 64 + 2 with one per 32, 32 + 4 with one per 16.
    const struct {
        const char* name;
        std::int64_t elements, bytes, past;
    } cases[] = {{"int8_per_token_head", 1, 1, 2 * 12 * 4},
                 {"fp8_per_token_head", 1, 1, 2 * 12 * 4},
                 {"mxfp8", 32, 32, 2 * 12 * 2},
                 {"nvfp4", 16, 8, 2 * 12 * 4}};
    for (const auto& c : cases) {
        NumericFormat forgetful = numeric_format(c.name);
        forgetful.bytes_per_block = c.bytes;
        forgetful.row_side_bytes = 0;
        VerifyRequest request = request_in(c.name, "f16", {full_layer()}, {12, 40});
        request.formats.k = &forgetful;
        EXPECT_THAT(refuted(request),
                    Contains("layer 0 key: kernel wrote " + std::to_string(c.past) +
                             " bytes past the predicted " +
                             bytes_text(2 * 12 * 64 / c.elements * c.bytes) + " (at 12 tokens)"))
            << c.name;
    }
}

TEST_P(VerifyFormats, ADamagedScaleBehindTheRowFailsTheOutput) {
    for (const char* name : {"int8_per_token_head", "fp8_per_token_head", "mxfp8", "nvfp4"}) {
        Hooks hooks;
        hooks.after_fill = [&](Backend& backend, const FilledPlane& plane) {
            if (plane.layer != 0 || plane.role != "key")
                return;
            const std::int64_t row = stored_row_bytes(*cache_format(name), 64);
            auto* at = static_cast<unsigned char*>(plane.memory) + 21 * row - 1; // of row 20
            unsigned char byte;
            backend.read(&byte, at, 1);
            backend.synchronize();
            byte ^= 0x05;
            backend.write(at, &byte, 1);
        };
        const VerifyResult result =
            verify_with(request_in(name, "f16", {full_layer()}, {40}), hooks);
        EXPECT_THAT(result.reasons, ElementsAre(HasSubstr("output: relative error"))) << name;
    }
}

TEST_P(VerifyFormats, TheSlopesOfFormatsWithScalesPerRowSixteenAndThirtyTwo) {
    // Two heads of 64, K and V: vLLM's 64 + 4, OCP's 64 + 2, 32 + 4, and ggml's two blocks.
    const std::pair<const char*, std::int64_t> wanted[] = {{"int8_per_token_head", 68},
                                                           {"fp8_per_token_head", 68},
                                                           {"mxfp8", 66},
                                                           {"nvfp4", 36},
                                                           {"q5_1", 48},
                                                           {"iq4_nl", 36}};
    for (const auto& [name, row] : wanted)
        EXPECT_EQ(verify_with(request_in(name, name, {full_layer()})).slope, Ratio(2 * 2 * row))
            << name;
}

/// Core's format of that name, with the row size of another.
NumericFormat mistaken(const char* name, const char* size) {
    NumericFormat format = numeric_format(size);
    format.name = numeric_format(name).name;
    return format;
}

TEST_P(VerifyFormats, ValuesCountedInTheFormatOfTheKeysAreRefuted) {
    const NumericFormat too_large = mistaken("q4_0", "q8_0");
    VerifyRequest request = request_in("q8_0", "q4_0", {full_layer()}, {12, 40});
    request.formats.v = &too_large;
    EXPECT_THAT(refuted(request),
                Contains("layer 0 value: 768 bytes of the predicted 1,632 bytes were never touched "
                         "(at 12 tokens)"));
    const NumericFormat too_small = mistaken("q8_0", "q4_0");
    request = request_in("q4_0", "q8_0", {full_layer()}, {12, 40});
    request.formats.v = &too_small;
    EXPECT_THAT(refuted(request),
                Contains("layer 0 value: kernel wrote 768 bytes past the predicted 864 bytes (at "
                         "12 tokens)"));
}

TEST_P(VerifyFormats, AWindowOneTooLongIsRefutedToTheByte) {
    VerifyRequest request = request_in("q8_0", "q4_0", {sliding_layer()}, {12, 40});
    for (Component& component : request.spec.layers[0].components)
        component.units.n = 25;
    EXPECT_THAT(refuted(request),
                Contains("layer 0 key: 136 bytes of the predicted 3,400 bytes were never touched "
                         "(at 40 tokens)"));
}

TEST_P(VerifyFormats, ADamagedScaleOrQuantFailsTheOutput) {
    const struct {
        LayerPlan layer;
        const char* role;
        const char* format;
        std::int64_t offset; ///< in a block
    } cases[] = {{full_layer(), "key", "q8_0", 0},      {full_layer(), "value", "q4_0", 0},
                 {full_layer(), "key", "q8_0", 20},     {sliding_layer(), "value", "q4_0", 10},
                 {latent_layer(), "latent", "q8_0", 0}, {latent_layer(), "rope_key", "q4_0", 0},
                 {full_layer(), "value", "q4_1", 2},    {full_layer(), "key", "q5_0", 2},
                 {full_layer(), "key", "fp8_e4m3", 0},  {full_layer(), "value", "q5_1", 2},
                 {full_layer(), "key", "iq4_nl", 9}};
    for (const auto& c : cases) {
        Hooks hooks;
        hooks.after_fill = [&](Backend& backend, const FilledPlane& plane) {
            if (plane.layer != 0 || plane.role != c.role)
                return;
            const std::int64_t block = block_of(*cache_format(c.format)).bytes;
            auto* at = static_cast<unsigned char*>(plane.memory) + plane.bytes / 2 / block * block;
            unsigned char bytes[2];
            backend.read(bytes, at + c.offset, 2);
            backend.synchronize();
            for (unsigned char& byte : bytes)
                byte ^= 0x55;
            backend.write(at + c.offset, bytes, block == 1 ? 1 : 2);
        };
        const VerifyResult result =
            verify_with(request_in(c.format, c.format, {c.layer, c.layer}, {40}), hooks);
        EXPECT_EQ(to_string(result.verdict), "refuted") << c.role << " " << c.format;
        EXPECT_THAT(result.reasons, ElementsAre(HasSubstr("output: relative error"))) << c.role;
    }
}

TEST_P(VerifyFormats, FormatsWithoutKernelsAreRefusedByNameAndRole) {
    VerifyResult result = verify_with(request_in("mxfp4", "mlx_4bit", {full_layer()}));
    EXPECT_EQ(to_string(result.verdict), "refused");
    EXPECT_THAT(result.reasons, ElementsAre("no kernel for mlx_4bit yet (values)",
                                            "no kernel for mxfp4 yet (keys)"));
    result = verify_with(request_in("fp8_e5m2", "bf16", {latent_layer()}));
    EXPECT_THAT(result.reasons, Contains("no kernel for fp8_e5m2 yet (latent)"));
    result = verify_with(request_in(
        "q8_0", "q4_0", {one_part(LayerKind::full_attention, AttentionDims{4, 2, 80, 96, {}})}));
    EXPECT_THAT(result.reasons, ElementsAre("no kernel for keys of 80 in q8_0: blocks of 32"));
}

INSTANTIATE_TEST_SUITE_P(Backends, VerifyFormats, testing::ValuesIn(all_backends()),
                         [](const auto& param_info) {
                             std::string name = name_of_backend(*param_info.param);
                             for (char& c : name)
                                 c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                             return name + std::to_string(param_info.index);
                         });

} // namespace
} // namespace kvcaliper::kernels::test
