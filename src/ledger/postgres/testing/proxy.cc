#include "ledger/postgres/testing/proxy.h"

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/host.h"

namespace amdahl::ledger::postgres {
namespace {

constexpr std::string_view kSocket = "/.s.PGSQL.5432";
// The message as libpq sends it: type, length, text with its zero byte.
constexpr std::string_view kCommit{"Q\0\0\0\013COMMIT\0", 12};
constexpr int kLateMs = 300;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

bool forward(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

Proxy::Proxy(const TestServer& server)
    : folder_{fmt::format("/tmp/amdahl-px-{}", os::random_hex(8))},
      server_socket_{server.folder() + std::string(kSocket)} {
  std::filesystem::create_directory(folder_);
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(folder_ + std::string(kSocket));
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    ::listen(listener_, 16);
  }
  thread_ = std::thread([this] { serve(); });
}

Proxy::~Proxy() {
  done_ = true;
  thread_.join();
  while (open_ > 0) os::real_clock().sleep(std::chrono::milliseconds(5));
  ::close(listener_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Proxy::serve() {
  while (!done_) {
    pollfd wait{listener_, POLLIN, 0};
    if (::poll(&wait, 1, 50) <= 0) continue;
    const int client = ::accept(listener_, nullptr, nullptr);
    const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_un address = address_of(server_socket_);
    if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      ::close(client);
      ::close(server);
      continue;
    }
    ++open_;
    std::thread([this, client, server] {
      carry(client, server);
      ::close(client);
      ::close(server);
      --open_;
    }).detach();
  }
}

void Proxy::carry(int client, int server) {
  std::array<char, 65536> buffer{};
  bool answer_is_lost = false;
  while (!done_) {
    std::array<pollfd, 2> ends = {pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
    if (::poll(ends.data(), ends.size(), 50) <= 0) continue;
    for (const pollfd& end : ends) {
      if (end.revents == 0) continue;
      const ssize_t got = ::recv(end.fd, buffer.data(), buffer.size(), 0);
      if (got <= 0) return;
      const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
      const bool from_client = end.fd == client;
      if (!from_client && answer_is_lost) return;
      if (from_client && bytes.find(kCommit) != bytes.npos) {
        const Loss loss = loss_.exchange(Loss::kNothing);
        if (loss != Loss::kNothing) ++lost_;
        if (loss == Loss::kBefore) return;
        answer_is_lost = loss == Loss::kAnswer;
        if (loss == Loss::kLate) {
          ::shutdown(client, SHUT_RDWR);
          os::real_clock().sleep(std::chrono::milliseconds(kLateMs));
          forward(server, bytes);
          // Until the server has answered, so that it sees no closed connection before.
          (void)::recv(server, buffer.data(), buffer.size(), 0);
          return;
        }
      }
      if (!forward(from_client ? server : client, bytes)) return;
    }
  }
}

}  // namespace amdahl::ledger::postgres
