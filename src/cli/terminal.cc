#include "cli/terminal.h"

#include <csignal>
#include <cstdlib>

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app/door.h"
#include "base/screen.h"
#include "base/text.h"
#include "cli/show.h"

namespace amdahl::cli {
namespace {

volatile std::sig_atomic_t interrupted_by = 0;  // Signal number; 0: none yet.

void on_interrupt(int signal) {
  if (interrupted_by > 0) ::_exit(128 + signal);
  interrupted_by = signal;
}

std::string painted(const Flags& flags, std::string_view code, std::string_view text) {
  if (!use_colour(flags)) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace

int terminal_width(const Flags& flags) {
  if (flags.width > 0) return flags.width;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  if (const char* given = std::getenv("COLUMNS")) {
    if (const auto number = to_number<int>(given)) return *number;
  }
  return 100;
}

bool use_colour(const Flags& flags) {
  const char* no = std::getenv("NO_COLOR");
  return !flags.no_color && !flags.json && !(no && *no) && ::isatty(STDOUT_FILENO) == 1;
}

bool use_ascii(const Flags& flags) {
  if (flags.ascii) return true;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (!value || !*value) continue;
    const std::string locale = lower(value);
    return locale.find("utf-8") == locale.npos && locale.find("utf8") == locale.npos;
  }
  return true;
}

std::string green(const Flags& flags, std::string_view text) { return painted(flags, "32", text); }
std::string red(const Flags& flags, std::string_view text) { return painted(flags, "31", text); }
std::string yellow(const Flags& flags, std::string_view text) { return painted(flags, "33", text); }
std::string dim(const Flags& flags, std::string_view text) { return painted(flags, "2", text); }
std::string bold(const Flags& flags, std::string_view text) { return painted(flags, "1", text); }

ProgressLine::ProgressLine(const Flags& flags)
    : live_{::isatty(STDERR_FILENO) == 1 && !flags.quiet}, width_{terminal_width(flags)} {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
  if (live_ && shown_) fmt::print(stderr, "\r\x1b[K");
  shown_ = false;
}

void ProgressLine::show(const std::string& text) {
  const double now = to_seconds(app::monotonic_now());
  if (now - last_s_ < (live_ ? 0.2 : 15)) return;
  last_s_ = now;
  if (!live_) {
    tell(text);
    return;
  }
  fmt::print(stderr, "\r\x1b[K{}", clip(plain(text), static_cast<std::size_t>(width_ - 1)));
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::say(const std::string& line) {
  clear();
  tell(line);
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupted_by > 0; }
int interrupt_code() { return 128 + interrupted_by; }

}  // namespace amdahl::cli
