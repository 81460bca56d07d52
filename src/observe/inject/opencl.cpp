// OpenCL's calls with a clock around them: the host's side and, by its events, the device's.
#include <string>
#include <vector>

#include "queues.h"
#include "real.h"
#include "recorder.h"

namespace amdahl::inject {

void* find_real(const char* name) {
  if (void* next = ::dlsym(RTLD_NEXT, name)) return next;
  static void* library = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  return library ? ::dlsym(library, name) : nullptr;
}

namespace {

constexpr const char* kRuntime = "cuda_runtime";

template <class Call>
auto timed(const char* name, Call&& call) {
  if (!recording()) return call();
  const std::int64_t start = now();
  auto result = call();
  record(HostCall{name, kRuntime, start, now(), 0, 0});
  return result;
}

struct Kind {
  const char* call;      // As it is shown on the host,
  const char* category;  // and on the device.
  std::string name;
  std::uint64_t bytes = 0;
};

// Queues a command, with our own event if the job wants none, and keeps the event.
template <class Call>
cl_int enqueue(const Kind& kind, cl_command_queue queue, cl_event* wanted, Call&& call) {
  if (!recording()) return call(wanted);
  cl_event own = nullptr;
  cl_event* event = wanted ? wanted : &own;
  const std::uint64_t correlation = next_correlation();
  const std::int64_t called = now();
  const cl_int status = call(event);
  const std::int64_t returned = now();
  record(HostCall{kind.call, kRuntime, called, returned, correlation, 0});
  if (status != CL_SUCCESS || *event == nullptr) return status;
  if (wanted) real<decltype(clRetainEvent)>("clRetainEvent")(*event);
  await({queue, *event, kind.name, kind.category, correlation, kind.bytes, called, returned});
  reap();  // A call that waited leaves nothing to wait for.
  return status;
}

std::string name_of(cl_kernel kernel) {
  char text[256] = {};
  const auto ask = real<decltype(clGetKernelInfo)>("clGetKernelInfo");
  if (ask(kernel, CL_KERNEL_FUNCTION_NAME, sizeof text, text, nullptr) != CL_SUCCESS) {
    return "kernel";
  }
  return text;
}

const char* copy_call(bool blocking, const char* plain, const char* waiting) {
  return blocking ? waiting : plain;
}

}  // namespace
}  // namespace amdahl::inject

using namespace amdahl::inject;  // The names below are OpenCL's own.

#pragma GCC visibility push(default)
extern "C" {

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties, cl_int* error) {
  const auto next = real<decltype(clCreateCommandQueue)>("clCreateCommandQueue");
  if (!recording()) return next(context, device, properties, error);
  cl_command_queue made = next(context, device, properties | CL_QUEUE_PROFILING_ENABLE, error);
  if (made) know_queue(made, device);
  return made;
}

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                    const cl_queue_properties* properties,
                                                    cl_int* error) {
  const auto next =
      real<decltype(clCreateCommandQueueWithProperties)>("clCreateCommandQueueWithProperties");
  if (!recording()) return next(context, device, properties, error);
  std::vector<cl_queue_properties> list;
  bool has_flags = false;
  for (; properties && *properties != 0; properties += 2) {
    list.push_back(properties[0]);
    const bool flags = properties[0] == CL_QUEUE_PROPERTIES;
    list.push_back(properties[1] | (flags ? CL_QUEUE_PROFILING_ENABLE : 0));
    has_flags |= flags;
  }
  if (!has_flags) list.insert(list.end(), {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE});
  list.push_back(0);
  cl_command_queue made = next(context, device, list.data(), error);
  if (made) know_queue(made, device);
  return made;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t* offset, const size_t* global, const size_t* local,
                              cl_uint waits, const cl_event* wait_list, cl_event* event) {
  const auto next = real<decltype(clEnqueueNDRangeKernel)>("clEnqueueNDRangeKernel");
  const auto call = [&](cl_event* e) {
    return next(queue, kernel, dimensions, offset, global, local, waits, wait_list, e);
  };
  if (!recording()) return call(event);
  return enqueue({"clEnqueueNDRangeKernel", "kernel", name_of(kernel)}, queue, event, call);
}

