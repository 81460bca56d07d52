#include "scan/report.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "base/amount.h"
#include "base/text.h"
#include "scan/actions.h"
#include "scan/capacity.h"
#include "scan/families.h"
#include "scan/family.h"
#include "scan/fleet_usage.h"
#include "scan/lever.h"
#include "scan/ranked.h"
#include "scan/ranking.h"
#include "scan/row_words.h"
#include "scan/stop.h"
#include "scan/tally.h"
#include "scan/trend.h"
#include "scan/triple_memo.h"

namespace amdahl::scan {
namespace {

constexpr std::string_view kNotSaid = "(unknown)";

class Reporter {
 public:
  Reporter(const FleetUsage& usage, const Families& families, const Memories& memory,
           const ReportOptions& options)
      : usage_{usage},
        families_{families},
        memory_{memory},
        options_{options},
        stop_{options.stop},
        policies_{replay_policies(usage, families, options.idle_timeout, stop_)},
        levers_{usage, families, memory, policies_, stop_},
        nodes_{usage} {}

  Report run() {
    report_.start = usage_.window.start;
    report_.end = usage_.window.end;
    report_.idle_below = usage_.idle_below;
    for (void (Reporter::*const step)() :
         {&Reporter::add_jobs, &Reporter::set_totals, &Reporter::set_utilisation,
          &Reporter::set_trend, &Reporter::set_capacity, &Reporter::set_cuts, &Reporter::set_trends,
          &Reporter::set_actions}) {
      if (stop_.now()) break;
      (this->*step)();
    }
    return std::move(report_);
  }

  // After run().
  Cut page(const PageOptions& page) {
    Cut cut{.by = page.by, .count = 0, .rows = {}, .wasted = {}, .allocated = {}};
    const bool jobs = page.by == By::kJob;
    const std::vector<std::uint32_t> found = jobs ? matching_jobs(page) : matching_groups(page);
    const auto key = [&](std::uint32_t i) {
      return jobs ? key_of_job(page.order, found[i])
                  : key_of_sum(page.order, sums_of(page.by)[found[i]]);
    };
    const auto name = [&](std::uint32_t i) {
      return jobs ? job_name(found[i]) : std::string(group_name(page.by, found[i]));
    };
    cut.count = found.size();
    if (page.rows == 0 || page.skip >= found.size()) return cut;
    for (const std::uint32_t at :
         ranked_page(found.size(), page.skip, page.rows, key, name, stop_)) {
      const std::uint32_t i = found[at];
      cut.rows.push_back(jobs ? job_row(i) : group_row(page.by, i));
    }
    return cut;
  }

 private:
  std::vector<std::uint32_t> matching_groups(const PageOptions& page) {
    const std::string wanted = lower(page.search);
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < sums_of(page.by).size(); ++i) {
      if (contains(lower(group_name(page.by, i)), wanted)) found.push_back(i);
    }
    return found;
  }

  // What many jobs have in common is looked at once.
  std::vector<std::uint32_t> matching_jobs(const PageOptions& page) {
    const std::string wanted = lower(page.search);
    const JobRows& jobs = usage_.jobs;
    std::vector<bool> by_traits;
    for (const JobRows::Traits& traits : jobs.traits()) {
      by_traits.push_back(std::ranges::any_of(
          std::array{traits.name, traits.user, traits.account},
          [&](WordId word) { return contains(lower(usage_.text(word)), wanted); }));
    }
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < jobs.size() && !stop_(i); ++i) {
      if (!page.family.empty() && families_.all[families_.of_job[i]].name != page.family) continue;
      if (by_traits[jobs.traits_of(i)] || contains(lower(job_name(i)), wanted)) found.push_back(i);
    }
    return found;
  }

  double price_of(WordId kind) {
    const std::uint32_t slot = priced_.of(kind);
    if (slot < prices_.size()) return prices_[slot];
    double price = options_.prices.by_default.value_or(std::nan(""));
    const std::string name = lower(usage_.text(kind));
    for (const auto& [key, value] : options_.prices.by_kind) {
      if (lower(key) == name) price = value;
    }
    prices_.push_back(price);
    return price;
  }

