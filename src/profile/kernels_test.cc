#include "profile/kernels.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "profile/trace_testing.h"
#include "trace/reader.h"

namespace amdahl::profile {
namespace {

struct Row {
  const char* kernel;
  std::uint32_t launch;
  const char* metric;
  const char* unit;
  double value;
};

void add(MadeTrace& made, std::initializer_list<Row> rows) {
  model::TraceBuilder& builder = made.builder();
  for (const Row& row : rows) {
    builder.trace().kernel_metrics.push_back({builder.intern(row.kernel), row.launch,
                                              builder.intern(row.metric), builder.intern(row.unit),
                                              row.value});
  }
}

void advise(MadeTrace& made, const char* kernel, const char* rule, double percent, bool global) {
  model::TraceBuilder& builder = made.builder();
  builder.trace().kernel_advice.push_back(
      {builder.intern(kernel), 0, builder.intern(rule), builder.intern("do it"), percent, global});
}

TEST(Kernels, WhatBoundsThem) {
  struct Case {
    double memory;
    double compute;
    KernelBound want;
  };
  constexpr Case kCases[] = {
      {80, 20, KernelBound::kMemory},
      {20, 80, KernelBound::kCompute},
      {75, 70, KernelBound::kBoth},
      {30, 40, KernelBound::kLatency},
  };
  for (const Case& c : kCases) {
    MadeTrace made;
    add(made, {{"k", 0, "Memory Throughput", "%", c.memory},
               {"k", 0, "Memory Throughput", "byte/s", 1e12},
               {"k", 0, "Compute (SM) Throughput", "%", c.compute}});
    const auto facts = kernel_facts(made.finish());
    ASSERT_EQ(facts.size(), 1U);
    EXPECT_EQ(facts[0].bound, c.want) << c.memory << " " << c.compute;
  }
  MadeTrace none;
  add(none, {{"k", 0, "Duration", "us", 5}});
  EXPECT_EQ(kernel_facts(none.finish())[0].bound, KernelBound::kUnknown);
}

// As with ncu --metrics dram__throughput...,sm__throughput....
TEST(Kernels, AUnitOfMemoryStandsForAllWhereNothingElseDoes) {
  MadeTrace made;
  add(made, {{"k", 0, "lts__throughput.avg.pct_of_peak_sustained_elapsed", "%", 40},
             {"k", 0, "dram__throughput.avg.pct_of_peak_sustained_elapsed", "%", 88},
             {"k", 0, "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", 22},
             {"all", 1, "DRAM Throughput", "%", 95},
             {"all", 1, "Memory Throughput", "%", 70},
             {"all", 1, "Compute (SM) Throughput", "%", 10}});
  for (const KernelFacts& facts : kernel_facts(made.finish())) {
    EXPECT_EQ(facts.bound, KernelBound::kMemory) << facts.kernel;
    ASSERT_TRUE(facts.memory_percent);
    EXPECT_DOUBLE_EQ(*facts.memory_percent, facts.kernel == "k" ? 88 : 70);
  }
}

TEST(Kernels, LaunchesAreWeighedByTheirTime) {
  MadeTrace made;
  add(made, {{"k", 0, "gpu__time_duration.sum", "usecond", 30},
             {"k", 0, "sm__warps_active.avg.pct_of_peak_sustained_active", "%", 20},
             {"k", 1, "gpu__time_duration.sum", "nsecond", 10000},
             {"k", 1, "sm__warps_active.avg.pct_of_peak_sustained_active", "%", 60}});
  const auto facts = kernel_facts(made.finish());
  EXPECT_EQ(facts[0].launches, 2U);
  EXPECT_EQ(facts[0].time, std::chrono::microseconds(40));
  EXPECT_NEAR(*facts[0].occupancy_percent, 30, 1e-9);
  EXPECT_TRUE(facts[0].low_occupancy);
}

TEST(Kernels, CeilingsComeFromTheWholeKernelsEstimatesAndDoNotAdd) {
  MadeTrace made;
  advise(made, "void ns::k<float>(int)", "A", 20, true);
  advise(made, "void ns::k<float>(int)", "B", 50, true);
  advise(made, "void ns::k<float>(int)", "C", 90, false);
  // The trace's own kernels: 60 of 100 microseconds are this one.
  made.kernel(0, 60, 0, "k");
  made.kernel(100, 40, 0, "other");
  const auto facts = kernel_facts(made.finish());
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_DOUBLE_EQ(facts[0].ceiling, 2);
  EXPECT_EQ(facts[0].hints.front().rule, "B");
  EXPECT_EQ(facts[0].in_trace, std::chrono::microseconds(60));
  EXPECT_DOUBLE_EQ(facts[0].share_of_busy, 0.6);
  EXPECT_DOUBLE_EQ(facts[0].job_ceiling, 1 / 0.7);
}

TEST(Kernels, TheReferenceFileIsBoundByItsAccessPattern) {
  const char* corpus = std::getenv("AMDAHL_CORPUS");
  if (corpus == nullptr) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  std::ifstream in(std::filesystem::path(corpus) / "traces/ncu/copy_blocked.csv");
  std::ostringstream text;
  text << in.rdbuf();
  const std::string bytes = text.str();
  const auto reader = trace::reader_for(bytes.substr(0, 65536));
  ASSERT_TRUE(reader) << reader.error().text;
  std::size_t at = 0;
  trace::Input input;
  input.next = [&](std::span<char> room) -> Result<std::size_t> {
    const std::size_t count = std::min(room.size(), bytes.size() - at);
    std::memcpy(room.data(), bytes.data() + at, count);
    at += count;
    return count;
  };
  model::TraceBuilder builder;
  ASSERT_TRUE(reader->read(input, {}, builder));
  const auto facts = kernel_facts(std::move(builder).finish());
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].bound, KernelBound::kMemory);
  EXPECT_FALSE(facts[0].low_occupancy);
  EXPECT_EQ(facts[0].hints.front().rule, "UncoalescedGlobalAccess");
  EXPECT_NEAR(facts[0].ceiling, 1 / (1 - 0.7414), 1e-9);
  EXPECT_EQ(facts[0].because,
            "memory 61.8 % and compute 1.3 % of the peak, occupancy 96.3 %; "
            "UncoalescedGlobalAccess estimates 74.1 % less time");
}

}  // namespace
}  // namespace amdahl::profile
