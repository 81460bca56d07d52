#include "agent/agent.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <source_dir.h>
#include <sys/stat.h>

#include "agent/claude/claude.h"
#include "agent/client.h"
#include "agent/openai/openai.h"
#include "base/text.h"
#include "os/bubblewrap.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"
#include "os/testing_http.h"

namespace amdahl::agent {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

const std::string kSamples = AMDAHL_SOURCE_DIR "/src/agent/testdata/";

// Whether any process has these words in its command line.
bool is_running(const std::string& words) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "cmdline");
    std::string line;
    std::getline(in, line);  // Not from the buffer itself, which throws if the process has ended.
    std::ranges::replace(line, '\0', ' ');
    if (contains(line, words)) return true;
  }
  return false;
}

class Agent : public testing::Test {
 protected:
  Agent() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / fmt::format("agent-{}", test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "question");
    fs::create_directories(folder_ / "client");
    for (const auto& sample : fs::directory_iterator(kSamples)) {
      fs::copy(sample.path(), folder_ / "client" / sample.path().filename());
    }
  }
  ~Agent() override { fs::remove_all(folder_); }

  // A client that runs these lines of shell, in the folder of the samples.
  std::string client(const std::string& lines) {
    const fs::path path = folder_ / "client" / "stand_in";
    std::ofstream(path) << "#!/bin/sh\ncd \"$(dirname \"$0\")\"\n" << lines << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }

  Reply ask_client(const std::string& kind, const std::string& lines,
                   Nanos deadline = seconds(60)) {
    Runtime runtime;
    runtime.kind = kind;
    runtime.model = "sonnet";
    runtime.program = client(lines);
    return ask(runtime, question(deadline));
  }

  Question question(Nanos deadline = seconds(60)) const {
    Question question;
    question.id = "q-1";
    question.prompt = "Propose.";
    question.folder = (folder_ / "question").string();
    question.deadline = deadline;
    question.most_bytes = 100000;
    return question;
  }

  std::string left(const std::string& name) const {
    const auto text = os::read_file((folder_ / "question" / name).string());
    return text ? *text : "";
  }

  fs::path folder_;
};

struct Row {
  const char* name;
  const char* kind;
  std::string lines;
  Failure failure;
  std::optional<Tokens> tokens;
  int attempts = 1;
};

// Outcomes that were recorded from the real clients.
TEST_F(Agent, EveryRecordedOutcomeHasItsTypeAndItsTokens) {
  const Tokens two{2000, 0, 100};
  const Tokens three{3000, 0, 150};
  const std::vector<Row> rows{
      {"ok", "claude", "cat claude_ok.json", Failure::kNone, two},
      {"talks", "claude", "cat claude_talks.json", Failure::kNoAnswer, Tokens{4000, 0, 200}, 2},
      {"misfit", "claude", "cat claude_misfit.json", Failure::kInvalidAnswer, Tokens{4000, 0, 200},
       2},
      {"never fits", "claude", "cat claude_schema_retries.json; exit 1", Failure::kInvalidAnswer,
       three},
      {"turns", "claude", "cat claude_max_turns.json; exit 1", Failure::kTurnLimit, three},
      {"money", "claude", "cat claude_max_budget.json; exit 1", Failure::kMoneyLimit, three},
      {"401", "claude", "cat claude_401.json; exit 1", Failure::kNotAuthorised, Tokens{}},
      {"refused", "claude", "cat claude_refused.json; exit 1", Failure::kUnreachable, Tokens{}},
      {"overloaded", "claude", "cat claude_529.json; exit 1", Failure::kOverloaded, Tokens{}},
      {"overloaded twice, then ok", "claude", "cat claude_ok.json", Failure::kNone, two},
      {"ended by SIGTERM", "claude", "kill -TERM $$", Failure::kFailed, std::nullopt},
      {"api timeout", "claude", "cat claude_api_timeout.json; exit 1", Failure::kUnreachable,
       Tokens{}},
      {"unknown session", "claude", "echo 'No conversation found' >&2; exit 1", Failure::kFailed,
       std::nullopt},
      {"no JSON", "claude", "echo hello", Failure::kFailed, std::nullopt},
      {"crash", "claude", "kill -SEGV $$", Failure::kFailed, std::nullopt},
      {"ok", "codex", "cat codex_ok.jsonl", Failure::kNone, Tokens{2000, 500, 100}},
      {"talks", "codex", "cat codex_talks.jsonl", Failure::kNoAnswer, Tokens{4000, 1000, 200}, 2},
      {"misfit", "codex", "cat codex_misfit.jsonl", Failure::kInvalidAnswer,
       Tokens{4000, 1000, 200}, 2},
      {"401", "codex", "cat codex_401.jsonl; exit 1", Failure::kNotAuthorised, Tokens{}},
      {"429", "codex", "cat codex_429.jsonl; exit 1", Failure::kOverloaded, std::nullopt},
      {"500", "codex", "cat codex_500.jsonl; exit 1", Failure::kFailed, std::nullopt},
      {"refused", "codex", "cat codex_refused.jsonl; exit 1", Failure::kUnreachable, Tokens{}},
      {"missing key", "codex", "echo 'Missing environment variable: `X`.' >&2; exit 1",
       Failure::kNotAuthorised, Tokens{}},
      {"wrong use", "codex", "echo 'error: unexpected argument' >&2; exit 2", Failure::kFailed,
       std::nullopt},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(fmt::format("{} {}", row.kind, row.name));
    const Reply reply = ask_client(row.kind, row.lines);
    EXPECT_EQ(name(reply.failure), name(row.failure)) << reply.because;
    EXPECT_EQ(reply.because.empty(), row.failure == Failure::kNone);
    EXPECT_EQ(reply.tokens_known, row.tokens.has_value());
    if (row.tokens) {
      EXPECT_EQ(reply.tokens, *row.tokens);
    }
    EXPECT_EQ(reply.answer.has_value(), row.failure == Failure::kNone);
    EXPECT_EQ(reply.attempts, row.attempts);
    EXPECT_LT(reply.took, seconds(70));
    const auto again = decode_reply(encode(reply));
    ASSERT_TRUE(again);
    EXPECT_EQ(encode(*again), encode(reply));
  }
}

