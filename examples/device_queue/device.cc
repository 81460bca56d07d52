#include "device_queue/device.h"

#include <cstdlib>

#include <fmt/format.h>
#include <sched.h>

namespace device_queue {
namespace {

// Threads inherit the mask of the thread that starts them: the driver's get the first CPU.
struct Split {
  cpu_set_t device{};
  cpu_set_t host{};
  bool possible = false;
};

Split split_cpus() {
  Split split;
  cpu_set_t allowed{};
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) {
    return split;
  }
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) {
      CPU_SET(cpu, CPU_COUNT(&split.device) == 0 ? &split.device : &split.host);
    }
  }
  split.possible = true;
  return split;
}

cl_device_id find_device() {
  cl_uint platforms = 0;
  check(clGetPlatformIDs(0, nullptr, &platforms), "finding an OpenCL platform");
  std::vector<cl_platform_id> ids(platforms);
  check(clGetPlatformIDs(platforms, ids.data(), nullptr), "finding an OpenCL platform");
  constexpr cl_device_type kPreferred[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ALL};
  for (const cl_device_type type : kPreferred) {
    for (const cl_platform_id platform : ids) {
      cl_device_id device = nullptr;
      if (clGetDeviceIDs(platform, type, 1, &device, nullptr) == CL_SUCCESS) {
        return device;
      }
    }
  }
  example::fail("no OpenCL device: try apt install pocl-opencl-icd");
}

std::string text_of(cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  check(clGetDeviceInfo(device, what, 0, nullptr, &size), "asking the device");
  std::string text(size, '\0');
  check(clGetDeviceInfo(device, what, size, text.data(), nullptr), "asking the device");
  text.resize(text.empty() ? 0 : text.size() - 1);
  return text;
}

struct AskAddress {
  float* address = nullptr;
  float** answer = nullptr;
};

void CL_CALLBACK tell_address(void* argument) {
  const AskAddress& ask = *static_cast<const AskAddress*>(argument);
  *ask.answer = ask.address;
}

double at(const Event& event, cl_profiling_info what) {
  cl_ulong nanos = 0;
  check(clGetEventProfilingInfo(event.get(), what, sizeof nanos, &nanos, nullptr),
        "reading a command's timestamps");
  return 1e-9 * static_cast<double>(nanos);
}

}  // namespace

void check(cl_int status, const char* tried) {
  if (status != CL_SUCCESS) {
    example::fail(fmt::format("{}: OpenCL error {}", tried, status));
  }
}

Device::Device() {
  const Split split = split_cpus();
  if (split.possible) {
    sched_setaffinity(0, sizeof split.device, &split.device);
  }
  // Read by PoCL alone: one thread is one core.
  setenv("POCL_MAX_PTHREAD_COUNT", "1", 0);
  device_ = find_device();
  name_ = text_of(device_, CL_DEVICE_NAME);
  cl_device_exec_capabilities can = 0;
  check(clGetDeviceInfo(device_, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, nullptr),
        "asking the device");
  native_ = (can & CL_EXEC_NATIVE_KERNEL) != 0;
  cl_int status = CL_SUCCESS;
  context_.reset(clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status));
  check(status, "making a context");
  for (Owner<cl_command_queue>* queue : {&compute_, &copies_}) {
    queue->reset(clCreateCommandQueue(context_.get(), device_, CL_QUEUE_PROFILING_ENABLE, &status));
    check(status, "making a queue");
  }
  if (split.possible) {
    sched_setaffinity(0, sizeof split.host, &split.host);
  }
}

Buffer Device::buffer(std::size_t bytes) const {
  cl_int status = CL_SUCCESS;
  Buffer buffer(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &status));
  check(status, "allocating on the device");
  return buffer;
}

Floats Device::floats(std::size_t count) const {
  Floats floats{buffer(sizeof(float) * count), nullptr};
  if (native_) {
    // One buffer a call: PoCL 3.1 swaps the places of several.
    AskAddress ask{nullptr, &floats.address};
    const cl_mem buffer = floats.buffer.get();
    const void* place = &ask.address;
    check(clEnqueueNativeKernel(compute(), tell_address, &ask, sizeof ask, 1, &buffer, &place, 0,
                                nullptr, nullptr),
          "asking for a buffer's address");
    check(clFinish(compute()), "asking for a buffer's address");
  }
  return floats;
}

Owner<cl_program> Device::build(const char* source) const {
  cl_int status = CL_SUCCESS;
  Owner<cl_program> program(
      clCreateProgramWithSource(context_.get(), 1, &source, nullptr, &status));
  check(status, "making the program");
  check(clBuildProgram(program.get(), 1, &device_, "", nullptr, nullptr), "building the kernels");
  return program;
}

void Device::calibrate() {
  // The shortest of a few round trips bounds the error best; drivers' clocks differ from ours by
  // an offset that stays.
  const Buffer buffer = this->buffer(sizeof(float));
  double shortest_s = 1e9;
  for (int i = 0; i < 8; ++i) {
    const float zero = 0;
    cl_event raw = nullptr;
    const double before = example::unix_seconds();
    check(clEnqueueWriteBuffer(compute(), buffer.get(), CL_TRUE, 0, sizeof zero, &zero, 0, nullptr,
                               &raw),
          "writing to the device");
    const double after = example::unix_seconds();
    const Event event(raw);
    if (after - before < shortest_s) {
      shortest_s = after - before;
      const double middle =
          (at(event, CL_PROFILING_COMMAND_QUEUED) + at(event, CL_PROFILING_COMMAND_END)) / 2;
      offset_s_ = (before + after) / 2 - middle;
    }
  }
}

void Device::tell_busy(example::Report& report, const Event& event) const {
  report.device_busy(at(event, CL_PROFILING_COMMAND_START) + offset_s_,
                     at(event, CL_PROFILING_COMMAND_END) + offset_s_);
}

}  // namespace device_queue
