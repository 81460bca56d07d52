#include "queues.h"

#include <cstdlib>
#include <deque>
#include <limits>
#include <map>
#include <mutex>

#include "real.h"
#include "recorder.h"

namespace amdahl::inject {
namespace {

// A device's clock against ours. A command is queued on its clock between the two moments that we
// saw on ours, so that each command narrows down how far they are apart.
struct Clock {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();

  std::int64_t offset(std::int64_t called, std::int64_t returned, std::int64_t queued) {
    const std::int64_t low = called - queued;
    const std::int64_t high = returned - queued;
    if (high < least || low > most) {  // The clocks drift.
      least = low;
      most = high;
    }
    least = low > least ? low : least;
    most = high < most ? high : most;
    return least + (most - least) / 2;
  }
};

struct Queue {
  int device = 0;
  int stream = 0;
};

struct State {
  std::mutex mutex;
  std::map<cl_command_queue, Queue> queues;
  std::map<cl_device_id, int> devices;
  std::map<int, Clock> clocks;
  std::deque<Command> pending;
  int streams = 0;
};

// Never destroyed: commands may end while the process does.
State& state() {
  static State& one = *new State;
  return one;
}

bool time_of(cl_event event, cl_profiling_info what, std::int64_t& out) {
  cl_ulong nanos = 0;
  if (real<decltype(clGetEventProfilingInfo)>("clGetEventProfilingInfo")(
          event, what, sizeof nanos, &nanos, nullptr) != CL_SUCCESS) {
    return false;
  }
  out = static_cast<std::int64_t>(nanos);
  return true;
}

bool is_over(cl_event event) {
  cl_int status = CL_QUEUED;
  const cl_int asked = real<decltype(clGetEventInfo)>("clGetEventInfo")(
      event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  return asked != CL_SUCCESS || status <= CL_COMPLETE;
}

void write_down(State& s, const Command& command) {
  std::int64_t queued = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
  if (!time_of(command.event, CL_PROFILING_COMMAND_QUEUED, queued) ||
      !time_of(command.event, CL_PROFILING_COMMAND_START, start) ||
      !time_of(command.event, CL_PROFILING_COMMAND_END, end)) {
    return;
  }
  const Queue queue = s.queues[command.queue];
  const std::int64_t offset =
      s.clocks[queue.device].offset(command.called, command.returned, queued);
  record(DeviceWork{command.name, command.category, start + offset, end + offset,
                    command.correlation, queue.device, queue.stream, command.bytes});
}

}  // namespace

void know_queue(cl_command_queue queue, cl_device_id device) {
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  const auto [at, fresh] = s.devices.try_emplace(device, static_cast<int>(s.devices.size()));
  // After the OpenCL implementation's own handlers, so that ours runs before them.
  if (fresh) std::atexit(reap);
  s.queues[queue] = {at->second, s.streams++};
}

void await(Command command) {
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  s.pending.push_back(std::move(command));
}

void reap() {
  State& s = state();
  const std::scoped_lock lock(s.mutex);
  while (!s.pending.empty() && is_over(s.pending.front().event)) {
    write_down(s, s.pending.front());
    real<decltype(clReleaseEvent)>("clReleaseEvent")(s.pending.front().event);
    s.pending.pop_front();
  }
}

}  // namespace amdahl::inject
