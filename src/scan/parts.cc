#include "scan/parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "scan/dips.h"
#include "scan/dissect.h"

namespace amdahl::scan {
namespace {

constexpr double kUnusedAtLeast = 0.98;  // Of a lane's observed time idle.
constexpr double kUnusedWorksAtMost = 0.01;
constexpr double kBinIdleAtLeast = 0.9;  // Of a bin's samples: the lane does not work in it.
constexpr std::size_t kFewestBins = 4;   // To say when anything happened.
constexpr std::uint32_t kFewestSamples = 3;
constexpr std::size_t kFewestDips = 5;  // To say that they come at equal distances.
constexpr double kCheckpointsAtMost = 0.15;
constexpr double kAllOver = 0.9;     // Of the bins have idle samples.
constexpr double kEndAtLeast = 0.2;  // Of an outermost bin's samples are idle.
constexpr double kBehindAtLeast = 0.1;
constexpr double kClimbsFrom = 0.1;  // Of the steady level.
constexpr double kLevelNoise = 0.05;
constexpr double kNegligible = 1e-9;

bool is_unused(const Split& split) {
  const double observed = observed_in(split);
  return observed > 0 && split.idle >= kUnusedAtLeast * observed &&
         split.productive <= kUnusedWorksAtMost * observed;
}

// Waste of one accelerator in one bin.
struct Wasted {
  double idle = 0;
  double low = 0;
};

// An accelerator that works, with its waste by bin and by kind of part.
struct Active {
  const LaneLine* line = nullptr;
  double one = 0;  // Accelerator-seconds that a sample stands for.
  PartSeconds seconds{};
  std::vector<bool> partial;  // By bin: idle while others work.
  double still = 0;           // Idle in the steady state, not yet given.

  const Bin& bin(std::size_t i) const { return line->bins[i]; }
  bool idle_in(std::size_t i) const {
    return bin(i).samples > 0 && bin(i).idle >= kBinIdleAtLeast * bin(i).samples;
  }
  Wasted wasted_in(std::size_t i) const {
    const Bin& b = bin(i);
    const double working = std::max(0.0, b.sum - b.idle * line->idle_level);
    return {.idle = one * b.idle, .low = std::max(0.0, one * (b.samples - b.idle - working))};
  }
  void give(PartKind kind, double more) { seconds[index(kind)] += more; }
};

// The stages, in the order in which they are called. Each moves waste to where it belongs, and no
// waste is given twice: bins outside the steady state belong to their stage, bins within to their
// dip, what is left of them to lanes, and the rest to the steady state.
class Dissector {
 public:
  explicit Dissector(const JobLines& lines) : lines_{lines} {}

  Findings run() {
    sort_lanes();
    if (found_.all_unused || active_.empty()) return conclude();
    level_bins();
    if (!find_stages()) {
      for (Active& lane : active_) lane.give(PartKind::kUnplaced, wasted(lane.line->split));
      return conclude();
    }
    find_partial();
    find_dips();
    for (Active& lane : active_) give_bins(lane);
    give_imbalance();
    return conclude();
  }

 private:
  void give(PartKind kind, double more) { found_.seconds[index(kind)] += more; }

  // Sorts accelerators into unused ones, those known only by their sums, and the rest.
  void sort_lanes() {
    found_.bins = 0;
    found_.bin_seconds = to_seconds(lines_.width);
    double unused = 0;
    double placed = 0;
    for (const LaneLine& line : lines_.lanes) {
      if (observed_in(line.split) <= 0) continue;
      ++found_.observed_lanes;
      placed += wasted(line.split);
      std::uint64_t samples = 0;
      for (const Bin& bin : line.bins) samples += bin.samples;
      found_.samples += samples;
      if (is_unused(line.split)) {
        ++found_.unused_lanes;
        unused += wasted(line.split);
      } else if (samples > 0) {
        const double one = observed_in(line.split) / static_cast<double>(samples);
        active_.push_back({.line = &line, .one = one, .seconds = {}, .partial = {}, .still = 0});
        found_.bins = std::max(found_.bins, line.bins.size());
      } else {
        give(PartKind::kUnplaced, wasted(line.split));
      }
    }
    found_.all_unused = found_.observed_lanes > 0 ? found_.unused_lanes == found_.observed_lanes
                                                  : is_unused(lines_.split);
    give(found_.all_unused ? PartKind::kUnused : PartKind::kPartial, unused);
    // A job with only an average has no lanes: the place of its waste is unknown.
    const double rest = wasted(lines_.split) - placed;
    if (rest > kNegligible) {
      give(found_.all_unused ? PartKind::kUnused : PartKind::kUnplaced, rest);
    }
  }

