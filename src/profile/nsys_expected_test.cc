// The figures of the reference exports, to the nanosecond.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "model/trace_builder.h"
#include "profile/breakdown.h"
#include "trace/reader.h"

namespace amdahl::profile {
namespace {

namespace fs = std::filesystem;

model::Trace load(const fs::path& path) {
  model::TraceBuilder builder;
  const auto reader = trace::reader_named("nsys");
  EXPECT_TRUE(reader);
  trace::Input input;
  input.name = path.filename().string();
  input.bytes = fs::file_size(path);
  input.database = path.string();
  const auto done = reader->read(input, {}, builder);
  EXPECT_TRUE(done) << done.error().text;
  return std::move(builder).finish();
}

Json figures(const DeviceBreakdown& device) {
  return {{"kernels", device.kernels},
          {"events", device.events},
          {"streams", device.streams},
          {"span_ns", device.span.count()},
          {"busy_ns", device.busy.count()},
          {"idle_ns", device.idle.count()},
          {"compute_ns", device.compute.count()},
          {"comm_ns", device.communication.count()},
          {"mem_ns", device.memory.count()},
          {"comm_overlapped_by_compute_ns", device.overlapped.count()},
          {"exposed_comm_ns", device.exposed_communication.count()},
          {"gaps", device.gaps},
          {"gap_host_wait_ns", device.gap(GapCause::kHostWait).count()},
          {"gap_kernel_wait_ns", device.gap(GapCause::kKernelWait).count()},
          {"gap_other_ns", device.gap(GapCause::kOther).count()},
          {"gap_unknown_ns", device.gap(GapCause::kUnknown).count()}};
}

// The kernels with most time, as the reference lists them.
void expect_kernels(const model::Trace& trace, std::uint32_t device, const Json& want) {
  struct Sum {
    std::int64_t ns = 0;
    std::int64_t count = 0;
  };
  std::map<std::string, Sum> sums;
  for (const model::DeviceEvent& event : trace.device_events) {
    if (event.kind != model::DeviceKind::kKernel || trace.device_of(event) != device) continue;
    Sum& sum = sums[std::string(trace.name(event))];
    sum.ns += event.duration.count();
    ++sum.count;
  }
  for (const Json& kernel : want) {
    const Sum& sum = sums[kernel.at("name").get<std::string>()];
    EXPECT_EQ(sum.ns, kernel.at("total_ns").get<std::int64_t>()) << kernel.at("name");
    EXPECT_EQ(sum.count, kernel.at("count").get<std::int64_t>()) << kernel.at("name");
  }
}

TEST(NsysExpected, EveryFigureOfTheReference) {
  const char* corpus = std::getenv("AMDAHL_CORPUS");
  if (corpus == nullptr) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  std::ifstream in(fs::path(corpus) / "expected/nsys.json");
  ASSERT_TRUE(in);
  const Json expected = Json::parse(in);
  for (const auto& [file, want] : expected.items()) {
    SCOPED_TRACE(file);
    const model::Trace trace = load(fs::path(corpus) / "traces/nsys" / file);
    const auto devices = break_down(trace);
    ASSERT_EQ(devices.size(), want.at("devices").size());
    for (const DeviceBreakdown& device : devices) {
      const std::string id = std::to_string(trace.devices[device.device].id);
      SCOPED_TRACE("device " + id);
      Json should = want.at("devices").at(id);
      expect_kernels(trace, device.device, should.at("top_kernels"));
      should.erase("top_kernels");
      EXPECT_EQ(figures(device), should);
      if (!want.at("gpus").is_null()) {
        EXPECT_EQ(trace.names[trace.devices[device.device].name],
                  want.at("gpus").at(device.device).get<std::string>());
      }
    }
    EXPECT_EQ(trace.sources[0].clock, model::Clock::kUnix);
    EXPECT_TRUE(trace.losses.empty()) << model::describe(trace.losses[0]);
  }
}

}  // namespace
}  // namespace amdahl::profile
