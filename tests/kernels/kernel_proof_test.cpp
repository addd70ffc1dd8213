// SPDX-License-Identifier: Apache-2.0
// The table of kernel proofs against the kernels: what it calls proved is run here on each backend
// it names, what it calls unproven is refused.
#include "core/kernel_proof.h"

#include "core/error.h"
#include "core/stored_components.h"
#include "kernels/layer_driver.h"
#include "tests/kernels/verify_case.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace kvcaliper::kernels {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A layer of any kind, with or without a kernel.
LayerPlan small_layer(LayerKind kind) {
    switch (kind) {
    case LayerKind::full_attention:
        return full_layer();
    case LayerKind::sliding_attention:
        return sliding_layer();
    case LayerKind::chunked_attention:
        return chunked_layer();
    case LayerKind::cross_attention:
        return cross_layer();
    case LayerKind::mla:
        return latent_layer();
    case LayerKind::compressed_attention:
        return one_part(kind, CompressedDims{4, 64, 16, 4, 32});
    case LayerKind::mamba1:
        return mamba1_layer();
    case LayerKind::mamba2:
        return mamba2_layer();
    case LayerKind::gated_delta:
    case LayerKind::kda:
    case LayerKind::lightning:
    case LayerKind::gla:
        return delta_layer(kind);
    case LayerKind::rglru:
        return one_part(kind, RglruDims{96, 4});
    case LayerKind::short_conv:
        return short_conv_layer();
    case LayerKind::rwkv4:
        return one_part(kind, RwkvDims{96, 96, 0});
    case LayerKind::rwkv:
        return one_part(kind, RwkvDims{128, 0, 64, 7});
    case LayerKind::xlstm:
        return one_part(kind, XlstmDims{2, 32, 64});
    case LayerKind::kv_conv:
        return joined({full_layer(), one_part(kind, ConvDims{96, 1, 0})});
    }
    return {};
}

LayerPlan with_index_key() {
    return one_part(LayerKind::mla, LatentDims{4, 512, 64, 128, 128, 64});
}

/// What has to run for a subject to be proved.
VerifyRequest request_of(std::string_view subject) {
    const std::vector<std::int64_t> contexts{12, 26};
    if (const auto kind = layer_kind_from(subject))
        return request_for({small_layer(*kind)}, contexts);
    if (subject == index_keys)
        return request_for({with_index_key()}, contexts);
    if (subject == shared_cache)
        return request_for({full_layer(), {{}, 0, "test"}}, contexts);
    if (subject == attention_sinks)
        return request_for({with_sinks(full_layer())}, contexts);
    VerifyRequest request = request_for({full_layer()}, contexts);
    if (subject == "pages")
        request.page = 8;
    else if (subject == "cartridge")
        request.cartridge = 5;
    else if (subject == "residual") { // packed at 32 tokens
        request.contexts = {12, 31, 40};
        request.formats.k = request.formats.v = &numeric_format("kivi_2bit_r32");
        request.spec = stored_spec(request.spec, request.formats);
    } else
        ADD_FAILURE() << "nothing runs here for " << subject;
    return request;
}

bool ran_on(const KernelProof& proof, std::string_view backend) {
    return proof.backends.find(backend.substr(0, backend.find('_'))) != std::string_view::npos;
}

TEST_P(VerifyTest, WhatIsProvedRunsOnTheBackendsNamed) {
    for (const KernelProof& proof : kernel_proofs()) {
        if (proof.kernels.empty() || !ran_on(proof, GetParam().name))
            continue;
        SCOPED_TRACE(proof.subject);
        VerifyRequest request = request_of(proof.subject);
        add_compressor_buffers(request.spec, request.plan);
        expect_equal(request);
    }
}

/// A kind that core counts and no kernel runs is a number on trust: there is none.
TEST(KernelProof, NothingIsUnproven) {
    for (const KernelProof& proof : kernel_proofs()) {
        EXPECT_NE(proof.kernels, "") << proof.subject;
        EXPECT_NE(proof.backends, "") << proof.subject;
    }
}

