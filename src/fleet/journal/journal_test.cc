#include "fleet/journal/journal.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "fleet/testing.h"

namespace amdahl::fleet::journal {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// All that an intake can be told.
void tell(Intake& intake) {
  model::JobDraft job;
  job.id = "7_1";
  job.raw = "9";
  job.cluster = "alpha";
  job.name = "train";
  job.user = "ada";
  job.hosts = "gpu[1-2]";
  job.state = model::JobState::kTimeout;
  job.start = seconds(1'700'000'000);
  job.elapsed = seconds(17);
  job.accelerators = 0.5;
  job.host_count = 2;
  job.metric = "m";
  intake.job(job, {.line = 3, .byte = 99});
  job.accelerators = 0;
  job.shards = 3;
  intake.job(job, {});
  job.shards = 0;
  intake.job(job, {});
  intake.tell(Device{"gpu1", "0", "MIG-1", "1g.10gb", "MIG-1", "0000:18:00.0"});
  intake.tell(Parts{"gpu1", 4});
  intake.tell(Down{"gpu1", seconds(5), seconds(7), 2.5});
  intake.tell(Assignment{"7_1", "gpu1", "0"});
  intake.tell(Capacity{"gpu1", "p", "a100", 8});
  intake.tell(Occupancy{"p", seconds(5), seconds(60), 8, 6.5, 1});
  const SeriesId a = intake.series({"gpu1", "0", "GPU-1", "", "7_1", "M", "A100"});
  const SeriesId b = intake.series({"gpu1", "1", "", "7", "", "M", "", "1g.10gb"});
  intake.series({"gpu1", "1", "", "8", "", "M", ""});
  EXPECT_EQ(intake.series({"gpu1", "0", "GPU-1", "", "7_1", "M", "A100"}), a);
  const Sample some[] = {{seconds(10), 83}, {seconds(25), 0}, {seconds(40), 255}};
  intake.samples(a, some);
  const Sample fine[] = {{milliseconds(10'250), 0.25F}, {milliseconds(9'250), -1.0F}};
  const SeriesId ids[] = {b, a};
  intake.rows(ids, fine);
  const Sample odd[] = {{Nanos(-1), 1e30F}};
  intake.samples(b, odd);
  intake.trouble(model::Trouble::kBadLine, {.line = 4}, "what is this");
  intake.troubles(model::Trouble::kBlankValue, 1'000'000'000'000);
}

void expect_same(const Recorder& a, const Recorder& b) {
  ASSERT_EQ(a.jobs.size(), b.jobs.size());
  for (std::size_t i = 0; i < a.jobs.size(); ++i) {
    EXPECT_EQ(a.jobs[i].id, b.jobs[i].id);
    EXPECT_EQ(a.jobs[i].raw, b.jobs[i].raw);
    EXPECT_EQ(a.jobs[i].cluster, b.jobs[i].cluster);
    EXPECT_EQ(a.jobs[i].hosts, b.jobs[i].hosts);
    EXPECT_EQ(a.jobs[i].metric, b.jobs[i].metric);
    EXPECT_EQ(a.jobs[i].where.byte, b.jobs[i].where.byte);
    EXPECT_EQ(a.jobs[i].draft.state, b.jobs[i].draft.state);
    EXPECT_EQ(a.jobs[i].draft.start, b.jobs[i].draft.start);
    EXPECT_EQ(a.jobs[i].draft.end, b.jobs[i].draft.end);
    EXPECT_EQ(a.jobs[i].draft.elapsed, b.jobs[i].draft.elapsed);
    EXPECT_EQ(a.jobs[i].draft.accelerators, b.jobs[i].draft.accelerators);
    EXPECT_EQ(a.jobs[i].draft.shards, b.jobs[i].draft.shards);
    EXPECT_EQ(a.jobs[i].draft.host_count, b.jobs[i].draft.host_count);
    EXPECT_EQ(std::isnan(a.jobs[i].draft.mean_utilisation),
              std::isnan(b.jobs[i].draft.mean_utilisation));
  }
  EXPECT_EQ(a.places, b.places);
  EXPECT_EQ(a.devices, b.devices);
  EXPECT_EQ(a.shares, b.shares);
  EXPECT_EQ(a.downs, b.downs);
  EXPECT_EQ(a.capacities, b.capacities);
  ASSERT_EQ(a.occupancies.size(), b.occupancies.size());
  EXPECT_EQ(a.series_names, b.series_names);
  ASSERT_EQ(a.samples_of.size(), b.samples_of.size());
  for (std::size_t i = 0; i < a.samples_of.size(); ++i) {
    ASSERT_EQ(a.samples_of[i].size(), b.samples_of[i].size());
    for (std::size_t j = 0; j < a.samples_of[i].size(); ++j) {
      EXPECT_EQ(a.samples_of[i][j].at, b.samples_of[i][j].at);
      EXPECT_EQ(a.samples_of[i][j].value, b.samples_of[i][j].value);
    }
  }
  EXPECT_EQ(a.counts, b.counts);
}

std::string written(Recorder* seen = nullptr) {
  Writer writer(seen);
  tell(writer);
  std::string bytes = writer.take();
  bytes += writer.finish();
  return bytes;
}

TEST(Journal, TellsAgainWhatItWasTold) {
  Recorder direct;
  tell(direct);
  Recorder through;
  const std::string bytes = written(&through);
  expect_same(direct, through);
  EXPECT_TRUE(claims(bytes));
  for (const std::size_t length : {bytes.size(), std::size_t{1}, std::size_t{13}}) {
    Recorder again;
    const auto reader = make(again, {});
    for (std::size_t at = 0; at < bytes.size(); at += length) {
      ASSERT_TRUE(reader->feed(std::string_view(bytes).substr(at, length)));
    }
    ASSERT_TRUE(reader->finish());
    expect_same(direct, again);
  }
}

TEST(Journal, ADamagedOneIsRefused) {
  const std::string bytes = written();
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    Recorder seen;
    const auto reader = make(seen, {});
    const auto fed = reader->feed(std::string_view(bytes).substr(0, cut));
    ASSERT_TRUE(!fed || !reader->finish()) << cut;
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    Recorder seen;
    const auto reader = make(seen, {});
    const auto fed = reader->feed(damaged);
    ASSERT_TRUE(!fed || !reader->finish()) << at;
  }
}

TEST(Journal, ItsSizesTellWhetherItIsWhole) {
  std::string bytes = written();
  const auto whole = [&](std::size_t size) {
    return is_whole(size, [&](std::uint64_t offset, std::size_t count) {
      return offset > size ? std::string() : bytes.substr(offset, std::min(count, size - offset));
    });
  };
  EXPECT_TRUE(whole(bytes.size()));
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) ASSERT_FALSE(whole(cut)) << cut;
  bytes += "x";
  EXPECT_FALSE(whole(bytes.size()));
}

TEST(Journal, TakesAboutAByteASample) {
  Writer writer;
  std::vector<SeriesId> ids;
  for (int i = 0; i < 64; ++i) {
    ids.push_back(writer.series({"gpu1", std::to_string(i), "", "", "", "M", ""}));
  }
  std::size_t size = 0;
  unsigned noise = 1;
  constexpr int kTimes = 2000;
  for (int t = 0; t < kTimes; ++t) {
    std::vector<Sample> samples;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      noise = noise * 1664525 + 1013904223;
      samples.push_back({seconds(1'700'000'000 + t * 15), static_cast<float>(80 + noise % 16)});
    }
    writer.rows(ids, samples);
    size += writer.take().size();
  }
  size += writer.finish().size();
  EXPECT_LT(static_cast<double>(size), 1.2 * 64 * kTimes);
}

}  // namespace
}  // namespace amdahl::fleet::journal
