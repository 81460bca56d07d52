#include "observe/bpf/recorder.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

namespace amdahl::observe {

Recorder::Recorder(std::string path, std::int64_t most_bytes)
    : path_{std::move(path)}, most_bytes_{most_bytes} {}

Result<> Recorder::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(file_.get(), bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return external(fmt::format("{}: {}", path_, std::strerror(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(done));
    written_ += done;
  }
  return Ok{};
}

Result<> Recorder::begin(const std::string& head) {
  if (path_.empty()) return Ok{};
  file_ = os::Fd{::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
  if (file_.get() < 0) return external(fmt::format("{}: {}", path_, std::strerror(errno)));
  return write(head);
}

void Recorder::add(const model::SingleWait& wait) {
  if (path_.empty()) return;
  if (written_ + static_cast<std::int64_t>(buffer_.size()) >= most_bytes_) {
    ++dropped_;
    return;
  }
  model::append_wait(buffer_, wait);
}

void Recorder::add_least(Nanos at, Nanos least) {
  if (!path_.empty()) model::append_least(buffer_, at, least);
}

void Recorder::flush() {
  if (buffer_.empty()) return;
  if (problem_.empty()) {
    if (const auto done = write(buffer_); !done) problem_ = done.error().text;
  }
  buffer_.clear();
}

Result<> Recorder::finish(const model::BpfSummary& summary) {
  if (path_.empty()) return Ok{};
  flush();
  if (!problem_.empty()) return external(problem_);
  return write(model::bpf_summary_lines(summary));
}

}  // namespace amdahl::observe