TEST_P(VerifyTest, AKindHasADriverExactlyWhereItIsProved) {
    for (const LayerKind kind : all_layer_kinds) {
        const VerifyRequest request = request_for({small_layer(kind)});
        bool driven = true;
        try {
            for (const LayerGroup& group : layer_groups(request.plan))
                make_layer_driver(*backend_, request, group, nullptr);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::impossible_here);
            driven = false;
        }
        EXPECT_EQ(driven, !proof_of(to_string(kind)).kernels.empty()) << to_string(kind);
    }
}

TEST(KernelProof, EveryKindHasARowInItsPlace) {
    const auto proofs = kernel_proofs();
    for (std::size_t i = 0; i < std::size(all_layer_kinds); ++i)
        EXPECT_EQ(proofs[i].subject, to_string(all_layer_kinds[i]));
    std::set<std::string_view> subjects;
    for (const KernelProof& proof : proofs)
        EXPECT_TRUE(subjects.insert(proof.subject).second) << proof.subject;
}

TEST(KernelProof, TheFilesItNamesAreThere) {
    for (const KernelProof& proof : kernel_proofs()) {
        std::istringstream files{std::string(proof.kernels)};
        for (std::string file; std::getline(files >> std::ws, file, ',');)
            EXPECT_TRUE(fs::is_regular_file(fs::path(KVCALIPER_SOURCE_DIR) / "kernels/cuda" / file))
                << file;
    }
}

/// Kinds that a record of a device holds and whose row of the table names none; and rows that name
/// a record which is not in the folder.
std::vector<std::string> record_faults(const fs::path& folder) {
    std::set<std::string> faults;
    for (const KernelProof& proof : kernel_proofs())
        if (!proof.record.empty() && !fs::is_regular_file(folder / proof.record))
            faults.insert(std::string(proof.record) + " is missing");
    if (!fs::is_directory(folder))
        return {faults.begin(), faults.end()};
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        std::ifstream file(entry.path());
        std::stringstream text;
        text << file.rdbuf();
        const JsonValue result = parse_json(text.str(), entry.path().string()).value.at("result");
        if (result.at("device").string_at("backend") != "cuda")
            continue;
        for (const JsonValue& row : result.array_at("kernels"))
            if (proof_of(row.string_at("kind")).record.empty())
                faults.insert(entry.path().filename().string() + " proves " +
                              row.string_at("kind"));
    }
    return {faults.begin(), faults.end()};
}

TEST(KernelProof, RecordsOfADeviceAreNamed) {
    EXPECT_THAT(record_faults(fs::path(KVCALIPER_SOURCE_DIR) / "tests/golden/verification"),
                IsEmpty());
}

TEST(KernelProof, ARecordThatNoRowNamesIsAFault) {
    const fs::path folder = fs::path(testing::TempDir()) / "kvcaliper_kernel_proof_test";
    fs::create_directories(folder);
    std::ofstream(folder / "a.json") << R"({"result": {"device": {"backend": "cuda"},
        "kernels": [{"kind": "rwkv4"}]}})";
    std::ofstream(folder / "b.json") << R"({"result": {"device": {"backend": "cpu"},
        "kernels": [{"kind": "rglru"}]}})";
    EXPECT_THAT(record_faults(folder), ElementsAre("a.json proves rwkv4"));
    fs::remove_all(folder);
}

TEST(KernelProof, AlikeOnesAreToldOnce) {
    const std::string ran = "cpu, emulated; executed by emulation only, never on a GPU";
    EXPECT_EQ(proof_text({"mla"}), ran);
    EXPECT_EQ(proof_text({"mla", "mamba1"}), ran);
    EXPECT_THROW(proof_of("nothing"), Error);
}

INSTANTIATE_TEST_SUITE_P(Backends, VerifyTest, testing::ValuesIn(backends),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

} // namespace
} // namespace kvcaliper::kernels
