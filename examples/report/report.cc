#include "report/report.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <fmt/format.h>

namespace example {
namespace {

constexpr double kWindow_s = 0.25;
constexpr double kBucket_s = 0.05;

}  // namespace

double unix_seconds() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void fail(std::string_view why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

int whole_number(std::string_view flag, std::string_view text, int least) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < least) {
    fail(fmt::format("{} must be a whole number of at least {}, but is '{}'", flag, least, text));
  }
  return value;
}

Report::Report() : started_(unix_seconds()) {}

void Report::add(std::string_view name, double start, double end) {
  if (!spans_.empty() && spans_.back().name == name && start - spans_.back().end < 0.001) {
    spans_.back().end = end;
  } else {
    spans_.push_back({std::string(name), start, end});
  }
}

void Report::phase(std::string_view name, double start) {
  close_window();
  add(name, start, unix_seconds());
}

void Report::restart_step() { step_at_ = unix_seconds(); }

void Report::step(std::string_view name) {
  const double now = unix_seconds();
  if (window_.empty()) {
    window_start_ = step_at_;
  }
  auto part = std::ranges::find(window_, name, &Span::name);
  if (part == window_.end()) {
    part = window_.insert(part, Span{std::string(name), 0, 0});
  }
  part->end += now - step_at_;
  step_at_ = now;
  if (now - window_start_ >= kWindow_s) {
    close_window();
  }
}

void Report::close_window() {
  double at = window_start_;
  for (const Span& part : window_) {
    add(part.name, at, at + part.end);
    at += part.end;
  }
  window_.clear();
}

void Report::device_busy(double from, double to) { busy_.emplace_back(from, to); }

void Report::work(double amount) { facts_ += fmt::format("{{\"work\": {}}}\n", amount); }

void Report::metric(std::string_view name, double value) {
  facts_ += fmt::format("{{\"metric\": {{\"{}\": {}}}}}\n", name, value);
}

std::string Report::device_lines() const {
  const double end = unix_seconds();
  const auto buckets = static_cast<std::size_t>((end - started_) / kBucket_s) + 1;
  std::vector<double> busy(buckets, 0.0);
  auto sorted = busy_;
  std::ranges::sort(sorted);
  // Commands of two queues may overlap: what an earlier one covered is not counted again.
  double covered = started_;
  for (const auto& [from, to] : sorted) {
    const double start = std::max(from, covered);
    const double last = std::min(to, end);
    covered = std::max(covered, last);
    if (start >= last) {
      continue;
    }
    const auto first_bucket = static_cast<std::size_t>((start - started_) / kBucket_s);
    const auto last_bucket = static_cast<std::size_t>((last - started_) / kBucket_s);
    for (std::size_t i = first_bucket; i <= std::min(last_bucket, buckets - 1); ++i) {
      const double left = started_ + kBucket_s * static_cast<double>(i);
      busy[i] += std::max(0.0, std::min(last, left + kBucket_s) - std::max(start, left));
    }
  }
  std::string lines;
  for (std::size_t i = 0; i < buckets; ++i) {
    const double from = started_ + kBucket_s * static_cast<double>(i);
    const double to = std::min(from + kBucket_s, end);
    lines +=
        fmt::format("{{\"accelerator\": 0, \"from\": {:.6f}, \"to\": {:.6f}, \"busy\": {:.4f}}}\n",
                    from, to, std::min(1.0, busy[i] / std::max(to - from, 1e-6)));
  }
  return lines;
}

void Report::write() {
  close_window();
  const char* const path = std::getenv("AMDAHL_REPORT");
  if (path == nullptr) {
    return;
  }
  std::string text = facts_;
  for (const Span& span : spans_) {
    text += fmt::format("{{\"phase\": \"{}\", \"start\": {:.6f}, \"end\": {:.6f}}}\n", span.name,
                        span.start, span.end);
  }
  if (!busy_.empty()) {
    text += device_lines();
  }
  std::FILE* const file = std::fopen(path, "a");
  if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file) != text.size() ||
      std::fclose(file) != 0) {
    fail(fmt::format("{}: cannot write the report", path));
  }
}

}  // namespace example
