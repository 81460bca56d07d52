#include "trace/kineto/device_process.h"

#include <gtest/gtest.h>

#include "trace/testing.h"

namespace amdahl::trace::kineto {
namespace {

using model::DeviceKind;
using model::Trace;

TEST(DeviceProcess, IsKnownByItsName) {
  const struct {
    const char* name;
    bool is_device;
    std::int64_t number;
  } cases[] = {
      {"/device:GPU:3", true, 3},    {"/device:TPU:0 (pid 7)", true, 0},
      {"/device:CPU:0", false, -1},  {"/host:CPU", false, -1},
      {"Ascend Hardware", true, -1}, {"6 GPU1", true, 1},
      {"python", false, -1},         {"GPU", false, -1},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(device_process(c.name).is_device, c.is_device);
    EXPECT_EQ(device_process(c.name).number, c.number);
  }
}

// As XLA writes it: no categories, devices and streams by their names.
constexpr std::string_view kXla = R"x({"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:3"}},
{"ph":"M","pid":1,"tid":13,"name":"thread_name","args":{"name":"Stream #13(Compute)"}},
{"ph":"M","pid":1,"tid":14,"name":"thread_name","args":{"name":"Stream #14(MemcpyH2D)"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"XLA Modules"}},
{"ph":"M","pid":7,"name":"process_name","args":{"name":"/host:CPU"}},
{"ph":"X","pid":7,"tid":9,"ts":1,"dur":2,"name":"cuLaunchKernel",
 "args":{"correlation_id":"5"}},
{"ph":"X","pid":7,"tid":9,"ts":0,"dur":40,"name":"PjitFunction(step)"},
{"ph":"X","pid":1,"tid":13,"ts":10,"dur":4,"name":"fusion_1",
 "args":{"correlation_id":"5"}},
{"ph":"X","pid":1,"tid":14,"ts":15,"dur":4,"name":"MemcpyH2D"},
{"ph":"X","pid":1,"tid":2,"ts":12,"dur":20,"name":"jit_step"}]})x";

TEST(DeviceProcess, StreamsAreWorkAndOtherLinesAreNot) {
  const Result<Trace> trace = load_kineto(std::string(kXla));
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->devices.size(), 1u);
  EXPECT_EQ(trace->devices[0].id, 3);
  ASSERT_EQ(trace->device_events.size(), 3u);
  const model::DeviceEvent& kernel = trace->device_events[0];
  EXPECT_EQ(kernel.kind, DeviceKind::kKernel);
  ASSERT_NE(kernel.launch, model::kNone);
  EXPECT_EQ(trace->name(trace->host_events[kernel.launch]), "cuLaunchKernel");
  EXPECT_EQ(trace->device_events[1].kind, DeviceKind::kAnnotation);
  EXPECT_EQ(trace->device_events[2].kind, DeviceKind::kCopy);
  EXPECT_EQ(trace->host_events.size(), 2u);
  EXPECT_TRUE(trace->losses.empty());
}

// As PyTorch writes it that is built without Kineto: no category, no process that is one.
TEST(DeviceProcess, WithoutCategoriesHostsShowOperators) {
  const Result<Trace> trace = load_kineto(
      R"([{"name":"ProfilerStep#3","ph":"X","ts":0,"dur":90,"tid":1,"pid":"CPU functions"},)"
      R"({"name":"aten::mm","ph":"X","ts":5,"dur":20,"tid":1,"pid":"CPU functions","args":{}},)"
      R"({"name":"odd","cat":"tpu_op","ph":"X","ts":50,"dur":2,"tid":1,"pid":"CPU functions"}])");
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->host_events.size(), 3u);
  EXPECT_EQ(trace->host_events[1].kind, model::HostKind::kOp);
  EXPECT_EQ(trace->host_events[1].parent, 0u);
  EXPECT_EQ(trace->host_events[2].kind, model::HostKind::kOther);
  ASSERT_EQ(trace->steps.size(), 1u);
  EXPECT_EQ(trace->steps[0].number, 3);
  ASSERT_EQ(trace->losses.size(), 1u);
  EXPECT_EQ(trace->losses[0].count, 1u);
}

