// report.h: what a scan answers: where accelerator time went, whose it was, what may come back.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "model/profile.h"
#include "scan/anatomy.h"
#include "scan/base_rate.h"
#include "scan/failures.h"
#include "scan/policy.h"
#include "scan/waiting.h"

namespace amdahl::scan {

struct FleetUsage;
struct Families;

// Times without another unit are accelerator-seconds, as in Split. For printing:
constexpr double in_hours(double accelerator_seconds) { return accelerator_seconds / 3600; }

// The ways to cut a fleet.
enum class By : std::uint8_t { kJob, kFamily, kUser, kAccount, kPartition, kNode, kState, kKind };
inline constexpr auto kCuts = std::to_array<By>({By::kJob, By::kFamily, By::kUser, By::kAccount,
                                                 By::kPartition, By::kNode, By::kState, By::kKind});
std::string_view name(By by);  // "job", "family", ..., "kind".
std::optional<By> cut_named(std::string_view name);

// What rows are ranked by. The others break ties in this order, then the name does.
enum class Order : std::uint8_t { kRecoverable, kWasted, kAllocated, kLost, kQueue };
std::string_view name(Order order);  // "recoverable", "wasted", "allocated", "lost", "queue".
std::optional<Order> order_named(std::string_view name);

struct Prices {
  std::optional<double> by_default{};       // USD an accelerator-hour.
  std::map<std::string, double> by_kind{};  // As accounting writes the kind; wins over the default.
};

// How often levers have worked.
struct Tried {
  int tried = 0;
  int won = 0;
};

// A cause that a profile found.
struct KnownCause {
  model::Bottleneck bottleneck = model::Bottleneck::kUnknown;
  double share = 0;  // That it explains.
};

// What the ledger knows of one family.
struct Memory {
  int tried = 0;
  int won = 0;
  std::vector<KnownCause> causes{};  // Of its latest profile; none if it was not profiled.
};

struct Memories {
  std::map<std::string, Memory> families{};
  std::map<model::Bottleneck, Tried> levers{};  // Against one bottleneck, all families together.
};

struct ReportOptions {
  // Kept of each cut; 0: all. Families of which there is a memory are kept, however far down.
  // Pareto curves and totals have all of them.
  std::size_t rows = 20;
  Order order = Order::kRecoverable;
  Prices prices{};
  int slices = 24;  // Of the window, for the trend.
  // Windows of the trend; 0: none. They begin at round times of UTC, those of weeks on Mondays.
  Nanos trend_every{};
  std::size_t trend_families = 10;   // Of the first rows.
  Nanos idle_timeout{};              // To replay and choose; 0: the best of some.
  std::string scan = "amdahl scan";  // The command that reads these inputs again, for actions.
  // Whether to end at once: what report() gives then is not complete, and of no use.
  std::function<bool()> stop{};
};

// What to pull at, and how far that can go.
struct Lever {
  enum class From : std::uint8_t {
    kNothing,  // Nothing was observed: cannot tell.
    kShare,    // Only sums are known: taken to reach as far as the waste's share of the allocation.
    kAnatomy,  // The largest class of parts of its timelines.
    kProfile,  // A cause of the latest profile: the one of which most can be expected.
  };
  From from = From::kNothing;
  model::Bottleneck against = model::Bottleneck::kUnknown;
  std::string_view action = "";  // "give back accelerators that nothing uses".
  double ceiling = 0;            // The share of the waste that it could take away at most.
  double chance = 0;             // The share of it to expect back: see chance_of().
  double chance_lower = 0;       // 95 % interval of what is known beforehand, with the same tries.
  double chance_upper = 0;
  std::string_view basis = "";  // Of the chance before anything was tried: published, or replayed.
  Tried such{};                 // Levers against this bottleneck, in all families.
  Tried here{};                 // Levers of this family, whatever they acted on.
};

// (won + 4 p) / (tried + 4) of the family's levers, where p = (won + 4 q) / (tried + 4) of the
// levers of this class in all families. Before anything was tried it is q: what was published
// (scan/base_rate.h), or what replaying a rule on these jobs gives (scan/policy.h).
double chance_of(const Memory& family, const Tried& lever);

struct Money {  // USD; of rows whose every accelerator-hour has a price.
  double allocated = 0;
  std::optional<double> wasted;  // Not known where nothing was observed; nor is the last.
  double lost = 0;
  std::optional<double> recoverable;
};

struct Row {
  std::string name;    // The job's id, the family's name, the user's, ...
  std::string detail;  // One line more: of a job its name, user and size; why a family is one.
  std::uint64_t jobs = 0;
  std::uint64_t unobserved_jobs = 0;  // Without one valid sample.
  std::uint64_t lost_jobs = 0;        // FAILED, TIMEOUT, NODE_FAIL, OUT_OF_MEMORY.
  Split split;
  double queue = 0;                   // From submit to start, times accelerators.
  double lost = 0;                    // Allocated to lost jobs.
  double recoverable = 0;             // Wasted × ceiling × chance; over the jobs of a group.
  std::optional<double> utilisation;  // Productive over observed.
  std::optional<Money> money;         // Where a price is set.
  Lever lever;                        // Of jobs and families.
  std::string worst_job;              // That wasted most, to look at: amdahl anatomy JOB.
  std::uint32_t worst = 0;            // Its index in FleetUsage::jobs, if there is one.
  std::string why;                    // Of families and jobs: one sentence with the numbers.
};

// How much the largest few hold. "Top p" are the ceil(p × n) largest.
struct Pareto {
  static constexpr std::array<double, 5> kTops = {0.001, 0.01, 0.05, 0.1, 0.2};
  struct Point {
    double items = 0;  // Share of the rows, largest first: 0 to 1.
    double share = 0;  // Of the total that they hold.
  };
  std::uint64_t n = 0;
  double total = 0;
  std::array<double, 5> top{};  // Shares; 0 where the total is.
  std::vector<Point> points;    // For drawing: at most 64, from (0, 0) to (1, 1); empty if total 0.
};
// Needs no order; leaves `values` in another one.
Pareto pareto_of(std::vector<double>& values);

struct Cut {
  By by = By::kJob;
  std::uint64_t count = 0;  // Rows in all.
  std::vector<Row> rows;    // The first of them, ranked.
  Pareto wasted;
  Pareto allocated;
};

struct Metric {
  std::string name;     // "DCGM_FI_PROF_SM_ACTIVE".
  double observed = 0;  // Accelerator-seconds judged by it.
  std::uint64_t jobs = 0;
};

struct Utilisation {
  std::optional<double> mean;    // Weighted by observed accelerator-time; 0 to 1.
  std::optional<double> median;  // Over jobs, weighted the same.
  std::vector<Metric> metrics;   // Which were used, most used first.
};

struct Totals {
  std::uint64_t jobs = 0;  // Attempts with accelerators inside the window.
  std::uint64_t unobserved_jobs = 0;
  double unobserved_in_jobs = 0;  // Allocated to those; other unobserved time is in gaps.
  std::uint64_t lost_jobs = 0;
  std::uint64_t families = 0;
  std::uint64_t users = 0;
  std::uint64_t accounts = 0;
  Split split;
  double queue = 0;
  std::uint64_t queue_unknown_jobs = 0;  // No submit time.
  double lost = 0;
  double recoverable = 0;
  std::optional<Money> money;
  double unpriced = 0;  // Allocated time of kinds without a price, where some price is set.
};

// Where a fleet's capacity went. What is not known is not there.
struct CapacityUse {
  std::string partition;  // Empty: the whole fleet.
  std::string basis;      // "occupancy over time", "counts of accelerators"; empty: not known.
  std::optional<double> total;
  std::optional<double> down;
  std::optional<double> unallocated;
  double allocated = 0;   // The next four.
  double idle = 0;        // Allocated but idle.
  double low = 0;         // Allocated but inefficient.
  double unobserved = 0;  // Allocated; nobody looked.
  double productive = 0;
  double elsewhere = 0;  // Allocated on hosts that `total` does not count.
  // False: no accounting was given, so that `allocated` and its parts are only what labels say.
  bool is_accounted = true;
  // Observed while no job is known to have held the accelerators: idle, and productive.
  double free = 0;
  double free_idle = 0;
  double free_use = 0;
};

struct Slice {
  Nanos start{};
  Nanos end{};
  std::uint64_t jobs = 0;  // That ran in it and were observed.
  Split split;
  // Sums over those jobs, w wasted and o observed hours: what an interval of w/o needs.
  double ww = 0;
  double wo = 0;
  double oo = 0;
  // The same with what they wasted (v) and were observed (p) in the slice before: one job in both
  // is no chance between them.
  double wv = 0;
  double wp = 0;
  double ov = 0;
  double op = 0;
};

// One window of a trend: what was wasted of the observed time, and how sure that is over jobs.
struct TrendWindow {
  Slice slice;
  double share = 0;  // Wasted of observed.
  double lower = 0;  // 95 % interval over jobs; not finite where they are too few.
  double upper = 0;
  double change = 0;  // Against the window before, in shares; 0 where either was not observed.
  double change_lower = 0;
  double change_upper = 0;
  bool has_change = false;
  bool can_tell = false;  // The interval of the change excludes 0: it may not be chance.
};

// One window against an earlier one.
struct Trend {
  std::string_view of =
      "";  // "the second half of the window against the first", "…the window before".
  Slice before;
  Slice now;
  double waste_share_before = 0;  // Of observed time.
  double waste_share_now = 0;
  double change = 0;  // now - before, in shares.
  double lower = 0;   // 95 % interval over jobs: they, not samples, are what repeats.
  double upper = 0;
  bool can_tell = false;  // The interval excludes 0.
  std::string says;       // One sentence with the counts.
};

// What the fleet or one family wasted, window by window.
struct TrendLine {
  std::string family;  // Empty: the whole fleet.
  std::vector<TrendWindow> windows;
  std::optional<Trend> halves;  // The second half of the time against the first.
};

// Of an hour of capacity, what became useful work: the product of three shares.
struct Goodput {
  std::optional<double> scheduling;  // Of the capacity that was up: allocated; if it is known.
  double runtime = 0;                // Of allocated: not lost in jobs that failed.
  std::optional<double> program;     // Of the observed time of the others: productive.
  std::optional<double> total;       // The product of those that are known; all unknown: nothing.
};

// What to do about the waste, by lever. Accelerator-seconds are of the window. The actions of a
// list do not overlap: no second of waste is in two of them.
struct Action {
  std::string_view id = "";     // "end-idle-sessions": for programs.
  std::string_view title = "";  // "End idle sessions".
  // Counted by replaying a rule on the jobs that ran. Otherwise the waste is measured, and what
  // comes back is an estimate.
  bool is_confirmed = false;
  double wasted = 0;     // What it acts on.
  double recovered = 0;  // Of it, to expect back.
  double lower = 0;      // 95 % interval of that; equal where it is counted.
  double upper = 0;
  std::optional<double> usd;  // Of `recovered`, if all its hours have a price.
  std::uint64_t jobs = 0;
  std::uint64_t users = 0;
  BaseRate confidence{};  // The share of right hits, or the chance of the lever.
  std::string because;    // One sentence with the numbers.
  std::string command;    // To paste.
  std::string message;    // To send to those users.
};

// The command without its inputs: "amdahl scan … --job 1".
std::string brief_command(std::string_view command);

struct Report {
  Nanos start{};  // The window, Unix time.
  Nanos end{};
  double idle_below = 0;  // Utilisation.
  Totals totals;
  Utilisation utilisation;
  std::vector<Cut> cuts;  // One of each way, in the order of By.
  CapacityUse capacity;   // Of the fleet.
  std::vector<CapacityUse>
      partitions;  // Most unallocated first; only those whose capacity is known.
  std::vector<Slice> slices;
  std::optional<Trend> trend;     // Nothing where there was nothing observed in either half.
  std::vector<TrendLine> trends;  // If asked for: the fleet, then its first families.
  Policies policies;              // Rules replayed on the jobs.
  std::vector<Action> actions;    // Confirmed ones first, each by what comes back.
  Goodput goodput;
  std::vector<Failure> failures;  // By state and reason, most allocated first.
  std::vector<Waiting> waiting;   // The queue against what was idle at the same minute.

  const Cut& cut(By by) const { return cuts[static_cast<std::size_t>(by)]; }
};

// What the window's accelerator-seconds are in a week.
double per_week(const Report& report, double amount);

// What was used in the window as accelerator-hours a day; a window of minutes counts as an hour.
double hours_per_day(const Report& report, double accelerator_seconds);

// Same usage, same report. Linear in jobs and lanes, but for sorting the rows that are kept.
Report report(const FleetUsage& usage, const Families& families, const Memories& memory,
              const ReportOptions& options = {});

}  // namespace amdahl::scan
