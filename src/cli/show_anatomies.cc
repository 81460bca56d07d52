#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "base/amount.h"
#include "base/count.h"
#include "base/screen.h"
#include "base/text.h"
#include "cli/show_scan_parts.h"
#include "cli/terminal.h"

namespace amdahl::cli {
namespace {

using scan::Activity;

constexpr std::size_t kDrawnJobs = 3;
constexpr std::size_t kDrawnLanes = 4;
constexpr std::size_t kShownParts = 3;
constexpr double kWorthALine = 0.01;  // Of the job's allocation.
constexpr std::size_t kGutter = 19;

std::string sign_of(Activity activity, bool ascii) {
  constexpr std::string_view kSigns[] = {"?", "·", "▒", "█"};
  constexpr std::string_view kAscii[] = {"?", ".", "-", "#"};
  const auto i = static_cast<std::size_t>(activity);
  return std::string(ascii ? kAscii[i] : kSigns[i]);
}

std::string lane(const Flags& flags, const scan::Anatomy& anatomy, std::size_t index,
                 std::size_t columns) {
  const std::string label =
      index < anatomy.labels.size() ? anatomy.labels[index] : fmt::format("{}", index);
  std::string text = right(clip(plain(label), kGutter - 1), kGutter - 1) + " ";
  auto stretch = anatomy.accelerators[index].begin();
  const auto end = anatomy.accelerators[index].end();
  Activity last = Activity::kUnobserved;
  std::size_t times = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    const Nanos middle = anatomy.wall * static_cast<std::int64_t>(2 * c + 1) /
                         static_cast<std::int64_t>(2 * columns);
    while (stretch != end && stretch->start + stretch->duration <= middle) ++stretch;
    const Activity now = stretch == end ? Activity::kUnobserved : stretch->activity;
    if (now != last) text += drawn(flags, last, std::exchange(times, 0));
    last = now;
    ++times;
  }
  return text + drawn(flags, last, times) + "\n";
}

std::string indented(std::string_view text, std::size_t width) {
  std::string lines;
  for (const std::string& one : wrap_lines(text, width - 2, 0, 2)) lines += "  " + one + "\n";
  return lines;
}

// The size of a part of the waste, and the largest gain from removing it.
std::string part_lines(const scan::Part& part, std::size_t width) {
  const double hours = scan::in_hours(part.accelerator_seconds);
  const std::string amount = hours >= 0.1 ? fmt::format("{} h", show_amount(hours))
                                          : fmt::format("{} s", show_amount(hours * 3600));
  const std::string gain = std::isinf(part.if_vanished)
                               ? std::string("all of it")
                               : fmt::format("at most {:.2f}x", part.if_vanished);
  return indented(fmt::format("{} {}, {} of its time, {}: {}", scan::name(part.kind), amount,
                              show_percent(part.share), gain, plain(part.evidence)),
                  width);
}

std::string picture(const Flags& flags, const scan::Anatomy& anatomy, std::size_t width) {
  const std::size_t columns = width - kGutter - 1;
  const std::size_t lanes = anatomy.accelerators.size();
  std::string text;
  for (std::size_t i = 0; i < std::min(kDrawnLanes, lanes); ++i) {
    text += lane(flags, anatomy, i, columns);
  }
  const std::string until = show_duration(anatomy.wall);
  const std::string more =
      lanes > kDrawnLanes ? fmt::format("… and {} more", lanes - kDrawnLanes) : std::string();
  const std::string axis = left("0", columns - columns_of(until)) + until;
  return text + dim(flags, right(more, kGutter - 1) + " " + axis) + "\n";
}

}  // namespace

std::string drawn(const Flags& flags, Activity activity, std::size_t times) {
  std::string signs;
  const std::string sign = sign_of(activity, use_ascii(flags));
  for (std::size_t i = 0; i < times; ++i) signs += sign;
  if (times == 0) return signs;
  switch (activity) {
    case Activity::kUnobserved:
      return dim(flags, signs);
    case Activity::kIdle:
      return red(flags, signs);
    case Activity::kLow:
      return yellow(flags, signs);
    case Activity::kProductive:
      return green(flags, signs);
  }
  return signs;
}

std::string show_anatomies(const Flags& flags, const app::FleetAnswer& answer, std::size_t width) {
  std::string text;
  std::size_t shown = 0;
  for (const scan::Row& row : answer.report.cut(scan::By::kFamily).rows) {
    if (shown == kDrawnJobs || row.worst_job.empty() || scan::wasted(row.split) <= 0) break;
    const scan::FleetJob& job = answer.usage.jobs[row.worst];
    const scan::Anatomy anatomy =
        scan::anatomy_of(answer.usage, job, row.name, {.idle_below = answer.report.idle_below});
    if (anatomy.accelerators.empty() || anatomy.wall <= Nanos{}) continue;
    ++shown;
    text += "\n" +
            clip(fmt::format("{}, the worst job of {}: {} × {}", plain(row.worst_job),
                             plain(row.name), show_duration(anatomy.wall),
                             counted(static_cast<std::int64_t>(anatomy.accelerators.size()),
                                     "accelerator")),
                 width) +
            "\n";
    if (!anatomy.no_course.empty()) {
      text += indented(plain(anatomy.no_course), width);
      continue;
    }
    for (std::size_t i = 0; i < std::min(kShownParts, anatomy.parts.size()); ++i) {
      if (i > 0 && anatomy.parts[i].share < kWorthALine) break;
      text += part_lines(anatomy.parts[i], width);
    }
    text += picture(flags, anatomy, width);
  }
  return text;
}

}  // namespace amdahl::cli
