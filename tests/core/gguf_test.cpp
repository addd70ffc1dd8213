// SPDX-License-Identifier: Apache-2.0
// Reading GGUF headers: published models, and files that lie.
#include "core/gguf.h"

#include "core/gguf_config.h"
#include "tests/core/gguf_writer.h"
#include "tests/core/test_models.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::HasSubstr;

std::string data_file(const std::string& name) {
    return std::string(KVCALIPER_SOURCE) + "/tests/core/data/" + name + ".gguf";
}

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

ModelPtr model_in(const std::string& name) {
    auto model = std::make_shared<Model>();
    model->plan = plan_model(read_config_file(data_file(name)));
    model->spec = build_cache_spec(model->plan);
    return model;
}

/// The error that bytes lead to, "" when there is none.
std::string error_of(std::string_view bytes) {
    try {
        header_of(bytes);
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
    return "";
}

/// One key, and what follows it.
std::string error_of_value(Gguf type, const GgufBytes& value) {
    return error_of(GgufBytes().start(1).key("x.y", type).raw(value.bytes()).bytes());
}

// ---- published models ---------------------------------------------------------------------------

TEST(Gguf, Llama3) { // 128 KiB a token: 2 x 32 layers x 8 heads x 128 x 2 bytes
    const auto model = model_in("llama-3-8b");
    EXPECT_EQ(uncapped(*model), Ratio(131072));
    EXPECT_EQ(growth(*model), Ratio(131072));
    EXPECT_EQ(total(*model, 8192).count(), 1073741824);
    EXPECT_EQ(model->plan.display_name, "Meta Llama 3 8B");
    EXPECT_EQ(model->plan.model_type, "llama");
    EXPECT_TRUE(has_note(*model, "GGUF version 3: general.architecture llama"));
}

TEST(Gguf, BothEndiannessesAndBothVersionsAreTheSameModel) {
    const JsonValue metadata = read_gguf_header(data_file("llama-3-8b")).metadata;
    for (const char* name : {"llama-3-8b-big-endian", "llama-3-8b-v2"}) {
        const GgufHeader header = read_gguf_header(data_file(name));
        EXPECT_EQ(dump_json(header.metadata), dump_json(metadata)) << name;
        EXPECT_EQ(uncapped(*model_in(name)), Ratio(131072)) << name;
    }
    EXPECT_TRUE(read_gguf_header(data_file("llama-3-8b-big-endian")).big_endian);
    EXPECT_EQ(read_gguf_header(data_file("llama-3-8b-v2")).version, 2u);
}

TEST(Gguf, Gemma3) { // llama.cpp: 52 of 62 layers have the window; their part is 436,207,616 B
    const auto model = model_in("gemma-3-27b");
    EXPECT_EQ(uncapped(*model), Ratio(507904));
    EXPECT_EQ(growth(*model), Ratio(81920));
    EXPECT_EQ(constant(*model).count(), 436207616);
    EXPECT_EQ(total(*model, 8192).count(), 1107296256);
}

TEST(Gguf, Gemma2) {
    const auto model = model_in("gemma-2-9b");
    EXPECT_EQ(uncapped(*model), Ratio(344064));
    EXPECT_EQ(growth(*model), Ratio(172032));
    EXPECT_EQ(total(*model, 8192).count(), 2113929216);
}

TEST(Gguf, DeepSeekV3) { // 70.272 KB a token: arXiv 2505.09343, table 1
    const auto model = model_in("deepseek-v3");
    EXPECT_EQ(uncapped(*model), Ratio(70272));
    EXPECT_EQ(growth(*model), Ratio(70272));
    EXPECT_EQ(total(*model, 8192).count(), 575668224);
}

TEST(Gguf, Qwen3Moe) { // 96 KiB a token
    EXPECT_EQ(uncapped(*model_in("qwen3-30b-a3b")), Ratio(98304));
}

TEST(Gguf, GptOss) { // every other of 24 layers has a window of 128
    const auto model = model_in("gpt-oss-20b");
    EXPECT_EQ(uncapped(*model), Ratio(49152));
    EXPECT_EQ(growth(*model), Ratio(24576));
    EXPECT_EQ(constant(*model).count(), 12 * 128 * 2048);
}

TEST(Gguf, Mamba) { // the state of the same model's config.json
    const auto model = model_in("mamba-2.8b");
    EXPECT_EQ(growth(*model), Ratio(0));
    EXPECT_EQ(total(*model, 8192).count(), 22937600);
}

// ---- the file -----------------------------------------------------------------------------------

TEST(Gguf, AFileIsKnownByItsMagicNotByItsName) {
    const std::string path = testing::TempDir() + "kvcaliper_gguf_test.json";
    std::filesystem::copy_file(data_file("llama-3-8b"), path,
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_TRUE(is_gguf_file(path));
    EXPECT_EQ(read_config_file(path).value.string_at("model_type"), "llama");
    std::ofstream(path) << R"({"model_type": "gpt2"})";
    EXPECT_FALSE(is_gguf_file(path));
    EXPECT_EQ(read_config_file(path).value.string_at("model_type"), "gpt2");
    std::filesystem::remove(path);
}

TEST(Gguf, DirectoriesAndMissingFilesAreRefused) {
    const std::string folder = testing::TempDir();
    EXPECT_FALSE(is_gguf_file(folder));
    EXPECT_FALSE(is_gguf_file(folder + "no-such-file"));
    EXPECT_THROW(read_gguf_header(folder), Error);
    EXPECT_THROW(read_gguf_header(folder + "no-such-file"), Error);
}

TEST(Gguf, ShortenedAtEveryByteItSaysWhatIsMissing) {
    for (const char* name : {"llama-3-8b", "llama-3-8b-big-endian", "jamba-v0.1"}) {
        const std::string whole = bytes_of(data_file(name));
        ASSERT_GT(whole.size(), 1000u);
        EXPECT_EQ(error_of(whole), "");
        for (std::size_t size = 0; size < whole.size(); ++size) {
            EXPECT_THAT(error_of(std::string_view(whole).substr(0, size)), HasSubstr("expected"))
                << name << " " << size;
        }
    }
    EXPECT_EQ(
        error_of(GgufBytes().start(1).key("x.y", Gguf::u32).number(1, 2).bytes()),
        "test.gguf: metadata key x.y: expected 4 bytes at offset 39, found 2 before the end of "
        "the file");
}

TEST(Gguf, MagicAndVersion) {
    EXPECT_EQ(
        error_of("GGML12345678"),
        "test.gguf: GGUF header: expected the magic bytes GGUF at offset 0, found other bytes");
    EXPECT_THAT(error_of(GgufBytes().start(0, 1).bytes()),
                HasSubstr("version 2 or 3, found version 1"));
    EXPECT_THAT(error_of(GgufBytes().start(0, 99).bytes()), HasSubstr("found version 99"));
    EXPECT_THAT(error_of(GgufBytes().start(0, 0).bytes()), HasSubstr("found version 0"));
    EXPECT_THAT(error_of(GgufBytes(true).start(0, 99).bytes()), HasSubstr("found version 99"));
    EXPECT_EQ(error_of(GgufBytes().start(0, 2).bytes()), "");
}

// ---- files that lie -----------------------------------------------------------------------------

constexpr std::uint64_t huge = std::uint64_t{1} << 60;

TEST(Gguf, ALyingLengthIsHeldAgainstTheFile) {
    EXPECT_THAT(error_of(GgufBytes().start(huge).bytes()),
                HasSubstr("at most 0 keys at offset 24"));
    EXPECT_THAT(error_of(GgufBytes().start(2).number(huge, 8).raw(std::string(40, 'x')).bytes()),
                HasSubstr("at most 40 bytes of text at offset 32, found 1152921504606846976"));
    EXPECT_THAT(error_of_value(Gguf::text, GgufBytes().number(huge, 8)),
                HasSubstr("bytes of text"));
    EXPECT_THAT(error_of_value(Gguf::text, GgufBytes().number(~std::uint64_t{0}, 8)),
                HasSubstr("found 18446744073709551615"));
    for (const Gguf type : {Gguf::u8, Gguf::f64, Gguf::text, Gguf::array}) {
        EXPECT_THAT(error_of_value(Gguf::array, GgufBytes().type(type).number(huge, 8)),
                    HasSubstr("at most 0 elements"));
    }
}

TEST(Gguf, ALyingLengthOfASkippedValueIsHeldAgainstTheFile) {
    const auto skipped = [](Gguf type, const GgufBytes& value) {
        return error_of(GgufBytes().start(1).key("tokenizer.x", type).raw(value.bytes()).bytes());
    };
    EXPECT_THAT(skipped(Gguf::text, GgufBytes().number(huge, 8)), HasSubstr("before the end"));
    EXPECT_THAT(skipped(Gguf::array, GgufBytes().type(Gguf::u32).number(huge, 8)),
                HasSubstr("at most 0 elements"));
    EXPECT_THAT(
        skipped(Gguf::array,
                GgufBytes().type(Gguf::text).number(2, 8).text("a").raw(std::string(7, 'x'))),
        HasSubstr("expected 8 bytes"));
}

TEST(Gguf, ALongStringIsRefusedEvenWhenItIsThere) {
    const std::string text(max_gguf_string_bytes + 1, 'x');
    EXPECT_THAT(error_of_value(Gguf::text, GgufBytes().text(text)),
                HasSubstr("at most 1048576 bytes of text"));
    EXPECT_EQ(error_of(GgufBytes().start(1).key("tokenizer.x", Gguf::text).text(text).bytes()), "");
}

TEST(Gguf, AllValuesTogetherAreLimited) {
    GgufBytes bytes;
    bytes.start(40);
    for (int i = 0; i < 40; ++i) {
        bytes.key("k" + std::to_string(i), Gguf::text)
            .text(std::string(max_gguf_string_bytes, 'x'));
    }
    EXPECT_THAT(error_of(bytes.bytes()), HasSubstr("bytes of metadata outside tokenizer.*"));
}

TEST(Gguf, LongArraysAreSteppedOver) {
    const std::uint64_t count = max_gguf_kept_elements + 1;
    const GgufHeader header = header_of(GgufBytes()
                                            .start(2)
                                            .key("a.b", Gguf::array)
                                            .type(Gguf::u8)
                                            .number(count, 8)
                                            .raw(std::string(count, 'x'))
                                            .key("c.d", Gguf::flag)
                                            .number(1, 1)
                                            .bytes());
    EXPECT_TRUE(header.metadata.at("a.b").is_null());
    EXPECT_TRUE(*header.metadata.at("c.d").if_bool());
    ASSERT_EQ(header.warnings.size(), 1u);
    EXPECT_THAT(header.warnings[0], HasSubstr("131073 elements was not read"));
}

TEST(Gguf, ArraysInArraysHaveADepth) {
    const auto nested = [](int depth) {
        GgufBytes value;
        for (int i = 1; i < depth; ++i) {
            value.type(Gguf::array).number(1, 8);
        }
        return value.type(Gguf::u8).number(0, 8);
    };
    EXPECT_EQ(error_of_value(Gguf::array, nested(4)), "");
    EXPECT_THAT(error_of_value(Gguf::array, nested(5)),
                HasSubstr("at most 4 arrays in one another"));
    EXPECT_THAT(error_of_value(Gguf::array, nested(100'000)), HasSubstr("at most 4 arrays"));
}

TEST(Gguf, ValuesOfEveryType) {
    const GgufHeader header = header_of(GgufBytes(true)
                                            .start(9)
                                            .key("u8", Gguf::u8)
                                            .number(255, 1)
                                            .key("i8", Gguf::i8)
                                            .number(255, 1)
                                            .key("i16", Gguf::i16)
                                            .number(0xFFFE, 2)
                                            .key("i32", Gguf::i32)
                                            .number(0xFFFFFFFD, 4)
                                            .key("i64", Gguf::i64)
                                            .number(~std::uint64_t{3}, 8)
                                            .key("u64", Gguf::u64)
                                            .number(~std::uint64_t{0} >> 1, 8)
                                            .key("f32", Gguf::f32)
                                            .number(0x3FC00000, 4)
                                            .key("f64", Gguf::f64)
                                            .number(0x4004000000000000, 8)
                                            .key("s", Gguf::text)
                                            .text("a\nb")
                                            .bytes());
    EXPECT_EQ(dump_json(header.metadata, -1),
              R"({"u8":255,"i8":-1,"i16":-2,"i32":-3,"i64":-4,"u64":9223372036854775807,)"
              R"("f32":1.5,"f64":2.5,"s":"a\nb"})");
    EXPECT_EQ(header.tensor_count, 7u);
}

TEST(Gguf, ValuesThatAreNone) {
    EXPECT_THAT(error_of_value(Gguf::u64, GgufBytes().number(huge * 8, 8)),
                HasSubstr("an integer up to 9223372036854775807, found 9223372036854775808"));
    EXPECT_THAT(error_of_value(Gguf::flag, GgufBytes().number(2, 1)), HasSubstr("true (1)"));
    EXPECT_THAT(error_of_value(static_cast<Gguf>(13), GgufBytes()),
                HasSubstr("a value type from 0 to 12, found 13"));
    EXPECT_THAT(error_of_value(Gguf::array, GgufBytes().number(77, 4).number(0, 8)),
                HasSubstr("found 77"));
    const std::string twice = GgufBytes().key("a", Gguf::u8).number(1, 1).bytes();
    EXPECT_THAT(error_of(GgufBytes().start(2).raw(twice).raw(twice).bytes()),
                HasSubstr("metadata key a: expected each key once, found it twice"));
}

TEST(Gguf, KeysAreShownOnOneLine) {
    EXPECT_THAT(error_of(GgufBytes().start(1).key("a\n\x1b[31mb", Gguf::u32).bytes()),
                HasSubstr("metadata key a??[31mb: expected 4 bytes"));
}

} // namespace
} // namespace kvcaliper