TEST_F(Agent, CostIsOursAndTheirsStandsBesideIt) {
  const Reply reply = ask_client("claude", "cat claude_ok.json");
  ASSERT_TRUE(reply.cost);
  EXPECT_NEAR(reply.cost->count(), 0.005, 1e-9);  // 2,000 read at $2 and 100 written at $10.
  EXPECT_EQ(reply.reported_usd, 0.005);
  Runtime runtime;
  runtime.kind = "claude";
  runtime.model = "who-knows";
  runtime.program = client("cat claude_ok.json");
  EXPECT_FALSE(ask(runtime, question()).cost);
  runtime.price = Price{10, 1, 100};
  EXPECT_NEAR(ask(runtime, question()).cost->count(), 0.03, 1e-9);
}

// The second try gets the validator's words and the first answer, as data.
TEST_F(Agent, OneRepairWithTheValidatorsWords) {
  const Reply reply = ask_client(
      "claude", "if grep -q refused; then cat claude_ok.json; else cat claude_misfit.json; fi");
  EXPECT_EQ(name(reply.failure), name(Failure::kNone)) << reply.because;
  EXPECT_EQ(reply.attempts, 2);
  EXPECT_EQ(reply.tokens, (Tokens{4000, 0, 200}));
  const std::string prompt = left("prompt.txt");
  EXPECT_TRUE(contains(prompt, "| {\"hypotheses\":\"none\"}")) << prompt;
  EXPECT_TRUE(contains(left("transcript-1.json"), "none"));
  EXPECT_TRUE(contains(left("transcript-2.json"), "decode once"));
}

TEST_F(Agent, NoRepairWhenTheFirstTryTookHalfOfTheTokens) {
  Runtime runtime;
  runtime.kind = "claude";
  runtime.program = client("cat claude_misfit.json");
  Question asked = question();
  asked.most_tokens = 4000;
  EXPECT_EQ(ask(runtime, asked).attempts, 1);
}

// Hangs, and what it does when it is told to end.
TEST_F(Agent, ADeadlineEndsItAndAllThatItStarted) {
  struct Stall {
    const char* name;
    std::string lines;
    bool tokens_known;
    const char* kind = "claude";
  };
  for (const Stall& row : std::vector<Stall>{
           {"prints its result on SIGINT",
            "trap 'cat claude_max_turns.json; exit 1' INT; sleep 31415.1 & wait", true},
           {"says nothing", "exec sleep 31415.2", false},
           {"ignores SIGINT and SIGTERM", "trap '' INT TERM; while :; do sleep 31415.3; done",
            false},
           {"hides a daemon",
            "setsid sh -c 'trap \"\" INT TERM HUP; sleep 31415.4' & trap '' INT; wait; sleep "
            "31415.4",
            false},
           {"codex ends without an event", "exec sleep 31415.5", false, "codex"},
           {"codex reconnects for ever",
            "while :; do echo '{\"type\":\"error\",\"message\":\"Reconnecting... 1/5\"}'; "
            "sleep 0.1; done",
            false, "codex"}}) {
    SCOPED_TRACE(row.name);
    const Reply reply = ask_client(row.kind, row.lines, seconds(1));
    EXPECT_EQ(name(reply.failure), name(Failure::kTimeout)) << reply.because;
    EXPECT_EQ(reply.tokens_known, row.tokens_known);
    EXPECT_LT(reply.took, seconds(11));
    EXPECT_FALSE(is_running("sleep 31415"));
  }
}

