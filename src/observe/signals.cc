#include "observe/signals.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

#include "base/check.h"

namespace amdahl::observe {
namespace {

constexpr std::array kRelayed = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

std::atomic<int> relay_fd{-1};

void relay(int signal) {
  const int before = errno;
  const char byte = static_cast<char>(signal);
  [[maybe_unused]] const ssize_t wrote = ::write(relay_fd, &byte, 1);
  errno = before;
}

void pass_over(int) {}

}  // namespace

struct SignalRelay::Saved {
  int signal;
  struct sigaction action;
};

SignalRelay::SignalRelay() {
  std::array<int, 2> ends{};
  CHECK(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
  read_ = os::Fd{ends[0]};
  write_ = os::Fd{ends[1]};
  CHECK(relay_fd.exchange(ends[1]) == -1);
  const auto install = [this](int signal, void (*handler)(int)) {
    Saved saved{signal, {}};
    ::sigaction(signal, nullptr, &saved.action);
    if (saved.action.sa_handler == SIG_IGN) return;
    struct sigaction wanted {};
    wanted.sa_handler = handler;
    wanted.sa_flags = SA_RESTART;
    ::sigaction(signal, &wanted, nullptr);
    saved_.push_back(saved);
  };
  for (const int signal : kRelayed) install(signal, relay);
  // A handler, not SIG_IGN: that one would be inherited by the job.
  install(SIGPIPE, pass_over);
}

SignalRelay::~SignalRelay() {
  for (const Saved& saved : saved_) ::sigaction(saved.signal, &saved.action, nullptr);
  relay_fd = -1;
}

std::vector<int> SignalRelay::take() {
  std::vector<int> signals;
  std::array<char, 64> bytes{};
  ssize_t got = 0;
  while ((got = ::read(read_.get(), bytes.data(), bytes.size())) > 0) {
    signals.insert(signals.end(), bytes.begin(), bytes.begin() + got);
  }
  return signals;
}

}  // namespace amdahl::observe
