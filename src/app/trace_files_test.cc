#include "app/trace_files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "os/host.h"

namespace amdahl::app {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};

class TraceFilesTest : public testing::Test {
 protected:
  TraceFilesTest() : folder_{testing::TempDir() + "trace-files-" + os::random_hex(12)} {
    std::filesystem::create_directories(folder_);
  }
  ~TraceFilesTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  // An export of Nsight Systems with one kernel.
  std::string nsight() const {
    const std::string path = folder_ + "/report.sqlite";
    sqlite3* raw = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &raw), SQLITE_OK);
    const std::unique_ptr<sqlite3, CloseDatabase> db(raw);
    EXPECT_EQ(sqlite3_exec(raw,
                           "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
                           "INSERT INTO StringIds VALUES (1, 'saxpy');"
                           "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, "
                           "deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid "
                           "INTEGER, shortName INTEGER);"
                           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 9, 0, 7, 1, 1, 1);",
                           nullptr, nullptr, nullptr),
              SQLITE_OK);
    return path;
  }

  static void expect_one_kernel(const std::string& path) {
    TraceFiles files;
    files.files = {path};
    const auto trace = read_traces(files);
    ASSERT_TRUE(trace) << trace.error().text;
    ASSERT_EQ(trace->device_events.size(), 1u);
    EXPECT_EQ(trace->device_events[0].duration, Nanos{4});
  }

  std::string folder_;
};

TEST_F(TraceFilesTest, ADatabaseMayBePacked) {
  const std::string path = nsight();
  expect_one_kernel(path);
  ASSERT_EQ(std::system(("gzip -k " + path).c_str()), 0);
  expect_one_kernel(path + ".gz");
}

TEST(TraceLimits, FollowTheMachine) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  const auto rows = [](std::uint64_t available) { return limits_here({}, available).memory_bytes; };
  EXPECT_EQ(rows(0), 4 * kGiB) << "nobody knows";
  EXPECT_EQ(rows(256 * kGiB), 4 * kGiB);
  EXPECT_EQ(rows(16 * kGiB), 2 * kGiB);
  EXPECT_EQ(rows(kGiB / 8), kGiB / 16) << "but no less than a small trace takes";
}

// JSON shows that it is cut; lines do not.
TEST_F(TraceFilesTest, APackedFileThatIsCutSaysSo) {
  const std::string path = folder_ + "/perf.txt";
  {
    std::ofstream text(path);
    for (int i = 0; i < 20'000; ++i) {
      text << "a " << i % 7 + 1 << " [000] " << i << ".5: cpu-clock: \n\t" << i << " f (x)\n\n";
    }
  }
  for (const std::string packer : {"gzip", "zstd -q"}) {
    SCOPED_TRACE(packer);
    const std::string packed = folder_ + "/packed";
    if (std::system((packer + " -c " + path + " > " + packed).c_str()) != 0) continue;
    TraceFiles files;
    files.files = {packed};
    const auto whole = read_traces(files);
    ASSERT_TRUE(whole) << whole.error().text;
    EXPECT_EQ(whole->stack_samples.size(), 20'000u);
    EXPECT_TRUE(whole->losses.empty());
    std::filesystem::resize_file(packed, std::filesystem::file_size(packed) / 2);
    const auto cut = read_traces(files);
    if (!cut) continue;  // Nothing whole came before: an error says it as well.
    EXPECT_LT(cut->stack_samples.size(), 20'000u);
    ASSERT_FALSE(cut->losses.empty());
    EXPECT_EQ(cut->losses.back().kind, model::LossKind::kTruncated);
  }
}

TEST_F(TraceFilesTest, WhatIsNoTraceAmongOthersIsSaidAndLeftOut) {
  const std::string notes = folder_ + "/notes.txt";
  std::ofstream(notes) << "buy milk\n";
  TraceFiles files;
  files.files = {notes, nsight()};
  const auto trace = read_traces(files);
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_EQ(trace->device_events.size(), 1u);
  ASSERT_FALSE(trace->losses.empty());
  EXPECT_EQ(trace->sources[trace->losses[0].source].file, notes);
  EXPECT_EQ(describe(trace->losses[0])
                .find("unreadable events: 1 (first: the whole file: has an unknown"),
            0u)
      << describe(trace->losses[0]);
  files.files = {notes};
  ASSERT_FALSE(read_traces(files));
  files.files = {folder_ + "/none.json", files.files[0]};
  EXPECT_EQ(read_traces(files).error().kind, Error::Kind::kNotFound) << "a wrong name is an error";
}

TEST_F(TraceFilesTest, ADatabaseMayComeThroughAPipe) {
  const std::string path = nsight();
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream(pipe, std::ios::binary) << std::ifstream(path, std::ios::binary).rdbuf();
  });
  expect_one_kernel(pipe);
  writer.join();
}

TEST_F(TraceFilesTest, RanksAreThoseOfTheNamesOfFilesIfNoTraceSaysThem) {
  const auto ranks_of = [&](const std::vector<std::string>& names) {
    TraceFiles files;
    for (const std::string& name : names) {
      files.files.push_back(folder_ + "/" + name);
      std::ofstream(files.files.back())
          << R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,)"
          << R"("ts":1,"dur":2}]})";
    }
    const auto trace = read_traces(files);
    EXPECT_TRUE(trace);
    std::vector<int> ranks;
    for (const model::TraceSource& source : trace->sources) ranks.push_back(source.rank);
    return ranks;
  };
  EXPECT_EQ(ranks_of({"a_rank3.json", "b_Rank-11.json"}), (std::vector<int>{3, 11}));
  EXPECT_EQ(ranks_of({"a_rank3.json", "b_rank3.json"}), (std::vector<int>{-1, -1}));
  EXPECT_EQ(ranks_of({"a_rank3.json", "b.json"}), (std::vector<int>{-1, -1}));
  EXPECT_EQ(ranks_of({"a_rank3.json"}), (std::vector<int>{-1}));
}

}  // namespace
}  // namespace amdahl::app
