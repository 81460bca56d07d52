#include "scan/parts.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scan/test_lanes.h"

namespace amdahl::scan {
namespace {

using Lanes = std::vector<std::vector<float>>;

constexpr double kSampleSeconds = 10;

// One accelerator at this utilisation for so many samples.
std::vector<float> flat(std::size_t samples, double level) {
  return std::vector<float>(samples, static_cast<float>(level));
}

void fill(std::vector<float>& lane, std::size_t from, std::size_t end, double level) {
  for (std::size_t i = from; i < std::min(end, lane.size()); ++i) {
    lane[i] = static_cast<float>(level);
  }
}

// Noise of this size on all that is above idle, cut off at 0.06 and 1.
void add_noise(Lanes& lanes, double size, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, size);
  for (auto& lane : lanes) {
    for (float& value : lane) {
      if (value > 0.05F) value = static_cast<float>(std::clamp(value + noise(random), 0.06, 1.0));
    }
  }
}

double hours_of(const Dissection& parts, PartKind kind) { return parts.seconds[index(kind)]; }

std::string evidence_of(const Dissection& parts, PartKind kind) {
  for (const Part& part : parts.parts) {
    if (part.kind == kind) return part.evidence;
  }
  return "(none)";
}

Dissection fine(const Lanes& lanes) {
  return dissect(lines_of(usage_of(lanes, kSampleSeconds), Thresholds{}));
}
Dissection coarse(const Lanes& lanes) {
  const FleetUsage fleet = fleet_of(lanes, kSampleSeconds);
  return dissect(lines_of(fleet, fleet.jobs.front()));
}

struct Shape {
  std::string name;
  Lanes lanes;
  PartKind kind;   // That holds most of the waste beyond the steady state.
  double seconds;  // Its true size.
};

// 3200 samples of 10 s: nearly nine hours. Times are multiples of 50 samples, the width of a bin.
std::vector<Shape> shapes() {
  constexpr std::size_t kN = 3200;
  std::vector<Shape> all;
  all.push_back({"unused", {flat(kN, 0), flat(kN, 0.01)}, PartKind::kUnused, 64000});
  {
    Shape s{"three of four idle",
            {flat(kN, 0.9), flat(kN, 0), flat(kN, 0), flat(kN, 0)},
            PartKind::kPartial,
            96000};
    all.push_back(s);
  }
  {
    Shape s{"start-up", {flat(kN, 0.9), flat(kN, 0.9)}, PartKind::kStartUp, 12000};
    for (auto& lane : s.lanes) fill(lane, 0, 600, 0);
    all.push_back(s);
  }
  {
    Shape s{"tail", {flat(kN, 0.8)}, PartKind::kTail, 10000};
    fill(s.lanes[0], kN - 1000, kN, 0);
    all.push_back(s);
  }
  {
    Shape s{"half the accelerators idle for half of the time", {}, PartKind::kPartial, 32000};
    s.lanes = {flat(kN, 0.9), flat(kN, 0.9), flat(kN, 0.9), flat(kN, 0.9)};
    fill(s.lanes[2], kN / 2, kN, 0);
    fill(s.lanes[3], kN / 2, kN, 0);
    all.push_back(s);
  }
  {
    Shape s{
        "imbalance", {flat(kN, 0.9), flat(kN, 0.9), flat(kN, 0.5)}, PartKind::kImbalance, 12800};
    all.push_back(s);
  }
  {
    Shape s{"one waits for the others",
            {flat(kN, 0.9), flat(kN, 0.9), flat(kN, 0.9)},
            PartKind::kImbalance,
            14400};
    for (std::size_t i = 0; i < kN; i += 2) s.lanes[2][i] = 0;
    all.push_back(s);
  }
  {
    Shape s{"checkpoints", {flat(kN, 0.95)}, PartKind::kCheckpoints, 3000};
    for (std::size_t i = 250; i < kN; i += 500) fill(s.lanes[0], i, i + 50, 0);
    all.push_back(s);
  }
  {
    Shape s{"stalls", {flat(kN, 0.95), flat(kN, 0.95)}, PartKind::kStalls, 16000};
    for (auto& lane : s.lanes) {
      for (std::size_t i = 20; i < kN; i += 40) fill(lane, i, i + 10, 0);
    }
    all.push_back(s);
  }
  {
    Shape s{"pauses", {flat(kN, 0.9)}, PartKind::kPauses, 8000};
    fill(s.lanes[0], 400, 600, 0);
    fill(s.lanes[0], 1100, 1150, 0);
    fill(s.lanes[0], 1900, 2450, 0);
    all.push_back(s);
  }
  all.push_back({"steady", {flat(kN, 0.4), flat(kN, 0.4)}, PartKind::kSteady, 38400});
  return all;
}

void expect_sums_up(const Dissection& parts, const Lanes& lanes) {
  const Split split = split_of(usage_of(lanes, kSampleSeconds));
  const double all = std::accumulate(parts.seconds.begin(), parts.seconds.end(), 0.0);
  EXPECT_NEAR(all, wasted(split), 1e-5 * split.allocated);
  for (const double seconds : parts.seconds) EXPECT_GE(seconds, 0);
}

TEST(Parts, KnownShapesGetTheirNameAndTheirHours) {
  for (const Shape& shape : shapes()) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(shape.name + ", seed " + std::to_string(seed));
      Lanes lanes = shape.lanes;
      if (seed > 0) add_noise(lanes, 0.05, seed);
      for (const Dissection& parts : {fine(lanes), coarse(lanes)}) {
        expect_sums_up(parts, lanes);
        const double tolerance = seed == 0 ? 1e-4 : 0.05;
        EXPECT_NEAR(hours_of(parts, shape.kind), shape.seconds, tolerance * shape.seconds);
        double others = 0;
        for (const Part& part : parts.parts) {
          if (part.kind != shape.kind && part.kind != PartKind::kSteady) {
            others += part.accelerator_seconds;
          }
        }
        EXPECT_LT(others, 0.02 * shape.seconds);
      }
    }
  }
}

