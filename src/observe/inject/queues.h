// queues.h: recorded commands on OpenCL queues that have not finished.
#pragma once

#include <cstdint>
#include <string>

#include <CL/cl.h>

namespace amdahl::inject {

// Numbers queues and devices in order of creation.
void know_queue(cl_command_queue queue, cl_device_id device);

struct Command {
  cl_command_queue queue = nullptr;
  cl_event event = nullptr;  // Owned; we release it.
  std::string name;
  const char* category = "kernel";
  std::uint64_t correlation = 0;
  std::uint64_t bytes = 0;
  std::int64_t called = 0;  // Time around the call that queued it.
  std::int64_t returned = 0;
};

// Takes ownership of the command; its times are read when it has finished.
void await(Command command);

// Records finished commands. Cheap if there are none.
void reap();

}  // namespace amdahl::inject