  // The mean of the accelerators that work in a bin; 0 if none does, negative if nobody looked.
  void level_bins() {
    found_.level.assign(found_.bins, -1);
    for (std::size_t i = 0; i < found_.bins; ++i) {
      double sum = 0;
      double weight = 0;
      bool seen = false;
      for (const Active& lane : active_) {
        if (lane.bin(i).samples == 0) continue;
        seen = true;
        if (lane.idle_in(i)) continue;
        sum += mean_of(lane.bin(i)) * lane.line->split.allocated;
        weight += lane.line->split.allocated;
      }
      if (seen) found_.level[i] = weight > 0 ? sum / weight : 0;
    }
  }

  bool below_half(std::size_t i) const {
    return found_.level[i] >= 0 && found_.level[i] < 0.5 * found_.steady_level;
  }

  // Bins from `from` to `end` in which the level is below half, as lengths of stretches.
  std::vector<double> low_stretches(std::size_t from, std::size_t end) const {
    std::vector<double> lengths;
    bool inside = false;
    for (std::size_t i = from; i < end; ++i) {
      if (found_.level[i] < 0) continue;
      if (!below_half(i)) {
        inside = false;
      } else if (inside) {
        lengths.back() += 1;
      } else {
        lengths.push_back(1);
        inside = true;
      }
    }
    return lengths;
  }

  // False if there is too little to say when anything happened.
  bool find_stages() {
    std::vector<double> busy;
    std::size_t seen = 0;
    for (const double level : found_.level) {
      if (level >= 0) ++seen;
      if (level > 0 && level >= lines_.idle_below) busy.push_back(level);
    }
    if (seen < kFewestBins) return false;
    found_.steady_level = busy.empty() ? *std::ranges::max_element(found_.level) : median_of(busy);
    if (found_.steady_level <= 0) return false;

    std::size_t first = 0;
    while (first < found_.bins && (found_.level[first] < 0 || below_half(first))) ++first;
    std::size_t end = found_.bins;
    while (end > first && (found_.level[end - 1] < 0 || below_half(end - 1))) --end;
    if (first >= end) return false;
    // What happens within the run all the time is no start-up and no tail.
    const double usual = median_of(low_stretches(first, end));
    const bool started = lines_.start_seen && static_cast<double>(first) > usual;
    const double after = static_cast<double>(found_.bins - end);
    const bool ended = after > (lines_.end_seen ? usual : 2 * usual);
    found_.work = started ? first : 0;
    found_.tail = ended ? end : found_.bins;
    found_.steady = found_.work;
    if (lines_.start_seen && first == found_.work) find_ramp(busy);
    find_ends();
    find_working_level();
    return true;
  }

  // Where a climb to bin `first` began, if it is one: from below a third to half of the steady
  // level without a step down.
  std::size_t climb_to(std::size_t first) const {
    const auto reached = [&](std::size_t i) { return found_.level[i] / found_.steady_level; };
    std::size_t at = first;
    bool low = false;
    bool middle = false;
    while (at > 0 && reached(at - 1) >= kClimbsFrom &&
           reached(at - 1) < reached(at) + kLevelNoise) {
      --at;
      (reached(at) < 1.0 / 3 ? low : middle) = true;
    }
    return low && middle ? at : first;
  }

