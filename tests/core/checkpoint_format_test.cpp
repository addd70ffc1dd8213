// SPDX-License-Identifier: Apache-2.0
#include "tests/core/test_models.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::HasSubstr;

std::string llama(const std::string& more) {
    return R"({"model_type":"llama","num_hidden_layers":32,"hidden_size":4096,
        "num_attention_heads":32,"num_key_value_heads":8)" +
           more + "}";
}

Ratio with_checkpoint(const ModelPtr& model) {
    Settings settings;
    settings.k_format = settings.v_format = "checkpoint";
    return estimate(model, settings).uncapped.value();
}

TEST(CheckpointFormat, ASchemeIsANoteAndUsedOnRequestOnly) {
    const auto model = model_of(
        llama(R"(,"quantization_config":{"kv_cache_scheme":{"num_bits":8,"type":"float"}})"));
    EXPECT_TRUE(has_note(*model, "asks for K and V in fp8_e4m3: used with --kv checkpoint"));
    EXPECT_EQ(estimate(model, Settings{}).uncapped.value(), Ratio(131072));
    EXPECT_EQ(with_checkpoint(model), Ratio(65536));
}

TEST(CheckpointFormat, WeightQuantisationIsNone) {
    const auto model = model_of(llama(R"(,"quantization_config":{"quant_method":"fp8"})"));
    EXPECT_THROW(with_checkpoint(model), Error);
    EXPECT_FALSE(model_of(llama(R"(,"quantization_config":{"kv_cache_scheme":null})"))
                     ->plan.checkpoint_kv_format);
}

TEST(CheckpointFormat, WordsAndWhatIsNotUnderstood) {
    EXPECT_EQ(model_of(llama(R"(,"quantization_config":{"kv_cache_scheme":"FP8"})"))
                  ->plan.checkpoint_kv_format,
              "fp8_e4m3");
    const auto odd =
        model_of(llama(R"(,"quantization_config":{"kv_cache_scheme":{"num_bits":5}})"));
    EXPECT_FALSE(odd->plan.checkpoint_kv_format);
    EXPECT_TRUE(has_note(*odd, "is not understood"));
}

class HubFolders : public testing::Test {
  protected:
    void SetUp() override {
        root_ = std::filesystem::temp_directory_path() /
                ("kvcaliper-hub-" + std::to_string(::getpid()));
        write("models--org--Tiny-7B/snapshots/aaa/config.json", llama(""));
    }
    void TearDown() override { std::filesystem::remove_all(root_); }
    void write(const std::string& name, const std::string& text) {
        std::filesystem::create_directories((root_ / name).parent_path());
        std::ofstream(root_ / name) << text;
    }
    ConfigFile read() { return read_config_file((root_ / "models--org--Tiny-7B").string()); }
    std::filesystem::path root_;
};

TEST_F(HubFolders, TheOnlySnapshotIsRead) {
    EXPECT_EQ(read().name, "Tiny-7B");
    EXPECT_THAT(read().path, HasSubstr("snapshots/aaa/config.json"));
}

TEST_F(HubFolders, RefsMainChoosesAmongSnapshots) {
    write("models--org--Tiny-7B/snapshots/bbb/config.json", llama(""));
    EXPECT_THROW(read(), Error);
    write("models--org--Tiny-7B/refs/main", "bbb");
    EXPECT_THAT(read().path, HasSubstr("snapshots/bbb/config.json"));
}

TEST_F(HubFolders, TheSideFileOfModelOptIsRead) {
    write("models--org--Tiny-7B/snapshots/aaa/hf_quant_config.json",
          R"({"quantization":{"quant_algo":"NVFP4","kv_cache_quant_algo":"FP8"}})");
    EXPECT_EQ(plan_model(read()).checkpoint_kv_format, "fp8_e4m3");
}

} // namespace
} // namespace kvcaliper
