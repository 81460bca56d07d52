// recorder.h: what a library inside the job writes down, as a trace file of its process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace amdahl::inject {

// Nanoseconds of Unix time.
std::int64_t now();
std::int64_t thread_id();

struct HostCall {
  std::string_view name;
  std::string_view category;  // "cuda_runtime", "user_annotation": the words of PyTorch's traces.
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::uint64_t correlation = 0;  // 0: none.
  std::int64_t thread = 0;        // 0: this one.
};

struct DeviceWork {
  std::string_view name;
  std::string_view category;  // "kernel", "gpu_memcpy", "gpu_memset".
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::uint64_t correlation = 0;
  int device = 0;
  int stream = 0;
  std::uint64_t bytes = 0;
};

// Whether AMDAHL_INJECT_OUT names a folder to write to.
bool recording();

// Appended to inject-PID.json in that folder; the file is begun by the first of them, so that a
// process that does nothing of interest leaves none. Any thread. A process that is killed leaves a
// file that ends early, which readers salvage. A child of fork() begins a file of its own.
void record(const HostCall& call);
void record(const DeviceWork& work);

// A number that no other call of this process has.
std::uint64_t next_correlation();

}  // namespace amdahl::inject
