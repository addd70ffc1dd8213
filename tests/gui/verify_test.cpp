// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/chart_view.h"
#include "app/gui/record_book.h"
#include "app/gui/sample_model.h"
#include "app/gui/text.h"
#include "app/gui/verify_page.h"
#include "app/gui/verify_run.h"
#include "core/json_value.h"
#include "tests/gui/fake_verifier.h"
#include "tests/gui/helpers.h"

#include <gtest/gtest.h>

#include <QProgressBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QUndoStack>

namespace kvcaliper::gui {
namespace {

using test::FakeVerifier;
using test::MadeUp;
using test::result_of;
using test::s;
constexpr int patience_ms = 30000; // a limit, not a measurement

const QByteArray two_samples =
    "echo '{\"type\":\"plan\",\"bytes_needed\":1000,\"limit\":2000}'\n"
    "echo '{\"type\":\"progress\",\"done\":1,\"total\":2}'\n"
    "echo '{\"type\":\"sample\",\"context\":2048,\"component\":\"key\",\"predicted\":314572800,"
    "\"requested\":314572800,\"device_delta\":0,\"seconds\":0.5,\"bytes_read\":1000000000,"
    "\"flops\":1,\"max_error\":1e-4,\"bound\":1e-3}'\n"
    "echo '{\"type\":\"sample\",\"context\":4096,\"component\":\"key\",\"predicted\":629145600,"
    "\"requested\":629145600,\"device_delta\":0,\"seconds\":1,\"bytes_read\":0,"
    "\"flops\":1,\"max_error\":0,\"bound\":0.001}'\n";

class Verify : public testing::Test {
  protected:
    Verify() {
        open_seed(study);
        page = std::make_unique<VerifyPage>(study);
        page->show();
    }
    void runWith(const FakeVerifier& verifier) {
        QSignalSpy ended(page.get(), &VerifyPage::runEnded);
        page->setProgram(verifier.path());
        page->start();
        ASSERT_TRUE(ended.wait(patience_ms));
    }
    std::vector<CurvePointData> measured() const {
        return std::get<CurveChart>(page->chart()->data().body).curves.front().measured;
    }
    Study study;
    std::unique_ptr<VerifyPage> page;
};

TEST_F(Verify, ShowsPointsWhileItRuns) {
    const FakeVerifier verifier(two_samples + "exec sleep 60\n");
    QSignalSpy ended(page.get(), &VerifyPage::runEnded);
    page->setProgram(verifier.path());
    page->start();
    ASSERT_TRUE(QTest::qWaitFor([&] { return page->samples()->rowCount() == 2; }, patience_ms));
    EXPECT_EQ(page->samples()->index(0, SampleModel::Measured).data().toString(), s("300 MiB"));
    EXPECT_EQ(page->samples()->index(0, SampleModel::Bandwidth).data().toString(), s("2.0"));
    ASSERT_EQ(measured().size(), 1U); // the other context may still go on
    EXPECT_EQ(measured()[0].bytes, Bytes(314572800));
    EXPECT_EQ(study.badge(s("gpt2-xl")), Badge::computed);
    page->cancel();
    ASSERT_TRUE(ended.count() > 0 || ended.wait(patience_ms));
}

TEST_F(Verify, ShowsPointsVerdictAndBadge) {
    MadeUp made_up;
    made_up.device = "test device";
    const FakeVerifier verifier(result_of(study, "gpt2-xl", made_up));
    runWith(verifier);
    EXPECT_EQ(page->samples()->rowCount(), 9); // key, value and total at three contexts
    EXPECT_EQ(page->samples()->index(0, SampleModel::Measured).data().toString(), s("300 MiB"));
    EXPECT_EQ(page->samples()->index(0, SampleModel::Verdict).data().toString(), s("✓ equal"));
    ASSERT_EQ(measured().size(), 3U);
    EXPECT_EQ(measured()[1].bytes, Bytes(4096 * 307200)); // 300 KiB per token
    EXPECT_TRUE(page->verdictText().contains(s("Equal to the byte")));
    EXPECT_TRUE(page->verdictText().contains(s("test device (cpu)")));
    EXPECT_EQ(study.badge(s("gpt2-xl")), Badge::measured);
}

TEST_F(Verify, OneRunFollowsAnotherAtOnce) {
    const FakeVerifier first(result_of(study, "gpt2-xl") + "sleep 0.2\n");
    runWith(first);
    study.setCurrent(s("llama-3-8b"));
    const FakeVerifier second(result_of(study, "llama-3-8b") + "sleep 0.2\n");
    runWith(second);
    EXPECT_EQ(study.badge(s("gpt2-xl")), Badge::measured);
    EXPECT_EQ(study.badge(s("llama-3-8b")), Badge::measured);
}

TEST_F(Verify, PointsVanishUnderOtherSettings) {
    const FakeVerifier verifier(result_of(study, "gpt2-xl"));
    runWith(verifier);
    study.setSequences(2);
    EXPECT_TRUE(measured().empty());
    EXPECT_TRUE(page->verdictText().contains(s("not drawn")));
    study.undoStack()->undo();
    EXPECT_EQ(measured().size(), 3U);
}

TEST_F(Verify, AnAnswerThatIsNoRecordProvesNothing) {
    const FakeVerifier verifier("echo '{\"type\":\"result\",\"verdict\":\"equal\"}'\n");
    runWith(verifier);
    EXPECT_TRUE(page->verdictText().contains(s("No record was kept"))) << utf8(page->verdictText());
    EXPECT_EQ(study.badge(s("gpt2-xl")), Badge::computed);
}

TEST_F(Verify, ASettingThatCanNotRunIsSaid) {
    study.setContext(Tokens(3)); // fewer than the decode steps
    page->setProgram(s("/no/such/verifier"));
    page->start();
    EXPECT_FALSE(page->running());
    EXPECT_TRUE(page->verdictText().contains(s("more tokens than decode steps")))
        << utf8(page->verdictText());
}

TEST_F(Verify, AModelThatWasUntickedMeanwhileHurtsNothing) {
    const FakeVerifier verifier("sleep 0.2\necho '{\"type\":\"result\",\"verdict\":\"equal\"}'\n");
    QSignalSpy ended(page.get(), &VerifyPage::runEnded);
    page->setProgram(verifier.path());
    page->start();
    study.setTicked(s("gpt2-xl"), false);
    ASSERT_TRUE(ended.wait(patience_ms));
    EXPECT_EQ(study.current(), s("llama-3-8b"));
}

TEST_F(Verify, SendsTheRequestOfTheProtocol) {
    study.setCurrent(s("gemma-3-27b"));
    const FakeVerifier verifier("echo '{\"type\":\"result\",\"verdict\":\"equal\"}'\n");
    runWith(verifier);
    const QByteArray sent = verifier.request();
    const JsonValue request =
        parse_json(std::string_view(sent.constData(), static_cast<std::size_t>(sent.size())),
                   "request")
            .value;
    EXPECT_EQ(request.integer_at("schema"), 1);
    EXPECT_EQ(request.integer_at("sequences"), 1);
    EXPECT_EQ(request.integer_at("steps"), 4);
    EXPECT_EQ(request.at("formats").string_at("k"), "bf16");
    EXPECT_EQ(request.at("config").array_at("layers").size(), 62U);
    EXPECT_EQ(request.at("spec").array_at("layers").size(), 62U);
    std::vector<std::int64_t> contexts;
    for (const JsonValue& context : request.array_at("contexts")) {
        contexts.push_back(*context.if_integer());
    }
    EXPECT_EQ(contexts, (std::vector<std::int64_t>{512, 1024, 2048, 4096, 8192}));
}

TEST_F(Verify, ARefutationIsABadgeToo) {
    MadeUp refuted;
    refuted.verdict = "refuted";
    refuted.key_bytes_off = 128;
    const FakeVerifier verifier(result_of(study, "gpt2-xl", refuted) + "exit 1\n");
    runWith(verifier);
    EXPECT_EQ(study.badge(s("gpt2-xl")), Badge::refuted);
    EXPECT_TRUE(page->verdictText().contains(s("Refuted")));
    EXPECT_TRUE(page->verdictText().contains(s("a made-up contradiction")));
    EXPECT_EQ(page->samples()->index(0, SampleModel::Difference).data().toString(), s("128 B"));
    EXPECT_EQ(page->samples()->index(0, SampleModel::Verdict).data().toString(), s("✗ differs"));
}

TEST_F(Verify, ARefusalIsNoVerdictOnTheModel) {
    const FakeVerifier verifier(
        "echo '{\"type\":\"result\",\"verdict\":\"refused\",\"reasons\":[\"too large\"]}'\n");
    runWith(verifier);
    EXPECT_EQ(study.badge(s("gpt2-xl")), Badge::computed);
    EXPECT_TRUE(page->verdictText().contains(s("too large")));
}

TEST_F(Verify, ErrorsAreShown) {
    const FakeVerifier verifier("echo '{\"type\":\"error\",\"code\":\"no_device\",\"message\":\"no "
                                "device here\"}'\nexit 3\n");
    runWith(verifier);
    EXPECT_TRUE(page->verdictText().contains(s("no device here")));
    EXPECT_EQ(study.badge(s("gpt2-xl")), Badge::computed);
}

TEST_F(Verify, AnEndWithoutAResultIsAnErrorWithItsReason) {
    const FakeVerifier silent("echo 'out of memory' >&2\nexit 7\n");
    runWith(silent);
    EXPECT_TRUE(page->verdictText().contains(s("exit code 7")));
    EXPECT_TRUE(page->verdictText().contains(s("out of memory")));
    const FakeVerifier killed("kill -9 $$\n");
    runWith(killed);
    EXPECT_TRUE(page->verdictText().contains(s("it died")));
    EXPECT_TRUE(study.records().all().empty());
}

TEST_F(Verify, NonsenseEndsTheRun) {
    const FakeVerifier verifier("echo 'hello there'\nexec sleep 60\n");
    runWith(verifier);
    EXPECT_TRUE(page->verdictText().contains(s("unexpected")));
}

TEST_F(Verify, AnotherVersionIsRefused) {
    const FakeVerifier verifier(
        "echo '{\"type\":\"hello\",\"version\":\"9.9.9\",\"device\":\"x\"}'\nexec sleep 60\n");
    runWith(verifier);
    EXPECT_TRUE(page->verdictText().contains(s("9.9.9")));
}

TEST_F(Verify, CancelEndsTheRun) {
    const FakeVerifier verifier(
        "echo '{\"type\":\"progress\",\"done\":1,\"total\":4}'\nexec sleep 60\n");
    QSignalSpy ended(page.get(), &VerifyPage::runEnded);
    page->setProgram(verifier.path());
    page->start();
    auto* bar = page->findChild<QProgressBar*>();
    while (bar->value() <= 0) {
        QTest::qWait(5);
    }
    EXPECT_EQ(bar->value() * 4, bar->maximum());
    page->findChild<QPushButton*>(s("verifyCancel"))->click();
    ASSERT_TRUE(ended.count() > 0 || ended.wait(patience_ms));
    EXPECT_TRUE(page->verdictText().contains(s("Cancelled")));
    EXPECT_FALSE(page->findChild<QPushButton*>(s("verifyCancel"))->isEnabled());
}

TEST_F(Verify, ClosingTheWindowEndsTheRun) {
    const FakeVerifier verifier("exec sleep 60\n");
    page->setProgram(verifier.path());
    page->start();
    page.reset(); // must not hang
}

TEST(Verifier, IsLookedForInTwoPlacesAndBothAreNamed) {
    qputenv("KVCALIPER_VERIFY", "/no/such/verifier");
    const VerifierPlace place = find_verifier();
    qunsetenv("KVCALIPER_VERIFY");
    EXPECT_TRUE(place.program.isEmpty());
    EXPECT_TRUE(place.missing.contains(s("/no/such/verifier")));
    EXPECT_TRUE(place.missing.contains(QCoreApplication::applicationDirPath()));
}

TEST(Verifier, IsTakenFromTheEnvironment) {
    const FakeVerifier verifier("");
    qputenv("KVCALIPER_VERIFY", verifier.path().toUtf8());
    EXPECT_EQ(find_verifier().program, verifier.path());
    qunsetenv("KVCALIPER_VERIFY");
}

} // namespace
} // namespace kvcaliper::gui