TEST(Parts, EvidenceHasTheNumbers) {
  const std::vector<Shape> all = shapes();
  const auto text = [&](std::string_view name) {
    const auto shape = std::ranges::find(all, name, &Shape::name);
    return evidence_of(fine(shape->lanes), shape->kind);
  };
  EXPECT_EQ(text("unused"), "2 accelerators idle in 98 % or more of 6400 samples");
  EXPECT_EQ(text("three of four idle"), "3 of 4 accelerators idle throughout");
  EXPECT_EQ(text("half the accelerators idle for half of the time"),
            "2 of 4 accelerators idle for a time while others work");
  EXPECT_EQ(text("start-up"), "1 h 40 min until half of 90 % is reached");
  EXPECT_EQ(text("checkpoints"), "6 dips of about 8 min 20 s, one every 1 h 23 min");
  EXPECT_EQ(text("stalls"), "80 dips of about 1 min 40 s, one every 6 min 40 s");
  EXPECT_EQ(text("pauses"), "3 pauses, 8 min 20 s to 1 h 31 min");
  EXPECT_EQ(text("imbalance"), "1 accelerator behind the busiest, by up to 40 points");
  EXPECT_EQ(text("tail"), "after 6 h 06 min the last 2 h 46 min stay below half of 80 %");
  EXPECT_EQ(text("steady"), "40 % is its usual utilisation while it works");
}

// Everything at once, at random sizes: each part comes out at its own.
TEST(Parts, MixturesComeApart) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto between = [&](int least, int most) {
      return static_cast<std::size_t>(std::uniform_int_distribution<int>(least, most)(random));
    };
    const std::size_t start = between(40, 200);
    const std::size_t period = between(60, 120);
    const std::size_t dip = between(3, 8);
    const std::size_t tail = between(30, 200);
    const std::size_t samples = start + 10 * period + tail;
    const std::size_t unused = between(0, 3);
    const double level = 0.5 + 0.05 * static_cast<double>(between(0, 9));
    const double slower = level - 0.2;

    Lanes lanes{flat(samples, level), flat(samples, slower)};
    for (auto& lane : lanes) {
      fill(lane, 0, start, 0);
      for (std::size_t i = 0; i < 9; ++i) {
        fill(lane, start + (i + 1) * period, start + (i + 1) * period + dip, 0);
      }
      fill(lane, samples - tail, samples, 0);
    }
    add_noise(lanes, 0.03, seed);
    for (std::size_t i = 0; i < unused; ++i) lanes.push_back(flat(samples, 0));
    const Dissection parts = fine(lanes);
    expect_sums_up(parts, lanes);
    const auto expect_near = [&](PartKind kind, double sample_lanes) {
      SCOPED_TRACE(name(kind));
      EXPECT_NEAR(hours_of(parts, kind), sample_lanes * kSampleSeconds,
                  0.03 * sample_lanes * kSampleSeconds + 4 * kSampleSeconds);
    };
    const double works = static_cast<double>(10 * period - 9 * dip);
    expect_near(PartKind::kStartUp, 2.0 * static_cast<double>(start));
    expect_near(PartKind::kCheckpoints, 2.0 * static_cast<double>(9 * dip));
    expect_near(PartKind::kTail, 2.0 * static_cast<double>(tail));
    expect_near(PartKind::kPartial, static_cast<double>(unused * samples));
    expect_near(PartKind::kImbalance, 0.2 * works);
    expect_near(PartKind::kSteady, 2 * (1 - level) * works);
    EXPECT_EQ(evidence_of(parts, PartKind::kCheckpoints).substr(0, 7), "9 dips ");
  }
}