TEST(DeviceProcess, WaitsOfAStreamAreNoWork) {
  const Result<Trace> trace = load_kineto(
      R"([{"name":"process_name","pid":32,"tid":0,"args":{"name":"Ascend Hardware"},"ph":"M"},)"
      R"({"name":"thread_name","pid":32,"tid":2,"args":{"name":"Stream 2"},"ph":"M"},)"
      R"({"name":"MatMul","pid":32,"tid":2,"ts":"1700000000000010.500","dur":3.25,"ph":"X"},)"
      R"({"name":"EVENT_WAIT","pid":32,"tid":2,"ts":"1700000000000014","dur":9,"ph":"X"},)"
      R"({"name":"process_name","pid":33,"tid":0,"args":{"name":"Overlap Analysis"},"ph":"M"},)"
      R"({"name":"Free","pid":33,"tid":3,"ts":"1700000000000013.750","dur":9,"ph":"X"}])");
  ASSERT_TRUE(trace);
  EXPECT_TRUE(trace->host_events.empty()) << "what sums up is no work of a host";
  ASSERT_EQ(trace->device_events.size(), 2u);
  EXPECT_EQ(trace->device_events[0].duration, Nanos(3250));
  EXPECT_EQ(trace->device_events[1].kind, DeviceKind::kAnnotation);
  EXPECT_TRUE(trace->losses.empty());
}

TEST(DeviceProcess, CollectivesOfAscendAreWorkOfTheirDevice) {
  const Result<Trace> trace = load_kineto(
      R"([{"name":"process_name","pid":64,"tid":0,"args":{"name":"Ascend Hardware"},"ph":"M"},)"
      R"({"name":"thread_name","pid":64,"tid":2,"args":{"name":"Stream 2"},"ph":"M"},)"
      R"({"name":"thread_name","pid":64,"tid":4,"args":{"name":"Stream 4"},"ph":"M"},)"
      R"({"name":"process_name","pid":96,"tid":0,"args":{"name":"HCCL"},"ph":"M"},)"
      R"({"name":"thread_name","pid":96,"tid":2,"args":{"name":"Group 0 Communication"},)"
      R"("ph":"M"},)"
      R"({"name":"thread_name","pid":96,"tid":3,"args":{"name":"Plane 0"},"ph":"M"},)"
      R"({"name":"MatMul","pid":64,"tid":2,"ts":"10","dur":3,"ph":"X"},)"
      R"({"name":"Notify Wait","pid":64,"tid":4,"ts":"20","dur":30,"ph":"X"},)"
      R"({"name":"SDMA","pid":64,"tid":4,"ts":"50","dur":10,"ph":"X"},)"
      R"({"name":"hcom_allReduce__868_0_1","pid":96,"tid":2,"ts":"18","dur":44,"ph":"X"},)"
      R"({"name":"Memcpy","pid":96,"tid":3,"ts":"50","dur":10,"ph":"X"}])");
  ASSERT_TRUE(trace);
  EXPECT_TRUE(trace->host_events.empty()) << "no collective is work of a host";
  ASSERT_EQ(trace->devices.size(), 1u);
  ASSERT_EQ(trace->device_events.size(), 5u);
  const model::DeviceEvent& collective = trace->device_events[1];
  EXPECT_EQ(trace->name(collective), "hcom_allReduce__868_0_1");
  EXPECT_EQ(collective.kind, DeviceKind::kKernel);
  EXPECT_NE(collective.stream, trace->device_events[0].stream) << "both lines have the number 2";
  for (const std::size_t part : {2u, 3u, 4u}) {
    EXPECT_EQ(trace->device_events[part].kind, DeviceKind::kAnnotation) << part;
  }
}

// As torch_npu writes it: what launched a task says a flow, and nothing else.
TEST(DeviceProcess, FlowsLeadFromCallsToTasks) {
  const Result<Trace> trace = load_kineto(
      R"([{"name":"process_name","pid":32,"tid":0,"args":{"name":"Ascend Hardware"},"ph":"M"},)"
      R"({"name":"thread_name","pid":32,"tid":2,"args":{"name":"Stream 2"},"ph":"M"},)"
      R"({"name":"AscendCL@aclnnMm","pid":7,"tid":9,"ts":"100","dur":20,"ph":"X"},)"
      R"({"name":"Node@launch","pid":7,"tid":9,"ts":"110","dur":5,"ph":"X"},)"
      R"({"name":"HostToDevice42","ph":"s","cat":"HostToDevice","id":"42","pid":7,"tid":9,)"
      R"("ts":"110"},)"
      R"({"name":"HostToDevice42","ph":"f","cat":"HostToDevice","id":"42","pid":32,"tid":2,)"
      R"("ts":"130.5","bp":"e"},)"
      R"({"name":"MatMul","pid":32,"tid":2,"ts":"130.500","dur":3.25,"ph":"X"},)"
      R"({"name":"Add","pid":32,"tid":2,"ts":"140","dur":1,"ph":"X"}])");
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->device_events.size(), 2u);
  ASSERT_NE(trace->device_events[0].launch, model::kNone);
  EXPECT_EQ(trace->name(trace->host_events[trace->device_events[0].launch]), "Node@launch");
  EXPECT_EQ(trace->device_events[1].launch, model::kNone) << "no flow leads there";
  EXPECT_TRUE(trace->flows.empty());
  EXPECT_TRUE(trace->losses.empty());
}

}  // namespace
}  // namespace amdahl::trace::kineto
