#include "trace/nsys/nsys.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/trace.h"
#include "model/trace_builder.h"
#include "trace/database_testing.h"
#include "trace/reader.h"

namespace amdahl::trace::nsys {
namespace {

Input input_of(const std::string& bytes) {
  auto at = std::make_shared<std::size_t>(0);
  return {.name = "x.sqlite",
          .next = [&bytes, at](std::span<char> room) -> Result<std::size_t> {
            const std::size_t count = std::min(room.size(), bytes.size() - *at);
            std::memcpy(room.data(), bytes.data() + *at, count);
            *at += count;
            return count;
          },
          .bytes = bytes.size(),
          .database = {}};
}

Result<model::Trace> trace_of(const std::string& bytes, const Limits& limits = {}) {
  model::TraceBuilder builder;
  const auto done = read(input_of(bytes), limits, builder);
  if (!done) return done.error();
  return std::move(builder).finish();
}

// Global ids of thread 5 of process 7, and of process 8.
constexpr long kProcess7 = 7L << 24;
constexpr long kThread5 = kProcess7 | 5;
constexpr long kProcess8 = 8L << 24;

const std::string kNames =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1, 'saxpy'), (2, 'saxpy<float>(int)'), "
    "(3, 'cudaLaunchKernel_v7000'), (4, 'range'), (5, 'deep_ep::internode::dispatch<1>()'), "
    "(6, 'dispatch'), (7, 'main thread'), (8, 'cuLaunchKernel');";

std::string kernels(const std::string& rows) {
  return "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
         "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, "
         "shortName INTEGER, graphNodeId INTEGER);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES " +
         rows + ";";
}

std::string calls(const std::string& rows) {
  return "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, "
         "correlationId INTEGER, nameId INTEGER, callchainId INTEGER);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES " +
         rows + ";";
}

TEST(Nsys, LaunchesAreJoinedWithinTheirProcess) {
  // Both processes number their calls from 1.
  const std::string bytes =
      database_of(kNames +
                  kernels(fmt::format("(100, 200, 0, 7, 1, {}, 2, 1, NULL), "
                                      "(150, 250, 1, 7, 1, {}, 2, 1, NULL)",
                                      kProcess7, kProcess8)) +
                  calls(fmt::format("(10, 20, {}, 1, 3, NULL), (30, 45, {}, 1, 8, NULL)", kThread5,
                                    kProcess8 | 9)));
  const auto trace = trace_of(bytes);
  ASSERT_TRUE(trace) << trace.error().text;
  ASSERT_EQ(trace->device_events.size(), 2U);
  EXPECT_EQ(trace->devices.size(), 2U);
  const auto launch = [&](std::size_t event) -> const model::HostEvent& {
    return trace->host_events[trace->device_events[event].launch];
  };
  EXPECT_EQ(trace->name(trace->device_events[0]), "saxpy");
  EXPECT_EQ(trace->name(launch(0)), "cudaLaunchKernel") << "without its version";
  EXPECT_EQ(launch(0).kind, model::HostKind::kRuntime);
  EXPECT_EQ(trace->name(launch(1)), "cuLaunchKernel");
  EXPECT_EQ(launch(1).kind, model::HostKind::kDriver);
  EXPECT_EQ(launch(1).duration, Nanos(15));
  EXPECT_TRUE(trace->losses.empty());
}

// Sums and differences of what is kept fit.
TEST(Nsys, TimesBeyondAllBoundsAreCounted) {
  const std::string bytes = database_of(
      kNames + kernels(fmt::format("(100, 200, 0, 7, 1, {0}, 2, 1, NULL), "
                                   "(4611686018427387904, 9223372036854775807, 0, 7, 2, {0}, 2, 1, "
                                   "NULL), (5, 2000000000000000000, 0, 7, 2, {0}, 2, 1, NULL), "
                                   "(-2000000000000000000, 5, 0, 7, 2, {0}, 2, 1, NULL)",
                                   kProcess7)));
  const auto trace = trace_of(bytes);
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(trace->device_events.size(), 1U);
  ASSERT_FALSE(trace->losses.empty());
  EXPECT_EQ(trace->losses[0].kind, model::LossKind::kTimeRange);
  EXPECT_EQ(trace->losses[0].count, 3U);
}

TEST(Nsys, ATextIsNoTime) {
  const std::string bytes =
      database_of(kNames + kernels(fmt::format("(100, 200, 0, 7, 1, {0}, 2, 1, NULL), "
                                               "('abc', 250, 0, 7, 2, {0}, 2, 1, NULL), "
                                               "(300, 'x', 0, 7, 3, {0}, 2, 1, NULL)",
                                               kProcess7)));
  const auto trace = trace_of(bytes);
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(trace->device_events.size(), 1U);
  const auto loss = std::ranges::find(trace->losses, model::LossKind::kNoTime, &model::Loss::kind);
  ASSERT_NE(loss, trace->losses.end());
  EXPECT_EQ(loss->count, 2U);
}

TEST(Nsys, NamesMayBeMissing) {
  const auto trace =
      trace_of(database_of(kernels(fmt::format("(100, 200, 0, 7, 1, {}, 2, 1, NULL)", kProcess7))));
  ASSERT_TRUE(trace) << trace.error().text;
  ASSERT_EQ(trace->device_events.size(), 1U);
  EXPECT_EQ(trace->name(trace->device_events[0]), "(name is not in the file)");
  EXPECT_TRUE(std::ranges::any_of(trace->losses, [](const model::Loss& loss) {
    return loss.kind == model::LossKind::kMissingTable &&
           model::describe(loss).find("StringIds") != std::string::npos;
  }));
}

TEST(Nsys, WhatTheFileSaysOfItsHostIsKeptToWhatIsNeeded) {
  const std::string bytes = database_of(
      kNames + kernels(fmt::format("(100, 200, 0, 7, 1, {}, 5, 6, 12)", kProcess7)) +
      calls(fmt::format("(10, 20, {}, 1, 3, NULL)", kThread5)) +
      "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
      "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);"
      "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);"
      "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('User', 'secret'), ('Hostname', 'node7');"
      "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
      "INSERT INTO PROCESSES VALUES (" +
      fmt::format("{}, 7, 'python3'), ({}, 8, 'secret')", kProcess7, kProcess8) +
      ";CREATE TABLE ThreadNames (nameId INTEGER, globalTid INTEGER);"
      "INSERT INTO ThreadNames VALUES (7, " +
      fmt::format("{})", kThread5) +
      ";CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, totalMemory INTEGER, smCount INTEGER);"
      "INSERT INTO TARGET_INFO_GPU VALUES (3, 'H100', 80000000000, 132);"
      "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3, 0, 7);");
  const auto trace = trace_of(bytes);
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(trace->sources[0].host, "node7");
  EXPECT_EQ(trace->sources[0].clock, model::Clock::kUnix);
  EXPECT_EQ(trace->device_events[0].start, Nanos(1700000000000000100));
  EXPECT_EQ(trace->names[trace->processes[0].name], "python3");
  EXPECT_EQ(trace->names[trace->threads[0].name], "main thread");
  EXPECT_EQ(trace->names.find("secret"), 0U) << "of processes that did nothing, and of the host";
  ASSERT_EQ(trace->devices.size(), 1U);
  EXPECT_EQ(trace->devices[0].id, 3) << "as the host numbers it, not as the process sees it";
  EXPECT_EQ(trace->names[trace->devices[0].name], "H100");
  EXPECT_EQ(trace->devices[0].multiprocessors, 132U);
  EXPECT_EQ(trace->name(trace->device_events[0]), "deep_ep::internode::dispatch<1>()")
      << "the short name would not say that it communicates";
  EXPECT_EQ(trace->details[trace->device_events[0].detail].graph_node, 12U);
}

TEST(Nsys, CopiesGraphsRangesAndWaitsAreKept) {
  const std::string of7 = fmt::format("{}", kProcess7);
  const std::string bytes = database_of(
      kNames +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, "
      "globalPid, copyKind, srcKind, dstKind, bytes);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1, 5, 0, 7, 1, " +
      of7 +
      ", 1, 0, 2, 4096), "
      "(6, 9, 0, 7, 2, " +
      of7 +
      ", 2, 2, 1, 8);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, streamId, "
      "correlationId, globalPid, graphId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (20, 30, 0, 7, 3, " +
      of7 +
      ", 4);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId, streamId, correlationId, globalPid, "
      "eventId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 9, 5, " +
      of7 +
      ", 77), "
      "(0, 7, 50, " +
      of7 +
      ", 77);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, streamId, "
      "correlationId, globalPid, syncType, eventId);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (31, 32, 0, 7, 10, " +
      of7 + ", 2, 77), (40, 50, 0, 4294967295, 11, " + of7 +
      ", 4, 0);"
      "CREATE TABLE NVTX_EVENTS (start, end, eventType, text, textId, globalTid);"
      "INSERT INTO NVTX_EVENTS VALUES (1, 50, 59, NULL, 4, " +
      fmt::format("{}", kThread5) + "), (2, NULL, 34, 'mark', NULL, " +
      fmt::format("{}", kThread5) + "), (0, NULL, 75, 'domain', NULL, " +
      fmt::format("{}", kThread5) +
      "), (60, 70, 59, 'aten::mm, op_id = 7, sizes = [[2, 3], [3, 4]], input_op_ids = [[1,0]]', "
      "NULL, " +
      fmt::format("{}", kThread5) + ");");
  const auto trace = trace_of(bytes);
  ASSERT_TRUE(trace) << trace.error().text;
  ASSERT_EQ(trace->device_events.size(), 3U);
  EXPECT_EQ(trace->name(trace->device_events[0]), "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(trace->device_events[0].host_memory, model::HostMemory::kPageable);
  EXPECT_EQ(trace->device_events[1].host_memory, model::HostMemory::kPinned);
  EXPECT_EQ(trace->details[trace->device_events[0].detail].bytes, 4096U);
  EXPECT_EQ(trace->name(trace->device_events[2]), "CUDA graph 4");
  ASSERT_EQ(trace->syncs.size(), 2U);
  EXPECT_EQ(trace->syncs[0].kind, model::SyncKind::kStreamWait);
  EXPECT_EQ(trace->streams[trace->syncs[0].awaited_stream].id, 9) << "the last record before it";
  EXPECT_EQ(trace->syncs[1].stream, model::kNone);
  ASSERT_EQ(trace->host_events.size(), 3U) << "a domain is no event";
  EXPECT_EQ(trace->names[trace->host_events[2].inputs], "[[2, 3], [3, 4]]||");
  EXPECT_EQ(trace->name(trace->host_events[0]), "range");
  EXPECT_EQ(trace->host_events[1].duration, Nanos(0));
}

TEST(Nsys, OddRowsAreCounted) {
  const std::string bytes = database_of(
      kNames + kernels(fmt::format("(100, 50, 0, 7, 1, {0}, 2, 1, NULL), "
                                   "(NULL, 250, 1, 7, 1, {0}, 2, 1, NULL), "
                                   "(9223372036854775800, -9, 1, 7, 1, {0}, 2, 1, NULL), "
                                   "(5, 6, NULL, 7, 1, {0}, 2, 1, NULL), "
                                   "('x', 'y', 'z', 'a', 'b', 'c', 'd', 'e', 'f'), "
                                   "(7, 8, 0, 7, -4, {0}, 999, 999, NULL)",
                                   kProcess7)));
  const auto trace = trace_of(bytes);
  ASSERT_TRUE(trace) << trace.error().text;
  std::vector<std::string> said;
  for (const model::Loss& loss : trace->losses) said.push_back(model::describe(loss));
  EXPECT_EQ(trace->device_events.size(), 2U);
  EXPECT_EQ(trace->losses.size(), 5U) << fmt::format("{}", fmt::join(said, "; "));
}

TEST(Nsys, DatabasesOfOtherProfilersAreNamed) {
  const struct {
    const char* tables;
    const char* names;
  } kCases[] = {
      {"CREATE TABLE rocpd_kernel_dispatch_0000_ab (id); CREATE TABLE rocpd_string_0000_ab (id);",
       "rocprofv3"},
      {"CREATE TABLE rocpd_api (id); CREATE TABLE rocpd_op (id);", "RPD"},
      {"CREATE TABLE TASK (a); CREATE TABLE COMPUTE_TASK_INFO (a); CREATE TABLE STRING_IDS (a);",
       "trace_view.json"},
  };
  for (const auto& c : kCases) {
    const auto trace = trace_of(database_of(c.tables));
    ASSERT_FALSE(trace);
    EXPECT_NE(trace.error().text.find(c.names), std::string::npos) << trace.error().text;
  }
}

TEST(Nsys, WhatIsNoExportIsSaid) {
  const struct {
    const char* name;
    std::string bytes;
    std::string want;
  } kCases[] = {
      {"another database", database_of("CREATE TABLE a (b);"),
       "is an SQLite database, but not an Nsight Systems export with events; create one with: nsys "
       "export --type sqlite REPORT.nsys-rep"},
      {"an export of nothing", database_of(kNames + "CREATE TABLE NVTX_EVENTS (start, end);"),
       "has no device events and no host events"},
      {"its head alone", database_of(kNames).substr(0, 50), "is not an SQLite database"},
      {"something else", std::string(200, 'x'), "is not an SQLite database"},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.name);
    const auto trace = trace_of(c.bytes);
    ASSERT_FALSE(trace);
    EXPECT_EQ(trace.error().text, c.want);
  }
}

std::string many(int count) {
  std::string rows;
  for (int i = 1; i <= count; ++i) {
    rows += fmt::format("{}({}, {}, 0, 7, {}, {}, 2, 1, NULL)", i == 1 ? "" : ", ", 10 * i,
                        10 * i + 5, i, kProcess7);
  }
  return database_of(kNames + kernels(rows));
}

TEST(Nsys, ATruncatedFileGivesWhatIsWhole) {
  const std::string whole = many(20000);
  ASSERT_EQ(trace_of(whole)->device_events.size(), 20000U);
  const auto half = trace_of(whole.substr(0, whole.size() / 2));
  ASSERT_TRUE(half) << half.error().text;
  EXPECT_GT(half->device_events.size(), 0U);
  EXPECT_LT(half->device_events.size(), 20000U);
  EXPECT_TRUE(std::ranges::any_of(half->losses, [](const model::Loss& loss) {
    return loss.kind == model::LossKind::kTruncated;
  }));
}

TEST(Nsys, BrokenPagesNeitherCrashNorHang) {
  const std::string whole = many(2000);
  std::uint64_t state = 1;
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 1 + round % 8; ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      bytes[(state >> 20U) % bytes.size()] = static_cast<char>(state >> 56U);
    }
    const auto trace = trace_of(bytes);
    if (trace) {
      EXPECT_LE(trace->device_events.size(), 20000U);
    }
  }
}

