#include "cli/show_scan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "base/amount.h"
#include "base/count.h"
#include "base/screen.h"
#include "base/text.h"
#include "cli/show.h"
#include "cli/show_scan_parts.h"
#include "cli/terminal.h"

namespace amdahl::cli {
namespace {

using scan::By;
using scan::Report;
using scan::Row;
using scan::Split;

constexpr std::size_t kShownMissing = 5;
constexpr const char* kNotKnown = "not known";
constexpr double kWorthTelling = 1e-3;  // Of the allocated time.
constexpr std::uint64_t kFewJobs = 20;  // With fewer jobs, "the top 1 %" is meaningless.

class Shown {
 public:
  Shown(const ScanFlags& flags, const app::FleetAnswer& answer, By by)
      : flags_{flags},
        answer_{answer},
        report_{answer.report},
        by_{by},
        unit_{unit_of(answer.report)},
        width_{static_cast<std::size_t>(std::clamp(terminal_width(flags), 40, 160))},
        ascii_{use_ascii(flags)} {}

  std::string text() {
    headline();
    split_bar();
    text_ += show_actions(flags_, report_, width_);
    sums();
    classes();
    if (report_.trends.empty()) {
      text_ += show_rows(flags_, answer_, by_, width_);
      text_ += show_anatomies(flags_, answer_, width_);
    } else {
      text_ += "\n" + show_trend(flags_, report_);
    }
    left_open();
    constexpr Sign kSigns[] = {{"×", 'x'}, {"…", '~'}, {"–", '-'}};
    return ascii_ ? to_ascii(text_, kSigns) : std::move(text_);
  }

 private:
  // Painted when its width is known: an escape that is cut would colour all that follows.
  using Paint = std::string (*)(const Flags& flags, std::string_view text);
  static std::string as_it_is(const Flags&, std::string_view text) { return std::string(text); }
  void line(std::string_view text, Paint paint = as_it_is) {
    text_ += paint(flags_, clip(text, width_)) + "\n";
  }

  void paragraph(std::string_view text, Paint paint = as_it_is) {
    for (const std::string& one : wrap_lines(text, width_, 0, 2))
      text_ += paint(flags_, one) + "\n";
  }

  std::string metric() const {
    const auto& metrics = report_.utilisation.metrics;
    if (metrics.empty()) return "nothing was observed";
    std::vector<std::string> names;
    for (const scan::Metric& m : metrics) {
      const double part = share_of(m.observed, total_observed());
      names.push_back(metrics.size() == 1 ? plain(m.name)
                                          : fmt::format("{} ({} of what was observed)",
                                                        plain(m.name), show_percent(part)));
    }
    return fmt::format("utilisation by {}, idle {}", join(names, ", "),
                       scan::describe_idle(report_.idle_below));
  }

  bool is_observed() const { return total_observed() > 0; }

  bool has_states() const {
    const scan::Cut& states = report_.cut(By::kState);
    return states.count != 1 || states.rows.front().name != name(model::JobState::kOther);
  }

  double total_observed() const {
    const Split& split = report_.totals.split;
    return split.allocated - split.unobserved;
  }

  void headline() {
    const scan::Totals& totals = report_.totals;
    const auto n = [](std::uint64_t count) { return static_cast<std::int64_t>(count); };
    const std::string users =
        totals.users == 0 ? "" : fmt::format(" of {}", counted(n(totals.users), "user"));
    paragraph(fmt::format("{} to {} UTC: {}{} in {}; {}{}", describe_time(report_.start),
                          describe_time(report_.end), counted(n(totals.jobs), "job"), users,
                          counted(n(totals.families), "family", "families"), metric(),
                          answer_.jobs_by_label ? "; no accounting was given, so jobs are what "
                                                  "samples are labelled with"
                                                : ""));
    warnings();
    text_ += "\n";
    std::string money = totals.money ? fmt::format(", {}", usd(totals.money->allocated)) : "";
    if (totals.money && totals.unpriced > 0) {
      money += fmt::format(" for {} {} of them; {} {} have no price",
                           unit_(totals.split.allocated - totals.unpriced), unit_.brief,
                           unit_(totals.unpriced), unit_.brief);
    }
    paragraph(fmt::format("{} {} allocated{}", unit_(totals.split.allocated), unit_.name, money),
              bold);
  }

  // What a reader must know before the figures.
  void warnings() {
    for (std::size_t i = 0; i < std::min(kShownMissing, answer_.missing.size()); ++i) {
      paragraph("Missing: " + plain(answer_.missing[i]), red);
    }
    if (answer_.missing.size() > kShownMissing) {
      line(fmt::format("and {} more; all of them: --json", answer_.missing.size() - kShownMissing));
    }
    if (const std::string hint = scan::unplaced_text(answer_.usage, report_); !hint.empty()) {
      paragraph(plain(hint) + ".", red);
    }
    for (const scan::Assumption& one : answer_.usage.assumptions) {
      paragraph(fmt::format("Assumed: {}.", plain(one.says)), red);
    }
  }

