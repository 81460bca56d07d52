#include "ingest/read.h"

#include <filesystem>
#include <fstream>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fleet/testing.h"
#include "ingest/mark.h"
#include "ingest/merge.h"
#include "os/clock.h"
#include "os/files.h"

namespace amdahl::ingest {
namespace {

namespace fs = std::filesystem;

// A table of samples that grows, and the folder of what is kept of it.
class ReadInput : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / fmt::format("scan-read-{}", ::getpid());
    fs::create_directories(root_);
    std::ofstream(table()) << "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL\n";
    grow(300);
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string table() const { return root_ / "samples.csv"; }
  std::string kept() const { return root_ / "scan"; }

  void grow(int lines) {
    std::ofstream out(table(), std::ios::app);
    for (int i = 0; i < lines; ++i, ++time_) {
      out << fmt::format("{},gpu{:04},{},{}\n", 1'700'000'000 + time_, time_ % 5, time_ % 3,
                         noise_ >> 24 & 63);
      noise_ = noise_ * 1664525 + 1013904223;
    }
  }

  Result<Input> recognised() const {
    fleet::ReaderOptions options;
    return recognise(table(), "", fleet::sources(), options);
  }

  // All that the reader says of the table, as one text.
  std::string read(InputSaid* said = nullptr, std::function<bool()> stop = {}, int threads = 1) {
    const auto input = recognised();
    EXPECT_TRUE(input) << (input ? "" : input.error().text);
    fleet::Recorder told;
    ReadOptions options;
    options.folder = kept();
    options.reader.now = os::real_clock().unix_time();
    options.reader.threads = threads;
    options.stop = std::move(stop);
    const auto done = read_input(*input, told, options);
    if (!done) return done.error().text;
    if (said) *said = *done;
    return shown(told);
  }

  static std::string shown(const fleet::Recorder& told) {
    std::string text;
    for (std::size_t i = 0; i < told.series_names.size(); ++i) {
      text += told.series_names[i];
      for (const fleet::Sample& sample : told.samples_of[i]) {
        text += fmt::format(" {}:{}", sample.at.count(), sample.value);
      }
      text += "\n";
    }
    return text;
  }

  std::string fresh() {
    fs::rename(kept(), root_ / "aside");
    const std::string all = read();
    fs::remove_all(kept());
    fs::rename(root_ / "aside", kept());
    return all;
  }

  std::string folder() const {
    for (const std::string& name : os::list(kept())) {
      if (name.starts_with("file-")) return kept() + "/" + name;
    }
    return "";
  }
  std::vector<std::string> journals() const {
    std::vector<std::string> all;
    for (const std::string& name : os::list(folder())) {
      if (name.ends_with(".journal") || name.ends_with(".part")) all.push_back(name);
    }
    return all;
  }

