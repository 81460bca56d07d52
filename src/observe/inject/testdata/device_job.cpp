// device_job.cpp: three kernels, two copies and their waits on an OpenCL device; prints what it
// did.
#include <cstdio>
#include <ctime>
#include <vector>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

namespace {

const char* const kSource =
    "__kernel void spin(__global float* x) {"
    "  float v = x[get_global_id(0)];"
    "  for (int i = 0; i < 200000; ++i) v = v * 1.0000001f + 0.5f;"
    "  x[get_global_id(0)] = v;"
    "}";

double seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

int main() {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) return 77;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) return 77;
  cl_int status = CL_SUCCESS;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  // Without profiling: the job asks for no clocks.
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
  const char* source = kSource;
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
  if (clBuildProgram(program, 1, &device, "", nullptr, nullptr) != CL_SUCCESS) return 1;
  cl_kernel kernel = clCreateKernel(program, "spin", &status);
  std::vector<float> data(64, 1.0F);
  const std::size_t bytes = data.size() * sizeof(float);
  const std::size_t global = data.size();
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
  clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, bytes, data.data(), 0, nullptr, nullptr);
  clSetKernelArg(kernel, 0, sizeof buffer, static_cast<const void*>(&buffer));
  const double began = seconds();
  for (int i = 0; i < 3; ++i) {
    cl_event event = nullptr;  // Asked for once, so that both ways are taken.
    clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr,
                           i == 1 ? &event : nullptr);
    if (event) clReleaseEvent(event);
  }
  clFinish(queue);
  std::printf("kernels %.6f\n", seconds() - began);
  clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, data.data(), 0, nullptr, nullptr);
  clReleaseMemObject(buffer);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return data[0] > 1.0F ? 0 : 1;
}
