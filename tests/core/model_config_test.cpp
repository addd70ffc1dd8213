// SPDX-License-Identifier: Apache-2.0
#include "tests/core/test_models.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::HasSubstr;

std::string llama(const std::string& more) {
    return R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32)" + more + "}";
}

TEST(ModelConfig, BadLayerCountsNameThePointer) {
    const std::string expected =
        "test.json: /num_hidden_layers: expected an integer from 1 to 100000, found ";
    EXPECT_EQ(model_error(llama("")), expected + "nothing");
    EXPECT_EQ(model_error(llama(R"(,"num_hidden_layers":null)")), expected + "null");
    EXPECT_EQ(model_error(llama(R"(,"num_hidden_layers":-1)")), expected + "-1");
    EXPECT_EQ(model_error(llama(R"(,"num_hidden_layers":0)")), expected + "0");
    EXPECT_EQ(model_error(llama(R"(,"num_hidden_layers":"32")")), expected + "string \"32\"");
    EXPECT_EQ(model_error(llama(R"(,"num_hidden_layers":1e30)")), expected + "1e+30");
    EXPECT_EQ(model_error(llama(R"(,"num_hidden_layers":2.5)")), expected + "2.5");
    EXPECT_EQ(model_error(llama(R"(,"num_hidden_layers":[1])")), expected + "an array of 1");
    EXPECT_EQ(model_error(llama(R"(,"num_hidden_layers":true)")), expected + "true");
}

TEST(ModelConfig, ErrorsUseTheSpellingAndPlaceOfTheFile) {
    EXPECT_THAT(model_error(R"({"model_type":"gpt2","n_layer":-4,"n_embd":768,"n_head":12})"),
                HasSubstr("/n_layer: "));
    EXPECT_THAT(model_error(R"({"model_type":"gemma3","text_config":{
        "model_type":"gemma3_text","num_hidden_layers":"x"}})"),
                HasSubstr("/text_config/num_hidden_layers: "));
}

TEST(ModelConfig, IntegersWrittenAsFloatsAreIntegers) {
    EXPECT_EQ(uncapped(*model_of(llama(R"(,"num_hidden_layers":32.0,"num_key_value_heads":8.0)"))),
              Ratio(131072));
}

TEST(ModelConfig, HeadsMustDivide) {
    EXPECT_THAT(model_error(llama(R"(,"num_hidden_layers":32,"num_key_value_heads":5)")),
                HasSubstr("a divisor of num_attention_heads (32), found 5"));
    EXPECT_THAT(model_error(R"({"model_type":"llama","hidden_size":8,"num_attention_heads":32,
        "num_hidden_layers":1})"),
                HasSubstr("/hidden_size"));
}

TEST(ModelConfig, HugeNumbersAreRefusedNotWrapped) {
    EXPECT_THAT(model_error(llama(R"(,"num_hidden_layers":32,"head_dim":99999999999)")),
                HasSubstr("/head_dim"));
    const auto model = model_of(R"({"model_type":"llama","num_hidden_layers":100000,
        "num_attention_heads":1000000,"head_dim":65536})");
    EXPECT_NO_THROW(uncapped(*model)); // 2.6e16 bytes a token is a number, if a silly one
    EXPECT_THROW(total(*model, 1 << 20), Error);
}

TEST(ModelConfig, TheCanonicalKeyWinsOverItsAlias) {
    EXPECT_EQ(uncapped(*model_of(R"({"model_type":"mamba","n_layer":1,"num_hidden_layers":2,
        "hidden_size":64})")),
              Ratio(0));
    EXPECT_EQ(model_of(R"({"model_type":"mamba","n_layer":1,"num_hidden_layers":2,
        "hidden_size":64})")
                  ->plan.layers.size(),
              2u);
}

TEST(ModelConfig, DuplicateKeysAreNoted) {
    EXPECT_TRUE(has_note(*model_of(llama(R"(,"num_hidden_layers":1,"num_hidden_layers":2)")),
                         "appears twice"));
}

class ModelConfigFiles : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = std::filesystem::temp_directory_path() /
                  ("kvcaliper-config-" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder_ / "tiny-model");
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    void write(const std::string& name, const std::string& text) {
        std::ofstream(folder_ / name) << text;
    }
    std::filesystem::path folder_;
};

TEST_F(ModelConfigFiles, AFolderIsNamedAfterItself) {
    write("tiny-model/config.json", llama(R"(,"num_hidden_layers":2)"));
    const ConfigFile config = read_config_file((folder_ / "tiny-model").string());
    EXPECT_EQ(config.name, "tiny-model");
    EXPECT_THAT(config.path, HasSubstr("config.json"));
}

TEST_F(ModelConfigFiles, WrongFilesAreOneLine) {
    EXPECT_THROW(read_config_file(folder_.string()), Error);
    EXPECT_THROW(read_config_file((folder_ / "none.json").string()), Error);
    write("array.json", "[1]");
    EXPECT_THROW(read_config_file((folder_ / "array.json").string()), Error);
}

} // namespace
} // namespace kvcaliper
