// A format is a row and a folder: here is one that nothing else knows, and all of a scan works.
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "fleet/cut_lines.h"
#include "fleet/source.h"
#include "ingest/testing.h"
#include "source_dir.h"

namespace amdahl::ingest {
namespace {

using std::chrono::seconds;

// "flux 1", then a job a line: "ID HOST ACCELERATORS START END", in Unix time.
class FluxReader final : public fleet::Reader {
 public:
  explicit FluxReader(fleet::Intake& intake) : intake_{intake} {}
  Result<> feed(std::string_view bytes) override {
    return lines_.feed(bytes, [&](std::string_view line, fleet::Where where) -> Result<> {
      if (line == "flux 1") is_flux_ = true;
      if (!is_flux_) return bad_input("has no header");
      if (line != "flux 1") take(line, where);
      return Ok{};
    });
  }
  Result<> finish() override { return Ok{}; }

 private:
  void take(std::string_view line, fleet::Where where) {
    const auto cells = split(line, ' ');
    if (cells.size() != 5) return intake_.trouble(model::Trouble::kBadLine, where, "cells");
    model::JobDraft job;
    job.id = cells[0];
    job.hosts = cells[1];
    job.accelerators = *to_number<double>(cells[2]);
    job.start = seconds(*to_number<std::int64_t>(cells[3]));
    job.end = seconds(*to_number<std::int64_t>(cells[4]));
    job.state = model::JobState::kCompleted;
    intake_.job(job, where);
  }

  fleet::Intake& intake_;
  fleet::LineCutter lines_;
  bool is_flux_ = false;
};

constexpr fleet::Source kFlux = {
    .name = "flux",
    .reads = "jobs of Flux",
    .gives = fleet::Gives::kJobs,
    .claims = [](std::string_view head) { return head.starts_with("flux 1\n"); },
    .make = [](fleet::Intake& intake, const fleet::ReaderOptions&)
        -> std::unique_ptr<fleet::Reader> { return std::make_unique<FluxReader>(intake); },
    .appended = fleet::Appended::kAfterHeader,
};

class NewSource : public testing::Test {
 protected:
  NewSource() {
    const auto known = fleet::sources().rows();
    rows_.assign(known.begin(), known.end());
    rows_.push_back(kFlux);
    options_.sources = &table_;
    options_.folder = folder_.path() + "/kept";
    options_.origins = {{.where = folder_.path() + "/in"}};
    folder_.write("in/samples.csv",
                  "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL\n1700000000,n1,0,50\n"
                  "1700000060,n1,0,50\n");
    folder_.write("in/jobs", "flux 1\n" + jobs(0, 300));
  }

  static std::string jobs(int from, int to) {
    std::string text;
    for (int i = from; i < to; ++i) text += fmt::format("f{} n1 1 1700000000 1700000060\n", i);
    return text;
  }
  Ingested read() {
    os::FakeClock clock(seconds(1'800'000'000));
    auto read = read_fleet(options_, clock);
    if (read) return *std::move(read);
    ADD_FAILURE() << read.error().text;
    return {};
  }
  static const InputRead& jobs_of(const Ingested& read) {
    return *std::ranges::find_if(
        read.inputs, [](const InputRead& input) { return input.name.ends_with("/jobs"); });
  }

  TestFolder folder_;
  std::vector<fleet::Source> rows_;
  fleet::Sources table_{{}};
  Options options_;
};

TEST_F(NewSource, IsRecognisedJoinedAndReadOnWhereItGrew) {
  table_ = fleet::Sources(rows_);
  const Ingested first = read();
  EXPECT_EQ(first.usage.jobs.size(), 300U);
  EXPECT_EQ(jobs_of(first).read_as, "flux: jobs of Flux");
  const std::string path = folder_.path() + "/in/jobs";
  const auto size = std::filesystem::file_size(path);
  std::ofstream(path, std::ios::app) << "f300 n1\n" << jobs(301, 310);
  const Ingested second = read();
  EXPECT_EQ(second.usage.jobs.size(), 309U);
  EXPECT_EQ(jobs_of(second).known, size) << "what was read is told from its journal";
  ASSERT_EQ(second.usage.complaints.size(), 1U);
  EXPECT_EQ(second.usage.complaints[0].line, 302U) << "lines count from the start of the file";
  options_.origins = {{.kind = "flux", .where = path}};
  EXPECT_EQ(read().usage.jobs.size(), 309U) << "and by its name";
}

TEST_F(NewSource, IsNotKnownWithoutItsRow) {
  table_ = fleet::sources();
  const Ingested read = this->read();
  EXPECT_NE(jobs_of(read).left_out.find("format not recognised"), std::string::npos);
}

// So that a row is all: what reads files asks the row, and never what it is called.
TEST(NewSourceTree, NoFormatIsNamedOutsideItsFolder) {
  const std::regex literal("\"([a-z-]+)\"");
  for (const char* file : {"read.cc", "read.h", "files.cc", "files.h", "mark.cc", "zone.cc"}) {
    std::ifstream text(std::string(AMDAHL_SOURCE_DIR) + "/src/ingest/" + file);
    ASSERT_TRUE(text) << file;
    for (std::string line; std::getline(text, line);) {
      for (std::sregex_iterator it(line.begin(), line.end(), literal), end; it != end; ++it) {
        EXPECT_FALSE(fleet::sources().named((*it)[1].str())) << file << ": " << line;
      }
    }
  }
}

}  // namespace
}  // namespace amdahl::ingest
