#include "trace/ncu/ncu.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "model/trace_builder.h"
#include "trace/ncu/number.h"
#include "trace/reader.h"

namespace amdahl::trace::ncu {
namespace {

Result<model::Trace> trace_of(const std::string& bytes, std::size_t piece = 1 << 20) {
  auto at = std::make_shared<std::size_t>(0);
  Input input;
  input.name = "x.csv";
  input.next = [&bytes, at, piece](std::span<char> room) -> Result<std::size_t> {
    const std::size_t count = std::min({room.size(), bytes.size() - *at, piece});
    std::memcpy(room.data(), bytes.data() + *at, count);
    *at += count;
    return count;
  };
  model::TraceBuilder builder;
  const auto done = read(input, {}, builder);
  if (!done) return done.error();
  return std::move(builder).finish();
}

double metric(const model::Trace& trace, std::string_view name, std::string_view unit = "") {
  for (const model::KernelMetric& row : trace.kernel_metrics) {
    const bool same_unit = unit.empty() || trace.names[row.unit] == unit;
    if (trace.names[row.metric] == name && same_unit) return row.value;
  }
  return -1;
}

// Fields as Nsight writes them: each in quotes, quotes doubled.
std::string csv(std::initializer_list<std::string_view> fields) {
  std::string row;
  for (const std::string_view field : fields) {
    row += row.empty() ? "\"" : ",\"";
    for (const char c : field) row += c == '"' ? std::string(2, c) : std::string(1, c);
    row += '"';
  }
  return row + "\n";
}

// A row of a metric is shorter than the header, and ends in a comma; a rule's is as long.
std::string metric_row(std::string_view section, std::string_view name, std::string_view unit,
                       std::string_view value) {
  std::string row = csv(
      {"0", "17", "job", "node7", "saxpy<float, 4>(int)", "1", "7", section, name, unit, value});
  row.insert(row.size() - 1, ",");
  return row;
}

const std::string kDetails =
    "==PROF== Connected to process 17 (/bin/job)\n"
    "step \"one of three\n"
    "==PROF== Profiling \"saxpy\": 0%....100% - 8 passes\n" +
    csv({"ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream",
         "Section Name", "Metric Name", "Metric Unit", "Metric Value", "Rule Name", "Rule Type",
         "Rule Description", "Estimated Speedup Type", "Estimated Speedup"}) +
    metric_row("Occupancy", "Achieved Occupancy", "%", "31.25") +
    metric_row("Launch Statistics", "Grid Size", "", "1,024") + "the program prints, too\n" +
    metric_row("Launch Statistics", "Function Cache Configuration", "", "CachePreferNone") +
    csv({"0", "17", "job", "node7", "saxpy<float, 4>(int)", "1", "7", "Occupancy", "", "", "",
         "AchievedOccupancy", "OPT", "The \"difference\" is\nover two lines", "global", "12.5"});

TEST(Ncu, TheDetailsPageWithItsRaggedRowsAndWhatStandsBetween) {
  ASSERT_TRUE(claims(kDetails));
  for (const std::size_t piece : {std::size_t{1} << 20U, std::size_t{7}, std::size_t{1}}) {
    const auto trace = trace_of(kDetails, piece);
    ASSERT_TRUE(trace) << trace.error().text;
    EXPECT_EQ(trace->kernel_metrics.size(), 2U) << "text is no metric";
    EXPECT_EQ(metric(*trace, "Achieved Occupancy"), 31.25);
    EXPECT_EQ(metric(*trace, "Grid Size"), 1024);
    EXPECT_EQ(trace->names[trace->kernel_metrics[0].kernel], "saxpy<float, 4>(int)");
    ASSERT_EQ(trace->kernel_advice.size(), 1U);
    EXPECT_EQ(trace->names[trace->kernel_advice[0].text], "The \"difference\" is\nover two lines");
    EXPECT_EQ(trace->kernel_advice[0].speedup_percent, 12.5);
    EXPECT_TRUE(trace->kernel_advice[0].global);
    EXPECT_EQ(trace->sources[0].host, "node7");
    EXPECT_TRUE(trace->losses.empty());
  }
}

TEST(Ncu, TheRawPageHasItsUnitsInASecondRow) {
  const std::string raw =
      csv({"ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context",
           "Stream", "gpu__time_duration.sum",
           "sm__warps_active.avg.pct_of_peak_sustained_active"}) +
      csv({"", "", "", "", "", "", "", "", "usecond", "%"}) +
      csv({"0", "1", "job", "h", "a(int, int)", "2022-Nov-01 10:00:00", "1", "7", "12.5", "40"}) +
      csv({"1", "1", "job", "h", "b", "2022-Nov-01 10:00:01", "1", "7", "1,000.25", "n/a"});
  ASSERT_TRUE(claims(raw));
  const auto trace = trace_of(raw);
  ASSERT_TRUE(trace) << trace.error().text;
  ASSERT_EQ(trace->kernel_metrics.size(), 3U);
  EXPECT_EQ(trace->names[trace->kernel_metrics[0].unit], "usecond");
  EXPECT_EQ(trace->names[trace->kernel_metrics[1].unit], "%");
  EXPECT_EQ(trace->kernel_metrics[2].value, 1000.25);
  EXPECT_EQ(trace->kernel_metrics[2].launch, 1U);
}

TEST(Ncu, TheSummaryPageGivesTheAverage) {
  const auto row = [](const char* block, const char* count, const char* name, const char* unit,
                      const char* average) {
    return csv({"1", "job", "h", "saxpy", block, "(8, 1, 1)", "0", "8.0", count, "Speed", name,
                unit, "1.0", "50.0", average});
  };
  const std::string summary =
      csv({"Process ID", "Process Name", "Host Name", "Kernel Name", "Block Size", "Grid Size",
           "Device", "CC", "Invocations", "Section Name", "Metric Name", "Metric Unit", "Minimum",
           "Maximum", "Average"}) +
      row("(256, 1, 1)", "12", "Achieved Occupancy", "%", "30.0") +
      row("(256, 1, 1)", "12", "Duration", "us", "2.0") +
      row("(64, 1, 1)", "5", "Duration", "us", "4.0");
  ASSERT_TRUE(claims(summary));
  const auto trace = trace_of(summary);
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(metric(*trace, "Achieved Occupancy"), 30);
  EXPECT_EQ(metric(*trace, "Duration"), 2);
  EXPECT_EQ(metric(*trace, "Invocations"), 12);
  EXPECT_EQ(trace->kernel_metrics.back().launch, 1U) << "another shape is another group";
}

TEST(Ncu, NumbersInAnyLanguage) {
  struct Case {
    const char* text;
    bool comma;
    double want;
  };
  constexpr Case kCases[] = {
      {"4,963,609,951.19", false, 4963609951.19},
      {"4.963.609.951,19", true, 4963609951.19},
      {"4\xC2\xA0"
       "963,5",
       true, 4963.5},
      {"4\xE2\x80\xAF"
       "963,5",
       true, 4963.5},
      {"4'963.5", false, 4963.5},
      {"1,024", false, 1024},
      {"1,024", true, 1.024},
      {"-0.5", false, -0.5},
      {"1e3", false, 1000},
  };
  for (const Case& c : kCases) EXPECT_EQ(number_of(c.text, c.comma), c.want) << c.text;
  for (const char* text : {"", "n/a", "CachePreferNone", "(256, 1, 1)", "inf", "nan", "1.2.3.4x"}) {
    EXPECT_EQ(number_of(text, false), std::nullopt) << text;
  }
}

// "1.024" alone could be either; the others of the file say which it is.
TEST(Ncu, WhatCouldBeEitherIsReadAsTheRestOfTheFile) {
  const std::string head = csv({"ID", "Kernel Name", "Metric Name", "Metric Unit", "Metric Value"});
  const std::string open = csv({"0", "k", "A", "", "1.024"});
  const auto german = trace_of(head + open + csv({"0", "k", "B", "%", "61,84"}));
  EXPECT_EQ(metric(*german, "A"), 1024);
  EXPECT_EQ(metric(*german, "B"), 61.84);
  const auto english = trace_of(head + open + csv({"0", "k", "B", "%", "61.84"}));
  EXPECT_EQ(metric(*english, "A"), 1.024);
}

TEST(Ncu, WhatIsNoPageIsSaid) {
  EXPECT_FALSE(claims("a,b,c\n1,2,3\n"));
  EXPECT_FALSE(claims("Kernel Name of what\n"));
  EXPECT_EQ(trace_of("x\n").error().text,
            "has no Nsight Compute header; export it again: ncu --import REPORT --csv");
  EXPECT_EQ(trace_of(csv({"ID", "Kernel Name", "Metric Name", "Metric Value"})).error().text,
            "has an Nsight Compute header but no readable row");
}

TEST(Ncu, BrokenFilesGiveWhatIsWhole) {
  const std::string cut = kDetails.substr(0, kDetails.size() - 60);
  const auto trace = trace_of(cut);
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(trace->kernel_metrics.size(), 2U);
  ASSERT_EQ(trace->losses.size(), 1U);
  EXPECT_EQ(trace->losses[0].kind, model::LossKind::kUnreadable);

  for (std::size_t i = 0; i < kDetails.size(); i += 3) {
    std::string bytes = kDetails;
    bytes[i] = '"';
    (void)trace_of(bytes);
    bytes[i] = '\0';
    (void)trace_of(bytes);
  }
  (void)trace_of(kDetails + "\"" + std::string(3 << 20, ','));
}

TEST(Ncu, TheReferenceFile) {
  const char* corpus = std::getenv("AMDAHL_CORPUS");
  if (corpus == nullptr) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  std::ifstream in(std::filesystem::path(corpus) / "traces/ncu/copy_blocked.csv");
  std::ostringstream text;
  text << in.rdbuf();
  const std::string bytes = text.str();
  ASSERT_TRUE(claims(bytes.substr(0, 65536)));
  const auto trace = trace_of(bytes);
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(trace->kernel_metrics.size(), 71U) << "72 rows, one of which is a word";
  EXPECT_EQ(metric(*trace, "Duration"), 21058944);
  EXPECT_EQ(metric(*trace, "Memory Throughput", "%"), 61.84);
  EXPECT_EQ(metric(*trace, "Memory Throughput", "byte/s"), 196456177859.63);
  EXPECT_EQ(trace->kernel_advice.size(), 9U);
  EXPECT_TRUE(trace->losses.empty());
}

}  // namespace
}  // namespace amdahl::trace::ncu