  bool any_price() const { return options_.prices.by_default || !options_.prices.by_kind.empty(); }

  double queued(std::uint32_t job) const {
    const Nanos submit = usage_.jobs.submit(job);
    const Nanos start = usage_.jobs.start(job);
    if (submit == Nanos{} || start <= submit) return 0;
    return to_seconds(start - submit) * usage_.jobs.accelerators(job);
  }

  JobFigures figures_of(std::uint32_t i, double recoverable) {
    const JobRows& jobs = usage_.jobs;
    return {.job = i,
            .split = jobs.split(i),
            .queue = queued(i),
            .lost = model::is_lost(jobs.state(i)),
            .unobserved = jobs.evidence(i) == Evidence::kNone,
            .recoverable = recoverable,
            .kwh = kwh_of(usage_, i),
            .price = price_of(jobs.traits()[jobs.traits_of(i)].kind)};
  }

  // Jobs with the same user, account, partition and kind share one of these; there are few.
  struct Who {
    std::uint32_t traits = 0;  // One that has them.
    Sum sum;
  };
  void find_who() {
    TripleMemo places;
    TripleMemo seen;
    const std::vector<JobRows::Traits>& traits = usage_.jobs.traits();
    for (std::uint32_t i = 0; i < traits.size() && !stop_(i); ++i) {
      const JobRows::Traits& t = traits[i];
      const std::uint32_t place = places.number_of({t.user, t.account, t.partition});
      who_of_.push_back(seen.number_of({place, t.kind, 0}));
      if (who_of_.back() == who_.size()) who_.push_back({.traits = i, .sum = {}});
    }
  }

  void add_jobs() {
    find_who();
    const JobRows& jobs = usage_.jobs;
    for (std::uint32_t i = 0; i < jobs.size() && !stop_(i); ++i) {
      const JobFigures figures = figures_of(i, levers_.recoverable(i));
      if (jobs.submit(i) == Nanos{}) ++report_.totals.queue_unknown_jobs;
      who_[who_of_[jobs.traits_of(i)]].sum.add(figures);
      tally_of(By::kFamily).of(families_.of_job[i]).add(figures);
      tally_of(By::kState).of(static_cast<std::uint32_t>(jobs.state(i))).add(figures);
      nodes_.add(figures);
      add_metric(jobs.metric(i), figures.split);
    }
    for (const Who& who : who_) {
      if (who.sum.jobs == 0) continue;
      const JobRows::Traits& traits = jobs.traits()[who.traits];
      all_.add(who.sum);
      tally_of(By::kUser).of(traits.user).add(who.sum);
      tally_of(By::kAccount).of(traits.account).add(who.sum);
      tally_of(By::kPartition).of(traits.partition).add(who.sum);
      tally_of(By::kKind).of(traits.kind).add(who.sum);
    }
  }

  void add_metric(WordId metric, const Split& split) {
    if (metric == 0) return;
    const std::uint32_t slot = metric_slots_.of(metric);
    if (slot == metrics_.size()) metrics_.push_back({.name = std::string(usage_.text(metric))});
    metrics_[slot].observed += observed_in(split);
    ++metrics_[slot].jobs;
  }

  Tally& tally_of(By by) { return tallies_[static_cast<std::size_t>(by)]; }

  std::optional<Money> money_of(const Sum& sum) const {
    if (!any_price() || sum.unpriced > 0) return std::nullopt;
    return money_in(sum);
  }

  static std::uint64_t said(const Tally& tally) {
    const auto& keys = tally.slots.keys();
    return static_cast<std::uint64_t>(keys.size()) -
           static_cast<std::uint64_t>(std::ranges::count(keys, 0U));
  }

  void set_totals() {
    Totals& totals = report_.totals;
    totals.jobs = all_.jobs;
    totals.unobserved_jobs = all_.unobserved_jobs;
    totals.unobserved_in_jobs = all_.unobserved;
    totals.lost_jobs = all_.lost_jobs;
    totals.families = families_.all.size();
    totals.users = said(tally_of(By::kUser));
    totals.accounts = said(tally_of(By::kAccount));
    totals.split = all_.split;
    totals.queue = all_.queue;
    totals.lost = all_.lost;
    totals.recoverable = all_.recoverable;
    if (any_price() && all_.unpriced < all_.split.allocated) totals.money = money_in(all_);
    totals.unpriced = any_price() ? all_.unpriced : 0;
  }