  void split_bar() {
    const Split& split = report_.totals.split;
    struct Part {
      std::string_view name;
      double value;
      scan::Activity activity;
    };
    const Part parts[] = {{"productive", split.productive, scan::Activity::kProductive},
                          {"low", split.low, scan::Activity::kLow},
                          {"idle", split.idle, scan::Activity::kIdle},
                          {"unobserved", split.unobserved, scan::Activity::kUnobserved}};
    const double columns = static_cast<double>(width_) - 4;
    text_ += "  ";
    double upto = 0;
    std::size_t filled = 0;
    std::string legend = "\n";
    std::size_t at = 0;
    for (const Part& part : parts) {
      if (part.value <= 0) continue;
      upto += share_of(part.value, split.allocated) * columns;
      const auto to = std::max(filled, static_cast<std::size_t>(std::llround(upto)));
      text_ += drawn(flags_, part.activity, to - std::exchange(filled, to));
      const std::string words = fmt::format(" {} {} ({})", part.name, amount(part.value),
                                            show_percent(share_of(part.value, split.allocated)));
      const std::size_t wide = 3 + columns_of(words);
      if (at > 0 && at + wide > width_) {
        legend += "\n";
        at = 0;
      }
      legend += "  " + drawn(flags_, part.activity, 1) + words;
      at += wide;
    }
    text_ += legend + "\n";
  }

  // A label, a figure and its meaning, in columns; the text wraps within its column.
  void figure(std::string_view label, std::string_view value, std::string_view words) {
    constexpr std::size_t kLabel = 13;
    const std::size_t indent = 2 + kLabel + 2 + value_width_ + 2;
    const std::string head =
        fmt::format("  {}  {}", left(label, kLabel), right(value, value_width_));
    // In a narrow window the text starts further left on its own lines.
    const bool beside = width_ >= indent + 24;
    std::vector<std::string> lines = wrap_lines(words, width_, beside ? indent : 4);
    if (beside) {
      lines.front() = head + lines.front().substr(indent - 2);
    } else {
      lines.insert(lines.begin(), head);
    }
    for (std::string& line : lines) {
      line.erase(line.find_last_not_of(' ') + 1);
      if (!line.empty()) text_ += line + "\n";
    }
  }

  std::string amount(double accelerator_seconds) const {
    return fmt::format("{} {}", unit_(accelerator_seconds), unit_.brief);
  }

  template <class Part>
  std::string money(Part scan::Money::*part) const {
    const scan::Totals& totals = report_.totals;
    if (!totals.money || totals.unpriced > 0) return {};
    const std::optional<double> sum = (*totals.money).*part;
    return sum ? fmt::format("; {}", usd(sum)) : std::string();
  }

  void set_value_width() {
    const scan::Totals& totals = report_.totals;
    for (const double value : {totals.split.allocated, totals.queue,
                               report_.capacity.total.value_or(0), totals.recoverable}) {
      value_width_ = std::max(value_width_, columns_of(amount(value)));
    }
    const double kwh = report_.beside.energy.kwh;
    if (kwh > 0) value_width_ = std::max(value_width_, columns_of(show_amount(kwh)) + 4);
  }

  void sums() {
    const scan::Totals& totals = report_.totals;
    set_value_width();
    text_ += "\n";
    const double wasted = scan::wasted(totals.split);
    if (is_observed()) {
      figure("wasted", amount(wasted),
             fmt::format("{} of what was observed: idle + low{}",
                         show_percent(share_of(wasted, total_observed())),
                         money(&scan::Money::wasted)));
      figure("recoverable", amount(totals.recoverable),
             fmt::format("of the wasted: what the best lever of each family reaches, times its "
                         "chance to work{}",
                         money(&scan::Money::recoverable)));
    } else {
      figure("wasted", kNotKnown,
             "because nothing was observed: add samples, of a server (--source "
             "prometheus=http://HOST:9090) or of each host (nvidia-smi "
             "--query-gpu=timestamp,index,utilization.gpu,memory.used,power.draw --format=csv "
             "-l 60 > $(hostname).csv)");
    }
    if (has_states()) {
      figure("lost", amount(totals.lost),
             fmt::format("in {} that failed{}",
                         counted(static_cast<std::int64_t>(totals.lost_jobs), "job"),
                         money(&scan::Money::lost)));
      failures();
    } else {
      figure("lost", kNotKnown, "because no job has an end state");
    }
    const bool queue = totals.queue_unknown_jobs < totals.jobs;
    figure("queue", queue ? amount(totals.queue) : kNotKnown,
           !queue ? "because no job has a submit time"
           : totals.queue_unknown_jobs > 0
               ? fmt::format("waited for accelerators; {} have a submit time",
                             fmt::format("{} of {} jobs", totals.jobs - totals.queue_unknown_jobs,
                                         totals.jobs))
               : "waited for accelerators, before jobs began");
    waited();
    held_idle();
    outside();
    energy();
    goodput();
    if (report_.trend) figure("trend", "", plain(report_.trend->says));
    pareto();
  }

