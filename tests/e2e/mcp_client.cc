#include "mcp_client.h"

#include <array>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json_schema.h"
#include "base/text.h"
#include "harness.h"

namespace amdahl::e2e {
namespace {

constexpr int kAnswerMs = 120'000;
constexpr int kMostPolls = 40;

}  // namespace

McpClient::McpClient(const Sandbox& house, Era era, const std::vector<std::string>& words,
                     bool with_tasks)
    : era_{era}, with_tasks_{with_tasks} {
  std::array<int, 2> to{};
  std::array<int, 2> from{};
  EXPECT_EQ(::pipe2(to.data(), O_CLOEXEC), 0);
  EXPECT_EQ(::pipe2(from.data(), O_CLOEXEC), 0);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(to[0], 0);
    ::dup2(from[1], 1);
    ::setenv("AMDAHL_STATE", house.path("state").c_str(), 1);
    ::setenv("XDG_CONFIG_HOME", house.path("no-config").c_str(), 1);
    if (house.has("config.toml")) ::setenv("AMDAHL_CONFIG", house.path("config.toml").c_str(), 1);
    std::vector<std::string> argv = {program(), "mcp"};
    argv.insert(argv.end(), words.begin(), words.end());
    std::vector<char*> raw;
    for (std::string& word : argv) raw.push_back(word.data());
    raw.push_back(nullptr);
    if (::chdir(house.path().c_str()) == 0) ::execv(raw[0], raw.data());
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  in_ = to[1];
  out_ = from[0];
  if (era_ == Era::kLegacy) {
    const Json hello = request("initialize", {{"protocolVersion", "2025-06-18"},
                                              {"capabilities", Json::object()},
                                              {"clientInfo", {{"name", "scripted"}}}});
    EXPECT_EQ(hello.at("result").at("protocolVersion"), "2025-06-18");
  } else {
    const Json hello = request("server/discover");
    EXPECT_EQ(hello.at("result").at("supportedVersions").at(0), "2026-07-28");
  }
  const Json listed = request("tools/list");
  for (const Json& tool : listed.at("result").at("tools")) {
    tools_[tool.at("name").get<std::string>()] = tool;
  }
}

McpClient::~McpClient() {
  if (pid_ <= 0) return;
  EXPECT_EQ(end(), 0);
}

int McpClient::end() {
  ::close(in_);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  ::close(out_);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Json McpClient::meta() const {
  Json capabilities = Json::object();
  if (with_tasks_) {
    capabilities["extensions"] = {{"io.modelcontextprotocol/tasks", Json::object()}};
  }
  return {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
          {"io.modelcontextprotocol/clientInfo", {{"name", "scripted"}, {"version", "1"}}},
          {"io.modelcontextprotocol/clientCapabilities", capabilities}};
}

Json McpClient::request(const std::string& method, Json params) {
  if (era_ == Era::kModern) params["_meta"] = meta();
  const int id = next_id_++;
  const std::string line =
      Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump() + "\n";
  EXPECT_EQ(::write(in_, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  while (true) {
    if (const std::size_t end = rest_.find('\n'); end != std::string::npos) {
      const Json answer = Json::parse(rest_.substr(0, end), nullptr, false);
      rest_.erase(0, end + 1);
      EXPECT_FALSE(answer.is_discarded()) << "not a message on stdout";
      EXPECT_EQ(answer.value("id", 0), id);
      if (era_ == Era::kModern && answer.contains("result")) {
        EXPECT_TRUE(answer.at("result").contains("resultType")) << answer;
      }
      return answer;
    }
    pollfd ready{out_, POLLIN, 0};
    if (::poll(&ready, 1, kAnswerMs) <= 0) break;
    std::array<char, 65536> piece{};
    const ssize_t got = ::read(out_, piece.data(), piece.size());
    if (got <= 0) break;
    rest_.append(piece.data(), static_cast<std::size_t>(got));
  }
  ADD_FAILURE() << "no answer to " << method;
  return {{"error", {{"code", 0}}}, {"result", Json::object()}};
}

Json McpClient::raw_call(const std::string& tool, Json arguments) {
  const Json answer = request("tools/call", {{"name", tool}, {"arguments", std::move(arguments)}});
  EXPECT_TRUE(answer.contains("result")) << answer;
  return answer.value("result", Json::object());
}

Json McpClient::call(const std::string& tool, Json arguments) {
  const Json result = raw_call(tool, std::move(arguments));
  EXPECT_EQ(result.value("isError", true), false) << tool << ": " << result;
  const Json answer = result.value("structuredContent", Json::object());
  EXPECT_EQ(join(schema_faults(answer, tools_.at(tool).at("outputSchema")), "; "), "") << tool;
  EXPECT_EQ(Json::parse(result.at("content").at(0).at("text").get<std::string>()), answer);
  return answer;
}

std::string McpClient::refused(const std::string& tool, Json arguments) {
  const Json result = raw_call(tool, std::move(arguments));
  EXPECT_EQ(result.value("isError", false), true) << tool << ": " << result;
  return result.at("content").at(0).at("text");
}

Json McpClient::finished() {
  Json status;
  for (int i = 0; i < kMostPolls; ++i) {
    status = call("loop_status", {{"wait_s", 20}});
    if (!status.at("session").at("running").get<bool>()) return status;
  }
  ADD_FAILURE() << "it still runs: " << status;
  return status;
}

Json McpClient::settled(const std::string& hypothesis) {
  Json status;
  for (int i = 0; i < kMostPolls; ++i) {
    status = call("experiment_status", {{"id", hypothesis}, {"wait_s", 20}});
    if (status.at("settled").get<bool>() || status.at("waits_for") == "a cycle") return status;
  }
  ADD_FAILURE() << "it is not settled: " << status;
  return status;
}

}  // namespace amdahl::e2e
