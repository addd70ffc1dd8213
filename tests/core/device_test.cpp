// SPDX-License-Identifier: Apache-2.0
#include "core/device.h"

#include "core/error.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace kvcaliper {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t gib = 1 << 30;

/// A folder of the user's own with a gpus.json, for as long as a test runs.
class OwnFile {
  public:
    explicit OwnFile(const std::string& text)
        : folder_(fs::path(testing::TempDir()) /
                  ("own_gpus_" +
                   std::string(testing::UnitTest::GetInstance()->current_test_info()->name()))) {
        fs::create_directories(folder_);
        std::ofstream(folder_ / "gpus.json") << text;
        setenv("KVCALIPER_USER_DATA", folder_.c_str(), 1);
    }
    OwnFile(const OwnFile&) = delete;
    OwnFile& operator=(const OwnFile&) = delete;
    ~OwnFile() {
        unsetenv("KVCALIPER_USER_DATA");
        fs::remove_all(folder_);
    }

  private:
    fs::path folder_;
};

class Devices : public testing::Test {
  protected:
    void SetUp() override { setenv("KVCALIPER_USER_DATA", "/nonexistent", 1); }
    void TearDown() override { unsetenv("KVCALIPER_USER_DATA"); }
};

std::string error_with(const std::string& own) {
    const OwnFile file(own);
    try {
        known_devices();
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
    return "";
}

TEST_F(Devices, EveryEntryIsCompleteUniqueAndSane) {
    const auto devices = known_devices();
    EXPECT_GE(devices.size(), 60u);
    std::set<std::string> names;
    for (const Device& device : devices) {
        EXPECT_TRUE(names.insert(device.name).second) << device.name;
        EXPECT_FALSE(device.display_name.empty() || device.vendor.empty()) << device.name;
        EXPECT_THAT(device.source, HasSubstr("memory: ")) << device.name;
        EXPECT_THAT(device.source, HasSubstr("bandwidth: ")) << device.name;
        EXPECT_GE(device.memory.count(), 8000 * mib) << device.name;
        EXPECT_LE(device.memory.count(), 512 * gib) << device.name;
        EXPECT_LE(device.usable, device.memory) << device.name;
        EXPECT_GE(device.usable.count() * 2, device.memory.count()) << device.name;
        EXPECT_GE(device.bandwidth, 50'000'000'000) << device.name;
        EXPECT_LE(device.bandwidth, 10'000'000'000'000) << device.name;
        EXPECT_EQ(device.nominal, device.source.find("shows") == std::string::npos ||
                                      device.source.find("nominal") != std::string::npos)
            << device.name;
    }
}

TEST_F(Devices, MemoryIsWhatTheDriverReports) {
    // modal-client pull request 2797: totals of nvidia-smi, 85,520,809,984 B for the H100.
    EXPECT_EQ(find_device("h100-80").memory, Bytes(85'520'809'984));
    EXPECT_EQ(find_device("a100-80").memory, Bytes(81'920 * mib));
    EXPECT_EQ(find_device("l40s").memory, Bytes(46'068 * mib));
    // TensorRT-LLM issue 10278.
    EXPECT_EQ(find_device("b200").memory, Bytes(183'359 * mib));
    // ROCm/legacy-rocm-build issue 4750: rocm-smi.
    EXPECT_EQ(find_device("mi300x").memory, Bytes(206'141'652'992));
    EXPECT_LT(find_device("h100-80").memory, Bytes(80 * gib));
    EXPECT_FALSE(find_device("h100-80").nominal);
    EXPECT_TRUE(find_device("mi325x").nominal);
}

TEST_F(Devices, BandwidthIsTheVendorsInDecimalBytes) {
    EXPECT_EQ(find_device("h100-80").bandwidth, 3'350'000'000'000); // data sheet: 3.35 TB/s
    EXPECT_EQ(find_device("rtx-3090").bandwidth, 936'000'000'000);  // 936 GB/s
    EXPECT_EQ(find_device("m3-ultra-512").bandwidth, 819'000'000'000);
}

TEST_F(Devices, UnifiedMemoryIsUsableInPart) {
    // llama.cpp issue 3213: recommendedMaxWorkingSetSize = 73728.00 MB on an M2 Max with 96 GB.
    EXPECT_EQ(find_device("m2-max-96").usable, Bytes(73'728 * mib));
    // ollama issue 434: 21845.34 MB on one with 32 GB.
    EXPECT_EQ(find_device("m1-pro-32").usable.count() / mib, 21'845);
    EXPECT_EQ(find_device("h200").usable, find_device("h200").memory);
}

TEST_F(Devices, AnUnknownNameIsAnsweredWithTheNearest) {
    try {
        find_device("h100");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("(see `list gpus`), found \"h100\"; did you mean "
                                            "h100-80 or h100-pcie-80 or h100-nvl-94?"));
    }
    try {
        find_device("rtx-4091");
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("did you mean rtx-4090?"));
    }
}

TEST_F(Devices, SharesOfMemoryAreData) {
    const auto shares = usable_shares();
    const auto share = [&](const std::string& name) {
        const auto found = std::find_if(shares.begin(), shares.end(),
                                        [&](const auto& one) { return one.name == name; });
        return found == shares.end() ? 0 : found->permille;
    };
    EXPECT_EQ(share("vllm"), 920);         // gpu_memory_utilization of vLLM 0.33
    EXPECT_EQ(share("tensorrt_llm"), 900); // free_gpu_memory_fraction 0.9
    EXPECT_EQ(share("macos"), 750);
}

TEST_F(Devices, AUsersFileAddsAndReplaces) {
    const OwnFile file(R"({"gpus": [
        {"name": "h100-80", "display_name": "Mine", "vendor": "N", "kind": "gpu",
         "memory_bytes": 1000, "bandwidth_bytes_per_second": 1, "source": "s"},
        {"name": "toy", "display_name": "Toy", "vendor": "T", "kind": "unified",
         "memory_bytes": 1000, "usable_bytes": 600, "nominal": true,
         "bandwidth_bytes_per_second": 1, "source": "s"}]})");
    EXPECT_EQ(find_device("h100-80").display_name, "Mine");
    EXPECT_EQ(find_device("toy").usable, Bytes(600));
    EXPECT_EQ(find_device("toy").kind, DeviceKind::unified);
    EXPECT_TRUE(find_device("toy").nominal);
    EXPECT_NO_THROW(find_device("h200"));
}

TEST_F(Devices, ABadUsersFileIsOneLineThatNamesThePlace) {
    EXPECT_THAT(error_with("[]"), HasSubstr("expected an object with a list gpus"));
    EXPECT_THAT(error_with("{"), HasSubstr("gpus.json"));
    EXPECT_THAT(error_with(R"({"gpus": 1})"), HasSubstr("/gpus: expected a list, found 1"));
    EXPECT_THAT(error_with(R"({"gpus": [1]})"), HasSubstr("/gpus/0/name"));
    const std::string start = R"({"gpus": [{"name": "a", "display_name": "A", "vendor": "V", )";
    const std::string end = R"("bandwidth_bytes_per_second": 1, "source": "s"}]})";
    EXPECT_THAT(error_with(start + R"("kind": "tpu", "memory_bytes": 1, )" + end),
                HasSubstr("/gpus/0/kind: expected \"gpu\" or \"unified\", found string \"tpu\""));
    EXPECT_THAT(error_with(start + R"("kind": "gpu", "memory_bytes": 1.5, )" + end),
                HasSubstr("/gpus/0/memory_bytes: expected an integer from 1 to"));
    EXPECT_THAT(
        error_with(start + R"("kind": "gpu", "memory_bytes": 5, "usable_bytes": 6, )" + end),
        HasSubstr("/gpus/0/usable_bytes: expected an integer from 1 to 5, found 6"));
    EXPECT_THAT(error_with(R"({"gpus": [{"name": "A B"}]})"),
                HasSubstr("/gpus/0/name: expected small letters, digits, dots and hyphens"));
    const std::string one = R"({"name": "a", "display_name": "A", "vendor": "V", "kind": "gpu",
        "memory_bytes": 1, "bandwidth_bytes_per_second": 1, "source": "s"})";
    EXPECT_THAT(error_with("{\"gpus\": [" + one + ", " + one + "]}"),
                HasSubstr("/gpus/1/name: expected each name once, found a twice"));
}

} // namespace
} // namespace kvcaliper