  // The queue against accelerators of the same kind that did nothing at the same minute.
  void waited() {
    double idle = 0;
    double free = 0;
    for (const scan::Waiting& one : report_.waiting) {
      idle += one.while_idle;
      free += one.while_free.value_or(0);
    }
    if (idle <= 0 && free <= 0) return;
    figure("  of it", amount(idle),
           fmt::format("waited while as many accelerators of that kind were held idle{}",
                       free > 0 ? fmt::format("; {} while as many were free", amount(free)) : ""));
  }

  // Nothing if no job says whose it is.
  static std::string of_users(std::uint64_t users) {
    return users == 0 ? ""
                      : fmt::format(" of {}", counted(static_cast<std::int64_t>(users), "user"));
  }

  // What idle accelerators held in memory tells why they were idle.
  void held_idle() {
    const scan::Beside& beside = report_.beside;
    const auto told = [&](std::string_view label, const scan::HeldIdle& held,
                          std::string_view what) {
      if (held.seconds <= 0) return;
      figure(label, amount(held.seconds),
             fmt::format("held idle {} in {}{}; most by job {} ({})", what,
                         counted(static_cast<std::int64_t>(held.jobs), "job"), of_users(held.users),
                         plain(held.worst_job), amount(held.worst)));
    };
    told("no process", beside.empty, "without memory in use, so no process had the accelerator,");
    told("memory held", beside.loaded,
         "with memory in use (a notebook, a server without requests)");
  }

  // Work on accelerators that accounting gives to no job.
  void outside() {
    constexpr std::size_t kShown = 3;
    double sum = 0;
    std::vector<std::string> hosts;
    for (const scan::OutsideUse& one : report_.beside.outside) {
      sum += one.seconds;
      if (hosts.size() < kShown) hosts.push_back(plain(one.host));
    }
    if (hosts.empty() || sum < kWorthTelling * report_.totals.split.allocated) return;
    const std::size_t more = report_.beside.outside.size() - hosts.size();
    figure("outside jobs", amount(sum),
           fmt::format("of work on accelerators that no job held, most on {}{}; see who runs it "
                       "there: nvidia-smi",
                       join(hosts, ", "), more > 0 ? fmt::format(" and {} more", more) : ""));
  }

  void energy() {
    const scan::Energy& of = report_.beside.energy;
    if (of.powered <= 0) return;
    const double known = share_of(of.powered, report_.totals.split.allocated);
    std::string words = fmt::format(
        "drawn by accelerators while jobs held them{}; {} kg of CO2 at {} g/kWh "
        "(scan.co2_g_per_kwh)",
        known < 0.99 ? fmt::format(" (power is known of {} of the time)", show_percent(known)) : "",
        show_amount(of.kwh * of.co2_g_per_kwh / 1000), show_amount(of.co2_g_per_kwh));
    if (of.unused_kwh > 0) {
      words += fmt::format("; {} kWh by those that were never used, {} W each",
                           show_amount(of.unused_kwh),
                           show_amount(of.unused_kwh * 3.6e6 / of.unused_seconds));
    }
    figure("energy", fmt::format("{} kWh", show_amount(of.kwh)), words);
  }

  void goodput() {
    const scan::Goodput& good = report_.goodput;
    if (!good.total) return;
    const auto share = [](const std::optional<double>& value) {
      return value ? show_percent(*value) : std::string("not known");
    };
    figure("goodput", share(good.total),
           fmt::format("= scheduling {} (allocated of what was up) × runtime {} (not in failed "
                       "jobs) × program {} (productive)",
                       share(good.scheduling), show_percent(good.runtime), share(good.program)));
  }

  // How jobs failed, the costliest first.
  void failures() {
    constexpr std::size_t kShown = 3;
    for (std::size_t i = 0; i < std::min(kShown, report_.failures.size()); ++i) {
      const scan::Failure& one = report_.failures[i];
      figure("", amount(one.allocated),
             fmt::format("{}{}{} in {}{}", one.state, one.reason.empty() ? "" : ", ",
                         plain(one.reason), counted(static_cast<std::int64_t>(one.jobs), "job"),
                         of_users(one.users)));
    }
  }

