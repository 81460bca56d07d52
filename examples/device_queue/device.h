// device.h: an OpenCL device with its queues, and when it was busy.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CL/cl.h>

#include "report/report.h"

namespace device_queue {

struct Release {
  void operator()(cl_context handle) const { clReleaseContext(handle); }
  void operator()(cl_command_queue handle) const { clReleaseCommandQueue(handle); }
  void operator()(cl_program handle) const { clReleaseProgram(handle); }
  void operator()(cl_kernel handle) const { clReleaseKernel(handle); }
  void operator()(cl_mem handle) const { clReleaseMemObject(handle); }
  void operator()(cl_event handle) const { clReleaseEvent(handle); }
};
template <class Handle>
using Owner = std::unique_ptr<std::remove_pointer_t<Handle>, Release>;
using Buffer = Owner<cl_mem>;
using Event = Owner<cl_event>;

// Ends the job, with what was tried, if `status` is an error.
void check(cl_int status, const char* tried);

// A buffer of floats and, where the device runs our functions, where they see it.
struct Floats {
  Buffer buffer;
  float* address = nullptr;
};

// A GPU if there is one, else the CPU as a device of one core; the calling thread then keeps to
// the other core, as the host of a real device does.
class Device {
 public:
  Device();

  Buffer buffer(std::size_t bytes) const;
  Floats floats(std::size_t count) const;
  Owner<cl_program> build(const char* source) const;

  // The clock of the device's timestamps against Unix time; call it once, before the first step.
  void calibrate();
  // Adds the command's time on the device to the report. The command must have ended.
  void tell_busy(example::Report& report, const Event& event) const;

  cl_command_queue compute() const { return compute_.get(); }
  cl_command_queue copies() const { return copies_.get(); }
  bool runs_our_functions() const { return native_; }
  const std::string& name() const { return name_; }

 private:
  cl_device_id device_ = nullptr;
  Owner<cl_context> context_;
  Owner<cl_command_queue> compute_;
  Owner<cl_command_queue> copies_;
  bool native_ = false;
  double offset_s_ = 0;
  std::string name_;
};

}  // namespace device_queue
