// trace_testing.h: small hand-made traces, in microseconds, for this room's tests.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "model/trace_builder.h"

namespace amdahl::profile {

class MadeTrace {
 public:
  MadeTrace() { next_rank(); }

  // What follows belongs to another rank: its own source, process, thread and device.
  void next_rank() {
    source_ = builder_.source({.file = "rank" + std::to_string(rank_ + 1) + ".json",
                               .format = "made",
                               .host = "a",
                               .backend = "nccl",
                               .rank = ++rank_,
                               .clock = model::Clock::kUnix});
    process_ = builder_.process(source_, 100 + rank_);
    thread_ = builder_.thread(process_, 1);
    device_ = builder_.device(source_, rank_);
    stream_ = builder_.stream(device_, model::kNone, 7);
  }

  void on_thread(std::int64_t id) { thread_ = builder_.thread(process_, id); }
  void on_device(std::int64_t id) {
    device_ = builder_.device(source_, id);
    stream_ = builder_.stream(device_, model::kNone, 7);
  }
  void on_stream(std::int64_t id) { stream_ = builder_.stream(device_, model::kNone, id); }

  void op(const char* name, std::int64_t start, std::int64_t duration) {
    host(name, start, duration, model::HostKind::kOp, 0);
  }
  void annotation(const char* name, std::int64_t start, std::int64_t duration) {
    host(name, start, duration, model::HostKind::kAnnotation, 0);
  }
  void python(const char* name, std::int64_t start, std::int64_t duration) {
    host(name, start, duration, model::HostKind::kPython, 0);
  }
  void system_call(const char* name, std::int64_t start, std::int64_t duration) {
    host(name, start, duration, model::HostKind::kOther, 0);
  }
  // Returns the correlation for what it launches.
  std::uint32_t call(const char* name, std::int64_t start, std::int64_t duration) {
    host(name, start, duration, model::HostKind::kRuntime, ++correlation_);
    return correlation_;
  }
  void kernel(std::int64_t start, std::int64_t duration, std::uint32_t correlation,
              const char* name = "gemm") {
    device(start, duration, correlation, name, model::DeviceKind::kKernel);
  }
  void copy(std::int64_t start, std::int64_t duration, std::uint32_t correlation,
            model::CopyKind kind) {
    device(start, duration, correlation, "Memcpy", model::DeviceKind::kCopy);
    builder_.trace().device_events.back().copy = kind;
  }

  model::TraceBuilder& builder() { return builder_; }
  model::Trace finish() { return std::move(builder_).finish(); }

 private:
  static Nanos us(std::int64_t time) { return std::chrono::microseconds(time); }

  void host(const char* name, std::int64_t start, std::int64_t duration, model::HostKind kind,
            std::uint32_t correlation) {
    builder_.trace().host_events.push_back({.start = us(start),
                                            .duration = us(duration),
                                            .name = builder_.intern(name),
                                            .thread = thread_,
                                            .correlation = correlation,
                                            .kind = kind});
  }
  void device(std::int64_t start, std::int64_t duration, std::uint32_t correlation,
              const char* name, model::DeviceKind kind) {
    builder_.trace().device_events.push_back({.start = us(start),
                                              .duration = us(duration),
                                              .name = builder_.intern(name),
                                              .stream = stream_,
                                              .correlation = correlation,
                                              .kind = kind});
  }

  model::TraceBuilder builder_;
  std::int32_t rank_ = -1;
  std::uint32_t source_ = 0;
  std::uint32_t process_ = 0;
  std::uint32_t thread_ = 0;
  std::uint32_t device_ = 0;
  std::uint32_t stream_ = 0;
  std::uint32_t correlation_ = 0;
};

}  // namespace amdahl::profile
