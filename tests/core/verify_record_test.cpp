// SPDX-License-Identifier: Apache-2.0
#include "core/verify_record.h"

#include "core/catalog.h"
#include "core/error.h"
#include "core/report.h"
#include "core/verify_evidence.h"
#include "tests/core/made_up_record.h"
#include "tests/core/test_models.h"

#include <filesystem>
#include <functional>
#include <gtest/gtest.h>

namespace kvcaliper {
namespace {

using test::made_up_record;
using test::made_up_record_json;

/// 300 KiB per token at 2 bytes: 2 × 48 layers × 25 heads × 64 × 2 (README, the seed's table).
constexpr std::int64_t gpt2_xl_per_token = 307'200;

std::string record_error(JsonValue json) {
    try {
        verify_record_from_json(std::move(json), "old.json");
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

/// The member at a path of keys, to be changed in place.
JsonValue& inside(JsonValue& json, std::initializer_list<const char*> keys) {
    JsonValue* at = &json;
    for (const std::string key : keys) {
        for (auto& [name, value] : *at->if_object()) {
            if (name == key) {
                at = &value;
                break;
            }
        }
    }
    return *at;
}

TEST(VerifyRecord, SaysWhoMeasuredWhatWhen) {
    const ModelPtr model = load_model("gpt2-xl");
    const JsonValue json = made_up_record_json(*model, {});
    const VerifyRecord record = verify_record_from_json(json, "a.json");
    EXPECT_EQ(record.plan.name, "gpt2-xl");
    EXPECT_EQ(record.date, "2026-01-02T03:04:05Z");
    EXPECT_EQ(record.device_text(), "made-up example device (cpu)");
    EXPECT_EQ(record.driver, "made-up driver");
    EXPECT_EQ(record.seed, 1);
    EXPECT_EQ(record.contexts(), (std::vector<std::int64_t>{2048, 4096, 8192}));
    EXPECT_EQ(record.measured_at(8192), Bytes(8192 * gpt2_xl_per_token));
    EXPECT_EQ(record.measured_at(8191), std::nullopt);
    EXPECT_EQ(dump_json(record.json), dump_json(json)); // exported as it came
}

TEST(VerifyRecord, TheDateSortsAsText) {
    JsonValue json = made_up_record_json(*load_model("gpt2-xl"), {});
    json.set("date", record_date_now());
    EXPECT_EQ(record_error(json), "");
    json.set("date", "yesterday");
    EXPECT_EQ(record_error(json), "old.json: /date: expected a date like 2026-01-31T12:00:00Z, "
                                  "found \"yesterday\"");
}

TEST(VerifyRecord, WhatIsDamagedIsNamed) {
    const JsonValue good = made_up_record_json(*load_model("gpt2-xl"), {});
    const auto broken = [&](const std::function<void(JsonValue&)>& breaking) {
        JsonValue json = good;
        breaking(json);
        return record_error(std::move(json));
    };
    EXPECT_EQ(broken([](JsonValue& j) { j.set("schema", 2); }),
              "old.json: /schema: expected 1, found 2");
    EXPECT_NE(broken([](JsonValue& j) { j.set("request", 3); }).find("old.json: /request"),
              std::string::npos);
    EXPECT_NE(broken([](JsonValue& j) {
                  inside(j, {"request", "formats"}).set("k", "fp3");
              }).find("old.json: /request/formats"),
              std::string::npos);
    EXPECT_EQ(
        broken([](JsonValue& j) { inside(j, {"result"}).set("samples", JsonValue::Array{}); }),
        "old.json: /result/samples: expected what was measured, found none");
    EXPECT_EQ(broken([](JsonValue& j) { inside(j, {"result"}).set("verdict", "refused"); }),
              "old.json: /result/verdict: expected equal, refuted or disturbed, found refused: "
              "nothing was measured");
    EXPECT_EQ(record_error(JsonValue(3)).find("old.json: "), 0u);
}

TEST(VerifyRecord, AVerdictThatItsSamplesContradictIsNone) {
    const ModelPtr model = load_model("gpt2-xl");
    test::MadeUp off;
    off.key_bytes_off = 1;
    EXPECT_EQ(record_error(made_up_record_json(*model, {}, off)),
              "old.json: /result/verdict: expected refuted where samples differ, found equal");
    off.verdict = "refuted";
    EXPECT_EQ(record_error(made_up_record_json(*model, {}, off)), "");
}

TEST(VerifyRecord, NumbersWithoutSenseAreRefused) {
    JsonValue json = made_up_record_json(*load_model("gpt2-xl"), {});
    auto& samples = *inside(json, {"result", "samples"}).if_array();
    samples[0].set("used", -1);
    EXPECT_NE(record_error(json).find("a negative number"), std::string::npos);
    samples[0].set("used", INT64_MAX);
    samples[1].set("used", INT64_MAX);
    EXPECT_NE(record_error(json), ""); // their sum is no number of bytes
}

TEST(VerifyRecord, TodaysPredictionStillAgrees) {
    for (const char* name : {"gpt2-xl", "gemma-3-27b", "deepseek-v3", "falcon-mamba-7b"}) {
        const ModelPtr model = load_model(name);
        Settings settings;
        settings.sequences = 3;
        const VerifyRecordPtr record = made_up_record(*model, settings);
        EXPECT_EQ(check_record(*record, *model).reason, "") << name;
        EXPECT_EQ(check_record(*record, *model).status, RecordStatus::equal) << name;
        EXPECT_EQ(check_record(*record, rebuilt_model(*record)).status, RecordStatus::equal)
            << name;
    }
}

TEST(VerifyRecord, AnotherPredictionMakesItStale) {
    const ModelPtr model = load_model("gpt2-xl");
    Model changed = *model; // as if a formula had lost a head of the keys
    for (LayerCache& layer : changed.spec.layers) {
        layer.components.front().rows = 24;
    }
    const VerifyRecordPtr record = made_up_record(changed, {});
    const RecordCheck check = check_record(*record, *model);
    EXPECT_EQ(check.status, RecordStatus::stale);
    // 48 layers × 2,048 tokens × 64 × 2 bytes × 24 or 25 heads
    EXPECT_EQ(check.reason, "key of full_attention layers at 2,048 tokens: predicted 301,989,888 B "
                            "when it was measured, 314,572,800 B today");
}

TEST(VerifyRecord, OtherLayersMakeItStaleWhereBytesAgree) {
    const ModelPtr model = load_model("llama-3-8b");
    Model changed = *model; // as many bytes, but a kernel of another shape ran
    for (LayerPlan& layer : changed.plan.layers) {
        std::get<AttentionDims>(layer.parts.front().dims).heads = 64;
    }
    const RecordCheck check = check_record(*made_up_record(changed, {}), *model);
    EXPECT_EQ(check.status, RecordStatus::stale);
    EXPECT_NE(check.reason.find("read otherwise today"), std::string::npos);
}

TEST(VerifyRecord, TheKeyThatDecidedIsForPeople) {
    const ModelPtr model = load_model("llama-3-8b");
    Model changed = *model;
    changed.plan.layers.front().decided_by = "another wording";
    EXPECT_EQ(check_record(*made_up_record(changed, {}), *model).status, RecordStatus::equal);
}

TEST(VerifyRecord, ARefutationStaysOne) {
    const ModelPtr model = load_model("gpt2-xl");
    test::MadeUp refuted;
    refuted.verdict = "refuted";
    refuted.key_bytes_off = 128;
    const RecordCheck check = check_record(*made_up_record(*model, {}, refuted), *model);
    EXPECT_EQ(check.status, RecordStatus::refuted);
    EXPECT_EQ(check.reason, "a made-up contradiction");
}

TEST(VerifyRecord, OnlyADeviceTakesKindsOffTheList) {
    const ModelPtr model = load_model("gemma-3-27b");
    const auto before = kinds_run_on_gpu({});
    EXPECT_EQ(kinds_run_on_gpu({made_up_record(*model, {})}), before); // on the CPU
    test::MadeUp emulated;
    emulated.backend = "emulated";
    EXPECT_EQ(kinds_run_on_gpu({made_up_record(*model, {}, emulated)}), before);
    test::MadeUp cuda;
    cuda.backend = "cuda";
    const auto after = kinds_run_on_gpu({made_up_record(*model, {}, cuda)});
    EXPECT_TRUE(after.contains(LayerKind::full_attention));
    EXPECT_TRUE(after.contains(LayerKind::sliding_attention));
}

/// Records of real devices, where any are committed: a changed formula turns them stale and this
/// test red.
TEST(VerifyRecord, CommittedRecordsAgreeWithTodaysPredictions) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::path(KVCALIPER_SOURCE) / "tests/golden/verification";
    std::vector<VerifyRecordPtr> records;
    for (const auto& file :
         fs::exists(folder) ? fs::directory_iterator(folder) : fs::directory_iterator()) {
        if (file.path().extension() == ".json") {
            records.push_back(
                std::make_shared<const VerifyRecord>(read_verify_record(file.path().string())));
            const RecordCheck check =
                check_record(*records.back(), *load_model(records.back()->plan.name));
            EXPECT_EQ(check.status, RecordStatus::equal) << file.path() << ": " << check.reason;
        }
    }
    std::set<LayerKind> kinds;
    for (const VerifyRecordPtr& record : records) {
        if (record->backend == "cuda") {
            kinds.insert(record->kinds_run.begin(), record->kinds_run.end());
        }
    }
    EXPECT_EQ(kinds_run_on_gpu({}), kinds); // what the programs say without those files
}

// ---- figures ------------------------------------------------------------------------------------

class Figures : public testing::Test {
  protected:
    Evidence of(FigureKind figure) const {
        return figure_evidence(estimate(model, settings),
                               records)[static_cast<std::size_t>(figure)];
    }
    void measure(const test::MadeUp& made_up = {}) {
        records.push_back(made_up_record(*model, settings, made_up));
    }
    ModelPtr model = load_model("gpt2-xl");
    Settings settings;
    std::vector<VerifyRecordPtr> records;
};

TEST_F(Figures, AreComputedWithoutARecord) {
    EXPECT_EQ(of(FigureKind::total).status, EvidenceStatus::computed);
}

TEST_F(Figures, EachSaysWhereItWasMeasured) {
    measure();
    EXPECT_EQ(of(FigureKind::total).how, "at 8,192 tokens");
    EXPECT_EQ(of(FigureKind::growth).how, "between 4,096 and 8,192 tokens");
    EXPECT_EQ(of(FigureKind::constant).how,
              "as what is left of the line between 4,096 and 8,192 tokens");
    for (const FigureKind figure :
         {FigureKind::uncapped, FigureKind::growth, FigureKind::constant, FigureKind::total}) {
        EXPECT_EQ(of(figure).status, EvidenceStatus::measured);
    }
}

TEST_F(Figures, OfWindowsAreMeasuredOnTheirOwnSegment) {
    model = load_model("gemma-3-27b"); // windows of 1,024, and 52 of 62 layers have one
    measure();
    EXPECT_EQ(of(FigureKind::uncapped).how, "between 512 and 1,024 tokens");
    EXPECT_EQ(of(FigureKind::growth).how, "between 4,096 and 8,192 tokens");
    EXPECT_EQ(of(FigureKind::constant).status, EvidenceStatus::measured);
    settings.context = Tokens(1000); // no window is full: growth and constant were not seen
    records.clear();
    measure();
    EXPECT_EQ(of(FigureKind::uncapped).status, EvidenceStatus::measured);
    EXPECT_EQ(of(FigureKind::growth).status, EvidenceStatus::computed);
    EXPECT_EQ(of(FigureKind::constant).status, EvidenceStatus::computed);
    EXPECT_EQ(of(FigureKind::total).status, EvidenceStatus::measured);
}

TEST_F(Figures, CountOnlyForExactlyTheirSettings) {
    measure();
    settings.sequences = 2;
    EXPECT_EQ(of(FigureKind::total).status, EvidenceStatus::computed);
    EXPECT_EQ(of(FigureKind::growth).status, EvidenceStatus::computed); // the same for any number
    settings.sequences = 1;
    settings.k_format = "f16";
    EXPECT_EQ(of(FigureKind::total).status, EvidenceStatus::computed);
    settings.k_format = "bf16"; // what auto means
    EXPECT_EQ(of(FigureKind::total).status, EvidenceStatus::measured);
    settings.state_format = "bf16"; // nothing here is stored in it
    EXPECT_EQ(of(FigureKind::total).status, EvidenceStatus::measured);
    settings.context = Tokens(4096); // sampled on the way
    EXPECT_EQ(of(FigureKind::total).status, EvidenceStatus::measured);
    settings.context = Tokens(5000);
    EXPECT_EQ(of(FigureKind::total).status, EvidenceStatus::computed);
    settings.context = Tokens(8192);
    model = load_model("llama-3-8b");
    EXPECT_EQ(of(FigureKind::total).status, EvidenceStatus::computed);
}

TEST_F(Figures, CountOnlyWhereStepsRanOnThisCache) {
    test::MadeUp other;
    other.options.depth = "layout";
    measure(other);
    EXPECT_EQ(of(FigureKind::total).status, EvidenceStatus::computed);
    other.options.depth = "use";
    other.options.page = 16;
    measure(other);
    EXPECT_EQ(of(FigureKind::total).status, EvidenceStatus::computed);
    other.options.page = 0;
    other.verdict = "disturbed";
    measure(other);
    EXPECT_EQ(of(FigureKind::total).status, EvidenceStatus::computed);
}

TEST_F(Figures, ADisturbedRunHidesNoneBeforeIt) {
    measure();
    test::MadeUp disturbed;
    disturbed.verdict = "disturbed";
    disturbed.date = "2026-02-01T00:00:00Z";
    measure(disturbed);
    EXPECT_EQ(of(FigureKind::total).status, EvidenceStatus::measured);
}

TEST_F(Figures, OfEveryDeviceTheLatestCounts) {
    test::MadeUp refuted;
    refuted.verdict = "refuted";
    refuted.key_bytes_off = 1;
    measure(refuted);
    EXPECT_EQ(of(FigureKind::growth).status, EvidenceStatus::refuted);
    EXPECT_EQ(of(FigureKind::growth).how, "a made-up contradiction");
    test::MadeUp elsewhere;
    elsewhere.device = "another made-up device";
    elsewhere.date = "2026-03-01T00:00:00Z";
    measure(elsewhere); // does not outweigh what this device said
    EXPECT_EQ(of(FigureKind::growth).status, EvidenceStatus::refuted);
    test::MadeUp again;
    again.date = "2026-02-01T00:00:00Z";
    measure(again); // the same device, later
    EXPECT_EQ(of(FigureKind::growth).status, EvidenceStatus::measured);
    EXPECT_EQ(of(FigureKind::growth).record->device, "another made-up device");
}

TEST_F(Figures, OfAnotherPredictionAreStale) {
    Model changed = *model;
    for (LayerCache& layer : changed.spec.layers) {
        layer.components.front().rows = 24;
    }
    records.push_back(made_up_record(changed, settings));
    EXPECT_EQ(of(FigureKind::total).status, EvidenceStatus::stale);
    EXPECT_NE(of(FigureKind::total).how.find("301,989,888 B"), std::string::npos);
    measure(); // one that agrees is better than one that does not
    EXPECT_EQ(of(FigureKind::total).status, EvidenceStatus::measured);
}

} // namespace
} // namespace kvcaliper