cl_int clEnqueueNativeKernel(cl_command_queue queue, void (*function)(void*), void* arguments,
                             size_t bytes, cl_uint buffers, const cl_mem* buffer_list,
                             const void** places, cl_uint waits, const cl_event* wait_list,
                             cl_event* event) {
  const auto next = real<decltype(clEnqueueNativeKernel)>("clEnqueueNativeKernel");
  return enqueue({"clEnqueueNativeKernel", "kernel", "native kernel"}, queue, event,
                 [&](cl_event* e) {
                   return next(queue, function, arguments, bytes, buffers, buffer_list, places,
                               waits, wait_list, e);
                 });
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                           size_t size, void* to, cl_uint waits, const cl_event* wait_list,
                           cl_event* event) {
  const auto next = real<decltype(clEnqueueReadBuffer)>("clEnqueueReadBuffer");
  const char* call = copy_call(blocking, "clEnqueueReadBuffer", "clEnqueueReadBuffer (blocking)");
  return enqueue({call, "gpu_memcpy", "Memcpy DtoH", size}, queue, event, [&](cl_event* e) {
    return next(queue, buffer, blocking, offset, size, to, waits, wait_list, e);
  });
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                            size_t size, const void* from, cl_uint waits, const cl_event* wait_list,
                            cl_event* event) {
  const auto next = real<decltype(clEnqueueWriteBuffer)>("clEnqueueWriteBuffer");
  const char* call = copy_call(blocking, "clEnqueueWriteBuffer", "clEnqueueWriteBuffer (blocking)");
  return enqueue({call, "gpu_memcpy", "Memcpy HtoD", size}, queue, event, [&](cl_event* e) {
    return next(queue, buffer, blocking, offset, size, from, waits, wait_list, e);
  });
}

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                           size_t to_offset, size_t size, cl_uint waits, const cl_event* wait_list,
                           cl_event* event) {
  const auto next = real<decltype(clEnqueueCopyBuffer)>("clEnqueueCopyBuffer");
  return enqueue({"clEnqueueCopyBuffer", "gpu_memcpy", "Memcpy DtoD", size}, queue, event,
                 [&](cl_event* e) {
                   return next(queue, from, to, from_offset, to_offset, size, waits, wait_list, e);
                 });
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern,
                           size_t pattern_size, size_t offset, size_t size, cl_uint waits,
                           const cl_event* wait_list, cl_event* event) {
  const auto next = real<decltype(clEnqueueFillBuffer)>("clEnqueueFillBuffer");
  return enqueue({"clEnqueueFillBuffer", "gpu_memset", "Memset (Device)", size}, queue, event,
                 [&](cl_event* e) {
                   return next(queue, buffer, pattern, pattern_size, offset, size, waits, wait_list,
                               e);
                 });
}

void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                         cl_map_flags flags, size_t offset, size_t size, cl_uint waits,
                         const cl_event* wait_list, cl_event* event, cl_int* error) {
  const auto next = real<decltype(clEnqueueMapBuffer)>("clEnqueueMapBuffer");
  const char* name = copy_call(blocking, "clEnqueueMapBuffer", "clEnqueueMapBuffer (blocking)");
  return timed(name, [&] {
    return next(queue, buffer, blocking, flags, offset, size, waits, wait_list, event, error);
  });
}

cl_int clFinish(cl_command_queue queue) {
  const auto next = real<decltype(clFinish)>("clFinish");
  const cl_int status = timed("clFinish", [&] { return next(queue); });
  if (recording()) reap();
  return status;
}

cl_int clWaitForEvents(cl_uint count, const cl_event* events) {
  const auto next = real<decltype(clWaitForEvents)>("clWaitForEvents");
  const cl_int status = timed("clWaitForEvents", [&] { return next(count, events); });
  if (recording()) reap();
  return status;
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                      const char* options, void (*notify)(cl_program, void*), void* data) {
  const auto next = real<decltype(clBuildProgram)>("clBuildProgram");
  return timed("clBuildProgram",
               [&] { return next(program, count, devices, options, notify, data); });
}

}  // extern "C"
#pragma GCC visibility pop
