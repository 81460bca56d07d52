#include "mcp/stdio.h"

#include <cerrno>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "base/text.h"

namespace amdahl::mcp {
namespace {

constexpr std::size_t kLongestLine = 16 << 20;
constexpr std::size_t kPiece = 1 << 16;
constexpr std::size_t kAtOnce = 8;  // Calls; the next waits for one of them.

class Connection {
 public:
  Connection(Server& server, int in, int out) : server_{server}, in_{in}, out_{out} {}

  Result<> run() {
    std::string buffer(kPiece, '\0');
    std::string line;
    while (true) {
      const ssize_t got = ::read(in_, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      for (const char c : std::string_view(buffer).substr(0, static_cast<std::size_t>(got))) {
        if (c == '\n') {
          take(line);
          line.clear();
        } else if (line.size() <= kLongestLine) {
          line += c;
        }
      }
    }
    if (!trim(line).empty()) take(line);
    server_.stop();
    for (Call& call : calls_) call.thread.join();
    const std::scoped_lock lock(mutex_);
    return error_.empty() ? Result<>(Ok{}) : Result<>(external(error_));
  }

 private:
  struct Call {
    std::atomic<bool> done = false;
    std::thread thread{};
  };

  void take(const std::string& line) {
    if (trim(line).empty()) return;
    const auto parsed = line.size() > kLongestLine ? bad_input("too long") : parse_json(line);
    if (!parsed) return write(Server::parse_error());
    const Json& message = *parsed;
    const auto method = message.is_object() ? message.find("method") : message.end();
    const bool slow = method != message.end() && message.is_object() && *method == "tools/call";
    if (!slow) return write(server_.handle(message, session_));
    while (running() >= kAtOnce) ::usleep(10'000);
    Call& call = calls_.emplace_back();
    // A copy of the session: a call names no client.
    call.thread = std::thread([this, &call, message, session = session_]() mutable {
      write(server_.handle(message, session));
      call.done = true;
    });
  }

  // Those that have ended go.
  std::size_t running() {
    for (auto call = calls_.begin(); call != calls_.end();) {
      if (!call->done) {
        ++call;
        continue;
      }
      call->thread.join();
      call = calls_.erase(call);
    }
    return calls_.size();
  }

  void write(const Reply& reply) {
    if (!reply.message) return;
    const std::string text = dump_json(*reply.message) + "\n";
    const std::scoped_lock lock(mutex_);
    for (std::size_t at = 0; at < text.size() && error_.empty();) {
      const ssize_t put = ::write(out_, text.data() + at, text.size() - at);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) error_ = fmt::format("the client no longer reads: {}", std::strerror(errno));
      if (put > 0) at += static_cast<std::size_t>(put);
    }
  }

  Server& server_;
  int in_;
  int out_;
  Session session_;
  std::list<Call> calls_;
  std::mutex mutex_;  // Of the output and its error.
  std::string error_;
};

}  // namespace

Result<> serve(Server& server, int in, int out) { return Connection(server, in, out).run(); }

}  // namespace amdahl::mcp
