#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fleet/feed.h"
#include "fleet/table/table.h"

namespace amdahl::fleet::table {
namespace {

using model::Trouble;
using std::chrono::milliseconds;
using std::chrono::seconds;

const std::string kHeader = "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL\n";

TEST(LongTable, ClaimsByWhatTheHeaderSays) {
  const struct {
    const char* header;
    bool want;
  } cases[] = {
      {"timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL\n1,h,0,5\n", true},
      {"\xEF\xBB\xBFtime;host;gpu;power;DCGM_FI_PROF_SM_ACTIVE\r\n", true},
      {"ts\tnode\tuuid\tmetric\tvalue\n", true},
      {"\"timestamp\",\"Hostname\",\"gpu\",\"gpu_util\"\n", true},
      {"timestamp,Hostname,gpu,DCGM_FI_DEV_POWER_USAGE\n", false},  // Says nothing of usage.
      {"timestamp,gpu,DCGM_FI_DEV_GPU_UTIL\n", false},              // Whose?
      {"timestamp, name, index, utilization.gpu [%]\n", false},     // nvidia-smi.
      {"jobid,host,gpu\n", false},
      {"JobID|State|Start|End\n", false},
      {"", false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.header);
    EXPECT_EQ(claims_long(c.header), c.want);
  }
}

TEST(LongTable, ManyValuesInAnotherUnitEndTheReading) {
  std::string late = "timestamp,Hostname,gpu,DCGM_FI_PROF_SM_ACTIVE\n";
  for (int i = 0; i < 200; ++i) {
    late += fmt::format("{},n1,0,{}\n", 1700000000 + 30 * i, i < 100 ? 0 : 80);
  }
  for (const int threads : {1, 2}) {
    ReaderOptions options;
    options.threads = threads;
    const Fed fed = feed(make_long, late, options);
    EXPECT_NE(fed.error.find("DCGM_FI_PROF_SM_ACTIVE is from 0 to 1"), std::string::npos)
        << fed.error;
    EXPECT_NE(fed.error.find("unit = \"percent\""), std::string::npos) << fed.error;
  }
  std::string one = "timestamp,Hostname,gpu,DCGM_FI_PROF_SM_ACTIVE\n1700000000,n1,0,80\n";
  for (int i = 1; i < 200; ++i) one += fmt::format("{},n1,0,0.5\n", 1700000000 + 30 * i);
  EXPECT_EQ(feed(make_long, one, {}).error, "");
}

// Whatever the columns are called, what is told is the same; and what the guess rests on is
// checked.
TEST(LongTable, NamesOfColumnsDecideNothing) {
  std::string body;
  for (int i = 0; i < 200; ++i) {
    body += fmt::format("{0},n1,0,{1}\n{0},n1,1,{2}\n", 1700000000 + 30 * i, i % 100, 100 - i / 2);
  }
  const Fed known = feed(make_long, "timestamp,Hostname,gpu,gpu_util\n" + body);
  for (const char* header : {"ts,host,gpu,util\n", "when,machine,card,gpu_util_pct\n"}) {
    SCOPED_TRACE(header);
    for (const std::size_t piece : {std::string::npos, std::size_t{1000}}) {
      const Fed guessed = feed(make_lines, header + body + header + body.substr(0, 0), {}, piece);
      EXPECT_EQ(guessed.error, "");
      ASSERT_EQ(guessed.told.sample_count(), 400U);
      ASSERT_EQ(guessed.told.samples_of.size(), known.told.samples_of.size());
      for (std::size_t s = 0; s < known.told.samples_of.size(); ++s) {
        for (std::size_t i = 0; i < known.told.samples_of[s].size(); ++i) {
          EXPECT_EQ(guessed.told.samples_of[s][i].at, known.told.samples_of[s][i].at);
          EXPECT_EQ(guessed.told.samples_of[s][i].value, known.told.samples_of[s][i].value);
        }
      }
      EXPECT_TRUE(guessed.told.complaints.empty()) << "a header in between is no trouble";
    }
  }
}

// As tools write whole numbers of a column that has blanks.
TEST(LongTable, IndicesAndJobsMayHaveAFraction) {
  const Fed fed = feed(make_long,
                       "timestamp,Hostname,gpu,hpc_job,DCGM_FI_DEV_GPU_UTIL\n"
                       "1700000000,n1,1.0,42.0,5\n1700000000,n1,0.0,nan,5\n",
                       {});
  EXPECT_EQ(fed.told.series_names, (std::vector<std::string>{"n1/1 DCGM_FI_DEV_GPU_UTIL job=42",
                                                             "n1/0 DCGM_FI_DEV_GPU_UTIL"}));
}

// Rows in the order of the table, and anything that a cell can hold.
TEST(LongTable, ReadsRows) {
  const std::string text = kHeader +
                           "1700000000,gpu001,0,78\n"
                           "1700000000,gpu001,1,97.5\n"
                           "\n"
                           "1700000015,gpu001,0,\r\n"
                           "1700000015,gpu001,1,N/A\n"
                           "1700000030,\"gpu001\",\"0\",1e1\n"
                           "2023-11-14T22:14:05Z,gpu001,0,3\n"
                           "1700000060500,gpu001,0,0\n"
                           "soon,gpu001,0,4\n"
                           "1700000075,gpu001,0\n"
                           "1700000090,gpu001,1,12345678901\n"
                           "1700000105,gpu001,1,8";
  for (const std::size_t piece : {std::string::npos, std::size_t{1}, std::size_t{7}}) {
    SCOPED_TRACE(piece);
    const Fed fed = feed(make_long, text, {}, piece);
    EXPECT_EQ(fed.error, "");
    ASSERT_EQ(fed.told.series_names, (std::vector<std::string>{"gpu001/0 DCGM_FI_DEV_GPU_UTIL",
                                                               "gpu001/1 DCGM_FI_DEV_GPU_UTIL"}));
    const std::vector<Sample>& first = fed.told.samples_of[0];
    ASSERT_EQ(first.size(), 4U);
    EXPECT_EQ(first[0].at, seconds(1700000000));
    EXPECT_EQ(first[0].value, 78);
    EXPECT_EQ(first[1].value, 10);
    EXPECT_EQ(first[2].at, seconds(1700000045));
    EXPECT_EQ(first[3].at, milliseconds(1700000060500));
    const std::vector<Sample>& second = fed.told.samples_of[1];
    ASSERT_EQ(second.size(), 3U);
    EXPECT_EQ(second[0].value, 97.5F);
    EXPECT_EQ(second[1].value, 12345678901.0F);
    EXPECT_EQ(second[2].at, seconds(1700000105));
    EXPECT_EQ(fed.told.count(Trouble::kBlankValue), 2U);
    ASSERT_EQ(fed.told.complaints.size(), 4U);
    EXPECT_EQ(fed.told.complaints[0].where.line, 5U);
    EXPECT_EQ(fed.told.complaints[1].text, "DCGM_FI_DEV_GPU_UTIL: 'N/A'");
    EXPECT_EQ(fed.told.complaints[2].trouble, Trouble::kBadTime);
    EXPECT_EQ(fed.told.complaints[2].where.line, 10U);
    EXPECT_EQ(fed.told.complaints[2].text, "timestamp: 'soon' is no time");
    EXPECT_EQ(fed.told.complaints[3].text, "has 3 cells where the header has 4");
  }
}

TEST(LongTable, SeveralMetricsJobsAndColumnsThatSayNothing) {
  const std::string text =
      "timestamp,Hostname,gpu,hpc_job,modelName,DCGM_FI_DEV_POWER_USAGE,DCGM_FI_DEV_GPU_UTIL,"
      "note,DCGM_FI_PROF_SM_ACTIVE,more\n"
      "1700000000,n1,0,17,A100,250.5,90,x,0.25,\n"
      "1700000000,n1,1,,A100,80,10,,0.125,\"a,b\"\n"
      "1700000015,n1,0,17,A100,250.5,91,x,0.5,end\n"
      "1700000015,n1,1,,A100,80,11,,0.0625,end\n";
  const Fed fed = feed(make_long, text);
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.series_names.size(), 6U);
  EXPECT_EQ(fed.told.series_names[0], "n1/0 DCGM_FI_DEV_POWER_USAGE job=17 kind=A100");
  EXPECT_EQ(fed.told.series_names[2], "n1/0 DCGM_FI_PROF_SM_ACTIVE job=17 kind=A100");
  EXPECT_EQ(fed.told.series_names[4], "n1/1 DCGM_FI_DEV_GPU_UTIL kind=A100");
  ASSERT_EQ(fed.told.samples_of[2].size(), 2U);
  EXPECT_EQ(fed.told.samples_of[0][1].value, 250.5F);
  EXPECT_EQ(fed.told.samples_of[2][1].value, 0.5F);
  EXPECT_EQ(fed.told.samples_of[5][1].value, 0.0625F);
  EXPECT_TRUE(fed.told.complaints.empty());
}

TEST(LongTable, MetricsInRows) {
  const std::string text =
      "metric\ttime\tvalue\thost\tuuid\n"
      "DCGM_FI_DEV_GPU_UTIL\t1700000000\t40\tn1\tGPU-1\n"
      "DCGM_FI_PROF_SM_ACTIVE\t1700000000\t0.2\tn1\tGPU-1\n"
      "DCGM_FI_DEV_GPU_UTIL\t1700000001\t41\tn1\tGPU-1\n";
  const Fed fed = feed(make_long, text);
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.series_names.size(), 2U);
  EXPECT_EQ(fed.told.series_names[0], "n1/ DCGM_FI_DEV_GPU_UTIL uuid=GPU-1");
  ASSERT_EQ(fed.told.samples_of[0].size(), 2U);
  EXPECT_EQ(fed.told.samples_of[0][1].value, 41);
}

