// SPDX-License-Identifier: Apache-2.0
// Weights read off files: safetensors headers and indexes, GGUF tensors; also wrong ones.
#include "core/catalog.h"
#include "core/gguf_tensors.h"
#include "core/safetensors.h"
#include "core/weights.h"
#include "tests/core/gguf_writer.h"
#include "tests/core/test_models.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

/// A model's folder, for as long as a test runs.
class Folder {
  public:
    /// Named by the test: others run beside it.
    Folder()
        : path_(fs::path(testing::TempDir()) /
                ("kvcaliper_weights_" +
                 std::string(testing::UnitTest::GetInstance()->current_test_info()->name()))) {
        fs::remove_all(path_);
        fs::create_directories(path_);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() { fs::remove_all(path_); }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path_ / name, std::ios::binary) << text;
    }
    std::string path(const std::string& name = "") const { return (path_ / name).string(); }
    /// A config whose type has no formula, so that only files can tell.
    void write_config() const {
        write("config.json", R"({"model_type": "qwen", "num_hidden_layers": 2, "hidden_size": 256,
            "num_attention_heads": 4, "seq_length": 2048})");
    }
    Weights weights() const { return weights_of(*load_model(path()), "auto"); }

  private:
    fs::path path_;
};

std::string little_endian(std::uint64_t value) {
    std::string bytes;
    for (int i = 0; i < 8; ++i) {
        bytes += static_cast<char>(value >> (8 * i) & 0xFF);
    }
    return bytes;
}

/// A safetensors file: its header, and `data` bytes of data.
std::string safetensors(const std::string& header, std::size_t data) {
    return little_endian(header.size()) + header + std::string(data, '\0');
}

const std::string two_tensors = R"({"__metadata__": {"format": "pt"},
    "a": {"dtype": "BF16", "shape": [10, 10], "data_offsets": [0, 200]},
    "b": {"dtype": "F32", "shape": [25], "data_offsets": [200, 300]}})";