TEST(Parts, ARampIsWhatItFallsShort) {
  Lanes lanes{flat(400, 0.8)};
  for (std::size_t i = 0; i < 40; ++i)
    lanes[0][i] = static_cast<float>(0.1 + 0.7 * static_cast<double>(i) / 40);
  const Dissection parts = fine(lanes);
  expect_sums_up(parts, lanes);
  // It climbs from the first sample on, up to 0.72: on the average 0.39 short of 0.8.
  EXPECT_EQ(hours_of(parts, PartKind::kStartUp), 0);
  EXPECT_NEAR(hours_of(parts, PartKind::kRamp), 36 * 10 * 0.39, 10);
  EXPECT_EQ(parts.phases.size(), 2U);
  // A jump out of slow work is no climb.
  Lanes jump{flat(400, 0.8)};
  fill(jump[0], 0, 40, 0.2);
  EXPECT_NEAR(hours_of(fine(jump), PartKind::kStartUp), 40 * 10 * 0.8, 1);
  EXPECT_EQ(hours_of(fine(jump), PartKind::kRamp), 0);
}

// Bins of one or two periods see them run into each other.
TEST(Parts, StallsAreKnownWhateverTheBins) {
  for (std::size_t samples = 1000; samples < 6000; samples += 111) {
    SCOPED_TRACE(samples);
    Lanes lanes{flat(samples, 0.93)};
    for (std::size_t i = 40; i < samples; i += 60) fill(lanes[0], i, i + 20, 0);
    const Dissection parts = coarse(lanes);
    expect_sums_up(parts, lanes);
    EXPECT_NEAR(hours_of(parts, PartKind::kStalls), static_cast<double>(samples) / 3 * 10,
                0.05 * static_cast<double>(samples) * 10);
    EXPECT_EQ(evidence_of(parts, PartKind::kSteady),
              "93 % is its usual utilisation while it works");
  }
}

// Idle times by chance, as long as bins, are no stalls: where they come is no rule.
TEST(Parts, PausesByChanceAreNotCalledStalls) {
  int regular = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::exponential_distribution<double> gap(1.0 / 120);
    Lanes lanes{flat(3200, 0.93)};
    for (double at = gap(random); at < 3200; at += 40 + gap(random)) {
      fill(lanes[0], static_cast<std::size_t>(at), static_cast<std::size_t>(at) + 40, 0);
    }
    regular += hours_of(coarse(lanes), PartKind::kStalls) > 0;
  }
  EXPECT_LE(regular, 10);
}

TEST(Parts, AJobThatWasCutByTheWindowHasNoStartUp) {
  Lanes lanes{flat(400, 0.8)};
  fill(lanes[0], 0, 100, 0);
  const FleetUsage fleet = fleet_of(lanes, kSampleSeconds);
  FleetJob job = fleet.jobs.front();
  job.start -= Nanos{std::chrono::hours{5}};
  const Dissection parts = dissect(lines_of(fleet, job));
  EXPECT_EQ(hours_of(parts, PartKind::kStartUp), 0);
  EXPECT_NEAR(hours_of(parts, PartKind::kPauses), 1000, 1);
}

TEST(Parts, ShortStartUpsAndTailsHideInTheOutermostBins) {
  Lanes lanes{flat(3200, 0.9)};
  fill(lanes[0], 0, 20, 0);       // 20 of the first bin's 50 samples.
  fill(lanes[0], 3185, 3200, 0);  // 15 of the last one's.
  const Dissection parts = coarse(lanes);
  EXPECT_NEAR(hours_of(parts, PartKind::kStartUp), 200, 1);
  EXPECT_NEAR(hours_of(parts, PartKind::kTail), 150, 1);
  EXPECT_EQ(evidence_of(parts, PartKind::kStartUp), "part of the first 8 min 20 s");
}

