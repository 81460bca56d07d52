#include "served.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace amdahl::e2e {
namespace {

using Clock = std::chrono::steady_clock;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

Reply parse(const std::string& bytes) {
  Reply reply;
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string::npos || !bytes.starts_with("HTTP/1.1 ")) return reply;
  reply.status = std::atoi(bytes.substr(9, 3).c_str());
  reply.body = bytes.substr(end + 4);
  for (std::size_t at = bytes.find("\r\n") + 2; at < end;) {
    const std::size_t line_end = bytes.find("\r\n", at);
    const std::string line = bytes.substr(at, line_end - at);
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos)
      reply.headers[lower(line.substr(0, colon))] = line.substr(colon + 2);
    at = line_end + 2;
  }
  return reply;
}

}  // namespace

std::string read_until(int fd, const std::string& what, double seconds) {
  std::string text;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end && (what.empty() || text.find(what) == std::string::npos)) {
    pollfd wait{fd, POLLIN, 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (::poll(&wait, 1, static_cast<int>(std::max<long>(0, left.count()))) <= 0) break;
    char buffer[65536];
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

Served::Served(const Sandbox& sandbox, std::vector<std::string> more) {
  int out[2];
  if (::pipe2(out, O_CLOEXEC) != 0) return;
  std::vector<std::string> argv{program(), "serve", "--listen", "127.0.0.1:0"};
  argv.insert(argv.end(), more.begin(), more.end());
  pid_ = ::fork();
  if (pid_ == 0) {
    ::setenv("AMDAHL_STATE", sandbox.path("state").c_str(), 1);
    ::setenv("XDG_CONFIG_HOME", sandbox.path("no-config").c_str(), 1);
    if (sandbox.has("config.toml"))
      ::setenv("AMDAHL_CONFIG", sandbox.path("config.toml").c_str(), 1);
    ::dup2(out[1], 1);
    std::vector<char*> words;
    for (std::string& word : argv) words.push_back(word.data());
    words.push_back(nullptr);
    if (::chdir(sandbox.path().c_str()) == 0) ::execv(words[0], words.data());
    ::_exit(127);
  }
  ::close(out[1]);
  const std::string said = read_until(out[0], "/\n", 60);
  ::close(out[0]);
  const std::size_t colon = said.find("127.0.0.1:");
  EXPECT_NE(colon, std::string::npos) << said;
  if (colon != std::string::npos) port_ = std::atoi(said.substr(colon + 10).c_str());
}

Served::~Served() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  int status = 0;
  for (int i = 0; i < 300; ++i) {
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "it ended with " << status;
      return;
    }
    ::usleep(100'000);
  }
  ADD_FAILURE() << "the server did not end within 30 s";
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, &status, 0);
}

std::string Served::url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }

int Served::connect() const {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port_));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
    ::close(fd);
    return -1;
  }
  return fd;
}

std::string Served::raw(const std::string& bytes, double seconds) const {
  const int fd = connect();
  if (fd < 0) return "";
  (void)!::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  std::string text = read_until(fd, "", seconds);
  ::close(fd);
  return text;
}

Reply Served::ask(const std::string& method, const std::string& target,
                  const std::vector<std::string>& headers, const std::string& body) const {
  std::string bytes = method + " " + target +
                      " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) +
                      "\r\nConnection: close\r\n";
  for (const std::string& header : headers) bytes += header + "\r\n";
  if (!body.empty()) {
    bytes +=
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  }
  return parse(raw(bytes + "\r\n" + body, 60));
}

std::string token_for(const Sandbox& sandbox, const std::string& name, const std::string& role) {
  const Outcome made = sandbox.amdahl({"serve", "token", "add", name, "--role", role, "--json"});
  EXPECT_EQ(made.code, 0) << made.err;
  return nlohmann::json::parse(made.out).at("token");
}

}  // namespace amdahl::e2e
