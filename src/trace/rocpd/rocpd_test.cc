#include "trace/rocpd/rocpd.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trace/database_testing.h"
#include "trace/testing.h"

namespace amdahl::trace::rocpd {
namespace {

// What both forms of the schema share; tables end in "_u1".
constexpr const char* kShared = R"(
CREATE TABLE rocpd_string_u1 (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
INSERT INTO rocpd_string_u1 VALUES (1, '', 'HIP_RUNTIME_API'), (2, '', 'MARKER_CORE_API'),
  (3, '', 'KERNEL_DISPATCH'), (4, '', 'hipLaunchKernel'), (5, '', 'roctxRangePushA'),
  (6, '', 'MEMORY_COPY_HOST_TO_DEVICE'), (7, '', 'hipMemcpyAsync');
CREATE TABLE rocpd_info_agent_u1 (id INTEGER PRIMARY KEY, type TEXT, type_index INTEGER,
  name TEXT, model_name TEXT, product_name TEXT);
INSERT INTO rocpd_info_agent_u1 VALUES (1, 'CPU', 0, 'cpu', '', 'EPYC'),
  (3, 'GPU', 1, 'gfx942', '', 'AMD Instinct MI300X');
CREATE TABLE rocpd_info_kernel_symbol_u1 (id INTEGER PRIMARY KEY, kernel_name TEXT,
  display_name TEXT);
INSERT INTO rocpd_info_kernel_symbol_u1 VALUES (9, '_Z4gemmv', 'Cijk_gemm');
CREATE TABLE rocpd_event_u1 (id INTEGER PRIMARY KEY, category_id INTEGER, stack_id INTEGER,
  extdata TEXT);
INSERT INTO rocpd_event_u1 VALUES (1, 1, 50, '{}'), (2, 3, 50, '{}'), (3, 1, 51, '{}'),
  (4, 3, 51, '{}'), (5, 2, 52, '{"message":"forward"}');
)";

constexpr const char* kInRows = R"(
CREATE TABLE rocpd_kernel_dispatch_u1 (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER,
  agent_id INTEGER, kernel_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT,
  end BIGINT, event_id INTEGER);
INSERT INTO rocpd_kernel_dispatch_u1 VALUES (1, 7, 8, 3, 9, 1, 2, 2000, 3000, 2);
CREATE TABLE rocpd_memory_copy_u1 (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start BIGINT,
  end BIGINT, name_id INTEGER, dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER,
  stream_id INTEGER, event_id INTEGER);
INSERT INTO rocpd_memory_copy_u1 VALUES (1, 7, 8, 4000, 4500, 6, 3, 1, 4096, 2, 4);
CREATE TABLE rocpd_region_u1 (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start BIGINT,
  end BIGINT, name_id INTEGER, event_id INTEGER);
INSERT INTO rocpd_region_u1 VALUES (1, 7, 8, 1000, 1500, 4, 1), (2, 7, 8, 3500, 3600, 7, 3),
  (3, 7, 8, 900, 5000, 5, 5);
)";

constexpr const char* kInTracks = R"(
CREATE TABLE rocpd_timestamp_u1 (id INTEGER PRIMARY KEY, value BIGINT);
INSERT INTO rocpd_timestamp_u1 VALUES (1, 2000), (2, 3000), (3, 4000), (4, 4500), (5, 1000),
  (6, 1500), (7, 3500), (8, 3600), (9, 900), (10, 5000);
CREATE TABLE rocpd_track_u1 (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, agent_id INTEGER,
  queue_id INTEGER, stream_id INTEGER);
INSERT INTO rocpd_track_u1 VALUES (1, 7, 8, 3, 1, 2), (2, 7, 8, NULL, NULL, NULL);
CREATE TABLE rocpd_kernel_dispatch_u1 (id INTEGER PRIMARY KEY, track_id INTEGER,
  kernel_id INTEGER, start_id INTEGER, end_id INTEGER, event_id INTEGER);
INSERT INTO rocpd_kernel_dispatch_u1 VALUES (1, 1, 9, 1, 2, 2);
CREATE TABLE rocpd_memory_copy_u1 (id INTEGER PRIMARY KEY, track_id INTEGER, start_id INTEGER,
  end_id INTEGER, name_id INTEGER, dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER,
  event_id INTEGER);
INSERT INTO rocpd_memory_copy_u1 VALUES (1, 1, 3, 4, 6, 3, 1, 4096, 4);
CREATE TABLE rocpd_region_u1 (id INTEGER PRIMARY KEY, track_id INTEGER, name_id INTEGER,
  start_id INTEGER, end_id INTEGER, event_id INTEGER);
INSERT INTO rocpd_region_u1 VALUES (1, 2, 4, 5, 6, 1), (2, 2, 7, 7, 8, 3), (3, 2, 5, 9, 10, 5);
)";

