#include "scan/mail.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "base/amount.h"
#include "base/count.h"
#include "base/hash.h"
#include "base/screen.h"
#include "base/text.h"
#include "scan/parts.h"

namespace amdahl::scan {
namespace {

constexpr std::size_t kShown = 3;      // Jobs of a user.
constexpr double kLeastWasted = 3600;  // Accelerator-seconds wasted.

struct OfUser {
  std::uint64_t jobs = 0;
  Split split;
  std::vector<std::uint32_t> worst;  // That wasted most, at most kShown.
};

std::string day_of(Nanos at) {
  return fmt::format("{:%F}", fmt::gmtime(at.count() / 1'000'000'000));
}

std::string mail_hours(double seconds) { return show_amount(in_hours(seconds)); }

std::string file_of(std::string_view user) {
  std::string name;
  for (const char c : user) {
    const bool is_plain =
        is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
    name += is_plain ? c : '-';
  }
  // Names that were changed could meet.
  return name == user ? name + ".txt"
                      : fmt::format("{}-{}.txt", name, sha256_hex(user).substr(0, 8));
}

std::string job_text(const FleetUsage& usage, std::uint32_t index, std::set<PartKind>& kinds) {
  const FleetJob job = usage.jobs[index];
  std::string text = fmt::format("- job {}", plain(usage.text(job.id)));
  if (job.name != 0) text += fmt::format(" ({})", plain(usage.text(job.name)));
  text += fmt::format(": {} of {} accelerator-hours unused", mail_hours(wasted(job.split)),
                      mail_hours(job.split.allocated));
  const Dissection found = dissect(lines_of(usage, job));
  if (found.parts.empty()) return text + "\n";
  kinds.insert(found.parts.front().kind);
  return fmt::format("{}.\n  {}: {}.\n", text, name(found.parts.front().kind),
                     plain(found.parts.front().evidence));
}

std::string text_of(const FleetUsage& usage, const Report& report, std::string_view user,
                    const OfUser& of, const std::string& scan) {
  const std::string days =
      fmt::format("{} to {} (UTC)", day_of(report.start), day_of(report.end - Nanos{1}));
  std::string text = fmt::format(
      "Subject: {0} accelerator-hours of your jobs were not used, {1}\n\nHello {2},\n\nfrom {1} "
      "your {3} held {4} accelerator-hours. {0} of them were idle or used little",
      mail_hours(wasted(of.split)), days, plain(user),
      counted(static_cast<std::int64_t>(of.jobs), "job"), mail_hours(of.split.allocated));
  text += fmt::format(
      ", by {} (idle {}).\n\nMost of it was in:\n\n",
      report.utilisation.metrics.empty() ? "telemetry" : plain(report.utilisation.metrics[0].name),
      describe_idle(report.idle_below));
  std::set<PartKind> kinds;
  for (const std::uint32_t job : of.worst) text += job_text(usage, job, kinds);
  text += "\nWhat usually helps:\n\n";
  for (const PartKind kind : kinds) text += fmt::format("- {}\n", action(kind));
  text += fmt::format(
      "\nTo see one of these jobs over time, or all of yours as a page:\n\n    {0} --job {1}\n    "
      "{0} --of {2} --html mine.html\n\n",
      scan, plain(usage.text(usage.jobs.id(of.worst.front()))), plain(user));
  return text +
         "If a figure looks wrong, or if you want help with a job, please answer this mail.\n";
}

}  // namespace

std::vector<Mail> mails_of(const FleetUsage& usage, const Report& report, const std::string& scan) {
  const JobRows& jobs = usage.jobs;
  std::map<std::string_view, OfUser> users;
  for (std::uint32_t i = 0; i < jobs.size(); ++i) {
    const WordId user = jobs.traits()[jobs.traits_of(i)].user;
    if (user == 0) continue;
    OfUser& of = users[usage.text(user)];
    const Split split = jobs.split(i);
    ++of.jobs;
    of.split += split;
    if (wasted(split) <= kFewWasted * observed_in(split)) continue;
    of.worst.push_back(i);
    std::ranges::stable_sort(of.worst, [&](std::uint32_t a, std::uint32_t b) {
      return wasted(jobs.split(a)) > wasted(jobs.split(b));
    });
    if (of.worst.size() > kShown) of.worst.pop_back();
  }
  std::vector<Mail> mails;
  for (const auto& [user, of] : users) {
    if (wasted(of.split) < kLeastWasted || of.worst.empty()) continue;
    mails.push_back({std::string(user), file_of(user), text_of(usage, report, user, of, scan)});
  }
  return mails;
}

}  // namespace amdahl::scan
