#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/amount.h"
#include "base/count.h"
#include "base/screen.h"
#include "base/text.h"
#include "cli/show.h"
#include "cli/show_scan.h"
#include "cli/show_scan_parts.h"
#include "cli/terminal.h"

namespace amdahl::cli {
namespace {

std::string bytes_text(std::uint64_t bytes) {
  if (bytes >= 10'000'000)
    return fmt::format("{} MB", show_number(static_cast<double>(bytes) / 1e6));
  if (bytes >= 10'000) return fmt::format("{} kB", show_number(static_cast<double>(bytes) / 1e3));
  return fmt::format("{} bytes", bytes);
}

// "120 × duplicate sample, 5 × blank value".
std::string troubles_text(const ingest::InputRead& input) {
  std::vector<std::string> words;
  for (const scan::TroubleCount& t : input.troubles) {
    words.push_back(fmt::format("{} × {}", t.count, model::name(t.trouble)));
  }
  return join(words, ", ");
}

std::string input_text(const Flags& flags, const ingest::InputRead& input, bool known_as_before) {
  std::string text = fmt::format("  {}\n", bold(flags, plain(input.name)));
  if (!input.read_as.empty()) {
    text += fmt::format("    read as {}{}\n", plain(input.read_as),
                        input.packing.empty() ? "" : fmt::format(", {}", input.packing));
    text += fmt::format(
        "    {}{}: {} jobs, {} series, {} samples\n", bytes_text(input.bytes),
        input.known == 0 ? ""
                         : fmt::format(" ({} known from before, {} new)", bytes_text(input.known),
                                       bytes_text(input.bytes - input.known)),
        input.jobs, input.series, input.samples);
  }
  if (!input.troubles.empty()) text += fmt::format("    counted: {}\n", troubles_text(input));
  if (known_as_before && !input.known_by.empty())
    text += "    recognised like the input before it\n";
  if (!known_as_before && !input.known_by.empty()) {
    for (const std::string_view line : split(input.known_by, '\n')) {
      text += fmt::format("    {}\n", plain(line));
    }
  }
  if (!input.notes.empty()) text += fmt::format("    {}\n", plain(input.notes));
  if (!input.left_out.empty()) {
    text += fmt::format("    {} {}\n", red(flags, "left out:"), plain(input.left_out));
  }
  return text;
}

std::string joined_text(const app::FleetAnswer& answer) {
  const scan::FleetUsage& usage = answer.usage;
  std::string text =
      fmt::format("Joined\n  {} of {} samples count for a job\n", usage.attributed, usage.samples);
  if (usage.outside_samples > 0) {
    text += fmt::format("  {} lie outside the window\n",
                        counted(static_cast<std::int64_t>(usage.outside_samples), "sample"));
  }
  for (const scan::PassedOver& row : usage.passed_over) {
    text += fmt::format("  {}\n", plain(describe(usage, row)));
  }
  text += fmt::format("  {} jobs held accelerators in the window, {} only outside of it\n",
                      usage.jobs.size(), usage.outside);
  if (const std::string outside = time_outside(answer); !outside.empty()) {
    text += fmt::format("  {}\n", outside);
  }
  return text;
}

std::string counted_text(const scan::FleetUsage& usage) {
  std::string text = "Counted\n";
  for (const scan::TroubleCount& t : usage.troubles) {
    text += fmt::format("  {:>10}  {}: {}\n", t.count, model::name(t.trouble),
                        model::describe(t.trouble));
    for (const scan::Complaint& c : usage.complaints) {
      if (c.trouble != t.trouble) continue;
      const std::string place = c.line > 0   ? fmt::format(":{}", c.line)
                                : c.byte > 0 ? fmt::format(": byte {}", c.byte)
                                             : "";
      text += fmt::format("              {}{}: {}\n", plain(c.input), place, plain(c.text));
    }
  }
  if (usage.troubles.empty()) text += "  nothing\n";
  return text;
}

}  // namespace

std::string counted_words(const app::FleetAnswer& answer) {
  std::vector<std::string> words;
  for (const scan::TroubleCount& t : answer.usage.troubles) {
    words.push_back(fmt::format("{} × {}", t.count, model::name(t.trouble)));
  }
  std::uint64_t passed_over = 0;
  for (const scan::PassedOver& row : answer.usage.passed_over) passed_over += row.samples;
  if (passed_over > 0) words.push_back(fmt::format("{} × sample not used", passed_over));
  return join(words, ", ");
}

// What accelerators did that no job is known to have held.
static std::string use_without_jobs(const app::FleetAnswer& answer) {
  const scan::CapacityUse& all = answer.report.capacity;
  if (all.is_accounted || all.free <= 0) return "";
  std::vector<std::string> metrics;
  for (const scan::WordId metric : answer.usage.free_metrics) {
    metrics.push_back(plain(answer.usage.text(metric)));
  }
  return fmt::format(
      " Of {} accelerator-hours with samples {} were idle and {} productive (mean "
      "utilisation {}, by {}).",
      show_amount(scan::in_hours(all.free)), show_amount(scan::in_hours(all.free_idle)),
      show_amount(scan::in_hours(all.free_use)), show_percent(all.free_use / all.free),
      join(metrics, ", "));
}

// The idlest accelerators: those that somebody may take.
static std::string free_table(const app::FleetAnswer& answer) {
  constexpr std::size_t kShown = 16;
  std::vector<scan::FreeUse> free = answer.usage.free;
  if (free.empty()) return "";
  std::ranges::stable_sort(free, std::greater<>{}, &scan::FreeUse::idle);
  const std::size_t count = free.size();
  free.resize(std::min(count, kShown));
  std::vector<std::vector<std::string>> rows;
  for (const scan::FreeUse& one : free) {
    rows.push_back({fmt::format("{} {}", plain(answer.usage.text(one.host)),
                                plain(answer.usage.text(one.accelerator))),
                    show_amount(scan::in_hours(one.all)), show_amount(scan::in_hours(one.idle)),
                    show_percent(one.idle / one.all), show_percent(one.productive / one.all)});
  }
  std::string text = table({"accelerator", "hours", "idle", "idle share", "util"}, rows);
  if (count > kShown) text += fmt::format("{} more; all of them: --json\n", count - kShown);
  return text + "\n";
}

std::string show_capacity(const Flags& flags, const app::FleetAnswer& answer) {
  const auto hours = [](const std::optional<double>& accelerator_seconds) {
    return accelerator_seconds ? show_amount(scan::in_hours(*accelerator_seconds))
                               : std::string("–");
  };
  std::vector<std::vector<std::string>> rows;
  const scan::CapacityUse& all = answer.report.capacity;
  const auto add = [&](const scan::CapacityUse& use, std::string_view name) {
    rows.push_back({plain(name), hours(use.total), hours(use.down), hours(use.unallocated),
                    hours(use.is_accounted ? std::optional(use.allocated) : std::nullopt)});
  };
  add(all, "all");
  for (const scan::CapacityUse& use : answer.report.partitions) add(use, use.partition);
  const auto width = static_cast<std::size_t>(std::clamp(terminal_width(flags), 40, 160));
  std::string text;
  const auto paragraph = [&](const std::string& words) {
    for (const std::string& line : wrap_lines(words, width, 0, 2)) text += line + "\n";
    text += "\n";
  };
  paragraph(
      fmt::format("{} to {} UTC: the input has no jobs, so {}who used the accelerators, and "
                  "how much was wasted, is not known.{}",
                  describe_time(answer.report.start), describe_time(answer.report.end),
                  all.is_accounted ? "" : "how much was allocated, ", use_without_jobs(answer)));
  text += free_table(answer);
  paragraph(
      "To see users and jobs, add accounting: amdahl scan … sacct.txt, or --source slurm. "
      "Without a scheduler, run jobs under amdahl run -- COMMAND.");
  text += fmt::format("Accelerator-hours by {}\n", all.basis);
  text += table({"partition", "capacity", "down", "unallocated", "allocated"}, rows);
  if (const std::string counted = counted_words(answer); !counted.empty()) {
    text += fmt::format("\nSkipped or adjusted input: {}; see --explain-input.\n", counted);
  }
  constexpr Sign kSigns[] = {{"–", '-'}};
  return use_ascii(flags) ? to_ascii(text, kSigns) : text;
}

std::string inventory_text(const app::FleetAnswer& answer) {
  std::map<std::string, int> kinds;
  int all = 0;
  std::int64_t hosts = 0;
  for (const scan::HostCapacity& row : answer.usage.capacities) {
    const std::string kind = plain(answer.usage.text(row.kind));
    kinds[kind.empty() ? "unknown kind" : kind] += row.accelerators;
    all += row.accelerators;
    ++hosts;
  }
  std::vector<std::string> words;
  for (const auto& [kind, count] : kinds) words.push_back(fmt::format("{} {}", count, kind));
  return fmt::format(
      "An inventory of {} on {} ({}), without jobs and samples: add accounting\n"
      "  sacct -a -X -P -S now-7days -o {} > jobs.txt\n"
      "or samples of utilisation (timestamp,host,gpu,util), and name both files.\n",
      counted(all, "accelerator"), counted(hosts, "host"), join(words, ", "),
      "JobID,JobName,User,Account,Partition,State,ExitCode,Submit,Start,End,ElapsedRaw,AllocTRES,"
      "NodeList");
}

std::string time_outside(const app::FleetAnswer& answer) {
  const double all = answer.usage.unclipped;
  const double outside = all - answer.report.totals.split.allocated;
  if (!(outside > 1e-6 * all)) return "";
  return fmt::format(
      "{} of {} accelerator-hours of the jobs lie outside the window{}; --from and --to set it",
      show_amount(scan::in_hours(outside)), show_amount(scan::in_hours(all)),
      answer.window_of_samples ? ", which is that of the samples" : "");
}

std::string no_jobs_text(const app::FleetAnswer& answer) {
  const scan::Window& window = answer.usage.window;
  const scan::Window& jobs = answer.usage.accounted;
  // Without any job or sample there is no window.
  if (window.start >= window.end) {
    const bool names_devices = std::ranges::any_of(answer.inputs, [](const auto& input) {
      return input.read_as.starts_with("nvidia-smi: ") && input.series == 0;
    });
    if (names_devices) {
      return "The input names accelerators, but has no jobs and no samples with a time; log them "
             "on each host:\n"
             "  nvidia-smi --query-gpu=timestamp,index,utilization.gpu,memory.used,power.draw "
             "--format=csv -l 60 > $(hostname).csv\n";
    }
    return fmt::format(
        "The input has no job that held an accelerator.{}\n",
        answer.usage.troubles.empty()
            ? ""
            : " If jobs did, their accounting does not say how many: give a table of job, start, "
              "end and gpus, or add a mapping (docs/format/csv-mapping.md).");
  }
  std::string text = fmt::format("No job held an accelerator from {} to {} UTC",
                                 describe_time(window.start), describe_time(window.end));
  if (answer.usage.outside == 0) return text + ".\n";
  return text + fmt::format("; those that were read did from {} to {}: --from {} --to {}\n",
                            describe_time(jobs.start), describe_time(jobs.end),
                            describe_time(jobs.start).substr(0, 10),
                            describe_time(jobs.end + std::chrono::hours(24)).substr(0, 10));
}

std::string explain_inputs(const Flags& flags, const app::FleetAnswer& answer) {
  std::string text = "Inputs\n";
  std::string_view last_known_by;
  for (const ingest::InputRead& input : answer.inputs) {
    text += input_text(flags, input, input.known_by == last_known_by);
    last_known_by = input.known_by;
  }
  return text + joined_text(answer) + counted_text(answer.usage);
}

}  // namespace amdahl::cli
