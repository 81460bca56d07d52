#include "profile/trace_names.h"

#include <gtest/gtest.h>

namespace amdahl::profile {
namespace {

TEST(TraceNames, TellWhatACallDoes) {
  struct Case {
    const char* call;
    Api api;
  };
  constexpr Case kCases[] = {
      {"cudaLaunchKernel", Api::kLaunch},
      {"hipModuleLaunchKernel", Api::kLaunch},
      {"cudaLaunchHostFunc", Api::kOther},
      {"cudaMemcpyAsync", Api::kCopy},
      {"cudaMemcpy", Api::kBlockingCopy},
      {"cudaMemsetAsync", Api::kSet},
      {"cudaDeviceSynchronize", Api::kSync},
      {"cuStreamSynchronize", Api::kSync},
      {"cudaStreamWaitEvent", Api::kStreamWait},
      {"clEnqueueNDRangeKernel", Api::kLaunch},
      {"clEnqueueNativeKernel", Api::kLaunch},
      {"clEnqueueWriteBuffer", Api::kCopy},
      {"clEnqueueReadBuffer (blocking)", Api::kBlockingCopy},
      {"clEnqueueFillBuffer", Api::kSet},
      {"clFinish", Api::kSync},
      {"clWaitForEvents", Api::kSync},
      {"clBuildProgram", Api::kOther},
      {"clone", Api::kOther},
      {"urEnqueueKernelLaunch", Api::kLaunch},
      {"urEnqueueUSMMemcpy", Api::kCopy},
      {"urEventWait", Api::kSync},
      {"urEventGetInfo", Api::kOther},
      {"piEnqueueKernelLaunch", Api::kLaunch},
      {"zeCommandListAppendLaunchKernel", Api::kLaunch},
      {"zeCommandListAppendMemoryCopy", Api::kCopy},
      {"zeEventHostSynchronize", Api::kSync},
      {"zeEventQueryStatus", Api::kOther},
      {"AscendCL@aclrtSynchronizeStream", Api::kSync},
      {"AscendCL@aclrtMemcpy", Api::kBlockingCopy},
      {"AscendCL@aclCreateTensorDesc", Api::kOther},
  };
  for (const Case& c : kCases) EXPECT_EQ(api_of(c.call), c.api) << c.call;
}

}  // namespace
}  // namespace amdahl::profile