  // How busy accelerators are when they work, without the samples in which they stand still.
  void find_working_level() {
    std::vector<double> levels;
    for (std::size_t i = found_.steady; i < found_.tail; ++i) {
      double used = 0;
      double samples = 0;
      for (const Active& lane : active_) {
        const Bin& bin = lane.bin(i);
        used += bin.sum - bin.idle * lane.line->idle_level;
        samples += bin.samples - bin.idle;
      }
      if (samples > 0) levels.push_back(std::clamp(used / samples, 0.0, 1.0));
    }
    found_.working_level = median_of(std::move(levels));
  }

  // Up to where the level comes within what is usual; none if that takes a quarter of the run.
  void find_ramp(std::span<const double> busy) {
    std::vector<double> away;
    for (const double level : busy) away.push_back(std::abs(level - found_.steady_level));
    const double spread = 1.4826 * median_of(std::move(away));
    const double reached = std::clamp(found_.steady_level - 2 * spread, 0.5 * found_.steady_level,
                                      0.9 * found_.steady_level);
    std::size_t at = found_.work;
    // Idle samples are counted where they belong; a ramp is slow work.
    const auto works_at = [&](std::size_t i) { return found_.level[i] / (1 - idle_share(i)); };
    while (at < found_.tail && (below_half(at) || works_at(at) < reached)) ++at;
    if (4 * (at - found_.work) > found_.bins) return;
    found_.steady = at;
    const std::size_t climb = climb_to(found_.work);
    if (4 * (at - climb) <= found_.bins) found_.work = climb;
  }

  double idle_share(std::size_t i) const {
    double idle = 0;
    double samples = 0;
    for (const Active& lane : active_) {
      idle += lane.bin(i).idle;
      samples += lane.bin(i).samples;
    }
    return samples > 0 ? idle / samples : 0;
  }

  // A start-up or a tail shorter than a bin shows as more idle samples there than elsewhere.
  void find_ends() {
    if (found_.tail < found_.steady + kFewestBins) return;
    double within = 0;
    for (std::size_t i = found_.steady + 1; i + 1 < found_.tail; ++i) within += idle_share(i);
    within /= static_cast<double>(found_.tail - found_.steady - 2);
    const auto stands_out = [&](std::size_t i) {
      return !below_half(i) && idle_share(i) >= std::max(kEndAtLeast, 3 * within);
    };
    found_.starts_within =
        lines_.start_seen && found_.steady == found_.work && stands_out(found_.work);
    found_.ends_within = lines_.end_seen && stands_out(found_.tail - 1);
  }

  // By bin: how many accelerators work at half of the steady level or more.
  std::vector<std::uint32_t> count_working() const {
    std::vector<std::uint32_t> working(found_.bins, 0);
    for (const Active& lane : active_) {
      for (std::size_t i = 0; i < found_.bins; ++i) {
        if (lane.bin(i).samples == 0 || lane.idle_in(i)) continue;
        if (mean_of(lane.bin(i)) >= 0.5 * found_.steady_level) ++working[i];
      }
    }
    return working;
  }

  // Accelerators that stand still for a time while others of the job work.
  void find_partial() {
    const std::vector<std::uint32_t> working = count_working();
    for (Active& lane : active_) {
      bool is_partial = false;
      lane.partial.assign(found_.bins, false);
      if (active_.size() < 2) continue;
      for (std::size_t i = found_.steady; i < found_.tail;) {
        std::size_t end = i;
        std::uint32_t samples = 0;
        while (end < found_.tail &&
               (lane.bin(end).samples == 0 || (lane.idle_in(end) && working[end] > 0))) {
          samples += lane.bin(end++).samples;
        }
        if (samples >= kFewestSamples) {
          std::fill(lane.partial.begin() + static_cast<std::ptrdiff_t>(i),
                    lane.partial.begin() + static_cast<std::ptrdiff_t>(end), true);
          is_partial = true;
        }
        i = std::max(end, i + 1);
      }
      found_.partial_lanes += is_partial ? 1 : 0;
    }
  }

  // A bin whose idle samples are the start-up's or the tail's.
  bool is_end(std::size_t i) const {
    return (found_.starts_within && i == found_.work) ||
           (found_.ends_within && i + 1 == found_.tail);
  }

