// SPDX-License-Identifier: Apache-2.0
// The program itself, through its pipes, and the functions that read and write them.
#include "kernels/protocol.h"

#include "core/error.h"
#include "core/verify_record.h"
#include "tests/kernels/small_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace kvcaliper::kernels {
namespace {

using testing::HasSubstr;

/// The program as a child, with both ends in our hands.
class Child {
  public:
    explicit Child(std::vector<std::string> arguments = {}) {
        int in[2], out[2];
        if (pipe(in) != 0 || pipe(out) != 0)
            throw std::runtime_error("pipe");
        process_ = fork();
        if (process_ == 0) {
            dup2(in[0], STDIN_FILENO);
            dup2(out[1], STDOUT_FILENO);
            for (const int end : {in[0], in[1], out[0], out[1]})
                close(end);
            std::vector<char*> words{const_cast<char*>(KVCALIPER_VERIFY_PROGRAM)};
            for (std::string& argument : arguments)
                words.push_back(argument.data());
            words.push_back(nullptr);
            execv(words[0], words.data());
            _exit(127);
        }
        close(in[0]);
        close(out[1]);
        input_ = in[1];
        output_ = out[0];
    }
    ~Child() {
        close_input();
        close(output_);
        if (!finished_)
            finish();
    }

    void send(const std::string& text) const {
        ASSERT_EQ(write(input_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    void close_input() {
        if (input_ >= 0)
            close(input_);
        input_ = -1;
    }
    void signal(int number) const { kill(process_, number); }

    /// The next line, or nothing at the end.
    std::optional<JsonValue> line() {
        while (true) {
            if (const auto end = pending_.find('\n'); end != std::string::npos) {
                const std::string text = pending_.substr(0, end);
                pending_.erase(0, end + 1);
                return parse_json(text, "line").value;
            }
            char piece[4096];
            const ssize_t size = read(output_, piece, sizeof piece);
            if (size <= 0)
                return std::nullopt;
            pending_.append(piece, static_cast<std::size_t>(size));
        }
    }
    std::vector<JsonValue> rest() {
        std::vector<JsonValue> lines;
        while (auto next = line())
            lines.push_back(std::move(*next));
        return lines;
    }
    int finish() {
        int status = 0;
        waitpid(process_, &status, 0);
        finished_ = true;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

  private:
    pid_t process_ = -1;
    int input_ = -1, output_ = -1;
    bool finished_ = false;
    std::string pending_;
};

std::string small_request() {
    return dump_json(to_json(request_for({full_layer()})), -1);
}

/// Takes many seconds: enough to be cancelled in the middle.
VerifyRequest long_request() {
    VerifyRequest request =
        request_for({one_part(LayerKind::mamba1, Mamba1Dims{4096, 16, 4})}, {2'000'000});
    request.cancel_on_eof = true;
    return request;
}

TEST(Protocol, FindsTheEndOfAnObject) {
    EXPECT_EQ(complete_object("{}"), 2u);
    const std::string nested = " {\"a\": [1, {\"}\": \"\\\"}\"}]}";
    EXPECT_EQ(complete_object(nested + " rest"), nested.size());
    EXPECT_EQ(complete_object("{\"a\": {}"), std::nullopt);
    EXPECT_EQ(complete_object("{\"a}"), std::nullopt);
    EXPECT_EQ(complete_object(""), std::nullopt);
}

TEST(Protocol, ARequestSurvivesItsJson) {
    const VerifyRequest request = request_for({full_layer(), latent_layer(), mamba1_layer()});
    const JsonValue json = to_json(request);
    EXPECT_EQ(dump_json(to_json(verify_request_from_json(json))), dump_json(json));
}

TEST(Protocol, NamesTheKeyThatIsWrong) {
    const auto message = [](const std::string& key, JsonValue value) {
        JsonValue json = to_json(request_for({full_layer()}));
        json.set(key, std::move(value));
        try {
            verify_request_from_json(json);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_THAT(message("schema", 2), HasSubstr("/schema: expected 1"));
    EXPECT_THAT(message("contexts", JsonValue::Array{8, 4}), HasSubstr("/contexts"));
    EXPECT_THAT(message("contexts", JsonValue::Array{3}), HasSubstr("/contexts"));
    EXPECT_THAT(message("contexts", JsonValue::Array{"x"}), HasSubstr("/contexts"));
    EXPECT_THAT(message("contexts", JsonValue::Array{}), HasSubstr("/contexts"));
    EXPECT_THAT(message("sequences", 0), HasSubstr("/sequences"));
    EXPECT_THAT(message("steps", 0), HasSubstr("/steps"));
    EXPECT_THAT(message("backend", "tpu"), HasSubstr("/backend"));
    EXPECT_THAT(message("cancel_on_eof", 1), HasSubstr("/cancel_on_eof"));
    EXPECT_THAT(message("spec", JsonValue()), HasSubstr("layers"));
}

TEST(Program, AnswersAPipedRequest) {
    Child child;
    child.send(small_request() + "\n");
    child.close_input();
    const auto lines = child.rest();
    ASSERT_GT(lines.size(), 3u);
    EXPECT_EQ(lines[0].string_at("type"), "hello");
    EXPECT_EQ(lines[0].string_at("version"), KVCALIPER_VERSION);
    EXPECT_EQ(lines[0].at("device").string_at("backend"), "cpu");
    EXPECT_EQ(lines[1].string_at("type"), "plan");
    EXPECT_EQ(lines.back().string_at("type"), "result");
    EXPECT_EQ(lines.back().string_at("verdict"), "equal");
    EXPECT_EQ(lines.back().string_at("slope"), "512");
    EXPECT_EQ(lines.back().array_at("components").size(), 2u);
    EXPECT_EQ(child.finish(), 0);
}

TEST(Program, AnswersASenderThatKeepsItsPipeOpen) {
    Child child;
    child.send(small_request()); // not even a newline
    EXPECT_EQ(child.rest().back().string_at("verdict"), "equal");
    EXPECT_EQ(child.finish(), 0);
}

TEST(Program, RefutesAWrongPredictionWithStatusOne) {
    VerifyRequest request = request_for({full_layer()});
    request.spec.layers[0].components[0].rows = 1;
    Child child;
    child.send(dump_json(to_json(request), -1));
    const auto lines = child.rest();
    EXPECT_EQ(lines.back().string_at("verdict"), "refuted");
    EXPECT_THAT(*lines.back().array_at("reasons").front().if_string(), HasSubstr("layer 0 key"));
    EXPECT_EQ(child.finish(), 1);
}

TEST(Program, TellsABadRequestInOneErrorLine) {
    for (const char* text : {"nonsense\n", "{\"schema\": 1}", "{\"schema\": 1,", "", "[]\n"}) {
        Child child;
        child.send(text);
        child.close_input();
        const auto lines = child.rest();
        ASSERT_EQ(lines.size(), 1u) << text;
        EXPECT_EQ(lines[0].string_at("type"), "error");
        EXPECT_EQ(lines[0].string_at("code"), "bad_request");
        EXPECT_EQ(child.finish(), 2) << text;
    }
}

TEST(Program, RefusesWithStatusThree) {
    VerifyRequest request = request_for({full_layer()});
    request.memory_limit = 1;
    Child child;
    child.send(dump_json(to_json(request), -1));
    const auto lines = child.rest();
    EXPECT_EQ(lines.back().string_at("verdict"), "refused");
    EXPECT_EQ(lines.back().integer_at("limit"), 1);
    EXPECT_EQ(child.finish(), 3);
}

TEST(Program, EndsWhenItsSenderClosesThePipe) {
    Child child;
    child.send(dump_json(to_json(long_request()), -1));
    EXPECT_EQ(child.line()->string_at("type"), "hello");
    child.close_input();
    EXPECT_EQ(child.rest().back().string_at("verdict"), "cancelled");
    EXPECT_EQ(child.finish(), 3);
}

TEST(Program, EndsOnASignal) {
    for (const int number : {SIGINT, SIGTERM}) {
        Child child;
        child.send(dump_json(to_json(long_request()), -1));
        EXPECT_EQ(child.line()->string_at("type"), "hello");
        child.signal(number);
        EXPECT_EQ(child.rest().back().string_at("verdict"), "cancelled");
        EXPECT_EQ(child.finish(), 3);
    }
}

TEST(Program, WritesARecord) {
    const std::string path = testing::TempDir() + "kvcaliper_record.json";
    std::remove(path.c_str());
    Child child({"--record", path});
    child.send(small_request());
    child.rest();
    EXPECT_EQ(child.finish(), 0);
    const JsonValue record = read_json_file(path).value;
    EXPECT_EQ(record.integer_at("schema"), 1);
    EXPECT_EQ(record.string_at("version"), KVCALIPER_VERSION);
    EXPECT_EQ(record.at("result").string_at("verdict"), "equal");
    EXPECT_EQ(record.at("request").integer_at("seed"), 1);
    const VerifyRecord read = verify_record_from_json(record, path);
    EXPECT_EQ(check_record(read, rebuilt_model(read)).status, RecordStatus::equal);
}

TEST(Program, ARecordThatCanNotBeWrittenIsAnError) {
    Child child({"--record", "/nonexistent/record.json"});
    child.send(small_request());
    EXPECT_EQ(child.rest().back().string_at("type"), "error");
    EXPECT_NE(child.finish(), 0);
}

TEST(Program, KnowsItsOptions) {
    EXPECT_EQ(Child({"--help"}).finish(), 0);
    EXPECT_EQ(Child({"--version"}).finish(), 0);
    EXPECT_EQ(Child({"--nonsense"}).finish(), 2);
    EXPECT_EQ(Child({"--backend"}).finish(), 2);
    Child child({"--backend", "tpu"});
    child.send(small_request());
    EXPECT_EQ(child.rest().back().string_at("code"), "bad_request");
    EXPECT_EQ(child.finish(), 2);
}

} // namespace
} // namespace kvcaliper::kernels
