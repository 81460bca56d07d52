#include "recorder.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace amdahl::inject {
namespace {

constexpr std::size_t kFlushAt = 1 << 16;
constexpr std::uint64_t kMostBytes = 1ULL << 32;  // A runaway job must not fill the disk.

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    if (byte >= 0x20) {
      out += c;
    } else {
      char hex[8];
      std::snprintf(hex, sizeof hex, "\\u%04x", byte);
      out += hex;
    }
  }
  return out;
}

// Microseconds with three digits, which is what readers of such traces expect.
void append_micros(std::string& to, std::int64_t nanos) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(nanos / 1000),
                static_cast<long long>(nanos % 1000));
  to += text;
}

class File {
 public:
  void add(std::string_view event) {
    const std::scoped_lock lock(mutex_);
    if (fd_ < 0 && !begin()) return;
    if (written_ + buffer_.size() > kMostBytes) return;
    buffer_ += first_ ? "\n" : ",\n";
    first_ = false;
    buffer_ += event;
    if (buffer_.size() >= kFlushAt) flush();
  }

  void end() {
    const std::scoped_lock lock(mutex_);
    if (fd_ < 0) return;
    buffer_ += "\n]}\n";
    flush();
    ::close(fd_);
    fd_ = -1;
    failed_ = true;  // What comes later has no place.
  }

  // In the child of a fork: the parent's bytes are the parent's.
  void forget() {
    new (&mutex_) std::mutex;
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    failed_ = false;
    first_ = true;
    written_ = 0;
    buffer_.clear();
  }

 private:
  bool begin() {
    const char* folder = std::getenv("AMDAHL_INJECT_OUT");
    if (failed_ || folder == nullptr) return false;
    const std::string path =
        std::string(folder) + "/inject-" + std::to_string(::getpid()) + ".json";
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    failed_ = fd_ < 0;
    if (failed_) return false;
    buffer_ =
        "{\"schemaVersion\": 1, \"displayTimeUnit\": \"ms\", \"traceName\": \"amdahl inject\","
        " \"traceEvents\": [";
    return true;
  }

  void flush() {
    std::size_t done = 0;
    while (done < buffer_.size()) {
      const ssize_t wrote = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
      if (wrote <= 0) break;
      done += static_cast<std::size_t>(wrote);
    }
    written_ += buffer_.size();
    buffer_.clear();
  }

  std::mutex mutex_;
  std::string buffer_;
  std::uint64_t written_ = 0;
  int fd_ = -1;
  bool failed_ = false;
  bool first_ = true;
};

// Never destroyed: threads may still record while the process ends.
File& file() {
  static File& one = *[] {
    auto* made = new File;
    ::pthread_atfork(nullptr, nullptr, [] { file().forget(); });
    std::atexit([] { file().end(); });
    return made;
  }();
  return one;
}

// When the library is loaded, before anything that may still record during its exit.
__attribute__((constructor)) void begin_early() {
  if (recording()) file();
}

std::string head(std::string_view name, std::string_view category, std::int64_t start,
                 std::int64_t end) {
  std::string text = "{\"ph\": \"X\", \"cat\": \"";
  text += category;
  text += "\", \"name\": \"" + escaped(name) + "\", \"ts\": ";
  append_micros(text, start);
  text += ", \"dur\": ";
  append_micros(text, end > start ? end - start : 0);
  return text;
}

}  // namespace

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::int64_t thread_id() {
  thread_local std::int64_t id = ::syscall(SYS_gettid);
  return id;
}

bool recording() {
  static const bool is = std::getenv("AMDAHL_INJECT_OUT") != nullptr;
  return is;
}

std::uint64_t next_correlation() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

void record(const HostCall& call) {
  std::string text = head(call.name, call.category, call.start, call.end);
  const std::int64_t thread = call.thread != 0 ? call.thread : thread_id();
  text += ", \"pid\": " + std::to_string(::getpid()) + ", \"tid\": " + std::to_string(thread);
  text += ", \"args\": {";
  if (call.correlation != 0) text += "\"correlation\": " + std::to_string(call.correlation);
  text += "}}";
  file().add(text);
}

void record(const DeviceWork& work) {
  std::string text = head(work.name, work.category, work.start, work.end);
  text += ", \"pid\": " + std::to_string(work.device) + ", \"tid\": " + std::to_string(work.stream);
  text += ", \"args\": {\"device\": " + std::to_string(work.device) +
          ", \"stream\": " + std::to_string(work.stream) +
          ", \"correlation\": " + std::to_string(work.correlation);
  if (work.bytes > 0) text += ", \"bytes\": " + std::to_string(work.bytes);
  text += "}}";
  file().add(text);
}

}  // namespace amdahl::inject