  PartKind still_kind(std::size_t i) const {
    if (!is_end(i)) return found_.dips_are;
    return found_.starts_within && i == found_.work ? PartKind::kStartUp : PartKind::kTail;
  }

  // How long the whole job stood still in a bin, as a share of it; most lanes must agree.
  double still_in(std::size_t i) const {
    if (below_half(i)) return 1;
    if (is_end(i)) return 0;
    double idle = 0;
    double samples = 0;
    std::size_t lanes = 0;
    std::size_t still = 0;
    for (const Active& lane : active_) {
      if (lane.bin(i).samples == 0 || lane.partial[i]) continue;
      ++lanes;
      if (lane.bin(i).idle > 0) ++still;
      idle += lane.bin(i).idle;
      samples += lane.bin(i).samples;
    }
    return 2 * still > lanes ? idle / samples : 0;
  }

  void find_dips() {
    std::vector<double> still;
    std::size_t marked = 0;
    bool inside = false;
    for (std::size_t i = found_.steady; i < found_.tail; ++i) {
      if (found_.level[i] < 0) continue;
      const double share = still_in(i);
      still.push_back(share);
      if (share <= 0) {
        inside = false;
        continue;
      }
      ++marked;
      if (!inside) found_.dips.push_back({.first = i, .end = i, .seconds = 0});
      inside = true;
      found_.dips.back().end = i + 1;
      found_.dips.back().seconds += share * found_.bin_seconds;
    }
    const auto seen = static_cast<double>(still.size());
    const bool all_over = static_cast<double>(marked) >= kAllOver * seen;
    name_dips();
    if (found_.period_seconds > 0 && !all_over) return;
    const std::uint64_t in_a_bin = found_.samples / (found_.bins * found_.observed_lanes);
    if (still.size() < 2 * kFewestBins || !(all_over || is_even(still, in_a_bin))) return;
    found_.period_seconds = 0;
    found_.idle_all_over = std::accumulate(still.begin(), still.end(), 0.0) / seen;
    found_.dips_are =
        found_.idle_all_over > kCheckpointsAtMost ? PartKind::kStalls : PartKind::kPauses;
  }

  // At equal distances, and how much of the time they take.
  void name_dips() {
    const std::vector<Dip>& dips = found_.dips;
    if (dips.size() < kFewestDips) return;
    std::vector<double> gaps;
    double seconds = 0;
    for (std::size_t i = 0; i + 1 < dips.size(); ++i) {
      gaps.push_back(static_cast<double>(dips[i + 1].first - dips[i].first));
      seconds += dips[i].seconds;
    }
    const Spacing spacing = spacing_of(gaps);
    found_.distance_seen = spacing.seen;
    if (!spacing.alike) return;
    const double all = std::accumulate(gaps.begin(), gaps.end(), 0.0);
    found_.period_seconds = all / static_cast<double>(gaps.size()) * found_.bin_seconds;
    const bool few = seconds <= kCheckpointsAtMost * all * found_.bin_seconds;
    found_.dips_are = few ? PartKind::kCheckpoints : PartKind::kStalls;
  }

  // The share of a ramp bin's unfilled part that is the ramp's, not the steady state's.
  double ramp_share(std::size_t i) const {
    const double level = std::clamp(found_.level[i], 0.0, 1.0);
    if (level >= found_.steady_level || level >= 1) return 0;
    return (found_.steady_level - level) / (1 - level);
  }

  void give_bins(Active& lane) {
    for (std::size_t i = 0; i < found_.bins; ++i) {
      const Wasted waste = lane.wasted_in(i);
      if (i < found_.work) {
        lane.give(PartKind::kStartUp, waste.idle + waste.low);
      } else if (i < found_.steady) {
        const double ramp = waste.low * ramp_share(i);
        lane.give(is_end(i) ? still_kind(i) : PartKind::kRamp, waste.idle);
        lane.give(PartKind::kRamp, ramp);
        lane.give(PartKind::kSteady, waste.low - ramp);
      } else if (i >= found_.tail) {
        lane.give(PartKind::kTail, waste.idle + waste.low);
      } else if (lane.partial[i]) {
        lane.give(PartKind::kPartial, waste.idle + waste.low);
      } else if (below_half(i)) {
        lane.give(found_.dips_are, waste.idle + waste.low);
      } else {
        if (is_end(i)) {
          lane.give(still_kind(i), waste.idle);
        } else {
          lane.still += waste.idle;
        }
        lane.give(PartKind::kSteady, waste.low);
      }
    }
  }