  void set_utilisation() {
    const double observed = observed_in(all_.split);
    if (observed > 0) report_.utilisation.mean = all_.split.productive / observed;
    report_.utilisation.median = median_utilisation(usage_.jobs, stop_);
    std::ranges::sort(metrics_, [](const Metric& a, const Metric& b) {
      return std::tie(b.observed, a.name) < std::tie(a.observed, b.name);
    });
    report_.utilisation.metrics = std::move(metrics_);
  }

  void set_trend() {
    const std::size_t slices = static_cast<std::size_t>(std::max(options_.slices, 1));
    Slicer fine(usage_, equal_grid(usage_.window, slices));
    Slicer halves(usage_, equal_grid(usage_.window, 2));
    for (std::size_t i = 0; i < usage_.jobs.size() && !stop_(i); ++i) {
      fine.add(i);
      halves.add(i);
    }
    report_.slices = std::move(fine).take();
    const std::vector<Slice> both = std::move(halves).take();
    if (both[0].jobs == 0 || both[1].jobs == 0) return;
    report_.trend = trend_between(both[0], both[1], Sides::kHalves);
  }

  void set_capacity() {
    report_.capacity = fleet_capacity(usage_, all_.split, nodes_.held_elsewhere());
    const Tally& tally = tally_of(By::kPartition);
    std::vector<PartitionSplit> partitions;
    for (std::size_t i = 0; i < tally.sums.size(); ++i) {
      partitions.push_back({.partition = tally.slots.keys()[i], .split = tally.sums[i].split});
    }
    report_.partitions = partition_capacities(usage_, partitions);
  }

  Row row_of(std::string_view name, const Sum& sum) const {
    Row row{.name = std::string(name.empty() ? kNotSaid : name),
            .detail = {},
            .jobs = sum.jobs,
            .unobserved_jobs = sum.unobserved_jobs,
            .lost_jobs = sum.lost_jobs,
            .split = sum.split,
            .queue = sum.queue,
            .lost = sum.lost,
            .recoverable = sum.recoverable,
            .utilisation = {},
            .money = money_of(sum),
            .lever = {},
            .levers = {},
            .kwh = sum.kwh,
            .worst_job = {},
            .worst = sum.worst,
            .why = {}};
    const double observed = observed_in(sum.split);
    if (observed > 0) row.utilisation = sum.split.productive / observed;
    if (sum.worst_wasted > 0) row.worst_job = usage_.text(usage_.jobs.id(sum.worst));
    return row;
  }

  Key key_of_sum(Order order, const Sum& sum) const {
    return key_of(order, sum.split, sum.recoverable, sum.lost, sum.queue);
  }

  // A cut of groups.
  Cut cut_of(By by) {
    const std::vector<Sum>& sums = sums_of(by);
    Cut cut{.by = by, .count = sums.size(), .rows = {}, .wasted = {}, .allocated = {}};
    const auto key = [&](std::uint32_t i) { return key_of_sum(options_.order, sums[i]); };
    const auto name = [&](std::uint32_t i) { return group_name(by, i); };
    std::vector<std::uint32_t> kept = ranked(sums.size(), options_.rows, key, name, stop_);
    if (by == By::kFamily) keep_remembered(kept, key, name);
    for (const std::uint32_t i : kept) cut.rows.push_back(group_row(by, i));
    std::vector<double> values;
    for (const Sum& sum : sums) values.push_back(wasted(sum.split));
    cut.wasted = pareto_of(values);
    values.clear();
    for (const Sum& sum : sums) values.push_back(sum.split.allocated);
    cut.allocated = pareto_of(values);
    return cut;
  }

