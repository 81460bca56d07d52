#include "ingest/ingest.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "ingest/testing.h"
#include "scan/family.h"
#include "scan/report.h"

namespace amdahl::ingest {
namespace {

const std::string kOneJob =
    "JobID|User|State|Submit|Start|End|ElapsedRaw|NNodes|NodeList|AllocTRES|JobName\n"
    "1|ada|COMPLETED|2023-11-14T22:00:00Z|2023-11-14T22:13:20Z|2023-11-14T22:15:00Z|100|1|n1|"
    "gres/gpu=1|train\n";
const std::string kPlaces = "jobid,host,gpu\n1,n1,0\n";
const std::string kSamples =
    "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL\n"
    "1700000000,n1,0,0\n1700000050,n1,0,100\n";

std::string file_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Samples come first in the list, and last to the join.
TEST(ReadFleet, ReadsJobsBeforeSamples) {
  for (const int threads : {1, 2, 4}) {
    SCOPED_TRACE(threads);
    std::vector<std::string> order;
    std::uint64_t bytes = 0;
    Options options;
    options.threads = threads;
    options.progress = [&](const Progress& now) {
      if (order.empty() || order.back() != file_of(now.what)) order.push_back(file_of(now.what));
      bytes = std::max(bytes, now.done);
    };
    const Ingested read = read_texts({text_input("samples", kSamples),
                                      text_input("places", kPlaces), text_input("jobs", kOneJob)},
                                     options);
    EXPECT_EQ(order, (std::vector<std::string>{"places", "jobs", "samples"}));
    EXPECT_EQ(bytes, kOneJob.size()) << "of the largest";
    ASSERT_EQ(read.inputs.size(), 3U);
    EXPECT_TRUE(read.inputs[0].read_as.starts_with("csv:"));
    EXPECT_EQ(read.inputs[1].jobs, 1U);
    EXPECT_TRUE(read.inputs[2].read_as.starts_with("csv-long:"));
    EXPECT_EQ(read.inputs[2].bytes, kSamples.size());
    EXPECT_EQ(read.inputs[2].samples, 2U);
    ASSERT_EQ(read.usage.jobs.size(), 1U);
    EXPECT_NEAR(read.usage.jobs[0].split.idle, 50, 1e-6);
    EXPECT_NEAR(read.usage.jobs[0].split.productive, 50, 1e-6);
  }
}

TEST(ReadFleet, AMappingIsForTheFilesThatNeedIt) {
  TextInput mapped = text_input("util.csv", "when,where,dev,busy\n1700000000,n1,0,1\n");
  mapped.mapping =
      "row = \"sample\"\n[columns]\ntime = \"when\"\nhost = \"where\"\naccelerator = \"dev\"\n"
      "value = \"busy\"\nmetric = { constant = \"utilisation\" }\n";
  TextInput jobs = text_input("jobs", kOneJob);
  jobs.mapping = mapped.mapping;
  const Ingested read = read_texts({mapped, text_input("places", kPlaces), jobs});
  EXPECT_EQ(read.usage.attributed, 1U);
}

// In a folder there may be anything; what a person named must be what it is named.
TEST(ReadFleet, OneBadFileOfAFolderDoesNotKeepTheOthersOut) {
  const TestFolder folder;
  folder.write("in/noise", "what is this");
  folder.write("in/empty", "");
  folder.write("in/jobs", kOneJob);
  folder.write("in/broken", "\x1f\x8b nonsense that goes on");
  os::FakeClock clock(std::chrono::seconds(1'800'000'000));
  Options options;
  options.origins = {{.where = folder.path() + "/in"}};
  const auto read = read_fleet(options, clock);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(read->usage.jobs.size(), 1U);
  std::vector<std::string> left_out;
  for (const InputRead& input : read->inputs) {
    if (!input.left_out.empty()) left_out.push_back(file_of(input.name));
  }
  std::ranges::sort(left_out);
  EXPECT_EQ(left_out, (std::vector<std::string>{"broken", "empty", "noise"}));

  options.origins = {{.where = folder.path() + "/in/jobs"}, {.where = folder.path() + "/in/noise"}};
  EXPECT_EQ(read_fleet(options, clock).error().kind, Error::Kind::kUnsupported);
  options.origins = {{.where = folder.path() + "/none"}};
  EXPECT_EQ(read_fleet(options, clock).error().kind, Error::Kind::kNotFound);
  EXPECT_EQ(read_fleet({}, clock).error().kind, Error::Kind::kNotFound);
}

// A gzip file of one block, whose end is missing.
std::string cut_gzip(const std::string& text) {
  const auto low = [](std::size_t value) { return static_cast<char>(value & 0xFFU); };
  const std::size_t size = text.size();
  std::string bytes("\x1f\x8b\x08\0\0\0\0\0\0\x03\0", 11);
  bytes += {low(size), low(size >> 8U), low(~size), low(~size >> 8U)};
  return bytes + text;
}

TEST(ReadFleet, ACutFileIsMissingAndOneThatGrowsIsNot) {
  const Ingested cut = read_texts({text_input("places", kPlaces), text_input("jobs", kOneJob),
                                   text_input("samples.gz", cut_gzip(kSamples))});
  EXPECT_EQ(cut.usage.attributed, 2U);
  ASSERT_EQ(cut.missing.size(), 1U);
  EXPECT_NE(cut.missing[0].find("samples.gz: the gzip file is cut off"), std::string::npos);
  const Ingested grows = read_texts({text_input("places", kPlaces), text_input("jobs", kOneJob),
                                     text_input("samples", kSamples + "17000")});
  EXPECT_TRUE(grows.missing.empty());
}

TEST(ReadFleet, JobsWithoutPlacesAreSaidToNeedThem) {
  const std::string both = kSamples + "1700000000,n1,1,0\n1700000050,n1,1,100\n";
  const auto told = [&](const std::vector<TextInput>& inputs) {
    const Ingested read = read_texts(inputs);
    const scan::Families families = scan::families_of(read.usage, *scan::Recogniser::make({}));
    const scan::Report report = scan::report(read.usage, families, {});
    return std::pair(scan::is_mostly_observed(report), scan::unplaced_text(read.usage, report));
  };
  const TextInput jobs = text_input("jobs", kOneJob);
  const TextInput samples = text_input("samples", both);
  const auto [seen, nothing] = told({text_input("places", kPlaces), jobs, samples});
  EXPECT_TRUE(seen);
  EXPECT_EQ(nothing, "");
  const auto [unseen, hint] = told({jobs, samples});
  EXPECT_FALSE(unseen);
  EXPECT_NE(hint.find("jobid,host,gpu"), std::string::npos) << hint;
}

TEST(ReadFleet, StopsWhenAsked) {
  const TestFolder folder;
  os::FakeClock clock;
  Options options;
  options.origins = write_texts(folder, {text_input("jobs", kOneJob)});
  for (const int threads : {1, 2}) {
    options.threads = threads;
    for (int after = 0; after < 4; ++after) {
      int asked = 0;
      options.stop = [&] { return asked++ >= after; };
      const auto read = read_fleet(options, clock);
      ASSERT_FALSE(read);
      EXPECT_NE(read.error().text.find("interrupted"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace amdahl::ingest