TEST_F(Agent, WhatAClientLeavesRunningIsEnded) {
  const Reply reply =
      ask_client("claude", "setsid sleep 31416 & sleep 31416 & cat claude_ok.json; exit 0");
  EXPECT_EQ(name(reply.failure), name(Failure::kNone)) << reply.because;
  EXPECT_FALSE(is_running("sleep 31416"));
}

TEST_F(Agent, TooMuchOutputEndsIt) {
  const Reply reply = ask_client("codex", "exec yes talking");
  EXPECT_EQ(name(reply.failure), name(Failure::kTooLong)) << reply.because;
}

TEST_F(Agent, ItCanBeStopped) {
  Runtime runtime;
  runtime.kind = "claude";
  runtime.program = client("sleep 31417");
  const Reply reply = ask(runtime, question(), [] { return true; });
  EXPECT_EQ(name(reply.failure), name(Failure::kInterrupted));
  EXPECT_FALSE(is_running("sleep 31417"));
}

TEST_F(Agent, ProgramsAndRuntimesThatAreNotThere) {
  Runtime runtime;
  runtime.kind = "claude";
  runtime.program = "/nowhere/claude";
  Reply reply = ask(runtime, question());
  EXPECT_EQ(name(reply.failure), name(Failure::kNotInstalled));
  EXPECT_TRUE(reply.tokens_known);
  EXPECT_EQ(reply.tokens.total(), 0);
  runtime.kind = "oracle";
  EXPECT_EQ(name(ask(runtime, question()).failure), name(Failure::kNotInstalled));
}

// It sees no variable of ours but those on the list, and its key; and writes to its home alone.
TEST_F(Agent, TheClientSeesLittle) {
  ::setenv("AMDAHL_TEST_SECRET", "hush", 1);
  ::setenv("AMDAHL_TEST_KEY", "key-1", 1);
  Runtime runtime;
  runtime.kind = "claude";
  runtime.key_env = "AMDAHL_TEST_KEY";
  runtime.program = client(
      "env > \"$HOME/env\"; cat > \"$HOME/brief\"; echo \"$@\" > \"$HOME/args\"\n"
      "touch ../outside 2>/dev/null; ls -a \"$HOME\" > /dev/null; cat claude_ok.json");
  ASSERT_EQ(name(ask(runtime, question()).failure), name(Failure::kNone));
  const std::string env = left("home/env");
  EXPECT_FALSE(contains(env, "hush")) << env;
  EXPECT_TRUE(contains(env, "ANTHROPIC_API_KEY=key-1")) << env;
  EXPECT_FALSE(contains(env, "AMDAHL_TEST_KEY"));
  EXPECT_EQ(left("home/brief"), "Propose.");
  EXPECT_FALSE(contains(left("home/args"), "Propose."));  // Never on the command line.
  EXPECT_TRUE(contains(left("home/args"), "--bare"));
  EXPECT_FALSE(contains(left("transcript-1.json"), "key-1"));
  if (os::has_bubblewrap()) {
    EXPECT_FALSE(fs::exists(folder_ / "outside"));
  }
  ::unsetenv("AMDAHL_TEST_SECRET");
  ::unsetenv("AMDAHL_TEST_KEY");
}

// The repo without the keys that people keep beside their code, and nothing else of the home.
TEST_F(Agent, TheClientSeesTheCodeAndNoKeysBesideIt) {
  if (!os::has_bubblewrap()) GTEST_SKIP() << "bubblewrap does not work here";
  const std::string before = os::env_or("HOME", "/");
  fs::create_directories(folder_ / "client/repo/.git");
  fs::create_directories(folder_ / "client/repo/service");
  for (const char* file : {"repo/code", "repo/.env", "repo/.env.local", "repo/service/.env",
                           "repo/.git/config", "key"}) {
    std::ofstream(folder_ / "client" / file) << "in " << file << "\n";
  }
  ::setenv("HOME", (folder_ / "client").c_str(), 1);
  Runtime runtime;
  runtime.kind = "claude";
  runtime.program = client("");
  std::ofstream(runtime.program)
      << "#!/bin/sh\ncat code .env .env.local service/.env .git/config ../key > "
         "\"$HOME/seen\" 2>/dev/null\n";
  Question asked = question();
  asked.checkout = (folder_ / "client/repo").string();
  ask(runtime, asked);
  ::setenv("HOME", before.c_str(), 1);
  EXPECT_EQ(left("home/seen"), "in repo/code\n");
}

