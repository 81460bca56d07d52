#include "mcp/server.h"

#include <filesystem>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/json_schema.h"
#include "mcp/tasks.h"

namespace amdahl::mcp {
namespace {

class Protocol : public testing::Test {
 protected:
  Protocol() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / fmt::format("mcp-{}", test->name());
    std::filesystem::remove_all(folder_);
    config_.state_dir = folder_.string();
    server_ = std::make_unique<Server>(config_, Grant{}, "1.2.3");
  }
  ~Protocol() override { std::filesystem::remove_all(folder_); }

  static Json request(const std::string& method, Json params = Json::object()) {
    return {{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", std::move(params)}};
  }
  static Json modern(const std::string& method, Json params = Json::object(),
                     Json capabilities = Json::object()) {
    params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                       {"io.modelcontextprotocol/clientInfo", {{"name", "a client; rm"}}},
                       {"io.modelcontextprotocol/clientCapabilities", std::move(capabilities)}};
    return request(method, std::move(params));
  }
  Json say(const Json& message, const Headers* headers = nullptr) {
    const Reply reply = server_->handle(message, session_, headers);
    status_ = reply.http_status;
    return reply.message.value_or(Json());
  }
  int code_of(const Json& message, const Headers* headers = nullptr) {
    return say(message, headers).at("error").at("code");
  }

  app::Config config_;
  std::filesystem::path folder_;
  std::unique_ptr<Server> server_;
  Session session_;
  int status_ = 0;
};

const Json kWithTasks = {{"extensions", {{"io.modelcontextprotocol/tasks", Json::object()}}}};

TEST_F(Protocol, AHandshakeTakesTheVersionThatTheClientKnows) {
  for (const char* version : {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}) {
    const Json answer = say(request("initialize", {{"protocolVersion", version}}));
    EXPECT_EQ(answer.at("id"), 7);
    EXPECT_EQ(answer.at("result").at("protocolVersion"), version);
    EXPECT_EQ(answer.at("result").at("serverInfo").at("version"), "1.2.3");
    EXPECT_FALSE(answer.at("result").contains("resultType"));
  }
  const Json future = say(request("initialize", {{"protocolVersion", "2031-01-01"}}));
  EXPECT_EQ(future.at("result").at("protocolVersion"), "2025-11-25");
  EXPECT_EQ(say(request("ping")).at("result"), Json::object());
  EXPECT_EQ(code_of(request("server/discover")), -32602);  // Of the other era, and incomplete.
}

TEST_F(Protocol, AStatelessRequestSaysItsVersionAndCapabilities) {
  const Json found = say(modern("server/discover")).at("result");
  EXPECT_EQ(found.at("supportedVersions").at(0), "2026-07-28");
  EXPECT_EQ(found.at("resultType"), "complete");
  EXPECT_EQ(found.at("cacheScope"), "public");
  EXPECT_TRUE(found.at("ttlMs").is_number_integer());
  EXPECT_TRUE(found.at("capabilities").at("extensions").contains("io.modelcontextprotocol/tasks"));
  EXPECT_EQ(found.at("_meta").at("io.modelcontextprotocol/serverInfo").at("name"), "amdahl");

  Json without = modern("tools/list");
  without["params"]["_meta"].erase("io.modelcontextprotocol/clientCapabilities");
  EXPECT_EQ(code_of(without), -32602);
  Json other = modern("tools/list");
  other["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "1900-01-01";
  const Json error = say(other).at("error");
  EXPECT_EQ(error.at("code"), -32022);
  EXPECT_EQ(error.at("data").at("requested"), "1900-01-01");
  EXPECT_EQ(error.at("data").at("supported").at(0), "2026-07-28");
  EXPECT_EQ(status_, 400);
  EXPECT_EQ(code_of(modern("ping")), -32601);
  EXPECT_EQ(status_, 404);
  EXPECT_EQ(code_of(modern("initialize")), -32601);
}

TEST_F(Protocol, HeadersMustAgreeWithTheBody) {
  const Headers right{"2026-07-28", "tools/call", "loop_status"};
  const Json call = modern("tools/call", {{"name", "loop_status"}});
  EXPECT_FALSE(say(call, &right).contains("error"));
  for (const Headers& wrong :
       {Headers{"2026-07-28", "tools/call", "rank_fleet"},
        Headers{"2026-07-28", "tools/list", "loop_status"},
        Headers{"2025-11-25", "tools/call", "loop_status"}, Headers{"2026-07-28", "", ""}}) {
    EXPECT_EQ(code_of(call, &wrong), -32020);
    EXPECT_EQ(status_, 400);
  }
  // What the body lacks comes before what does not agree.
  Json without = call;
  without["params"].erase("_meta");
  EXPECT_EQ(code_of(without, &right), -32602);
  EXPECT_EQ(status_, 400);
  // An older client's error is no error of HTTP.
  const Headers none{};
  EXPECT_EQ(code_of(request("nothing/here"), &none), -32601);
  EXPECT_EQ(status_, 200);
}

TEST_F(Protocol, WhatIsNoRequestIsSaidOrIgnored) {
  const auto ignored = [&](const Json& message) {
    return !server_->handle(message, session_).message.has_value();
  };
  EXPECT_TRUE(ignored({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}));
  EXPECT_TRUE(ignored({{"jsonrpc", "2.0"}, {"id", 3}, {"result", Json::object()}}));
  EXPECT_EQ(code_of(Json::array()), -32600);
  EXPECT_EQ(code_of({{"jsonrpc", "2.0"}, {"id", nullptr}, {"method", "ping"}}), -32600);
  EXPECT_EQ(code_of({{"jsonrpc", "2.0"}, {"id", 1}, {"method", 5}}), -32600);
  EXPECT_EQ(code_of({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "ping"}, {"params", 5}}), -32600);
  EXPECT_EQ(code_of(request("prompts/get", {{"name", 5}})), -32602);
  EXPECT_EQ(Server::parse_error().message->at("error").at("code"), -32700);
}

TEST_F(Protocol, EveryToolHasSchemasAndSaysWhetherItOnlyReads) {
  const Json old_list = say(request("tools/list")).at("result").at("tools");
  const Json list = say(modern("tools/list")).at("result").at("tools");
  EXPECT_EQ(old_list, list);
  ASSERT_EQ(list.size(), tools().size());
  int writing = 0;
  for (const Json& tool : list) {
    SCOPED_TRACE(tool.at("name"));
    EXPECT_EQ(tool.at("inputSchema").at("type"), "object");
    EXPECT_EQ(tool.at("outputSchema").at("type"), "object");
    EXPECT_EQ(tool.at("inputSchema").at("additionalProperties"), false);
    EXPECT_FALSE(schema_faults(Json{{"nothing_like_this", 1}}, tool.at("inputSchema")).empty());
    EXPECT_EQ(tool.at("annotations").at("destructiveHint"), false);
    EXPECT_LE(tool.at("description").get<std::string>().size(), 600U);
    writing += tool.at("annotations").at("readOnlyHint") == false ? 1 : 0;
  }
  EXPECT_EQ(writing, 3);  // Propose, adopt, run.
  for (const char* never : {"gate", "approve", "promote", "reopen", "shell", "exec"}) {
    for (const Tool& tool : tools()) EXPECT_EQ(tool.name.find(never), std::string_view::npos);
  }
}

TEST_F(Protocol, ToolsTakeWhatTheirSchemaSays) {
  EXPECT_EQ(code_of(request("tools/call", {{"name", "format_disk"}})), -32602);
  EXPECT_EQ(code_of(request("tools/call")), -32602);
  const auto call = [&](const char* name, Json arguments) {
    return say(request("tools/call", {{"name", name}, {"arguments", std::move(arguments)}}))
        .at("result");
  };
  for (const Json& wrong : {Json{{"top", "many"}}, Json{{"top", 0}}, Json{{"command", "ls"}}}) {
    EXPECT_EQ(call("rank_fleet", wrong).at("isError"), true);
  }
  EXPECT_EQ(call("propose_change", {{"family", "f"},
                                    {"change", {{"wrap", {"sh", "-c", "id"}}}},
                                    {"title", "t"},
                                    {"gain_percent", 5}})
                .at("isError"),
            true);
  // Nothing is here yet, which is no error of who asks.
  const Json fleet = call("rank_fleet", Json::object());
  EXPECT_EQ(fleet.at("isError"), false);
  EXPECT_EQ(fleet.at("structuredContent").at("jobs"), 0);
  EXPECT_EQ(Json::parse(fleet.at("content").at(0).at("text").get<std::string>()),
            fleet.at("structuredContent"));
  EXPECT_EQ(call("loop_status", Json::object()).at("isError"), false);
  EXPECT_EQ(call("adopt_job", Json::object()).at("isError"), true);  // None was handed over.
  EXPECT_EQ(call("run_experiments", {{"family", "f"}}).at("isError"), true);
}

TEST_F(Protocol, TasksAreForThoseWhoHaveTheExtension) {
  const Json get = {{"taskId", "0123456789abcdef0123456789abcdef"}};
  EXPECT_EQ(code_of(modern("tasks/get", get)), -32021);
  EXPECT_EQ(code_of(modern("tasks/get", get, kWithTasks)), -32602);
  EXPECT_EQ(code_of(modern("tasks/get", {{"taskId", "../../etc/passwd"}}, kWithTasks)), -32602);
  EXPECT_EQ(code_of(modern("tasks/cancel", {{"taskId", 5}}, kWithTasks)), -32602);
  EXPECT_EQ(code_of(request("tasks/get", get)), -32601);

  const auto task = make_task(config_.state_dir, "adopt_job", Json::object());
  ASSERT_TRUE(task);
  const Json id = {{"taskId", task->id}};
  Json state = say(modern("tasks/get", id, kWithTasks)).at("result");
  EXPECT_EQ(state.at("status"), "completed");  // Nothing runs.
  EXPECT_EQ(state.at("resultType"), "complete");
  EXPECT_EQ(state.at("result").at("structuredContent").at("running"), false);
  EXPECT_EQ(say(modern("tasks/update", id, kWithTasks)).at("result").at("resultType"), "complete");
  EXPECT_FALSE(say(modern("tasks/cancel", id, kWithTasks)).contains("error"));
  // Another server on the same state knows it.
  Server another(config_, Grant{}, "1.2.3");
  state = another.handle(modern("tasks/get", id, kWithTasks), session_).message->at("result");
  EXPECT_EQ(state.at("status"), "cancelled");
}

TEST_F(Protocol, ThePromptIsTheSkill) {
  const Json list = say(request("prompts/list")).at("result").at("prompts");
  EXPECT_EQ(list.at(0).at("name"), "tune");
  const Json got =
      say(request("prompts/get", {{"name", "tune"}, {"arguments", {{"job", "eval"}}}}));
  const std::string text =
      got.at("result").at("messages").at(0).at("content").at("text").get<std::string>();
  EXPECT_NE(text.find("name: amdahl"), std::string::npos);
  EXPECT_NE(text.find("Tune the family eval."), std::string::npos);
  EXPECT_EQ(code_of(request("prompts/get", {{"name", "other"}})), -32602);
  // What clients list of a skill is bounded.
  const std::size_t at = text.find("description: ");
  EXPECT_LE(text.find('\n', at) - at, 1024U + 13U);
  for (const Tool& tool : tools()) {
    const std::string name(tool.name);
    EXPECT_NE(text.find(name), std::string::npos) << name << " is not in the skill";
  }
}

TEST(Grants, AreUsedUp) {
  app::Config config;
  config.state_dir = testing::TempDir() + "/mcp-grants";
  std::filesystem::remove_all(config.state_dir);
  Runner runner(config, Grant{.command = {}, .family = {}, .accelerators = 0, .time = Nanos{}});
  const auto begun = runner.begin(Work::kTest, "f", std::chrono::minutes(1));
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().kind, Error::Kind::kBudget);
  EXPECT_FALSE(runner.is_running());
}

}  // namespace
}  // namespace amdahl::mcp