  bool compared(const Active& lane, std::size_t i) const {
    return lane.bin(i).samples > 0 && !lane.partial[i] && !below_half(i) && !is_end(i);
  }

  static double used_in(const Active& lane, std::size_t i) {
    const Bin& b = lane.bin(i);
    return std::clamp((b.sum - b.idle * lane.line->idle_level) / b.samples, 0.0, 1.0);
  }

  struct Steady {
    double mean = -1;    // Of the accelerator over the steady state; negative: not seen.
    double seconds = 0;  // Accelerator-seconds of that.
  };
  Steady steady_of(const Active& lane) const {
    double sum = 0;
    double samples = 0;
    for (std::size_t i = found_.steady; i < found_.tail; ++i) {
      if (!compared(lane, i)) continue;
      sum += lane.bin(i).samples * used_in(lane, i);
      samples += lane.bin(i).samples;
    }
    if (samples < kFewestSamples) return {};
    return {.mean = sum / samples, .seconds = lane.one * samples};
  }

  // Whether lane is behind best by more than chance, from the bins that show both.
  bool surely_behind(const Active& lane, const Active& best) const {
    double n = 0;
    double sum = 0;
    double squares = 0;
    for (std::size_t i = found_.steady; i < found_.tail; ++i) {
      if (!compared(lane, i) || !compared(best, i)) continue;
      const double apart = used_in(best, i) - used_in(lane, i);
      ++n;
      sum += apart;
      squares += apart * apart;
    }
    if (n < kFewestBins) return false;
    const double mean = sum / n;
    const double variance = std::max(0.0, squares / n - mean * mean) / (n - 1);
    return mean > 3 * std::sqrt(variance);
  }

  // What is left of standing still is a dip of all, but for what one lane stands still more than
  // the busiest: that, and what it is slower by, is imbalance.
  void give_imbalance() {
    std::vector<Steady> steady;
    for (const Active& lane : active_) steady.push_back(steady_of(lane));
    const auto best = static_cast<std::size_t>(std::ranges::max_element(steady, {}, &Steady::mean) -
                                               steady.begin());
    for (std::size_t l = 0; l < active_.size(); ++l) {
      Active& lane = active_[l];
      const double apart = steady[best].mean - steady[l].mean;
      if (steady[l].mean >= 0 && apart >= kBehindAtLeast && surely_behind(lane, active_[best])) {
        double& low = lane.seconds[index(PartKind::kSteady)];
        const double behind = std::min(lane.still + low, apart * steady[l].seconds);
        // Had it worked instead of standing still, it would not have been full either.
        const double stood = std::min(lane.still, behind / steady[best].mean);
        lane.still -= stood;
        low += stood - behind;
        lane.give(PartKind::kImbalance, behind);
        ++found_.behind_lanes;
        found_.behind_by = std::max(found_.behind_by, apart);
      }
      lane.give(found_.dips_are, lane.still);
    }
  }

  // A lane's parts are what its exact sums say, whatever rounding the bins have seen.
  Findings conclude() {
    for (const Active& lane : active_) {
      const double given = std::accumulate(lane.seconds.begin(), lane.seconds.end(), 0.0);
      const double factor = given > 0 ? wasted(lane.line->split) / given : 0;
      for (std::size_t k = 0; k < kPartKinds; ++k) found_.seconds[k] += factor * lane.seconds[k];
    }
    return std::move(found_);
  }

  const JobLines& lines_;
  Findings found_;
  std::vector<Active> active_;
};

}  // namespace

Findings find_parts(const JobLines& lines) { return Dissector(lines).run(); }

PartSeconds part_seconds(const JobLines& lines) { return find_parts(lines).seconds; }

}  // namespace amdahl::scan