TEST_F(Agent, AServerIsAskedForJsonOfTheSchema) {
  const std::string answer = *os::read_file(kSamples + "answer.json");
  std::vector<Json> asked;
  std::string headers;
  os::TestServer server([&](const os::ReceivedRequest& request) {
    asked.push_back(Json::parse(request.body));
    headers = request.headers;
    const std::string said = asked.size() == 1 ? "Let me think." : answer;
    return os::Reply{
        .body = Json{{"choices", {{{"message", {{"content", said}}}, {"finish_reason", "stop"}}}},
                     {"usage", {{"prompt_tokens", 900}, {"completion_tokens", 40}}}}
                    .dump()};
  });
  ::setenv("AMDAHL_TEST_KEY", "key-2", 1);
  Runtime runtime;
  runtime.kind = "openai";
  runtime.model = "local";
  runtime.url = server.url() + "/v1/";
  runtime.key_env = "AMDAHL_TEST_KEY";
  const Reply reply = ask(runtime, question());
  ::unsetenv("AMDAHL_TEST_KEY");
  EXPECT_EQ(name(reply.failure), name(Failure::kNone)) << reply.because;
  EXPECT_EQ(reply.attempts, 2);
  EXPECT_EQ(reply.tokens, (Tokens{1800, 0, 80}));
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[0].at("messages").at(0).at("content"), "Propose.");
  EXPECT_TRUE(
      contains(asked[1].at("messages").at(0).at("content").get<std::string>(), "| Let me think."));
  EXPECT_EQ(asked[0].at("response_format").at("json_schema").at("schema").at("required").at(0),
            "hypotheses");
  EXPECT_TRUE(contains(headers, "Bearer key-2"));
}

TEST_F(Agent, AServerThatHangsEndsAtTheDeadline) {
  os::TestServer server(
      [](const os::ReceivedRequest&) { return os::Reply{.delay = std::chrono::seconds(8)}; });
  Runtime runtime;
  runtime.kind = "openai";
  runtime.url = server.url();
  const Reply reply = ask(runtime, question(std::chrono::milliseconds(500)));
  EXPECT_EQ(name(reply.failure), name(Failure::kTimeout)) << reply.because;
  EXPECT_FALSE(reply.tokens_known);
}

TEST(OpenAi, EveryReplyHasItsTypeAndItsTokens) {
  const auto chat = [](const std::string& content, const char* finish) {
    return Json{{"choices", {{{"message", {{"content", content}}}, {"finish_reason", finish}}}},
                {"usage", {{"prompt_tokens", 1000}, {"completion_tokens", 50}}}}
        .dump();
  };
  struct Case {
    const char* name;
    Result<os::HttpAnswer> answer;
    Failure failure;
    std::optional<Tokens> tokens;
  };
  const Tokens used{1000, 0, 50};
  const std::vector<Case> cases{
      {"ok", os::HttpAnswer{200, chat("{\"a\":1}", "stop"), {}}, Failure::kNone, used},
      {"talks", os::HttpAnswer{200, chat("well", "stop"), {}}, Failure::kNoAnswer, used},
      {"cut", os::HttpAnswer{200, chat("{\"a\":", "length"), {}}, Failure::kTooLong, used},
      {"no content", os::HttpAnswer{200, "{\"choices\":[]}", {}}, Failure::kNoAnswer, {}},
      {"no JSON", os::HttpAnswer{200, "<html>", {}}, Failure::kFailed, {}},
      {"401", os::HttpAnswer{401, "no", {}}, Failure::kNotAuthorised, Tokens{}},
      {"429", os::HttpAnswer{429, "later", {}}, Failure::kOverloaded, Tokens{}},
      {"500", os::HttpAnswer{500, "oops", {}}, Failure::kFailed, Tokens{}},
      {"refused", external("x: Connection refused"), Failure::kUnreachable, Tokens{}},
      {"hangs", external("x: timeout: no response within 1 s"), Failure::kTimeout, {}},
      {"huge", Error{Error::Kind::kUnsupported, "larger than 4 MiB"}, Failure::kTooLong, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Turn turn = openai::read(c.answer);
    EXPECT_EQ(name(turn.failure), name(c.failure)) << turn.because;
    EXPECT_EQ(turn.tokens, c.tokens);
  }
}

}  // namespace
}  // namespace amdahl::agent
