#include "trace/xplane/xplane.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "trace/testing.h"

namespace amdahl::trace::xplane {
namespace {

// A writer of the same wire format, for bytes as XLA writes them.
std::string varint(std::uint64_t value) {
  std::string out;
  while (value >= 0x80) {
    out += static_cast<char>((value & 0x7FU) | 0x80U);
    value >>= 7U;
  }
  return out + static_cast<char>(value);
}
std::string number(unsigned field, std::uint64_t value) {
  return varint(field << 3U) + varint(value);
}
std::string text(unsigned field, const std::string& bytes) {
  return varint(field << 3U | 2U) + varint(bytes.size()) + bytes;
}
std::string named(unsigned map, std::uint64_t id, const std::string& name) {
  return text(map, number(1, id) + text(2, number(1, id) + text(2, name)));
}
std::string event(std::uint64_t metadata, std::uint64_t from_ns, std::uint64_t duration_ns,
                  const std::string& stats = "") {
  return text(
      4, number(1, metadata) + number(2, from_ns * 1000) + number(3, duration_ns * 1000) + stats);
}
std::string line(std::uint64_t id, const std::string& name, const std::string& events) {
  return text(3, number(1, id) + text(2, name) + number(3, 1'000'000) + events);
}
std::string stat(std::uint64_t id, std::uint64_t value) {
  return text(4, number(1, id) + number(3, value));
}

// A kernel and a copy on a GPU.
std::string gpu_plane() {
  const std::string names = named(4, 1, "gemm_kernel") + named(4, 2, "MemcpyH2D") +
                            named(4, 3, "XLA module") + named(5, 1, "correlation_id") +
                            named(5, 2, "memcpy_details") + named(5, 3, "memory_size");
  const std::string copy = event(2, 900, 100, text(4, number(1, 2) + text(5, "size:4096 async:1")));
  return text(1, number(1, 1) + text(2, "/device:GPU:1") +
                     line(7, "Stream #7(Compute)", event(1, 500, 300, stat(1, 42)) + copy) +
                     line(90, "XLA Modules", event(3, 500, 500)) + names +
                     text(6, number(1, 3) + number(3, 80'000'000'000)));
}

// The same with its launch, a step and a line of Python on the host.
std::string gpu_file() {
  const std::string host =
      number(1, 2) + text(2, "/host:CPU") +
      line(11, "python",
           event(1, 0, 2000, stat(2, 5)) + event(2, 10, 1000) + event(3, 100, 50, stat(1, 42))) +
      named(4, 1, "train") + named(4, 2, "$train.py:12 step") + named(4, 3, "cuLaunchKernel") +
      named(5, 1, "correlation_id") + named(5, 2, "step_num");
  return gpu_plane() + text(1, host) + text(4, "node1");
}

Result<model::Trace> read_of(const std::string& bytes) {
  return load(*reader_for(bytes), "a.xplane.pb", bytes_in(bytes));
}

TEST(XPlane, StreamsOfAGpuAndTheirLaunches) {
  ASSERT_EQ(reader_for(gpu_file())->name, "xplane");
  const auto got = read_of(gpu_file());
  ASSERT_TRUE(got) << got.error().text;
  ASSERT_EQ(got->device_events.size(), 2U);  // The module tells again what the stream told.
  const model::DeviceEvent& kernel = got->device_events[0];
  EXPECT_EQ(got->name(kernel), "gemm_kernel");
  EXPECT_EQ(kernel.start, Nanos(1'000'500));
  EXPECT_EQ(kernel.duration, Nanos(300));
  ASSERT_NE(kernel.launch, model::kNone);
  EXPECT_EQ(got->name(got->host_events[kernel.launch]), "cuLaunchKernel");
  const model::DeviceEvent& copy = got->device_events[1];
  EXPECT_EQ(copy.copy, model::CopyKind::kHostToDevice);
  EXPECT_EQ(got->details[copy.detail].bytes, 4096U);
  EXPECT_EQ(got->devices[0].id, 1);
  EXPECT_EQ(got->devices[0].memory_bytes, 80'000'000'000U);
  EXPECT_EQ(got->sources[0].host, "node1");
}

TEST(XPlane, StepsAndPythonOfTheHost) {
  const auto got = read_of(gpu_file());
  ASSERT_TRUE(got);
  ASSERT_EQ(got->steps.size(), 1U);
  EXPECT_EQ(got->steps[0].number, 5);
  EXPECT_EQ(got->steps[0].duration, Nanos(2000));
  const auto python =
      std::ranges::find(got->host_events, model::HostKind::kPython, &model::HostEvent::kind);
  ASSERT_NE(python, got->host_events.end());
  EXPECT_EQ(got->name(*python), "train.py(12): step");
}

TEST(XPlane, OperationsOfATpuOnceAndNotTheirLoops) {
  const std::string plane =
      text(2, "/device:TPU:0") + line(1, "Steps", event(9, 0, 900)) +
      line(2, "XLA Modules", event(8, 0, 900)) +
      line(3, "XLA Ops", event(1, 0, 800) + event(2, 100, 200) + event(3, 300, 100)) +
      named(4, 1, "while.1") + named(4, 2, "fusion.3") + named(4, 3, "all-reduce.1") +
      named(4, 8, "jit_step") + named(4, 9, "12");
  const auto got = read_of(text(1, plane));
  ASSERT_TRUE(got) << got.error().text;
  Nanos busy{};
  for (const model::DeviceEvent& one : got->device_events) {
    if (one.kind == model::DeviceKind::kKernel) busy += one.duration;
  }
  EXPECT_EQ(busy, Nanos(300));
  ASSERT_EQ(got->steps.size(), 1U);
  EXPECT_EQ(got->steps[0].number, 12);
}

TEST(XPlane, AnyCutIsReadOrRefused) {
  const std::string whole = gpu_file();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto got = load(*reader_named("xplane"), "cut", bytes_in(whole.substr(0, size)));
    // Nothing tells that another plane or name would have followed.
    const bool is_between = size == gpu_plane().size() || size + 8 > whole.size();
    if (got && !is_between) {
      EXPECT_FALSE(got->losses.empty()) << size;
    }
  }
  EXPECT_FALSE(reader_for("\nsome text that is no plane"));
}

// Version control and mail may take it for text.
TEST(XPlane, ACopyAsTextIsDamaged) {
  std::string copy;
  for (const char c : gpu_file()) {
    copy += static_cast<unsigned char>(c) < 0x80 ? std::string(1, c) : "\xEF\xBF\xBD";
  }
  const auto got = load(*reader_named("xplane"), "copy", bytes_in(copy));
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().text.find("is damaged or cut off"), std::string::npos) << got.error().text;
}

}  // namespace
}  // namespace amdahl::trace::xplane