  const std::vector<Sum>& sums_of(By by) {
    return by == By::kNode ? nodes_.sums() : tally_of(by).sums;
  }
  std::string_view group_name(By by, std::uint32_t i) {
    return by == By::kNode ? nodes_.name_of(i) : name_in(by, tally_of(by).slots.keys()[i]);
  }
  Row group_row(By by, std::uint32_t i) {
    Row row = row_of(group_name(by, i), sums_of(by)[i]);
    if (by == By::kFamily) explain_family(row, tally_of(by).slots.keys()[i]);
    return row;
  }

  // Families that can be worked on stay in sight, behind those that rank before them.
  template <class KeyOf, class NameOf>
  void keep_remembered(std::vector<std::uint32_t>& kept, KeyOf key, NameOf name) {
    std::vector<std::uint32_t> more;
    const std::set<std::uint32_t> already(kept.begin(), kept.end());
    if (memory_.families.empty()) return;
    for (std::uint32_t i = 0; i < tally_of(By::kFamily).sums.size(); ++i) {
      const bool known = memory_.families.contains(std::string(name(i)));
      if (known && !already.contains(i)) more.push_back(i);
    }
    const auto key_at = [&](std::uint32_t i) { return key(more[i]); };
    const auto name_at = [&](std::uint32_t i) { return name(more[i]); };
    for (const std::uint32_t i : ranked(more.size(), 0, key_at, name_at, stop_))
      kept.push_back(more[i]);
  }

  Key key_of_job(Order order, std::uint32_t i) const {
    const Split split = usage_.jobs.split(i);
    const double lost = model::is_lost(usage_.jobs.state(i)) ? split.allocated : 0;
    return key_of(order, split, levers_.recoverable(i), lost, queued(i));
  }
  std::string job_name(std::uint32_t i) const { return usage_.text(usage_.jobs.id(i)); }
  Row job_row(std::uint32_t i) {
    Sum sum;
    sum.add(figures_of(i, levers_.recoverable(i)));
    Row row = row_of(job_name(i), sum);
    explain_job(row, i);
    return row;
  }

  Cut jobs_cut() {
    const JobRows& jobs = usage_.jobs;
    Cut cut{.by = By::kJob, .count = jobs.size(), .rows = {}, .wasted = {}, .allocated = {}};
    const auto key = [&](std::uint32_t i) { return key_of_job(options_.order, i); };
    const auto name = [&](std::uint32_t i) { return job_name(i); };
    for (const std::uint32_t i : ranked(jobs.size(), options_.rows, key, name, stop_)) {
      cut.rows.push_back(job_row(i));
      if (stop_(cut.rows.size())) return cut;
    }
    // Most jobs of a large accounting have no samples: what is 0 needs no room.
    std::vector<double> values;
    if (all_.split.idle + all_.split.low > 0) {
      for (std::size_t i = 0; i < jobs.size() && !stop_(i); ++i) {
        if (const double value = wasted(jobs.split(i)); value > 0) values.push_back(value);
      }
    }
    cut.wasted = pareto_of(values, jobs.size());
    cut.wasted.n = jobs.size();
    values.clear();
    values.reserve(jobs.size());
    for (std::size_t i = 0; i < jobs.size() && !stop_(i); ++i) {
      values.push_back(jobs.split(i).allocated);
    }
    cut.allocated = pareto_of(values);
    return cut;
  }

  void set_cuts() {
    report_.cuts.push_back(jobs_cut());
    for (const By by : kCuts) {
      if (by != By::kJob && !stop_.now()) report_.cuts.push_back(cut_of(by));
    }
  }

  void set_trends() {
    if (options_.trend_every <= Nanos{}) return;
    std::vector<std::string> names;
    for (const Row& row : report_.cut(By::kFamily).rows) {
      if (names.size() < options_.trend_families) names.push_back(row.name);
    }
    report_.trends = trend_lines(usage_, families_, names, options_.trend_every, stop_);
  }

