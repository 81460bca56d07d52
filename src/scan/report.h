// report.h: the result of a scan: where accelerator time went, for whom, and what may come back.
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
#include "scan/beside.h"
#include "scan/failures.h"
#include "scan/policy.h"
#include "scan/waiting.h"

namespace amdahl::scan {

struct Families;

// Times without a unit are accelerator-seconds, as in Split. For printing:
constexpr double in_hours(double accelerator_seconds) { return accelerator_seconds / 3600; }

// Groupings of a fleet.
enum class By : std::uint8_t { kJob, kFamily, kUser, kAccount, kPartition, kNode, kState, kKind };
inline constexpr auto kCuts = std::to_array<By>({By::kJob, By::kFamily, By::kUser, By::kAccount,
                                                 By::kPartition, By::kNode, By::kState, By::kKind});
std::string_view name(By by);  // "job", "family", ..., "kind".
std::optional<By> cut_named(std::string_view name);

// What rows are ranked by. The others break ties in this order, then the name.
enum class Order : std::uint8_t { kRecoverable, kWasted, kAllocated, kLost, kQueue };
std::string_view name(Order order);  // "recoverable", "wasted", "allocated", "lost", "queue".
std::optional<Order> order_named(std::string_view name);

struct Prices {
  std::optional<double> by_default{};  // USD per accelerator-hour.
  // Kind as in accounting; takes precedence over the default.
  std::map<std::string, double> by_kind{};
};

// How often levers have worked.
struct Tried {
  int tried = 0;
  int won = 0;
};

// A cause that a profile found.
struct KnownCause {
  model::Bottleneck bottleneck = model::Bottleneck::kUnknown;
  double share = 0;  // Share that it explains.
};

// What the ledger knows about one family.
struct Memory {
  int tried = 0;
  int won = 0;
  std::vector<KnownCause> causes{};  // From its latest profile; empty if never profiled.
};

struct Memories {
  std::map<std::string, Memory> families{};
  std::map<model::Bottleneck, Tried> levers{};  // By bottleneck, all families together.
};

struct ReportOptions {
  // Rows kept per grouping; 0: all. Families with a memory are always kept. Pareto curves and
  // totals cover all rows.
  std::size_t rows = 20;
  Order order = Order::kRecoverable;
  Prices prices{};
  int slices = 24;  // Of the window, for the trend.
  // Width of the trend's windows; 0: none. They start at round UTC times; weeks on Mondays.
  Nanos trend_every{};
  std::size_t trend_families = 10;   // Of the first rows.
  Nanos idle_timeout{};              // To replay and choose; 0: the best of some.
  std::string scan = "amdahl scan";  // Command that reads these inputs again, for actions.
  std::string end_jobs = "scancel";  // Command of the scheduler that ends jobs.
  double co2_g_per_kwh = 0;
  // Whether to stop at once; then the result is incomplete and must not be used.
  std::function<bool()> stop{};
};

// What to change, and how much that can recover.
struct Lever {
  enum class From : std::uint8_t {
    kNothing,  // Nothing was observed.
    kShare,    // Only totals are known: assumed to reach the waste's share of the allocation.
    kAnatomy,  // The largest kind of parts in its timelines.
    kProfile,  // The most promising cause of the latest profile.
  };
  From from = From::kNothing;
  model::Bottleneck against = model::Bottleneck::kUnknown;
  std::string_view action = "";  // "give back accelerators that nothing uses".
  double ceiling = 0;            // Largest share of the waste it could remove.
  double chance = 0;             // Expected share of that; see chance_of().
  double chance_lower = 0;       // 95 % interval of the prior, with the same tries.
  double chance_upper = 0;
  double recoverable = 0;       // Accelerator-seconds: the family's waste × ceiling × chance.
  std::string_view basis = "";  // Source of the prior: published, or replayed.
  Tried such{};                 // Levers against this bottleneck, all families.
  Tried here{};                 // Levers of this family, any bottleneck.
};

// (won + 4 p) / (tried + 4) over the family's levers, where p = (won + 4 q) / (tried + 4) over the
// levers of this class in all families. q is the prior: published (scan/base_rate.h), or from
// replaying a policy on these jobs (scan/policy.h).
double chance_of(const Memory& family, const Tried& lever);

// (won + 4 rate) / (tried + 4): `rate` after what was tried.
double rate_after(double rate, const Tried& seen);

struct Money {  // USD; for rows whose every accelerator-hour has a price.
  double allocated = 0;
  std::optional<double> wasted;  // Unknown if nothing was observed; the last one too.
  double lost = 0;
  std::optional<double> recoverable;
};

struct Row {
  std::string name;    // Job id, family, user, ...
  std::string detail;  // For a job its name, user and size; for a family why it is one.
  std::uint64_t jobs = 0;
  std::uint64_t unobserved_jobs = 0;  // Without a valid sample.
  std::uint64_t lost_jobs = 0;        // FAILED, TIMEOUT, NODE_FAIL, OUT_OF_MEMORY.
  Split split;
  double queue = 0;                   // From submit to start, times accelerators.
  double lost = 0;                    // Allocated to lost jobs.
  double recoverable = 0;             // Wasted × ceiling × chance, summed over jobs.
  std::optional<double> utilisation;  // Productive / observed.
  std::optional<Money> money;         // If a price is set.
  Lever lever;                        // For jobs and families: the most promising.
  std::vector<Lever> levers{};        // For families: all that may return something.
  double kwh = 0;                     // What its jobs drew, where power is known.
  std::string worst_job;              // The job that wasted most: amdahl anatomy JOB.
  std::uint32_t worst = 0;            // Its index in FleetUsage::jobs, if any.
  std::string why;                    // For families and jobs: one sentence with the numbers.
};

// Concentration. "Top p" are the ceil(p × n) largest.
struct Pareto {
  static constexpr std::array<double, 5> kTops = {0.001, 0.01, 0.05, 0.1, 0.2};
  struct Point {
    double items = 0;  // Share of the rows, largest first: 0 to 1.
    double share = 0;  // Their share of the total.
  };
  std::uint64_t n = 0;
  double total = 0;
  std::array<double, 5> top{};  // Shares; 0 if the total is.
  // For drawing: at most 64, from (0, 0) to (1, 1); empty if the total is 0.
  std::vector<Point> points;
};
// Any input order; reorders `values`. `n`: rows in all, if those that are 0 were left out.
Pareto pareto_of(std::vector<double>& values, std::size_t n = 0);

struct Cut {
  By by = By::kJob;
  std::uint64_t count = 0;  // All rows.
  std::vector<Row> rows;    // The first ones, ranked.
  Pareto wasted;
  Pareto allocated;
};

struct Metric {
  std::string name;     // "DCGM_FI_PROF_SM_ACTIVE".
  double observed = 0;  // Accelerator-seconds observed by it.
  std::uint64_t jobs = 0;
};

struct Utilisation {
  std::optional<double> mean;    // Weighted by observed accelerator-time; 0 to 1.
  std::optional<double> median;  // Over jobs, same weights.
  std::vector<Metric> metrics;   // Metrics used, most used first.
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
  double unpriced = 0;  // Allocated time of kinds without a price, if any price is set.
};

// How a fleet's capacity was used. Unknown values are absent.
struct CapacityUse {
  std::string partition;  // Empty: the whole fleet.
  std::string basis;      // "occupancy over time", "counts of accelerators"; empty: unknown.
  std::optional<double> total;
  std::optional<double> down;
  std::optional<double> unallocated;
  double allocated = 0;   // Sum of the next four.
  double idle = 0;        // Allocated but idle.
  double low = 0;         // Allocated but inefficient.
  double unobserved = 0;  // Allocated and unobserved.
  double productive = 0;
  double elsewhere = 0;  // Allocated on hosts that `total` does not include.
  // False: there is no accounting, so `allocated` and its parts come from labels only.
  bool is_accounted = true;
  // Observed without a known job: idle, and productive.
  double free = 0;
  double free_idle = 0;
  double free_use = 0;
};

struct Slice {
  Nanos start{};
  Nanos end{};
  std::uint64_t jobs = 0;  // Observed jobs in it.
  Split split;
  // Sums over those jobs, w wasted and o observed hours, for the interval of w/o.
  double ww = 0;
  double wo = 0;
  double oo = 0;
  // The same with wasted (v) and observed (p) hours of the previous slice: a job in both slices is
  // not independent.
  double wv = 0;
  double wp = 0;
  double ov = 0;
  double op = 0;
};

// One window of a trend: the wasted share of observed time, with its uncertainty over jobs.
struct TrendWindow {
  Slice slice;
  double share = 0;  // Wasted / observed.
  double lower = 0;  // 95 % interval over jobs; not finite if there are too few.
  double upper = 0;
  double change = 0;  // Against the previous window, in shares; 0 if either was not observed.
  double change_lower = 0;
  double change_upper = 0;
  bool has_change = false;
  bool can_tell = false;  // The interval of the change excludes 0.
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
  double lower = 0;   // 95 % interval over jobs, which are the independent units.
  double upper = 0;
  bool can_tell = false;  // The interval excludes 0.
  std::string says;       // One sentence with the counts.
};

// Waste of the fleet or one family, per window.
struct TrendLine {
  std::string family;  // Empty: the whole fleet.
  std::vector<TrendWindow> windows;
  std::optional<Trend> halves;  // Second half of the time against the first.
};

// The share of capacity that became useful work: a product of three shares.
struct Goodput {
  std::optional<double> scheduling;  // Allocated / capacity that was up, if known.
  double runtime = 0;                // Share of allocated time not lost in failed jobs.
  std::optional<double> program;     // Productive / observed time of the other jobs.
  std::optional<double> total;       // Product of the known ones; nothing if all are unknown.
};

// What to do about the waste, per lever, in accelerator-seconds of the window. Actions do not
// overlap: no second of waste is in two of them.
struct Action {
  std::string_view id = "";     // For programs: "end-idle-sessions".
  std::string_view title = "";  // "End idle sessions".
  // Counted by replaying a policy on past jobs. Otherwise the waste is measured, and the recovery
  // is an estimate.
  bool is_confirmed = false;
  double wasted = 0;     // What it addresses.
  double recovered = 0;  // Expected recovery.
  double lower = 0;      // 95 % interval of that; equal if counted.
  double upper = 0;
  std::optional<double> usd;         // Value of `recovered`, if all its hours have a price;
  std::optional<double> usd_wasted;  // and of `wasted`.
  std::uint64_t jobs = 0;
  std::uint64_t users = 0;
  BaseRate confidence{};  // Share of right hits, or the lever's chance.
  std::string because;    // One sentence with the numbers.
  std::string command;    // Ready to paste.
  std::string message;    // For those users.
};

// "98 % right (97 to 99 %)" of a rule's hits, "31 % back (12 to 50 %)" of an estimate's waste.
std::string confidence_text(const Action& action, bool with_interval = true);

// Where the estimates of the listed actions come from, each source once: "2, 4 are back if ...".
std::vector<std::string> bases_of(const std::vector<const Action*>& actions);

// The command without its inputs: "amdahl scan … --job 1".
std::string brief_command(std::string_view command);

struct Report {
  Nanos start{};  // The window, Unix time.
  Nanos end{};
  double idle_below = 0;  // Utilisation.
  Totals totals;
  Utilisation utilisation;
  std::vector<Cut> cuts;                // One per grouping, in the order of By.
  CapacityUse capacity;                 // Of the fleet.
  std::vector<CapacityUse> partitions;  // Most unallocated first; only those with known capacity.
  std::vector<Slice> slices;
  std::optional<Trend> trend;     // Nothing if either half was not observed.
  std::vector<TrendLine> trends;  // If requested: the fleet, then its first families.
  Policies policies;              // Replayed on the jobs.
  std::vector<Action> actions;    // Confirmed ones first, each group by recovered time.
  Goodput goodput;
  std::vector<Failure> failures;  // By state and reason, most allocated first.
  std::vector<Waiting> waiting;   // The queue against accelerators idle in the same minute.
  Beside beside;                  // Power, memory held, use outside of jobs.

  const Cut& cut(By by) const { return cuts[static_cast<std::size_t>(by)]; }
};

// Whether the window is long enough, a day, to say what a week has.
bool tells_a_week(const Report& report);

// Converts an amount of the window to a week; as it is where the window does not tell.
double per_week(const Report& report, double amount);

// Half or more of the allocated time and of the jobs was observed: they speak for the fleet.
bool is_mostly_observed(const Report& report);

// What to give if most time is unobserved because accounting does not say which accelerators of a
// host a job held; empty otherwise.
std::string unplaced_text(const FleetUsage& usage, const Report& report);

// Use in the window as accelerator-hours per day; a window of minutes counts as one hour.
double hours_per_day(const Report& report, double accelerator_seconds);

// Deterministic. Linear in jobs and lanes, except for sorting the kept rows.
Report report(const FleetUsage& usage, const Families& families, const Memories& memory,
              const ReportOptions& options = {});

}  // namespace amdahl::scan
