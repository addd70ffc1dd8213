// SPDX-License-Identifier: Apache-2.0
// Caches in KIVI's formats. The rule is that of models/llama_kivi.py and quant/new_pack.py
// (jy-yuan/KIVI; arXiv 2402.02750). Figures by hand: a group of 32 in 2 bits takes 8 bytes of
// codes, a 2-byte scale and a 2-byte least value.
#include "core/engines/engine.h"
#include "core/report.h"
#include "core/token_curve.h"
#include "core/verify_evidence.h"
#include "core/verify_request.h"
#include "tests/core/kivi_formats.h"
#include "tests/core/made_up_record.h"

#include <gmock/gmock.h>

namespace kvcaliper {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* all_formats[] = {"kivi_2bit",      "kivi_4bit",     "kivi_2bit_r32",
                                       "kivi_4bit_r32",  "kivi_2bit_g64", "kivi_4bit_g64",
                                       "kivi_2bit_g128", "kivi_4bit_g128"};

/// Phi-2's heads: 80 wide.
ModelPtr phi() {
    return model_of(R"({"model_type":"llama","num_hidden_layers":32,"hidden_size":2560,
        "num_attention_heads":32,"max_position_embeddings":2048})");
}

// ---- the table ---------------------------------------------------------------------------------

TEST(Kivi, GroupsAreWholeAndHoldCodesScaleAndLeast) {
    for (const char* name : all_formats) {
        const NumericFormat& format = numeric_format(name);
        const std::int64_t bits = std::string(name).find("2bit") != std::string::npos ? 2 : 4;
        EXPECT_EQ(format.bytes_per_block, format.elements_per_block * bits / 8 + 4) << name;
        EXPECT_EQ(format.residual_length % format.elements_per_block, 0) << name;
        EXPECT_EQ(format.residual_format, "f16") << name;
    }
    EXPECT_EQ(numeric_format("kivi_2bit").residual_length, 128); // the paper's setting
    EXPECT_EQ(numeric_format("kivi_2bit_r32").residual_length, 32);
}

// ---- bytes -------------------------------------------------------------------------------------

