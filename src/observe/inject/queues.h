// queues.h: commands on OpenCL queues that were recorded and are not over yet.
#pragma once

#include <cstdint>
#include <string>

#include <CL/cl.h>

namespace amdahl::inject {

// Numbers queues and devices in the order of their creation.
void know_queue(cl_command_queue queue, cl_device_id device);

struct Command {
  cl_command_queue queue = nullptr;
  cl_event event = nullptr;  // Ours to release.
  std::string name;
  const char* category = "kernel";
  std::uint64_t correlation = 0;
  std::uint64_t bytes = 0;
  std::int64_t called = 0;  // Around the call that queued it.
  std::int64_t returned = 0;
};

// Takes the command; its times are read when it is over.
void await(Command command);

// Records those that are over. Cheap when none is.
void reap();

}  // namespace amdahl::inject
