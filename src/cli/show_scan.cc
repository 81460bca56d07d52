#include "cli/show_scan.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/count.h"
#include "base/screen.h"
#include "base/text.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "scan/anatomy.h"

namespace amdahl::cli {
namespace {

using scan::By;
using scan::Report;
using scan::Row;
using scan::Split;

constexpr std::size_t kDrawnJobs = 3;
constexpr std::size_t kDrawnLanes = 4;
constexpr std::size_t kShownMissing = 5;
constexpr std::uint64_t kFewJobs = 20;  // Of fewer, "the top 1 %" says nothing.

// Hours, or seconds where the whole fleet did not use an hour.
struct Unit {
  double seconds = 3600;
  std::string_view name = "accelerator-hours";
  std::string_view brief = "h";

  std::string operator()(double accelerator_seconds) const {
    return show_amount(accelerator_seconds / seconds);
  }
};

Unit unit_of(const Report& report) {
  if (report.totals.split.allocated >= 3600) return {};
  return {1, "accelerator-seconds", "s"};
}

double share_of(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::string usd(double money) {
  return money >= 1000 ? "$" + show_amount(money) : fmt::format("${:.2f}", money);
}

class Shown {
 public:
  Shown(const Flags& flags, const app::FleetAnswer& answer, By by)
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
    sums();
    classes();
    if (report_.trends.empty()) {
      pareto();
      rows();
      reasons();
      anatomies();
    } else {
      text_ += "\n" + show_trend(flags_, report_);
    }
    left_open();
    constexpr Sign kSigns[] = {{"×", 'x'}, {"…", '~'}, {"–", '-'}};
    return ascii_ ? to_ascii(text_, kSigns) : std::move(text_);
  }

 private:
  void line(std::string_view text) { text_ += clip(text, width_) + "\n"; }

  // Words wrapped at the terminal's width.
  void paragraph(std::string_view text) {
    std::string now;
    for (const std::string_view word : split(text, ' ')) {
      if (!now.empty() && columns_of(now) + 1 + columns_of(word) > width_) {
        text_ += now + "\n";
        now = "  ";
        now += word;
      } else {
        if (!now.empty()) now += ' ';
        now += word;
      }
    }
    text_ += now + "\n";
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
    return "utilisation by " + join(names, ", ");
  }

  bool is_observed() const { return total_observed() > 0; }

  double total_observed() const {
    const Split& split = report_.totals.split;
    return split.allocated - split.unobserved;
  }

  void headline() {
    const scan::Totals& totals = report_.totals;
    const auto n = [](std::uint64_t count) { return static_cast<std::int64_t>(count); };
    const std::string users =
        totals.users == 0 ? "" : fmt::format(" of {}", counted(n(totals.users), "user"));
    paragraph(fmt::format("{} to {} UTC: {}{} in {}; {}, idle {}{}", describe_time(report_.start),
                          describe_time(report_.end), counted(n(totals.jobs), "job"), users,
                          counted(n(totals.families), "family", "families"), metric(),
                          scan::describe_idle(report_.idle_below),
                          answer_.jobs_by_label ? "; no accounting was given, so jobs are what "
                                                  "samples are labelled with"
                                                : ""));
    text_ += "\n";
    std::string money = totals.money ? fmt::format(", {}", usd(totals.money->allocated)) : "";
    if (totals.money && totals.unpriced > 0) {
      money += fmt::format(" for {} {} of them; {} {} have no price",
                           unit_(totals.split.allocated - totals.unpriced), unit_.brief,
                           unit_(totals.unpriced), unit_.brief);
    }
    line(bold(flags_,
              fmt::format("{} {} allocated{}", unit_(totals.split.allocated), unit_.name, money)));
  }

  void split_bar() {
    const Split& split = report_.totals.split;
    struct Part {
      std::string_view name;
      double value;
      std::string_view sign;
      char ascii;
    };
    const Part parts[] = {{"productive", split.productive, "█", '#'},
                          {"low", split.low, "▒", '-'},
                          {"idle", split.idle, "·", '.'},
                          {"unobserved", split.unobserved, "?", '?'}};
    const double columns = static_cast<double>(width_) - 4;
    std::string bar = "  ";
    double upto = 0;
    std::size_t drawn = 0;
    for (const Part& part : parts) {
      upto += share_of(part.value, split.allocated) * columns;
      for (; drawn < static_cast<std::size_t>(std::llround(upto)); ++drawn) {
        bar += ascii_ ? std::string(1, part.ascii) : std::string(part.sign);
      }
    }
    line(bar);
    std::string legend;
    for (const Part& part : parts) {
      if (part.value <= 0) continue;
      legend += fmt::format("  {} {} {} {} ({})",
                            ascii_ ? std::string(1, part.ascii) : std::string(part.sign), part.name,
                            unit_(part.value), unit_.brief,
                            show_percent(share_of(part.value, split.allocated)));
    }
    paragraph(legend);
  }

  void sums() {
    const scan::Totals& totals = report_.totals;
    const auto money = [&](double scan::Money::*part) {
      return totals.money && totals.unpriced <= 0 ? fmt::format(" ({})", usd((*totals.money).*part))
                                                  : std::string();
    };
    const double wasted = scan::wasted(totals.split);
    const std::string waste =
        is_observed()
            ? fmt::format(
                  "Wasted (idle + low): {} {}{}, {} of what was observed. Recoverable: {} "
                  "{}{}.",
                  unit_(wasted), unit_.brief, money(&scan::Money::wasted),
                  show_percent(share_of(wasted, total_observed())), unit_(totals.recoverable),
                  unit_.brief, money(&scan::Money::recoverable))
            : "Wasted (idle + low): not known, because nothing was observed.";
    paragraph(fmt::format("{} Lost in jobs that failed: {} {}{}. Waited in the queue: {} {}.",
                          waste, unit_(totals.lost), unit_.brief, money(&scan::Money::lost),
                          totals.queue_unknown_jobs == totals.jobs ? "?" : unit_(totals.queue),
                          unit_.brief));
    if (report_.trend) paragraph(plain(report_.trend->says));
  }

  void classes() {
    const scan::CapacityUse& capacity = report_.capacity;
    const auto known = [&](const std::optional<double>& value) {
      return value ? fmt::format("{} {}", unit_(*value), unit_.brief) : std::string("not known");
    };
    const auto seen = [&](double value) {
      return known(is_observed() ? std::optional(value) : std::nullopt);
    };
    std::string basis = capacity.basis.empty() ? "" : fmt::format(" by {}", capacity.basis);
    if (capacity.total && capacity.elsewhere > 0) {
      basis += fmt::format(" (without hosts on which {} {} were allocated)",
                           unit_(capacity.elsewhere), unit_.brief);
    }
    paragraph(fmt::format(
        "Capacity {}{}: down {}, unallocated {}, allocated but idle {}, allocated but low {}.",
        known(capacity.total), basis, known(capacity.down), known(capacity.unallocated),
        seen(capacity.idle), seen(capacity.low)));
  }

  void pareto() {
    const scan::Cut& cut = report_.cut(By::kJob);
    if (cut.wasted.total <= 0 || cut.count < kFewJobs) return;
    paragraph(fmt::format(
        "The top 1 % of {} jobs hold {} of the waste, the top 10 % {}; the top "
        "10 % of {} users {}.",
        cut.count, show_percent(cut.wasted.top[1]), show_percent(cut.wasted.top[3]),
        report_.cut(By::kUser).count, show_percent(report_.cut(By::kUser).wasted.top[3])));
  }

  bool has_spec(const std::string& family) const {
    return std::ranges::find(answer_.with_spec, family) != answer_.with_spec.end();
  }

  static std::string seen(const Row& row, std::string text) {
    return row.utilisation ? std::move(text) : std::string("–");
  }

  void rows() {
    const scan::Cut& cut = report_.cut(by_);
    const bool money = report_.totals.money.has_value();
    std::vector<std::string> header = {
        std::string(scan::name(by_)), "jobs", "allocated", "util", "idle", "wasted", "recoverable"};
    if (money) header.push_back("USD wasted");
    const bool lost = width_ >= 100 || flags_.order == "lost";
    const bool queue = flags_.order == "queue";
    if (lost) header.push_back("lost");
    if (queue) header.push_back("queue");
    if (by_ == By::kFamily) header.push_back("spec");
    std::vector<std::vector<std::string>> cells;
    for (const Row& row : cut.rows) {
      std::vector<std::string> line = {
          plain(row.name),
          fmt::format("{}", row.jobs),
          unit_(row.split.allocated),
          row.utilisation ? show_percent(*row.utilisation) : "–",
          seen(row, show_percent(share_of(row.split.idle, row.split.allocated))),
          seen(row, unit_(scan::wasted(row.split))),
          seen(row, unit_(row.recoverable))};
      if (money) line.push_back(row.money ? usd(row.money->wasted) : "–");
      if (lost) line.push_back(unit_(row.lost));
      if (queue) line.push_back(unit_(row.queue));
      if (by_ == By::kFamily) line.push_back(has_spec(row.name) ? "yes" : "no");
      cells.push_back(std::move(line));
    }
    fit(header, cells);
    text_ += "\n" + table(header, cells);
    if (cut.count > cut.rows.size()) {
      line(dim(flags_, fmt::format("{} more; all of them: --top 0", cut.count - cut.rows.size())));
    }
  }

  // What stands behind the figures of those that rank first.
  void reasons() {
    const scan::Cut& cut = report_.cut(by_);
    bool any = false;
    for (std::size_t i = 0; i < std::min(kDrawnJobs, cut.rows.size()); ++i) {
      const Row& row = cut.rows[i];
      if (row.why.empty() || row.recoverable <= 0) continue;
      if (!any) text_ += "\n";
      any = true;
      paragraph(fmt::format("{}: {}", plain(row.name), plain(row.why)));
    }
  }

  // Names give way to figures.
  void fit(const std::vector<std::string>& header,
           std::vector<std::vector<std::string>>& cells) const {
    std::size_t others = 0;
    for (std::size_t i = 1; i < header.size(); ++i) {
      std::size_t widest = columns_of(header[i]);
      for (const auto& row : cells) widest = std::max(widest, columns_of(row[i]));
      others += widest + 2;
    }
    const std::size_t room = width_ > others + 8 ? width_ - others : 8;
    for (auto& row : cells) row[0] = clip(row[0], room);
  }

  void anatomies() {
    std::size_t drawn = 0;
    for (const Row& row : report_.cut(By::kFamily).rows) {
      if (drawn == kDrawnJobs || row.worst_job.empty() || row.split.idle + row.split.low <= 0)
        break;
      const scan::FleetJob& job = answer_.usage.jobs[row.worst];
      const scan::Anatomy anatomy =
          scan::anatomy_of(answer_.usage, job, row.name, {.idle_below = report_.idle_below});
      if (anatomy.accelerators.empty() || anatomy.wall <= Nanos{}) continue;
      text_ += "\n";
      const std::string heading = fmt::format(
          "{} of {}: {} × {}", plain(row.worst_job), plain(row.name), show_duration(anatomy.wall),
          counted(static_cast<std::int64_t>(anatomy.accelerators.size()), "accelerator"));
      ++drawn;
      if (!anatomy.no_course.empty()) {
        paragraph(fmt::format("{}; {}", heading, plain(anatomy.no_course)));
        continue;
      }
      line(anatomy.parts.empty()
               ? heading
               : fmt::format("{}; {}: {}", heading, scan::name(anatomy.parts[0].kind),
                             plain(anatomy.parts[0].evidence)));
      for (std::size_t i = 0; i < std::min(kDrawnLanes, anatomy.accelerators.size()); ++i) {
        lane(anatomy, i);
      }
      if (anatomy.accelerators.size() > kDrawnLanes) {
        line(fmt::format("{:>18} … and {} more", "", anatomy.accelerators.size() - kDrawnLanes));
      }
    }
  }

  void lane(const scan::Anatomy& anatomy, std::size_t index) {
    const std::string label =
        index < anatomy.labels.size() ? anatomy.labels[index] : fmt::format("{}", index);
    const std::size_t columns = width_ - 20;
    std::string drawn;
    auto stretch = anatomy.accelerators[index].begin();
    const auto end = anatomy.accelerators[index].end();
    for (std::size_t c = 0; c < columns; ++c) {
      const Nanos middle = anatomy.wall * static_cast<std::int64_t>(2 * c + 1) /
                           static_cast<std::int64_t>(2 * columns);
      while (stretch != end && stretch->start + stretch->duration <= middle) ++stretch;
      drawn += sign(stretch == end ? scan::Activity::kUnobserved : stretch->activity);
    }
    text_ += fmt::format("{} {}\n", right(clip(plain(label), 18), 18), drawn);
  }

  std::string sign(scan::Activity activity) const {
    constexpr std::string_view kSigns[] = {"?", "·", "▒", "█"};
    constexpr std::string_view kAscii[] = {"?", ".", "-", "#"};
    const auto i = static_cast<std::size_t>(activity);
    return std::string(ascii_ ? kAscii[i] : kSigns[i]);
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
    constexpr double kWorthAWord = 0.01;
    const double clipped = answer_.usage.unclipped - totals.split.allocated;
    if (answer_.window_of_samples && clipped > kWorthAWord * answer_.usage.unclipped) {
      paragraph(time_outside(answer_) + ".");
    }
    for (std::size_t i = 0; i < std::min(kShownMissing, answer_.missing.size()); ++i) {
      paragraph(red(flags_, "Missing: ") + plain(answer_.missing[i]));
    }
    if (answer_.missing.size() > kShownMissing) {
      line(fmt::format("and {} more; all of them: --json", answer_.missing.size() - kShownMissing));
    }
    if (const std::string troubles = counted_words(answer_); !troubles.empty()) {
      paragraph(fmt::format("Counted on the way: {}; see --explain-input.", troubles));
    }
    hint();
  }

  void hint() {
    for (const Row& row : report_.cut(By::kFamily).rows) {
      // Only what ran here left a record that a spec can be drafted from.
      if (has_spec(row.name) || !answer_.local_jobs.contains(row.worst_job)) continue;
      paragraph(fmt::format("To experiment on {0}: amdahl adopt {1} --family {0}", plain(row.name),
                            plain(row.worst_job)));
      return;
    }
  }

  const Flags& flags_;
  const app::FleetAnswer& answer_;
  const Report& report_;
  By by_;
  Unit unit_;
  std::size_t width_;
  bool ascii_;
  std::string text_;
};

}  // namespace

std::string show_fleet(const Flags& flags, const app::FleetAnswer& answer, scan::By by) {
  return Shown(flags, answer, by).text();
}

}  // namespace amdahl::cli
