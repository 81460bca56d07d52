#include "scan/draw.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.h"
#include "scan/test_lanes.h"

namespace amdahl::scan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Anatomy example() {
  constexpr float kGap = std::numeric_limits<float>::quiet_NaN();
  model::Usage job;
  job.job = "r-17";
  job.family = "vit-eval";
  job.accelerators = 2;
  job.end = seconds(12);
  job.utilisation = {.interval = seconds(1), .metric = "CPU slot", .accelerators = {}};
  job.utilisation.accelerators = {{0, 0, 0, 0.3F, 0.4F, 1, 1, 1, 1, 0.9F, 0.5F, 0},
                                  {0, 0, 0, 0, 0, 0.6F, 0.6F, 0.6F, 0.6F, 0.6F, kGap, kGap}};
  job.phases = {{"startup", seconds(0), seconds(3)},
                {"input", seconds(3), seconds(2)},
                {"compute", seconds(5), seconds(5)},
                {"checkpoint", milliseconds(7'000), milliseconds(500)},
                {"teardown", milliseconds(11'500), milliseconds(500)}};
  return anatomy_of(job);
}

const std::string kTables = R"(allocated     acc-seconds  share
  productive         9.10   38 %
  low                3.90   16 %
  idle               9.00   38 %
  unobserved         2.00  8.3 %
  together          24.00  100 %

if it took no time          acc-seconds  share  at most
  compute                          9.00   38 %    1.60x
  startup                          6.00   25 %    1.33x
  input                            4.00   17 %    1.20x
  (unnamed)                        3.00   12 %    1.14x
  checkpoint                       1.00  4.2 %    1.04x
  teardown                         1.00  4.2 %    1.04x
  idle                             9.00   38 %    1.60x
  low                              3.90   16 %    1.19x
  compute, infinitely fast         9.10   38 %    1.61x

idle and low, by telemetry  acc-seconds  share  at most
  start-up                         8.70   36 %    1.57x
      4.00 s until half of 80 % is reached
  steady, not full                 1.70  7.1 %    1.08x
      80 % is its usual utilisation while it works
  imbalance                        1.50  6.2 %    1.07x
      1 accelerator behind the busiest, by up to 30 points
  tail                             1.00  4.2 %    1.04x
      after 11 s the last 1.00 s stay below half of 80 %
)";

TEST(Draw, WholePicture) {
  EXPECT_EQ(draw(example(), 72, false), R"(job r-17 of vit-eval
12 s × 2 accelerators = 24.0 accelerator-seconds

phases │startup────────│input─────│compute───│c…│compute─────│(unnam…│t…
     0 ················▒▒▒▒▒▒▒▒▒▒▒███████████████████████████▒▒▒▒▒▒·····
     1 ···························▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒???????????
       └─────────┴──────────┴──────────┴──────────┴──────────┴──────────
       0         2 s        4 s        6 s        8 s        10 s

utilisation metric: CPU slot
█ productive from 70 %  ▒ low  · idle < 5 %  ? unobserved

)" + kTables);
}

TEST(Draw, WholePictureInAscii) {
  EXPECT_EQ(draw(example(), 60, false, true), R"(job r-17 of vit-eval
12 s x 2 accelerators = 24.0 accelerator-seconds

phases |startup-----|input---|compute-|-|compute---|(unna~|-
     0 .............=========######################=====....
     1 ......................======================?????????
       +---------------------+---------------------+--------
       0                     5 s                   10 s

utilisation metric: CPU slot
# productive from 70 %  = low  . idle < 5 %  ? unobserved

)" + kTables);
}

// One of four works, after a start-up, and stops to save what it has: from bounded timelines.
TEST(Draw, AFleetsJobShowsItsStages) {
  std::vector<float> works(640, 0.95F);
  std::fill(works.begin(), works.begin() + 80, 0.0F);
  for (std::size_t i = 140; i < 640; i += 80) {
    std::fill(works.begin() + static_cast<std::ptrdiff_t>(i),
              works.begin() + static_cast<std::ptrdiff_t>(i) + 10, 0.0F);
  }
  const std::vector<float> idle(640, 0.0F);
  const FleetUsage fleet = fleet_of({works, idle, idle, idle}, 60);
  const Anatomy anatomy = anatomy_of(fleet, fleet.jobs.front(), "train.u1.x4");
  EXPECT_EQ(draw(anatomy, 76, false), R"(job 1 of train.u1.x4
10 h 40 min × 4 accelerators = 42.7 accelerator-hours

stages   │start-…│steady││steady││steady││steady─││steady││steady─││steady││
gpu001:0 ········▒█████▒▒███████·███████▒▒███████▒███████▒███████▒▒███████·█
gpu001:1 ···································································
gpu001:2 ···································································
gpu001:3 ···································································
         └───────────┴────────────┴───────────┴────────────┴───────────┴────
         0           2 h          4 h         6 h          8 h         10 h

utilisation metric: (not named)
█ productive from 70 %  ▒ low  · idle < 5 %  ? unobserved

allocated     acc-hours  share
  productive       7.76   18 %
  low              0.41  1.0 %
  idle            34.50   81 %
  unobserved          0  0.0 %
  together        42.67  100 %

if it took no time          acc-hours  share  at most
  idle                          34.50   81 %    5.22x
  low                            0.41  1.0 %    1.01x
  compute, infinitely fast       7.76   18 %    1.22x

idle and low, by telemetry  acc-hours  share  at most
  partial use                   32.00   75 %    4.00x
      3 of 4 accelerators idle throughout
  start-up                       1.33  3.1 %    1.03x
      1 h 20 min until half of 95 % is reached
  checkpoint-like dips           1.17  2.7 %    1.03x
      7 dips of about 10 min 00 s, one every 1 h 20 min
  steady, not full               0.41  1.0 %    1.01x
      95 % is its usual utilisation while it works
)");
}

TEST(Draw, ManyAcceleratorsAreCounted) {
  const std::vector<std::vector<float>> lanes(100, std::vector<float>(50, 0.5F));
  const FleetUsage fleet = fleet_of(lanes, 60);
  const std::string picture = draw(anatomy_of(fleet, fleet.jobs.front(), "x"), 80, false);
  EXPECT_NE(picture.find("          … and 69 more accelerators\n"), picture.npos) << picture;
}

std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

TEST(Draw, FitsAnyWidth) {
  Anatomy anatomy = example();
  anatomy.family = std::string(300, 'f');
  anatomy.metric = std::string(300, 'm');
  anatomy.phases[0].name = std::string(300, 'p');
  anatomy.table[0].name = std::string(300, 'p');
  for (const int width : {0, 60, 61, 80, 100, 133, 240}) {
    SCOPED_TRACE(width);
    const std::string picture = draw(anatomy, width, false);
    for (const std::string_view line : split(picture, '\n')) {
      EXPECT_LE(columns(line), static_cast<std::size_t>(std::max(width, 60))) << line;
    }
  }
}

TEST(Draw, AnyLengthOfTimeHasAnAxis) {
  for (const Nanos wall :
       {Nanos(0), Nanos(1), Nanos(1'000), Nanos(70'000'000), Nanos(seconds(1)), Nanos(seconds(250)),
        Nanos(std::chrono::hours(30)), Nanos(std::chrono::hours(24 * 365))}) {
    SCOPED_TRACE(wall.count());
    model::Usage job;
    job.end = wall;
    const std::string picture = draw(anatomy_of(job), 80, true);
    for (const std::string_view line : split(picture, '\n')) {
      // Escapes in the row of the accelerator and in the legend take no room.
      if (line.find('\x1b') != line.npos) continue;
      EXPECT_LE(columns(line), 80U) << line;
    }
  }
}

TEST(Draw, ColourChangesNoSign) {
  std::string coloured = draw(example(), 80, true);
  EXPECT_NE(coloured.find("\x1b[32m█"), coloured.npos);
  for (auto at = coloured.find('\x1b'); at != coloured.npos; at = coloured.find('\x1b')) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  EXPECT_EQ(coloured, draw(example(), 80, false));
}

TEST(Draw, NamesCannotReachTheTerminal) {
  Anatomy anatomy = example();
  anatomy.job = "\x1b[2J\r\n";
  anatomy.phases[0].name = "a\x1b]0;b\x07";
  anatomy.metric = "\x7f";
  const std::string picture = draw(anatomy, 80, false);
  EXPECT_TRUE(std::ranges::all_of(picture, [](char c) {
    return c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  }));
  EXPECT_EQ(picture.substr(0, picture.find('\n')), "job ?[2J?? of vit-eval");
}

TEST(Draw, AsciiIsAscii) {
  Anatomy anatomy = example();
  anatomy.family = "évaluation";
  const std::string picture = draw(anatomy, 80, true, true);
  EXPECT_TRUE(
      std::ranges::all_of(picture, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

}  // namespace
}  // namespace amdahl::scan