  fs::path root_;
  int time_ = 0;
  std::uint32_t noise_ = 1;
};

TEST_F(ReadInput, MonthsOfScansLeaveFewJournals) {
  for (int scan = 0; scan < 40; ++scan) {
    grow(20);
    read();
    ASSERT_LE(journals().size(), 10U) << scan;
  }
  EXPECT_EQ(journals(), load_mark(folder()).journals) << "nothing else is left";
  InputSaid said;
  EXPECT_EQ(read(&said), fresh());
  EXPECT_EQ(said.read, 0U);
  EXPECT_EQ(said.known, fs::file_size(table()));
}

// Wherever a file of ours was cut, the answer is that of a fresh reading.
TEST_F(ReadInput, FilesThatWereCutAreNotUsed) {
  grow(3000);
  read();
  grow(10);  // Stays beside the first: that is too large to be written again for so little.
  read();
  const std::string want = fresh();
  const fs::path safe = root_ / "safe";
  fs::copy(folder(), safe);
  const std::string where = folder();
  std::vector<std::string> files = journals();
  ASSERT_GE(files.size(), 2U);
  files.push_back("mark.json");
  for (const std::string& name : files) {
    const auto size = fs::file_size(safe / name);
    for (std::uintmax_t cut = 0; cut < size; cut += 1 + size / 8) {
      fs::remove_all(where);
      fs::copy(safe, where);
      fs::resize_file(where + "/" + name, cut);
      ASSERT_EQ(read(), want) << name << " cut to " << cut;
      ASSERT_EQ(read(), want) << name << " cut to " << cut << ", the second time";
    }
  }
}

TEST_F(ReadInput, GoesOnWhereItWasStopped) {
  grow(200'000);  // A few blocks of a megabyte.
  for (const int threads : {1, 3}) {
    SCOPED_TRACE(threads);
    fs::remove_all(kept());
    int asked = 0;
    EXPECT_NE(read(
                  nullptr, [&] { return ++asked > 3; }, threads)
                  .find("interrupted"),
              std::string::npos);
    const Mark mark = load_mark(folder());
    EXPECT_GT(mark.size, std::uint64_t{1} << 20) << "what was read is kept";
    EXPECT_LT(mark.size, fs::file_size(table()) - (std::uint64_t{1} << 20)) << "and no more is";
    InputSaid said;
    const std::string whole = read(&said, {}, threads);
    EXPECT_EQ(said.known, mark.size);
    EXPECT_EQ(said.read, fs::file_size(table()) - mark.size);
    EXPECT_EQ(whole, fresh());
  }
}

// Marks are set on the way, so that a crash costs one turn of a few; what is told is the same.
TEST_F(ReadInput, LongFilesAreReadInTurns) {
  grow(800'000);
  std::ofstream(table(), std::ios::app) << "no time,gpu0001,0,5\n";
  grow(800'000);
  std::ofstream(table(), std::ios::app) << "1800000000,gpu0001,0,5";  // A line without its end.
  ASSERT_GT(fs::file_size(table()), std::uint64_t{36} << 20);
  const auto input = recognised();
  ASSERT_TRUE(input);
  fleet::Recorder plain;
  ASSERT_TRUE(read_input(*input, plain, {}));
  ASSERT_EQ(plain.complaints.size(), 1U);
  ReadOptions options;
  options.folder = kept();
  options.reader.threads = 2;
  std::vector<std::uint64_t> marks;
  std::uint64_t shown_bytes = 0;
  options.progress = [&](std::uint64_t bytes) {
    EXPECT_GE(bytes + 100, shown_bytes) << "but for a line that a turn did not end";
    shown_bytes = bytes;
    const Mark mark = load_mark(folder());
    if (mark.size > 0 && (marks.empty() || mark.size != marks.back())) marks.push_back(mark.size);
  };
  for (const char* again : {"the first time", "told again"}) {
    SCOPED_TRACE(again);
    fleet::Recorder told;
    const auto said = read_input(*input, told, options);
    ASSERT_TRUE(said) << said.error().text;
    EXPECT_EQ(said->read + said->known, fs::file_size(table()));
    EXPECT_EQ(shown(told), shown(plain));
    ASSERT_EQ(told.complaints.size(), 1U);
    EXPECT_EQ(told.complaints[0].where.line, plain.complaints[0].where.line);
  }
  EXPECT_GE(marks.size(), 2U);
  EXPECT_LE(journals().size(), 8U);
}

// Of a table without a header, too, lines are counted from the start of the file.
TEST_F(ReadInput, LinesAreCountedFromTheStart) {
  const std::string jobs = root_ / "sacct.txt";
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += fmt::format("{}|1700000000|1700003600|gres/gpu=1|COMPLETED\n", i);
  std::ofstream(jobs) << text;
  fleet::ReaderOptions reader;
  reader.fields = "JobID,Start,End,AllocTRES,State";
  const auto input = recognise(jobs, "", fleet::sources(), reader);
  ASSERT_TRUE(input) << input.error().text;
  ReadOptions options;
  options.reader = reader;
  options.folder = kept();
  fleet::Recorder before;
  ASSERT_TRUE(read_input(*input, before, options));
  ASSERT_EQ(before.jobs.size(), 200U);
  std::ofstream(jobs, std::ios::app) << "201|soon|later|gres/gpu=1|COMPLETED\n202|0";
  fleet::Recorder told;
  const auto said = read_input(*input, told, options);
  ASSERT_TRUE(said) << said.error().text;
  EXPECT_GT(said->known, 0U);
  ASSERT_FALSE(told.complaints.empty());
  EXPECT_EQ(told.complaints[0].where.line, 201U) << told.complaints[0].text;
  EXPECT_EQ(told.count(model::Trouble::kTruncated), 1U) << "the last line, which is being written";
}

TEST_F(ReadInput, WhatNobodyUsesGoes) {
  using std::chrono::hours;
  read();
  ASSERT_NE(folder(), "");
  const std::string server = kept() + "/prometheus-0123456789abcdef";
  const std::string used = server + "/1600000000-1600003600-aa.journal";
  fs::create_directories(server);
  for (const std::string& path : {used, server + "/1600003600-1600007200-aa.journal"}) {
    std::ofstream(path) << "x";
    fs::last_write_time(path, fs::file_time_type::clock::now() - hours(100 * 24));
  }
  const Nanos now = os::real_clock().unix_time();
  show_piece_use(used, now);
  const Pruned pruned = prune_kept(kept(), now, hours(48));
  EXPECT_EQ(pruned.files, 0U);
  EXPECT_EQ(pruned.pieces, 1U) << "whatever time it is about, what is used stays";
  EXPECT_TRUE(fs::exists(used));
  const auto long_ago = fs::file_time_type::clock::now() - hours(100 * 24);
  fs::last_write_time(folder() + "/mark.json", long_ago);
  read();
  EXPECT_EQ(prune_kept(kept(), now, hours(48)).files, 0U) << "being used makes it young again";
  fs::last_write_time(folder() + "/mark.json", long_ago);
  EXPECT_EQ(prune_kept(kept(), now, hours(48)).files, 1U);
  EXPECT_EQ(folder(), "");
  EXPECT_EQ(read(), fresh());
}

}  // namespace
}  // namespace amdahl::ingest
