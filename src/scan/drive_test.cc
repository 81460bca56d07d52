#include "scan/drive.h"

#include <gtest/gtest.h>

#include "scan/fold.h"
#include "scan/testing.h"
#include "scan/words.h"

namespace amdahl::scan {
namespace {

const std::string kSacct =
    "JobID|User|State|Submit|Start|End|ElapsedRaw|NNodes|NodeList|AllocTRES|JobName\n"
    "1|ada|COMPLETED|2023-11-14T22:00:00|2023-11-14T22:13:20|2023-11-14T22:15:00|100|1|n1|"
    "gres/gpu=1|train\n";
const std::string kPlaces = "jobid,host,gpu\n1,n1,0\n";
const std::string kSamples =
    "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL\n"
    "1700000000,n1,0,0\n1700000050,n1,0,100\n";

// Samples come first in the list, and last to the fold.
TEST(Drive, ReadsJobsBeforeSamples) {
  for (const int threads : {1, 2, 4}) {
    SCOPED_TRACE(threads);
    Fold fold;
    std::vector<std::string> begun;
    std::uint64_t bytes = 0;
    const std::vector<Input> inputs = {text_input("samples", kSamples),
                                       text_input("places", kPlaces), text_input("jobs", kSacct)};
    const auto reads = drive(inputs, fold,
                             {.threads = threads,
                              .progress = [&](const Progress& progress) { bytes = progress.bytes; },
                              .begin = [&](const Input& input) { begun.push_back(input.name); }});
    ASSERT_TRUE(reads);
    EXPECT_EQ(begun, (std::vector<std::string>{"places", "jobs", "samples"}));
    EXPECT_EQ(bytes, kSacct.size() + kPlaces.size() + kSamples.size());
    EXPECT_EQ(reads->at(0).source, "csv-long");
    EXPECT_EQ(reads->at(0).bytes, kSamples.size());
    EXPECT_EQ(reads->at(1).source, "csv");
    EXPECT_EQ(reads->at(2).source, "slurm");
    const FleetUsage usage = std::move(fold).finish();
    ASSERT_EQ(usage.jobs.size(), 1U);
    EXPECT_NEAR(usage.jobs[0].split.idle, 50, 1e-6);
    EXPECT_NEAR(usage.jobs[0].split.productive, 50, 1e-6);
  }
}

// The accelerators of a job may be in the last of the inputs that could hold samples too.
TEST(Drive, ReadsTwiceWhatMayHoldBoth) {
  Fold fold;
  Input early = text_input("util.csv", "when,where,dev,busy\n1700000000,n1,0,1\n");
  early.options.mapping =
      "row = \"sample\"\n[columns]\ntime = \"when\"\nhost = \"where\"\naccelerator = \"dev\"\n"
      "value = \"busy\"\nmetric = { constant = \"utilisation\" }\n";
  const std::vector<Input> inputs = {early, text_input("places", kPlaces),
                                     text_input("jobs", kSacct)};
  const auto reads = drive(inputs, fold);
  ASSERT_TRUE(reads);
  for (const InputRead& read : *reads) EXPECT_EQ(read.error, "") << read.name;
  const FleetUsage usage = std::move(fold).finish();
  EXPECT_EQ(usage.attributed, 1U);
}

TEST(Drive, OneBadInputDoesNotKeepTheOthersOut) {
  Fold fold;
  Input missing;
  missing.name = "missing";
  missing.open = []() -> Result<std::unique_ptr<ByteStream>> { return external("is not there"); };
  Input named = text_input("named", kSacct);
  named.source = "slrm";
  const std::vector<Input> inputs = {missing,
                                     text_input("noise", "what is this"),
                                     text_input("empty", ""),
                                     named,
                                     text_input("jobs", kSacct),
                                     text_input("gz",
                                                "\x1f\x8b"
                                                "nonsense")};
  const auto reads = drive(inputs, fold, {.threads = 2});
  ASSERT_TRUE(reads);
  EXPECT_EQ(reads->at(0).error, "is not there");
  EXPECT_TRUE(reads->at(1).error.starts_with(
      "begins with 'what is this', which no source reads; sources: local, "));
  EXPECT_EQ(reads->at(2).error, "is empty");
  EXPECT_TRUE(reads->at(3).error.starts_with("no source is called 'slrm', did you mean 'slurm'?"));
  EXPECT_EQ(reads->at(4).error, "");
  EXPECT_EQ(reads->at(5).error, "looks like gzip, but cannot be unpacked");
  EXPECT_EQ(std::move(fold).finish().jobs.size(), 1U);
}

TEST(Drive, StopsWhenAsked) {
  Fold fold;
  const std::atomic<bool> stop = true;
  for (const int threads : {1, 2}) {
    const auto reads =
        drive(std::vector{text_input("jobs", kSacct)}, fold, {.threads = threads, .stop = &stop});
    ASSERT_FALSE(reads);
    EXPECT_EQ(reads.error().text, "stopped");
  }
}

TEST(Words, EachOnceAndFoundAgain) {
  Words words;
  EXPECT_EQ(words.intern(""), 0U);
  std::vector<WordId> ids;
  for (int i = 0; i < 5000; ++i) ids.push_back(words.intern("word-" + std::to_string(i)));
  Words moved = std::move(words);
  for (int i = 0; i < 5000; ++i) {
    const std::string text = "word-" + std::to_string(i);
    EXPECT_EQ(ids[static_cast<std::size_t>(i)], static_cast<WordId>(i + 1));
    EXPECT_EQ(moved.intern(text), static_cast<WordId>(i + 1));
    EXPECT_EQ(moved[static_cast<WordId>(i + 1)], text);
  }
  EXPECT_EQ(moved.find("word-77"), 78U);
  EXPECT_EQ(moved.find("another"), 0U);
  EXPECT_EQ(moved.size(), 5001U);
}

}  // namespace
}  // namespace amdahl::scan
