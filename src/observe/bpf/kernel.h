// kernel.h: loads and attaches the BPF program and reads its counters.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "observe/bpf/record.h"

namespace amdahl::observe {

// One event from the ring buffer; valid during the call only.
using OnEvent = std::function<void(std::span<const std::byte> event)>;

// Counts until destroyed. Not thread-safe.
class Kernel {
 public:
  // kUnsupported, with the reason in one sentence, if the kernel or this build does not support
  // it.
  static Result<std::unique_ptr<Kernel>> load(bool count_syscalls, OnEvent on_event);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // Processes started by this thread of ours from now on belong to the job; 0: none.
  void follow_children_of(std::uint32_t tid);
  // Adds a running thread. False if the map is full.
  bool adopt(const waits_task& task);
  // Sets the interpreter of a process (numbered as in the root namespace), so that Python lines
  // are read.
  void set_python(std::uint32_t process, const waits_python& python);
  // Shorter waits produce no event.
  void set_smallest_event(std::uint64_t nanoseconds);

  // Delivers all events now in the ring buffer.
  void drain();
  // Stops counting; the counters stay readable.
  void detach();

  // Sampling period of running threads per CPU in ns; 0: refused by the kernel.
  std::uint64_t sample_every() const;

  // `number` is the thread id in the root namespace.
  bool read_task(std::uint32_t number, waits_task& task) const;
  void remove_task(std::uint32_t number);
  std::vector<std::pair<std::uint32_t, waits_task>> tasks() const;
  std::vector<std::pair<std::uint32_t, waits_site>> sites() const;
  std::vector<std::pair<waits_wake_key, waits_wake>> wakes() const;
  std::vector<waits_device> devices() const;

  struct Lost {
    std::uint64_t tasks = 0, sites = 0, events = 0, wakes = 0;
    std::uint64_t mended = 0;  // Switches the kernel did not report; their times were inferred.
    std::uint64_t calls = 0;   // Runs of the BPF program that the kernel skipped.
  };
  Lost lost() const;

 private:
  struct Loaded;
  explicit Kernel(std::unique_ptr<Loaded> loaded);
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace amdahl::observe