TEST(Rocpd, BothFormsOfTheSchemaGiveTheSameTrace) {
  for (const char* tables : {kInRows, kInTracks}) {
    const std::string bytes = database_of(std::string(kShared) + tables);
    const auto reader = reader_for(bytes);
    ASSERT_TRUE(reader) << reader.error().text;
    EXPECT_EQ(reader->name, "rocpd");
    const auto trace = load(*reader, "results.db", bytes_in(bytes));
    ASSERT_TRUE(trace) << trace.error().text;
    ASSERT_EQ(trace->device_events.size(), 2U);
    const model::DeviceEvent& kernel = trace->device_events[0];
    EXPECT_EQ(trace->name(kernel), "Cijk_gemm");
    EXPECT_EQ(kernel.start.count(), 2000);
    EXPECT_EQ(kernel.duration.count(), 1000);
    ASSERT_NE(kernel.launch, model::kNone);
    EXPECT_EQ(trace->name(trace->host_events[kernel.launch]), "hipLaunchKernel");
    const model::TraceDevice& device = trace->devices[trace->device_of(kernel)];
    EXPECT_EQ(device.id, 1);
    EXPECT_EQ(trace->names[device.name], "AMD Instinct MI300X");
    const model::DeviceEvent& copy = trace->device_events[1];
    EXPECT_EQ(copy.copy, model::CopyKind::kHostToDevice);
    EXPECT_EQ(trace->details[copy.detail].bytes, 4096U);
    EXPECT_EQ(trace->device_of(copy), trace->device_of(kernel));
    ASSERT_EQ(trace->host_events.size(), 3U);
    EXPECT_EQ(trace->name(trace->host_events[0]), "forward");
    EXPECT_EQ(trace->host_events[0].kind, model::HostKind::kAnnotation);
    EXPECT_EQ(trace->host_events[1].kind, model::HostKind::kRuntime);
    EXPECT_EQ(trace->host_events[1].parent, 0U);
    EXPECT_TRUE(trace->losses.empty());
  }
}

TEST(Rocpd, WhatIsMissingIsCounted) {
  const auto none = load(*reader_named("rocpd"), "results.db",
                         bytes_in(database_of("CREATE TABLE rocpd_kernel_dispatch_u1 (id)")));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, Error::Kind::kBadInput);
  const auto broken = load(*reader_named("rocpd"), "results.db", bytes_in(database_of(R"(
CREATE TABLE rocpd_kernel_dispatch_u1 (start, end, pid, agent_id, stream_id, kernel_id);
INSERT INTO rocpd_kernel_dispatch_u1 VALUES (1, 5, 7, 3, 2, 9), (NULL, 5, 7, 3, 2, 9),
  (9, 5, 7, 3, 2, 9), (1, 9223372036854775807, 7, 3, 2, 9);)")));
  ASSERT_TRUE(broken) << broken.error().text;
  EXPECT_EQ(broken->device_events.size(), 2U);
  EXPECT_EQ(broken->losses.size(), 3U);
}

}  // namespace
}  // namespace amdahl::trace::rocpd