template <typename Action> std::string error_of(Action action) {
    try {
        action();
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
    return "";
}

// ---- safetensors --------------------------------------------------------------------------------

TEST(Safetensors, TheBytesOfAHeadersTensors) {
    const Folder folder;
    folder.write("x.safetensors", safetensors(two_tensors, 300));
    EXPECT_EQ(safetensors_bytes(folder.path("x.safetensors")), Bytes(300));
}

TEST(Safetensors, ALyingLengthIsRefusedBeforeItIsRead) {
    const Folder folder;
    const auto error = [&](const std::string& bytes) {
        folder.write("x.safetensors", bytes);
        return error_of([&] { safetensors_bytes(folder.path("x.safetensors")); });
    };
    EXPECT_THAT(error(little_endian(~std::uint64_t{0}) + "{}"),
                HasSubstr("expected at most 2 bytes, found a length of 18446744073709551615"));
    EXPECT_THAT(error(little_endian(3) + "{}"), HasSubstr("found a length of 3"));
    EXPECT_THAT(error("short"), HasSubstr("expected a safetensors file, found 5 bytes"));
    EXPECT_THAT(error(safetensors("[]", 0)), HasSubstr("expected an object of tensors"));
    EXPECT_THAT(error(safetensors("{", 0)), HasSubstr("x.safetensors"));
}

TEST(Safetensors, OffsetsStayWithinTheData) {
    const Folder folder;
    const auto error = [&](const std::string& offsets) {
        folder.write("x.safetensors",
                     safetensors("{\"a\": {\"data_offsets\": " + offsets + "}}", 10));
        return error_of([&] { safetensors_bytes(folder.path("x.safetensors")); });
    };
    EXPECT_THAT(error("[0, 11]"), HasSubstr("/a/data_offsets: expected two offsets within the 10 "
                                            "bytes of data, found 0 and 11"));
    EXPECT_THAT(error("[5, 4]"), HasSubstr("found 5 and 4"));
    EXPECT_THAT(error("[-1, 4]"), HasSubstr("found -1 and 4"));
    EXPECT_THAT(error("[1]"), HasSubstr("found an array of 1"));
    EXPECT_EQ(error("[0, 10]"), "");
}

TEST(Safetensors, TheIndexIsAskedFirst) {
    const Folder folder;
    folder.write_config();
    folder.write("model.safetensors.index.json",
                 R"({"metadata": {"total_size": 16060522496, "total_parameters": 8030261248}})");
    folder.write("model.safetensors", "not looked at");
    const Weights weights = folder.weights();
    EXPECT_EQ(weights.source, WeightsSource::safetensors_index);
    EXPECT_EQ(weights.total.bytes(), Bytes(16'060'522'496));
    EXPECT_EQ(weights.parameters, 8'030'261'248);
    EXPECT_EQ(weights.uncertainty_permille, 0);
}

TEST(Safetensors, WithoutATotalTheShardsAreRead) {
    const Folder folder;
    folder.write_config();
    folder.write("model.safetensors.index.json",
                 R"({"weight_map": {"a": "one.safetensors", "b": "one.safetensors",
                                    "c": "two.safetensors", "d": "../up.safetensors"}})");
    folder.write("one.safetensors", safetensors(two_tensors, 300));
    EXPECT_THAT(error_of([&] { folder.weights(); }), HasSubstr("two.safetensors"));
    folder.write("two.safetensors", safetensors(two_tensors, 300));
    const Weights weights = folder.weights();
    EXPECT_EQ(weights.source, WeightsSource::safetensors_headers);
    EXPECT_EQ(weights.total.bytes(), Bytes(600));
}

TEST(Safetensors, AnIndexThatSaysNothingIsAnError) {
    const Folder folder;
    folder.write_config();
    folder.write("model.safetensors.index.json", "{}");
    EXPECT_THAT(error_of([&] { folder.weights(); }),
                HasSubstr("/metadata/total_size: expected a number of bytes"));
}

TEST(Safetensors, OneFileOrACompleteSetOfParts) {
    const Folder folder;
    folder.write_config();
    folder.write("model.safetensors", safetensors(two_tensors, 300));
    folder.write("consolidated.safetensors", safetensors(two_tensors, 300));
    EXPECT_EQ(folder.weights().total.bytes(), Bytes(300));
    fs::remove(folder.path("model.safetensors"));
    EXPECT_THAT(error_of([&] { folder.weights(); }), HasSubstr("with --weights SIZE"));
    folder.write("model-00001-of-00002.safetensors", safetensors(two_tensors, 300));
    EXPECT_THAT(error_of([&] { folder.weights(); }),
                HasSubstr("model-00002-of-00002.safetensors: expected a regular file, found no "
                          "such file"));
    folder.write("model-00002-of-00002.safetensors", safetensors(two_tensors, 300));
    EXPECT_EQ(folder.weights().total.bytes(), Bytes(600));
}

TEST(Safetensors, AConfigNamedWithoutItsFolder) {
    const Folder folder;
    folder.write_config();
    folder.write("one.safetensors", safetensors(two_tensors, 300));
    const fs::path before = fs::current_path();
    fs::current_path(folder.path());
    EXPECT_EQ(weights_of(*load_model("config.json"), "auto").total.bytes(), Bytes(300));
    fs::current_path(before);
}

TEST(Safetensors, FilesThatNoIndexExplainsAreNotSummed) {
    const Folder folder;
    folder.write("config.json", R"({"model_type": "llama", "num_hidden_layers": 1,
        "hidden_size": 64, "num_attention_heads": 1, "num_key_value_heads": 1,
        "intermediate_size": 64, "vocab_size": 10, "dtype": "bfloat16"})");
    folder.write("one.safetensors", safetensors(two_tensors, 300));
    folder.write("two.safetensors", safetensors(two_tensors, 300));
    const Weights weights = folder.weights();
    EXPECT_EQ(weights.source, WeightsSource::formula);
    EXPECT_THAT(weights.notes,
                testing::Contains(HasSubstr("several *.safetensors beside the config")));
}

// ---- GGUF ---------------------------------------------------------------------------------------

struct Tensor {
    std::string name;
    std::vector<std::uint64_t> sides;
    std::uint32_t type;
};

/// A header of a llama with these tensors; `members` further keys are in `more`.
std::string gguf(const std::vector<Tensor>& tensors, const std::string& more = "",
                 std::uint64_t members = 0) {
    GgufBytes bytes;
    bytes.raw("GGUF").number(3, 4).number(tensors.size(), 8).number(7 + members, 8);
    bytes.key("general.architecture", Gguf::text).text("llama");
    const std::vector<std::pair<std::string, std::uint64_t>> keys = {
        {"block_count", 1},          {"context_length", 2048},       {"embedding_length", 64},
        {"attention.head_count", 1}, {"attention.head_count_kv", 1}, {"feed_forward_length", 64}};
    for (const auto& [key, value] : keys) {
        bytes.key("llama." + key, Gguf::u32).number(value, 4);
    }
    bytes.raw(more);
    for (const Tensor& tensor : tensors) {
        bytes.text(tensor.name).number(tensor.sides.size(), 4);
        for (const std::uint64_t side : tensor.sides) {
            bytes.number(side, 8);
        }
        bytes.number(tensor.type, 4).number(0, 8);
    }
    return bytes.bytes();
}

std::string tensors_error(const std::string& bytes) {
    return error_of([&] {
        read_gguf_tensors(std::as_bytes(std::span(bytes.data(), bytes.size())), "test.gguf");
    });
}

// ggml's numbers: 0 F32, 12 Q4_K (256 elements in 144 bytes), 14 Q6_K (256 in 210), 39 MXFP4.
constexpr std::uint32_t f32 = 0;
constexpr std::uint32_t q4_k = 12;
constexpr std::uint32_t q6_k = 14;

TEST(GgufTensors, BlocksOfEachTypeByHand) {
    const Folder folder;
    folder.write("m.gguf", gguf({{"token_embd.weight", {256, 100}, q6_k},
                                 {"blk.0.attn_q.weight", {256, 256}, q4_k},
                                 {"output_norm.weight", {256}, f32}}));
    const Weights weights = weights_of(*load_model(folder.path("m.gguf")), "auto");
    EXPECT_EQ(weights.source, WeightsSource::gguf_header);
    EXPECT_EQ(weights.total.bytes().count(), 100 * 210 + 256 * 144 + 256 * 4);
    EXPECT_EQ(weights.parameters, 256 * 100 + 256 * 256 + 256);
    EXPECT_FALSE(weights.active);
}

TEST(GgufTensors, ATokenReadsItsShareOfTheExperts) {
    const Folder folder;
    GgufBytes more;
    more.key("llama.expert_count", Gguf::u32).number(8, 4);
    more.key("llama.expert_used_count", Gguf::u32).number(2, 4);
    std::vector<Tensor> tensors = {{"token_embd.weight", {256, 100}, q6_k},
                                   {"blk.0.ffn_up_exps.weight", {256, 64, 8}, q4_k},
                                   {"blk.0.attn_q.weight", {256, 256}, q4_k}};
    folder.write("m.gguf", gguf(tensors, more.bytes(), 2));
    const auto active = [&] {
        return weights_of(*load_model(folder.path("m.gguf")), "auto").active->bytes().count();
    };
    // A tied embedding is the output, too.
    EXPECT_EQ(active(), 100 * 210 + 256 * 144 + 2 * 64 * 144);
    tensors.push_back({"output.weight", {256, 100}, q6_k});
    folder.write("m.gguf", gguf(tensors, more.bytes(), 2));
    EXPECT_EQ(active(), 100 * 210 + 256 * 144 + 2 * 64 * 144);
}

TEST(GgufTensors, AllPartsOfASplitFileAreRead) {
    const Folder folder;
    GgufBytes more;
    more.key("split.count", Gguf::u16).number(2, 2);
    folder.write("m-00001-of-00002.gguf",
                 gguf({{"token_embd.weight", {256, 100}, q6_k}}, more.bytes(), 1));
    const ModelPtr model = load_model(folder.path("m-00001-of-00002.gguf"));
    EXPECT_THAT(error_of([&] { weights_of(*model, "auto"); }),
                HasSubstr("expected all 2 parts of the file beside it, found no "
                          "m-00002-of-00002.gguf"));
    folder.write("m-00002-of-00002.gguf",
                 gguf({{"blk.0.attn_q.weight", {256, 256}, q4_k}}, more.bytes(), 1));
    EXPECT_EQ(weights_of(*model, "auto").total.bytes().count(), 100 * 210 + 256 * 144);
}

TEST(GgufTensors, WrongTensorsAreNamed) {
    EXPECT_THAT(tensors_error(gguf({{"a", {256}, 99}})),
                HasSubstr("test.gguf: tensor a: expected a known tensor type, found 99"));
    EXPECT_THAT(tensors_error(gguf({{"a", {100}, q4_k}})),
                HasSubstr("expected rows of whole blocks of 256 (Q4_K), found rows of 100"));
    EXPECT_THAT(tensors_error(gguf({{"abcdefghij", {}, f32}})),
                HasSubstr("expected 1 to 4 dimensions"));
    EXPECT_THAT(tensors_error(gguf({{"a", {1, 1, 1, 1, 1}, f32}})), HasSubstr("found 5"));
    EXPECT_FALSE(tensors_error(gguf({{"a", {1u << 31, 1u << 31, 1u << 31}, f32}})).empty());
    std::string cut = gguf({{"a", {256}, f32}});
    cut.resize(cut.size() - 12);
    EXPECT_FALSE(tensors_error(cut).empty());
}

TEST(GgufTensors, ALyingCountIsRefusedBeforeItIsRead) {
    std::string bytes = gguf({{"a", {256}, f32}});
    bytes.replace(8, 8, std::string(8, '\x7f'));
    EXPECT_THAT(tensors_error(bytes), HasSubstr("expected at most 1 tensors"));
}

} // namespace
} // namespace kvcaliper
