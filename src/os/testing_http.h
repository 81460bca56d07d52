// testing_http.h: a local HTTP server that answers or misbehaves as a test tells it.
#pragma once

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "os/fd.h"

namespace amdahl::os {

struct ReceivedRequest {
  std::string method;
  std::string path;     // Includes the query.
  std::string headers;  // As received.
  std::string body;
};

struct Reply {
  int status = 200;
  std::string body{};
  std::string headers{};                // Each with its "\r\n".
  bool hang_up = false;                 // Close without an answer.
  std::size_t cut = std::string::npos;  // Announce the whole body, send only this much, then close.
  std::chrono::milliseconds delay{0};   // Before the answer.
};

// Listens on a free loopback port during its lifetime; one thread per connection.
class TestServer {
 public:
  using Answer = std::function<Reply(const ReceivedRequest&)>;

  explicit TestServer(Answer answer) : answer_{std::move(answer)}, listening_{open_port()} {
    accepting_ = std::thread([this] { accept_all(); });
  }
  ~TestServer() {
    over_ = true;
    ::shutdown(listening_.get(), SHUT_RDWR);
    accepting_.join();
    {
      const std::scoped_lock lock(mutex_);
      for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    for (std::thread& thread : serving_) thread.join();
  }
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }

 private:
  int open_port() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* raw = reinterpret_cast<sockaddr*>(&address);
    if (::bind(fd, raw, length) != 0 || ::listen(fd, 64) != 0) return fd;
    ::getsockname(fd, raw, &length);
    port_ = ntohs(address.sin_port);
    return fd;
  }

  void accept_all() {
    while (!over_) {
      const int fd = ::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      const std::scoped_lock lock(mutex_);
      open_.push_back(fd);
      serving_.emplace_back([this, fd] { serve(fd); });
    }
  }

  void serve(int fd) {
    std::string bytes;
    while (one(fd, bytes)) {
    }
    const std::scoped_lock lock(mutex_);
    std::erase(open_, fd);
    ::close(fd);
  }

  // Handles one request; false when the connection is closed.
  bool one(int fd, std::string& bytes) {
    std::size_t head = 0;
    while ((head = bytes.find("\r\n\r\n")) == bytes.npos) {
      if (!more(fd, bytes)) return false;
    }
    ReceivedRequest asked;
    const auto words = split(std::string_view(bytes).substr(0, bytes.find("\r\n")), ' ');
    asked.method = words.at(0);
    asked.path = words.at(1);
    asked.headers = bytes.substr(0, head + 2);
    std::size_t length = 0;
    const std::string small = lower(asked.headers);
    if (const auto at = small.find("content-length:"); at != small.npos) {
      length = to_number<std::size_t>(trim(small.substr(at + 15, small.find("\r\n", at) - at - 15)))
                   .value_or(0);
    }
    while (bytes.size() < head + 4 + length) {
      if (!more(fd, bytes)) return false;
    }
    asked.body = bytes.substr(head + 4, length);
    bytes.erase(0, head + 4 + length);
    return reply(fd, answer_(asked));
  }

  bool more(int fd, std::string& bytes) {
    char part[65536];
    const ssize_t n = ::recv(fd, part, sizeof part, 0);
    if (n <= 0) return false;
    bytes.append(part, static_cast<std::size_t>(n));
    return true;
  }

  bool reply(int fd, const Reply& reply) {
    for (auto left = reply.delay; left.count() > 0 && !over_;
         left -= std::chrono::milliseconds(10)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (reply.hang_up) return false;
    std::string bytes = fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n{}\r\n", reply.status,
                                    reply.body.size(), reply.headers);
    bytes += reply.body.substr(0, reply.cut);
    for (std::size_t sent = 0; sent < bytes.size();) {
      const ssize_t n = ::send(fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return false;
      sent += static_cast<std::size_t>(n);
    }
    return reply.cut >= reply.body.size();
  }

  Answer answer_;
  int port_ = 0;
  Fd listening_;
  std::atomic<bool> over_ = false;
  std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::thread> serving_;
  std::thread accepting_;
};

}  // namespace amdahl::os