TEST(Parts, LanesOfOtherWidthsComeOnOneGrid) {
  Lanes lanes{flat(640, 0.9), flat(640, 0.9)};
  for (auto& lane : lanes) fill(lane, 0, 160, 0);
  FleetUsage fleet = fleet_of(lanes, kSampleSeconds);
  // The second lane's bins in pairs.
  Lane& lane = fleet.lanes[1];
  for (std::uint32_t i = 0; i < lane.bins / 2; ++i) {
    Bin merged = fleet.bins[lane.bin + 2 * i];
    const Bin& next = fleet.bins[lane.bin + 2 * i + 1];
    merged.sum += next.sum;
    merged.samples += next.samples;
    merged.idle += next.idle;
    merged.most = std::max(merged.most, next.most);
    fleet.bins[lane.bin + i] = merged;
  }
  lane.bins /= 2;
  lane.bin_width *= 2;
  const Dissection parts = dissect(lines_of(fleet, fleet.jobs.front()));
  expect_sums_up(parts, lanes);
  EXPECT_NEAR(hours_of(parts, PartKind::kStartUp), 3200, 1e-3);
}

TEST(Parts, DipsShorterThanABinAreFoundByTheirDistance) {
  // Sixteen hours in bins of 15 min; 40 s every 30 min.
  Lanes lanes{flat(5760, 0.95)};
  for (std::size_t i = 100; i < 5760; i += 180) fill(lanes[0], i, i + 4, 0);
  const Dissection parts = coarse(lanes);
  EXPECT_EQ(evidence_of(parts, PartKind::kCheckpoints),
            "32 dips of about 40 s, one every 30 min 00 s");
  EXPECT_NEAR(hours_of(parts, PartKind::kCheckpoints), 32 * 40, 1);
  // Every 36 min the bins round the distance up and down.
  Lanes uneven{flat(5760, 0.95)};
  for (std::size_t i = 100; i < 5760; i += 216) fill(uneven[0], i, i + 4, 0);
  EXPECT_EQ(evidence_of(coarse(uneven), PartKind::kCheckpoints),
            "27 dips of about 40 s, one every 35 min 46 s");
}

TEST(Parts, RandomDipsAreNotCalledRegular) {
  int regular = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    std::bernoulli_distribution dips(seed % 4 == 0 ? 0.08 : 0.1 * (seed % 4) + 0.1);
    Lanes lanes{flat(200, 0.9)};
    for (float& value : lanes[0]) value = dips(random) ? 0.0F : value;
    const Dissection parts = fine(lanes);
    expect_sums_up(parts, lanes);
    regular +=
        hours_of(parts, PartKind::kCheckpoints) > 0 || hours_of(parts, PartKind::kStalls) > 0;
  }
  EXPECT_LE(regular, 8);
}

TEST(Parts, NoiseIsNoImbalance) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    Lanes lanes{flat(64, 0.5), flat(64, 0.5), flat(64, 0.5), flat(64, 0.5)};
    add_noise(lanes, 0.2, seed);
    EXPECT_EQ(hours_of(fine(lanes), PartKind::kImbalance), 0) << seed;
  }
}

// Whatever the telemetry, parts are neither negative nor more than was wasted.
TEST(Parts, AnyLanesAddUp) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto upto = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
    Lanes lanes(static_cast<std::size_t>(1 + upto(7)));
    const auto samples = static_cast<std::size_t>(upto(300));
    for (auto& lane : lanes) {
      lane.resize(samples);
      const int style = upto(4);
      for (std::size_t i = 0; i < samples; ++i) {
        const double any = upto(1000) / 1000.0;
        const double values[] = {any, any < 0.5 ? 0.0 : 1.0, 0, i * 2 < samples ? 0.0 : any,
                                 std::numeric_limits<double>::quiet_NaN()};
        lane[i] = static_cast<float>(upto(9) == 0 ? any : values[style]);
      }
    }
    SCOPED_TRACE(seed);
    expect_sums_up(fine(lanes), lanes);
    expect_sums_up(coarse(lanes), lanes);
  }
}

TEST(Parts, WithoutATimelineOnlySumsAreKnown) {
  JobLines lines;
  lines.wall = std::chrono::hours{1};
  lines.split = {.allocated = 3600, .unobserved = 0, .idle = 600, .low = 1000, .productive = 2000};
  const Dissection parts = dissect(lines);
  ASSERT_EQ(parts.parts.size(), 1U);
  EXPECT_EQ(parts.parts[0].kind, PartKind::kUnplaced);
  EXPECT_EQ(parts.parts[0].accelerator_seconds, 1600);
  EXPECT_EQ(parts.parts[0].evidence, "only sums are known");
  lines.split = {.allocated = 3600, .unobserved = 0, .idle = 3600, .low = 0, .productive = 0};
  EXPECT_EQ(dissect(lines).parts[0].kind, PartKind::kUnused);
  EXPECT_TRUE(dissect(JobLines{}).parts.empty());
}

}  // namespace
}  // namespace amdahl::scan
