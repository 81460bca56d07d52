// kernel.h: the program in the kernel, loaded and attached, and what it has counted so far.
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

// One event of the ring; valid during the call only.
using OnEvent = std::function<void(std::span<const std::byte> event)>;

// Counts until it is destroyed. Used by one thread at a time.
class Kernel {
 public:
  // kUnsupported, in one sentence, where the kernel or this build does not allow it.
  static Result<std::unique_ptr<Kernel>> load(bool count_syscalls, OnEvent on_event);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // Processes that this thread of ours starts from now on are the job; 0: none.
  void follow_children_of(std::uint32_t tid);
  // A thread that lives already. False if there is no room.
  bool adopt(const waits_task& task);
  // The interpreter of a process, by its number in the kernel, whose lines are then told.
  void set_python(std::uint32_t process, const waits_python& python);
  // Shorter waits are no events.
  void set_smallest_event(std::uint64_t nanoseconds);

  // Hands over what is in the ring now.
  void drain();
  // Counts no more; what was counted stays.
  void detach();

  // How often what runs on a CPU is looked at, in nanoseconds; 0: the kernel refuses.
  std::uint64_t sample_every() const;

  // By their numbers in the kernel.
  bool read_task(std::uint32_t number, waits_task& task) const;
  void remove_task(std::uint32_t number);
  std::vector<std::pair<std::uint32_t, waits_task>> tasks() const;
  std::vector<std::pair<std::uint32_t, waits_site>> sites() const;
  std::vector<std::pair<waits_wake_key, waits_wake>> wakes() const;
  std::vector<waits_device> devices() const;

  struct Lost {
    std::uint64_t tasks = 0, sites = 0, events = 0, wakes = 0;
    std::uint64_t mended = 0;  // Switches that the kernel did not tell of; their times are known.
    std::uint64_t calls = 0;   // Of the program, that the kernel left out.
  };
  Lost lost() const;

 private:
  struct Loaded;
  explicit Kernel(std::unique_ptr<Loaded> loaded);
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace amdahl::observe
