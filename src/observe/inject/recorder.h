// recorder.h: writes a trace file from a library inside the job's process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace amdahl::inject {

// Unix time in nanoseconds.
std::int64_t now();
std::int64_t thread_id();

struct HostCall {
  std::string_view name;
  std::string_view category;  // As in PyTorch traces: "cuda_runtime", "user_annotation".
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::uint64_t correlation = 0;  // 0: none.
  std::int64_t thread = 0;        // 0: the calling thread.
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

// Whether AMDAHL_INJECT_OUT names a folder.
bool recording();

// Appends to inject-PID.json in that folder. The first record creates the file, so that processes
// without records leave none. Thread-safe. A killed process leaves a truncated file, which readers
// accept. A forked child writes its own file.
void record(const HostCall& call);
void record(const DeviceWork& work);

// A number unique within this process.
std::uint64_t next_correlation();

}  // namespace amdahl::inject