TEST(Nsys, AViewInPlaceOfATableIsNotRun) {
  const std::string bytes = database_of(
      kNames +
      "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL "
      "SELECT x + 1 FROM c) SELECT x AS start FROM c;");
  const auto trace = trace_of(bytes);
  ASSERT_FALSE(trace);
}

TEST(Nsys, ALogFromBeforeDoesNotKeepItFromBeingRead) {
  std::string bytes = many(10);
  bytes[18] = bytes[19] = 2;  // As SQLite marks files that have a write-ahead log.
  EXPECT_EQ(trace_of(bytes)->device_events.size(), 10U);
}

TEST(Nsys, TheMemoryLimitHolds) {
  const std::string bytes = many(20000);
  const auto none = trace_of(bytes, {.memory_bytes = 1000, .threads = 1});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text,
            "more than 1000 bytes when unpacked; unpack it and pass the plain file");
  ASSERT_LT(bytes.size(), 20000 * sizeof(model::DeviceEvent));
  const auto some = trace_of(bytes, {.memory_bytes = bytes.size(), .threads = 1});
  ASSERT_TRUE(some);
  EXPECT_LE(some->device_events.size() * sizeof(model::DeviceEvent),
            bytes.size() + sizeof(model::DeviceEvent));
  EXPECT_EQ(some->losses[0].kind, model::LossKind::kBudget);
}

}  // namespace
}  // namespace amdahl::trace::nsys