  // Where the capacity went, in classes that add up to it.
  void classes() {
    const scan::CapacityUse& capacity = report_.capacity;
    if (!capacity.total) {
      figure("capacity", kNotKnown,
             "so unallocated time is not known; add the output of: sinfo -N -o '%N|%R|%G|%T'");
      if (capacity.down) figure("  down", amount(*capacity.down), "");
      return;
    }
    std::string basis = fmt::format("by {}", capacity.basis);
    if (capacity.elsewhere > 0) {
      basis +=
          fmt::format(" (without hosts on which {} were allocated)", amount(capacity.elsewhere));
    }
    figure("capacity", amount(*capacity.total), basis + ", of which");
    const auto part = [&](std::string_view label, const std::optional<double>& value,
                          std::string_view words) {
      figure(label, value ? amount(*value) : kNotKnown,
             value ? fmt::format("{} {}", show_percent(share_of(*value, *capacity.total)), words)
                   : "");
    };
    const auto seen = [&](double value) {
      return is_observed() ? std::optional(value) : std::nullopt;
    };
    part("  down", capacity.down, "");
    part("  unallocated", capacity.unallocated, "");
    if (!capacity.is_accounted) {
      figure("", "", "whether it was allocated is not known without accounting (sacct.txt)");
    }
    part("  idle", seen(capacity.idle), "allocated but idle");
    part("  inefficient", seen(capacity.low), "allocated but inefficient: low");
    part("  the rest", capacity.productive + capacity.unobserved, "productive or unobserved");
  }

  void pareto() {
    const scan::Cut& cut = report_.cut(By::kJob);
    if (cut.wasted.total <= 0 || cut.count < kFewJobs || !scan::is_mostly_observed(report_)) return;
    figure("held by", "",
           fmt::format("the top 1 % of {} jobs hold {} of the waste, the top 10 % {}; the top "
                       "10 % of {} users {}",
                       cut.count, show_percent(cut.wasted.top[1]), show_percent(cut.wasted.top[3]),
                       report_.cut(By::kUser).count,
                       show_percent(report_.cut(By::kUser).wasted.top[3])));
  }

  bool has_spec(const std::string& family) const {
    return std::ranges::find(answer_.with_spec, family) != answer_.with_spec.end();
  }

  void left_open() {
    text_ += "\n";
    const scan::Totals& totals = report_.totals;
    if (totals.unobserved_jobs > 0) {
      const double gaps = totals.split.unobserved - totals.unobserved_in_jobs;
      paragraph(fmt::format(
          "Unobserved: {} of {} jobs had no valid sample ({} {}); they are neither idle nor "
          "busy.{}",
          totals.unobserved_jobs, totals.jobs, unit_(totals.unobserved_in_jobs), unit_.brief,
          gaps > 1e-6 * totals.split.allocated
              ? fmt::format(" {} {} more are gaps in the samples of others.", unit_(gaps),
                            unit_.brief)
              : ""));
    }
    if (!answer_.not_kept.empty()) {
      paragraph(
          fmt::format("Not kept for the next scan, which reads it again: {}. --state DIR names "
                      "a folder that can be written.",
                      plain(answer_.not_kept)),
          red);
    }
    if (const std::string troubles = counted_words(answer_); !troubles.empty()) {
      paragraph(fmt::format("Skipped or adjusted input: {}; see --explain-input.", troubles));
    }
    hint();
  }

  // What happens next: the loop's choice, or what it lacks to begin.
  void hint() {
    if (answer_.next) {
      const app::NextWork next = app::next_work(*answer_.next);
      paragraph(fmt::format("The loop works next on {}: {}",
                            next.family.empty() ? "nothing" : plain(next.family), plain(next.why)));
    }
    for (const Row& row : report_.cut(By::kFamily).rows) {
      // What ran here left a record that a spec can be drafted from; so did what Slurm ran.
      const std::string job = app::adopted_as(answer_, row.worst_job);
      if (has_spec(row.name) || job.empty()) continue;
      paragraph(fmt::format("To experiment on {0}: amdahl adopt {1} --family {0}", plain(row.name),
                            plain(job)));
      return;
    }
  }

  const ScanFlags& flags_;
  const app::FleetAnswer& answer_;
  const Report& report_;
  By by_;
  FleetUnit unit_;
  std::size_t width_;
  bool ascii_;
  std::size_t value_width_ = columns_of(kNotKnown);
  std::string text_;
};

}  // namespace

FleetUnit unit_of(const Report& report) {
  if (report.totals.split.allocated >= 3600) return {};
  return {1, "accelerator-seconds", "s"};
}

std::string usd(const std::optional<double>& money) {
  if (!money) return "–";
  return *money >= 1000 ? "$" + show_amount(*money) : fmt::format("${:.2f}", *money);
}

std::string show_fleet(const ScanFlags& flags, const app::FleetAnswer& answer, scan::By by) {
  return Shown(flags, answer, by).text();
}

}  // namespace amdahl::cli