  void set_actions() {
    const ActionOptions options{
        .scan = options_.scan,
        .end_jobs = options_.end_jobs,
        .price = any_price()
                     ? std::function<double(WordId)>([&](WordId kind) { return price_of(kind); })
                     : nullptr,
        .tried = memory_.levers};
    report_.actions = actions_of(usage_, families_, levers_.parts(), policies_, options, stop_);
    report_.failures = failures_of(usage_, stop_);
    report_.waiting = waiting_of(usage_, stop_);
    report_.beside = beside_of(usage_, stop_);
    report_.beside.energy.co2_g_per_kwh = options_.co2_g_per_kwh;
    report_.goodput = goodput_of(report_.capacity, all_, tally_of(By::kState));
    report_.policies = std::move(policies_);
  }

  std::string_view name_in(By by, std::uint32_t key) const {
    if (by == By::kFamily) return families_.all[key].name;
    if (by == By::kState) return model::name(static_cast<model::JobState>(key));
    return usage_.text(key);
  }

  void explain_family(Row& row, std::uint32_t family) const;
  void explain_job(Row& row, std::uint32_t job) const;

  const FleetUsage& usage_;
  const Families& families_;
  const Memories& memory_;
  const ReportOptions& options_;
  Stop stop_;
  Policies policies_;
  Levers levers_;
  Report report_;
  Sum all_;
  std::vector<std::uint32_t> other_sizes_ = jobs_of_other_sizes(families_);  // By family.
  std::vector<Who> who_;
  std::vector<std::uint32_t> who_of_;  // By traits of jobs.
  std::array<Tally, kCuts.size()> tallies_;
  NodeTally nodes_;
  Slots priced_;
  std::vector<double> prices_;
  Slots metric_slots_;
  std::vector<Metric> metrics_;
};

void Reporter::explain_family(Row& row, std::uint32_t family) const {
  row.detail = why(families_.all[family]);
  if (row.jobs == 1) {
    const std::string alone = why_alone(families_.all[family], other_sizes_[family]);
    if (!alone.empty()) row.detail += "; " + alone;
  }
  row.lever = levers_.of_family(family).lever;
  row.levers = levers_.all_of_family(family);
  row.why = waste_words(row);
  if (observed_in(row.split) <= 0) return;
  row.why += "; " + lever_words(row.lever);
  if (row.lever.from != Lever::From::kNothing) row.why += "; " + chance_words(row.lever);
}

void Reporter::explain_job(Row& row, std::uint32_t job) const {
  const FleetJob told = usage_.jobs[job];
  std::vector<std::string> words;
  for (const WordId word : {told.name, told.user}) {
    if (word != 0) words.emplace_back(usage_.text(word));
  }
  const std::string_view kind = usage_.text(told.kind);
  words.push_back(
      fmt::format("{} × {}", show_size(told.accelerators), kind.empty() ? "accelerator" : kind));
  words.emplace_back(model::name(told.state));
  row.detail = join(words, ", ");
  row.lever = levers_.of_family(families_.of_job[job]).lever;
  row.why = waste_words(row);
  const Dissection parts = dissect(lines_of(usage_, told));
  if (!parts.parts.empty()) {
    const Part& most = parts.parts.front();
    row.why += fmt::format("; {} {}: {}", show_percent(most.share), name(most.kind), most.evidence);
  }
}

}  // namespace

Report report(const FleetUsage& usage, const Families& families, const Memories& memory,
              const ReportOptions& options) {
  return Reporter(usage, families, memory, options).run();
}

struct Ranking::Kept {
  Kept(const FleetUsage& usage, const Families& families, Memories known, ReportOptions how)
      : memory{std::move(known)}, options{std::move(how)}, sums{usage, families, memory, options} {}

  Memories memory;
  ReportOptions options;
  Reporter sums;
};

Ranking::Ranking(const FleetUsage& usage, const Families& families, Memories memory,
                 ReportOptions options)
    : kept_{std::make_unique<Kept>(usage, families, std::move(memory), std::move(options))},
      report_{kept_->sums.run()} {}
Ranking::~Ranking() = default;

Cut Ranking::page(const PageOptions& options) { return kept_->sums.page(options); }

double hours_per_day(const Report& report, double accelerator_seconds) {
  constexpr double kHour = 3600;
  const double seconds = std::max(to_seconds(report.end - report.start), kHour);
  return in_hours(accelerator_seconds) / (seconds / (24 * kHour));
}

}  // namespace amdahl::scan