TEST(Kivi, BytesOfLlamaByHand) {
    // A layer at 8,192 tokens: K 64 × 1,024 channels × 48 B; V 8,064 tokens × 8 heads × 48 B and
    // 128 × 8 × 256 B as they are. At 8,191: K 63 × 1,024 × 48 B and 127 × 2,048 B; V 8,063.
    EXPECT_EQ(llama(8192), Bytes(32 * (3'145'728LL + 3'096'576 + 262'144)));
    EXPECT_EQ(llama(8191), Bytes(32 * (3'096'576LL + 260'096 + 3'096'192 + 262'144)));
    EXPECT_EQ(llama(8192), Bytes(208'142'336));
    EXPECT_EQ(llama(8191), Bytes(214'880'256));
    EXPECT_EQ(llama(128), Bytes(32 * (49'152 + 262'144)));
    EXPECT_EQ(llama(129), Bytes(32 * (49'152 + 2048 + 384 + 262'144)));
    // 4 bits, 20 B a group: K 64 × 1,024 × 80 B, V 8,064 × 8 × 80 B.
    EXPECT_EQ(llama(8192, kivi("kivi_4bit")), Bytes(32 * (5'242'880LL + 5'160'960 + 262'144)));
    // One group of 128: 36 B in 2 bits.
    EXPECT_EQ(llama(8192, kivi("kivi_2bit_g128")), Bytes(32 * (2'359'296LL + 2'322'432 + 262'144)));
    // A residual of 32: K 256 × 1,024 × 12 B, V 8,160 × 8 × 48 B and 32 × 2,048 B.
    EXPECT_EQ(llama(8192, kivi("kivi_2bit_r32")), Bytes(32 * (3'145'728LL + 3'133'440 + 65'536)));
}

TEST(Kivi, BelowTheResidualNothingIsPacked) {
    for (const std::int64_t tokens : {1, 100, 127}) {
        EXPECT_EQ(llama(tokens), llama(tokens, kivi("f16"))) << tokens;
    }
    EXPECT_LT(llama(128), llama(128, kivi("f16")));
}

TEST(Kivi, KAndVMixWithOtherFormats) {
    // V in f16: 8,192 × 2,048 B a layer. K in q8_0: 8,192 × 8 × 136 B.
    EXPECT_EQ(llama(8192, kivi("kivi_2bit", "f16")), Bytes(32 * (3'145'728LL + 16'777'216)));
    EXPECT_EQ(llama(8192, kivi("q8_0", "kivi_4bit")),
              Bytes(32 * (8'912'896LL + 5'160'960 + 262'144)));
}

TEST(Kivi, HeadsOf64) {
    // GPT-2 XL, 48 layers of 25 × 64, 1,000 tokens: K 7 × 1,600 × 48 B and 104 × 3,200 B; V 872 ×
    // 25 × 24 B and 128 × 3,200 B.
    const ModelPtr gpt = load_model("gpt2-xl");
    EXPECT_EQ(bytes_of(*gpt, kivi(), 1000), Bytes(48 * (537'600LL + 332'800 + 523'200 + 409'600)));
    // A group of 128 channels does not fit a head of V; K's groups are tokens: 7 × 1,600 × 36 B.
    EXPECT_EQ(bytes_of(*gpt, kivi("kivi_2bit_g128", "f16"), 1000),
              Bytes(48 * (403'200LL + 332'800 + 3'200'000)));
    EXPECT_EQ(storage_problem(gpt->spec, kivi("f16", "kivi_2bit_g128")),
              "value of full_attention layers (head_dim 64): kivi_2bit_g128 can not store rows of "
              "64: 128 does not divide 64");
}

TEST(Kivi, HeadsOf80AreFineForKAlone) {
    // 130 tokens: 2,560 channels × 48 B, 2 × 5,120 B; V 130 × 5,120 B.
    EXPECT_EQ(bytes_of(*phi(), kivi("kivi_2bit", "f16"), 130),
              Bytes(32 * (122'880LL + 10'240 + 665'600)));
    EXPECT_EQ(storage_problem(phi()->spec, kivi("f16", "kivi_2bit")),
              "value of full_attention layers (head_dim 80): kivi_2bit can not store rows of 80: "
              "32 does not divide 80");
}

// ---- components --------------------------------------------------------------------------------

TEST(StoredComponents, AreThePackedAndTheRecentOnesInOrder) {
    const ModelPtr model = load_model("llama-3-8b");
    const CacheSpec stored = stored_spec(model->spec, kivi());
    ASSERT_EQ(stored.layers.size(), 32U);
    const auto& parts = stored.layers[5].components;
    ASSERT_EQ(parts.size(), 4U);
    const auto expect = [&](std::size_t i, Role role, std::int64_t rows, std::int64_t width,
                            const char* units) {
        EXPECT_EQ(parts[i].role, role);
        EXPECT_EQ(parts[i].rows, rows);
        EXPECT_EQ(parts[i].width, width);
        EXPECT_EQ(parts[i].units.to_string(), units);
    };
    expect(0, Role::key, 1024, 128, "floor(T/128)");
    expect(1, Role::key_residual, 8, 128, "T mod 128");
    expect(2, Role::value, 8, 128, "max(T-128,0)");
    expect(3, Role::value_residual, 8, 128, "min(T,128)");
    EXPECT_EQ(parts[0].rows_name, "KV heads × head_dim");
    EXPECT_EQ(parts[0].width_name, "residual_length");
    EXPECT_EQ(parts[1].format_class, FormatClass::k);
    EXPECT_EQ(parts[3].format_class, FormatClass::v);
    EXPECT_EQ(format_of(parts[0], kivi()).name, "kivi_2bit");
    EXPECT_EQ(format_of(parts[1], kivi()).name, "f16");
    EXPECT_EQ(format_of(parts[3], kivi()).name, "f16");
}

TEST(StoredComponents, SplittingTwiceIsSplittingOnce) {
    const ModelPtr model = load_model("llama-3-8b");
    const CacheSpec once = stored_spec(model->spec, kivi());
    const CacheSpec twice = stored_spec(once, kivi());
    EXPECT_EQ(dump_json(to_json(twice)), dump_json(to_json(once)));
    EXPECT_FALSE(storage_problem(once, kivi()));
    for (const std::int64_t tokens : {1, 127, 128, 129, 8191, 8192}) {
        EXPECT_EQ(cache_bytes(once, kivi(), Tokens(tokens)).bytes(), llama(tokens)) << tokens;
    }
}

TEST(StoredComponents, OtherFormatsStoreWhatThereIs) {
    const ModelPtr model = load_model("gemma-3-27b");
    EXPECT_EQ(dump_json(to_json(stored_spec(model->spec, ideal_formats()))),
              dump_json(to_json(model->spec)));
    EXPECT_EQ(group_components(model->spec, ideal_formats()).size(),
              group_components(model->spec).size());
}

TEST(StoredComponents, OneComponentAloneTakesBoth) {
    const ModelPtr model = load_model("llama-3-8b");
    const auto& parts = model->spec.layers[0].components;
    EXPECT_EQ(component_bytes(parts[0], kivi(), Tokens(8191)), Bytes(3'096'576 + 260'096));
    EXPECT_EQ(component_bytes(parts[1], kivi(), Tokens(8191)), Bytes(3'096'192 + 262'144));
}

TEST(StoredComponents, SurviveJson) {
    const CacheSpec stored = stored_spec(load_model("llama-3-8b")->spec, kivi());
    const std::string text = dump_json(to_json(stored), -1);
    for (const char* part :
         {R"("role":"key_residual","rows":8,"width":128,"format_class":"k","units":"remainder",)"
          R"("n":128)",
          R"("role":"value","rows":8,"width":128,"format_class":"v","units":"past","n":128)"}) {
        EXPECT_THAT(text, HasSubstr(part));
    }
    const CacheSpec back = cache_spec_from_json(parse_json(text, "x").value);
    EXPECT_EQ(cache_bytes(back, kivi(), Tokens(8191)).bytes(), Bytes(214'880'256));
}

TEST(Kivi, ATokenOfAPairMayTakePartOfAByte) {
    const auto bytes = [](const char* k, std::int64_t key, const char* v, std::int64_t value) {
        return pair_bytes_per_token(numeric_format(k), key, numeric_format(v), value);
    };
    EXPECT_EQ(bytes("q8_0", 128, "q4_0", 128), Ratio(136 + 72));
    EXPECT_EQ(bytes("kivi_2bit", 128, "kivi_4bit", 128), Ratio(48 + 80));
    EXPECT_EQ(bytes("kivi_2bit_g128", 80, "f16", 80), Ratio(45, 2) + Ratio(160)); // 80 × 36 / 128
    EXPECT_THROW(bytes("f16", 80, "kivi_2bit", 80), Error);
}

TEST(StoredComponents, GroupsOfNoTokensAreRefused) {
    const std::string text =
        dump_json(to_json(stored_spec(load_model("llama-3-8b")->spec, kivi())), -1);
    for (const char* units : {"groups", "remainder", "past"}) {
        const std::string member = "\"units\":\"" + std::string(units) + "\",\"n\":";
        std::string wrong = text;
        wrong.replace(wrong.find(member + "128"), member.size() + 3,
                      member + (std::string(units) == "past" ? "-1" : "0"));
        EXPECT_THROW(cache_spec_from_json(parse_json(wrong, "x").value), Error) << units;
    }
}

// ---- what can not be stored --------------------------------------------------------------------

std::string problem(const char* model, const CacheFormats& formats) {
    return storage_problem(load_model(model)->spec, formats).value_or("");
}

TEST(Kivi, OnlyKeysAndValuesOfEveryTokenAreStored) {
    EXPECT_EQ(problem("mistral-7b-v0.1", kivi("kivi_2bit", "f16")),
              "key of sliding_attention layers (head_dim 128): kivi_2bit keeps groups of "
              "consecutive tokens, which a window does not");
    EXPECT_EQ(problem("mistral-7b-v0.1", kivi("f16", "kivi_4bit")),
              "value of sliding_attention layers (head_dim 128): kivi_4bit packs tokens that stay, "
              "which a window's do not");
    EXPECT_THAT(problem("llama-4-scout", kivi()), HasSubstr("consecutive tokens, which a chunk"));
    EXPECT_EQ(problem("deepseek-v3", kivi()),
              "latent of mla layers (kv_lora_rank 512): kivi_2bit packs K and V of every token, "
              "each on its own");
    CacheFormats formats = ideal_formats();
    formats.state = &numeric_format("kivi_2bit");
    EXPECT_THAT(problem("falcon-mamba-7b", formats), HasSubstr("recurrent_state of mamba1"));
    formats = ideal_formats();
    formats.conv = &numeric_format("kivi_2bit");
    EXPECT_THAT(problem("falcon-mamba-7b", formats), HasSubstr("conv_state of mamba1"));
    formats = ideal_formats();
    formats.index = &numeric_format("kivi_2bit");
    EXPECT_THAT(problem("deepseek-v3.2", formats), HasSubstr("index_key of mla"));
}

std::string refusal(const char* model, const Settings& settings) {
    try {
        estimate(load_model(model), settings);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Kivi, NoEngineKeepsIt) {
    int refused = 0;
    for (const EngineInfo& engine : engines()) {
        if (engine.name == "ideal") {
            continue;
        }
        for (const auto& [k, v] :
             {std::pair("kivi_2bit", "kivi_2bit"), std::pair("auto", "kivi_4bit"),
              std::pair("kivi_4bit_g64", "auto")}) {
            Settings settings = settings_of(k, v);
            settings.engine = engine.name;
            const std::string reason = refusal("llama-3-8b", settings);
            EXPECT_THAT(reason, HasSubstr(std::string("engine ") + std::string(engine.name)));
            EXPECT_THAT(reason, HasSubstr("kivi_")) << engine.name;
            ++refused;
        }
    }
    EXPECT_GE(refused, 21);
    Settings quantised = settings_of("kivi_2bit", "kivi_2bit");
    quantised.engine = "transformers";
    quantised.engine_options = {{"cache-implementation", "quantized"}};
    EXPECT_THAT(refusal("llama-3-8b", quantised), HasSubstr("found kivi_2bit"));
}

TEST(Kivi, HeadsAndLayersAreDividedTokensAreNot) {
    Settings settings = settings_of("kivi_2bit", "kivi_2bit");
    settings.parallel.tensor = 4;
    settings.parallel.pipeline = 2;
    const Estimate answer = estimate(load_model("llama-3-8b"), settings);
    EXPECT_EQ(answer.per_rank->required.bytes(), Bytes(208'142'336 / 8));
    settings.parallel = {};
    settings.parallel.context = 2;
    EXPECT_EQ(refusal("llama-3-8b", settings),
              "--cp: expected 1 with kivi_2bit (no rule for how ranks divide its tokens), found 2");
}

// ---- every bundled model ------------------------------------------------------------------------

/// The rule itself on the layers' dimensions, no component asked.
std::int64_t by_rule(const AttentionDims& dims, const NumericFormat& format, std::int64_t tokens) {
    const std::int64_t length = format.residual_length;
    const std::int64_t group = format.elements_per_block;
    const std::int64_t channels = dims.kv_heads * dims.key_width;
    const std::int64_t old = std::max<std::int64_t>(tokens - length, 0);
    const std::int64_t keys = tokens / length * length / group * channels * format.bytes_per_block +
                              tokens % length * channels * 2;
    const std::int64_t values =
        old * dims.kv_heads * (dims.value_width / group) * format.bytes_per_block +
        (tokens - old) * dims.kv_heads * dims.value_width * 2;
    return keys + values;
}

/// Nothing for layers of other kinds.
std::optional<std::int64_t> by_rule(const ModelPlan& plan, const NumericFormat& format,
                                    std::int64_t tokens) {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < plan.layers.size(); ++i) {
        const auto& parts = plan.layers[i].parts;
        if (parts.size() != 1 || parts[0].kind != LayerKind::full_attention) {
            return std::nullopt;
        }
        bytes += by_rule(std::get<AttentionDims>(parts[0].dims), format, tokens);
    }
    return bytes;
}

TEST(Kivi, EveryModelOfFullAttentionTakesWhatTheRuleSays) {
    int models = 0;
    for (const CatalogEntry& entry : bundled_models()) {
        const ModelPtr model = load_model(entry.path);
        for (const char* name : all_formats) {
            const CacheFormats formats = kivi(name);
            if (storage_problem(model->spec, formats) || !by_rule(model->plan, *formats.k, 1)) {
                continue;
            }
            ++models;
            const TokenCurve curve(model->spec, formats, 3);
            for (const std::int64_t tokens : {1, 31, 32, 127, 128, 129, 5000, 131071, 131072}) {
                const std::int64_t expected = *by_rule(model->plan, *formats.k, tokens);
                ASSERT_EQ(bytes_of(*model, formats, tokens), Bytes(expected))
                    << entry.name << " " << name << " at " << tokens;
                ASSERT_EQ(curve.at(Tokens(tokens)), Bytes(3 * expected));
            }
        }
    }
    EXPECT_GT(models, 100);
}

// ---- figures -----------------------------------------------------------------------------------

TEST(Kivi, GrowthIsWhatIsPacked) {
    const ModelPtr model = load_model("llama-3-8b");
    // 32 × 1,024 channels × 12/32 B of K, as much of V.
    EXPECT_EQ(growth_bytes_per_token(model->spec, kivi()).value(), Ratio(24'576));
    EXPECT_EQ(uncapped_bytes_per_token(model->spec, kivi()).value(), Ratio(24'576));
    // The last 128 tokens of V take 128 × (2,048 - 384) B a layer more.
    EXPECT_EQ(constant_bytes(model->spec, kivi()).bytes(), Bytes(32 * 128 * 1664));
    const auto found = knees(model->spec, kivi());
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].tokens, Tokens(128));
    EXPECT_EQ(found[0].bytes_per_token_before, Ratio(32 * (384 + 2048)));
    EXPECT_EQ(found[0].bytes_per_token_after, Ratio(24'576));
}

TEST(Kivi, TheLineRunsThroughFullGroups) {
    for (const ModelPtr& model : {load_model("llama-3-8b"), load_model("gpt2-xl")}) {
        for (const char* name : all_formats) {
            const CacheFormats formats = kivi(name, "kivi_4bit_g64");
            const Ratio growth = growth_bytes_per_token(model->spec, formats).value();
            const Ratio constant = constant_bytes(model->spec, formats).value();
            for (const std::int64_t tokens : {128, 256, 1024, 8192, 131072}) {
                EXPECT_EQ(Ratio(bytes_of(*model, formats, tokens).count()),
                          growth * tokens + constant)
                    << model->plan.name << " " << name << " at " << tokens;
            }
        }
    }
}

TEST(Kivi, TheExplanationNamesPackedAndRecentTokens) {
    const Estimate answer =
        estimate(load_model("llama-3-8b"), settings_of("kivi_2bit", "kivi_2bit", 8191));
    EXPECT_EQ(explain(answer.required),
              "bytes at 8,191 tokens = 214,880,256 B (205 MiB)\n"
              "  full attention, key: 32 layers × 63 groups = floor(T/128) × 1,024 KV heads × "
              "head_dim × 48 bytes per row of 128 residual_length (kivi_2bit) = 99,090,432 B\n"
              "  full attention, key residual: 32 layers × 127 tokens = T mod 128 × 8 KV heads × "
              "128 head_dim × 2 bytes per element (f16) = 8,323,072 B\n"
              "  full attention, value: 32 layers × 8,063 tokens = max(T-128,0) × 8 KV heads × 48 "
              "bytes per row of 128 head_dim (kivi_2bit) = 99,078,144 B\n"
              "  full attention, value residual: 32 layers × 128 tokens = min(T,128) × 8 KV heads "
              "× 128 head_dim × 2 bytes per element (f16) = 8,388,608 B\n");
    EXPECT_THAT(explain(answer.constant),
                HasSubstr("full attention, value: 32 layers × -128 tokens of the growth that are "
                          "not packed × 8 KV heads × 48 bytes"));
}

TEST(Kivi, AnEstimateCountsStoredComponents) {
    const Estimate answer =
        estimate(load_model("llama-3-8b"), settings_of("kivi_2bit", "kivi_2bit"));
    const JsonValue json = estimate_json(answer, true);
    std::int64_t sum = 0;
    std::vector<std::string> roles;
    for (const JsonValue& component : json.array_at("components")) {
        sum += component.integer_at("bytes_at_context");
        roles.push_back(component.string_at("role"));
    }
    EXPECT_EQ(sum, 208'142'336);
    EXPECT_THAT(roles, ElementsAre("key", "key_residual", "value", "value_residual"));
    EXPECT_EQ(json.array_at("layers")[0].array_at("components").size(), 4U);
}

// ---- verification ------------------------------------------------------------------------------

TEST(KiviVerify, BothSidesOfAGroupAreRun) {
    const ModelPtr model = load_model("llama-3-8b");
    EXPECT_THAT(verify_contexts(*model, kivi(), Tokens(8192)),
                ElementsAre(127, 128, 130, 320, 2048, 4096, 8191, 8192));
    EXPECT_THAT(verify_contexts(*model, kivi("kivi_2bit_r32", "f16"), Tokens(100)),
                ElementsAre(25, 31, 32, 34, 50, 80, 95, 96, 100));
    EXPECT_THAT(verify_contexts(*model, kivi(), Tokens(64)), ElementsAre(16, 32, 64));
}

/// States have no K and V that could be packed.
TEST(KiviVerify, AModelOfStatesIsAskedAsEver) {
    const ModelPtr model = load_model("falcon-mamba-7b");
    EXPECT_FALSE(packs(model->spec, kivi(), Role::key));
    EXPECT_THAT(verify_contexts(*model, kivi(), Tokens(8192)), ElementsAre(2048, 4096, 8192));
    Settings settings = settings_of("kivi_2bit", "kivi_2bit");
    settings.parallel.context = 2;
    EXPECT_NO_THROW(estimate(model, settings));
}

TEST(KiviVerify, TheRequestHoldsStoredComponents) {
    const ModelPtr model = load_model("llama-3-8b");
    const JsonValue request =
        verify_request(*model, settings_of("kivi_2bit", "kivi_4bit"), VerifyOptions{});
    EXPECT_EQ(request.at("spec").array_at("layers")[0].array_at("components").size(), 4U);
    EXPECT_EQ(request.at("formats").string_at("v"), "kivi_4bit");
}

TEST(KiviVerify, ARecordIsEvidenceForItsFigures) {
    const ModelPtr model = load_model("llama-3-8b");
    const Settings settings = settings_of("kivi_2bit", "kivi_2bit");
    const VerifyRecordPtr record = test::made_up_record(*model, settings);
    EXPECT_EQ(check_record(*record, *model).status, RecordStatus::equal);
    const FigureEvidence evidence = figure_evidence(estimate(model, settings), {record});
    for (const FigureKind figure : all_figure_kinds) {
        EXPECT_EQ(evidence[static_cast<std::size_t>(figure)].status, EvidenceStatus::measured);
    }
}

} // namespace
} // namespace kvcaliper