TEST(LongTable, NotALongTable) {
  const Fed fed = feed(make_long, "a,b,c\n1,2,3\n");
  EXPECT_EQ(fed.error,
            "line 1: the header of a long table has a time, a host, a gpu and a metric such as "
            "DCGM_FI_DEV_GPU_UTIL; others need a mapping");
}

// A table with all that goes wrong: rows missing, in another order, by series, odd values.
std::string messy_table() {
  std::string text = kHeader;
  for (int time = 0; time < 3000; ++time) {
    for (int gpu = 0; gpu < 24; ++gpu) {
      const int seed = (time * 31 + gpu * 17) % 101;
      if (seed == 3) continue;
      const std::string value = seed == 7    ? ""
                                : seed == 9  ? "NaN"
                                : seed == 11 ? "0.5"
                                             : std::to_string(seed);
      const int shown = seed == 13 ? (gpu + 5) % 24 : gpu;
      text += fmt::format("{},a-long-host-name-{:03},{},{}\n", 1700000000 + time * 15, shown / 8,
                          shown % 8, value);
    }
  }
  return text;
}

TEST(LongTable, SameForAnyNumberOfThreadsAndPieces) {
  const std::string text = messy_table();
  const Fed one = feed(make_long, text);
  EXPECT_EQ(one.error, "");
  ASSERT_GT(one.told.sample_count(), 60000U);
  for (const int threads : {1, 2, 4}) {
    for (const std::size_t piece : {std::size_t{65536}, std::size_t{100003}, text.size()}) {
      SCOPED_TRACE(fmt::format("{} threads, pieces of {}", threads, piece));
      ReaderOptions options;
      options.threads = threads;
      const Fed other = feed(make_long, text, options, piece);
      EXPECT_EQ(other.error, "");
      EXPECT_EQ(other.told.series_names, one.told.series_names);
      ASSERT_EQ(other.told.sample_count(), one.told.sample_count());
      for (std::size_t i = 0; i < one.told.samples_of.size(); ++i) {
        const auto& a = one.told.samples_of[i];
        const auto& b = other.told.samples_of[i];
        ASSERT_TRUE(std::equal(
            a.begin(), a.end(), b.begin(), b.end(),
            [](const Sample& x, const Sample& y) { return x.at == y.at && x.value == y.value; }));
      }
      EXPECT_EQ(other.told.counts, one.told.counts);
    }
  }
}

