// waits_testing.h: a synthetic job with loaders, a pool and idle threads, for tests.
#pragma once

#include <string>

#include "model/bpf.h"

namespace amdahl::profile {

inline model::TaskWaits waits_task(std::int64_t tid, std::int64_t process, std::int64_t parent,
                                   const std::string& name) {
  model::TaskWaits task;
  task.tid = tid;
  task.process = process;
  task.parent = parent;
  task.name = name;
  task.executed = tid == process;
  task.died = std::chrono::seconds(10);
  return task;
}

inline void waits_block(model::TaskWaits& task, model::Wait wait, int ms, int times) {
  task.blocked[static_cast<std::size_t>(wait)] = std::chrono::milliseconds(ms);
  task.blocks[static_cast<std::size_t>(wait)] = times;
  task.wakeups += times;
}

// A shell that waits for a rank. The rank's step thread runs 4 of 10 s, waits 3 s for two forked
// loaders, 1 s for the disk, 0.5 s for the network, 0.5 s for a CPU, and 1 s for the pool.
inline model::BpfSummary sample_waits() {
  using std::chrono::milliseconds;
  model::BpfSummary summary;
  summary.wall = std::chrono::seconds(10);
  summary.collector_cpu = milliseconds(50);
  auto shell = waits_task(10, 10, 1, "sh");
  waits_block(shell, model::Wait::kChild, 9990, 1);
  auto step = waits_task(11, 11, 10, "python3");
  step.running = milliseconds(4000);
  step.runqueue = milliseconds(300);
  step.preempted = milliseconds(200);
  step.preemptions = 40;
  step.syscalls = 5000;
  step.runqueue_histogram[4] = 100;
  waits_block(step, model::Wait::kPoll, 3000, 30);
  waits_block(step, model::Wait::kRead, 1000, 100);
  waits_block(step, model::Wait::kNet, 500, 5);
  waits_block(step, model::Wait::kFutex, 1000, 1000);
  auto pool = waits_task(12, 11, 11, "python3");
  pool.executed = false;
  pool.running = milliseconds(3000);
  waits_block(pool, model::Wait::kFutex, 7000, 1000);
  auto idle = waits_task(13, 11, 11, "python3");
  idle.executed = false;
  waits_block(idle, model::Wait::kFutex, 10000, 1);
  auto first = waits_task(20, 20, 11, "python3");
  first.executed = false;
  first.running = milliseconds(8000);
  auto second = waits_task(21, 21, 11, "python3");
  second.executed = false;
  second.running = milliseconds(8000);
  auto git = waits_task(22, 22, 11, "git");
  summary.tasks = {shell, step, pool, idle, first, second, git};
  summary.wakes = {{11, 12, 1000, milliseconds(7000)},
                   {20, 11, 20, milliseconds(2000)},
                   {21, 11, 10, milliseconds(1000)},
                   {12, 11, 1000, milliseconds(1000)},
                   {0, 11, 100, milliseconds(1000)}};
  summary.sites = {{.id = 1,
                    .tid = 11,
                    .reason = model::Wait::kPoll,
                    .syscall = 7,
                    .count = 30,
                    .time = milliseconds(3000),
                    .longest = milliseconds(200),
                    .frames = {{"/lib/libc.so.6", 0x100, "poll"}, {"/usr/bin/python3", 0x2a, ""}}}};
  model::DeviceIo disk;
  disk.name = "vda";
  disk.reads = 100;
  disk.read_time = milliseconds(900);
  disk.writes = 10;
  disk.write_time = milliseconds(20);
  summary.devices = {disk};
  return summary;
}

}  // namespace amdahl::profile