// The fast way and the careful one must say the same of every number.
TEST(LongTable, EveryNumberAsItIsWritten) {
  std::string text = kHeader + "1700000000,h,0,1\n1700000000,h,1,1\n";
  std::vector<float> want;
  for (int whole : {0, 1, 9, 10, 99, 100, 999, 1234567, 12345678, 123456789}) {
    for (const char* fraction :
         {"", ".0", ".5", ".25", ".125", ".0001", ".1234567", ".12345678", ".123456789"}) {
      const std::string value = std::to_string(whole) + fraction;
      text += "1700000015,h,0," + value + "\n";
      want.push_back(static_cast<float>(std::stod(value)));
    }
  }
  text += std::string(200, '\n');  // So that no row is near the end.
  const Fed fed = feed(make_long, text);
  ASSERT_EQ(fed.told.samples_of[0].size(), want.size() + 1);
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(fed.told.samples_of[0][i + 1].value, want[i]);
  }
}

// No damage makes it read beyond its bytes, or hang (run under the sanitizers).
TEST(LongTable, DamagedTablesAreReadAsFarAsTheyGo) {
  const std::string whole = kHeader +
                            "1700000000,gpu001,0,78\n1700000000,gpu001,1,97.5\n"
                            "1700000015,gpu001,0,8\n1700000015,gpu001,1,100\n";
  for (std::size_t i = 0; i < whole.size(); ++i) {
    feed(make_long, whole.substr(0, i));
    for (const char damage : {'\0', '"', '\n', ',', '\xff', '.', '-'}) {
      std::string damaged = whole;
      damaged[i] = damage;
      const Fed fed = feed(make_long, damaged + damaged);
      EXPECT_LE(fed.told.sample_count(), 8U);
    }
  }
}

// Whatever the table is called, a mapping says how it is read.
TEST(LongTable, AMappingWins) {
  const Fed fed = feed(make_long, "timestamp,Hostname,gpu,gpu_util\n1700000000,n1,3,0.5\n",
                       {.mapping = "row = \"sample\"\n[columns]\ntime = \"timestamp\"\n"
                                   "host = \"Hostname\"\naccelerator = \"gpu\"\n"
                                   "value = { column = \"gpu_util\", metric = \"gpu_util\", "
                                   "unit = \"fraction\" }\n"});
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.series_names, (std::vector<std::string>{"n1/3 gpu_util"}));
  EXPECT_EQ(fed.told.samples_of[0][0].value, 50) << "in the metric's own unit, percent";
}

}  // namespace
}  // namespace amdahl::fleet::table
