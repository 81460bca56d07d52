#include "app/later_jobs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/canary.h"
#include "base/json.h"
#include "base/text.h"
#include "ledger/event.h"
#include "model/codec.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

using canary::InEffect;
using canary::LaterJob;
using model::CanaryState;

constexpr std::size_t kMostKept = 50'000;  // Of a family.
constexpr double kMoved = 0.01;            // Of the interval: less is not booked again.
constexpr int kEventsOfAPage = 200;

std::string later_file(const Context& context, const std::string& family) {
  return context.path(fmt::format("later/{}.jsonl", family));
}

Result<std::vector<LaterJob>> kept_jobs(const std::string& path) {
  std::vector<LaterJob> jobs;
  if (!os::exists(path)) return jobs;
  const std::string text = TRY(os::read_file(path));
  for (const std::string_view line : split(text, '\n')) {
    if (!trim(line).empty()) jobs.push_back(TRY(read_later(line).in(path)));
  }
  return jobs;
}

// What `amdahl run` recorded of a job that ran here, if it can be read.
void take_record(const Context& context, LaterJob& job) {
  const auto text = os::read_file(context.path(fmt::format("usage/{}.json", job.id)));
  if (!text) return;
  const auto usage = model::decode_text<model::Usage>(*text);
  if (!usage) return;
  job.work = usage->work;
  const model::CanaryRun& ran = usage->canary;
  if (!ran.changes.empty() || !ran.held_back.empty()) job.changes = ran.changes;
}

// Jobs of each family that have ended and that are not known yet.
class Finder {
 public:
  Finder(const Context& context, const FleetAnswer& fleet) : context_{context}, fleet_{fleet} {
    for (std::uint32_t i = 0; i < fleet.families.all.size(); ++i) {
      numbers_.emplace(fleet.families.all[i].name, i);
    }
  }

  std::size_t add_new(const std::string& family, std::vector<LaterJob>& jobs) const {
    const auto number = numbers_.find(family);
    if (number == numbers_.end()) return 0;
    // Those before it may have been thinned out.
    const Nanos whole_since =
        jobs.size() > kMostKept / 2 ? jobs[jobs.size() - kMostKept / 2].start : Nanos::min();
    std::set<std::pair<std::string, Nanos>> known;
    for (const LaterJob& job : jobs) known.emplace(job.id, job.start);
    const std::size_t before = jobs.size();
    const scan::JobRows& rows = fleet_.usage.jobs;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (fleet_.families.of_job[i] != number->second || !counts(rows, i)) continue;
      LaterJob job;
      job.id = fleet_.usage.text(rows.id(i));
      job.start = rows.start(i);
      if (job.start < whole_since || !known.emplace(job.id, job.start).second) continue;
      job.accelerator_s =
          static_cast<double>(rows.accelerators(i)) * to_seconds(rows.end(i) - rows.start(i));
      job.failed = model::is_lost(rows.state(i));
      if (fleet_.local_jobs.contains(job.id)) take_record(context_, job);
      jobs.push_back(std::move(job));
    }
    return jobs.size() - before;
  }

 private:
  static bool counts(const scan::JobRows& rows, std::size_t job) {
    const model::JobState state = rows.state(job);
    const bool ended = state == model::JobState::kCompleted || model::is_lost(state);
    return ended && !rows.running(job) && rows.end(job) > rows.start(job);
  }

  const Context& context_;
  const FleetAnswer& fleet_;
  std::map<std::string, std::uint32_t> numbers_{};
};

Result<> keep_jobs(const std::string& path, std::vector<LaterJob>& jobs,
                   std::span<const InEffect> changes) {
  std::ranges::sort(jobs, [](const LaterJob& a, const LaterJob& b) {
    return a.start != b.start ? a.start < b.start : a.id < b.id;
  });
  thin(jobs, changes, kMostKept);
  std::string text;
  for (const LaterJob& job : jobs) text += later_json(job) + "\n";
  return os::write_file(path, text);
}

bool is_booked(const canary::MonthSaved& month, const ledger::Earning& booked) {
  if (month.jobs != booked.jobs) return month.jobs < booked.jobs;  // Older jobs are gone.
  const double much = kMoved * std::max(month.upper - month.lower, booked.upper - booked.lower);
  return std::abs(month.saved - booked.saved) <= much &&
         std::abs(month.lower - booked.lower) <= much &&
         std::abs(month.upper - booked.upper) <= much;
}

Result<> book(Context& context, const std::string& family, const canary::Realised& realised,
              const std::vector<ledger::Earning>& booked, std::int64_t fence) {
  std::vector<ledger::Draft> drafts;
  for (const canary::MonthSaved& month : realised.months) {
    const auto same = std::ranges::find_if(booked, [&](const ledger::Earning& earning) {
      return earning.family == family && earning.month == month.month;
    });
    if (same != booked.end() && is_booked(month, *same)) continue;
    drafts.push_back({"saving.realised",
                      "cycle",
                      family,
                      {{"month", month.month},
                       {"jobs", month.jobs},
                       {"used_accelerator_s", month.used},
                       {"saved_accelerator_s", month.saved},
                       {"lower_accelerator_s", month.lower},
                       {"upper_accelerator_s", month.upper}}});
  }
  if (!drafts.empty()) TRY(context.ledger->append(drafts, fence));
  return Ok{};
}

// A change without a canary has nobody to propose it: the note is said once.
Result<bool> note_alarm(Context& context, const canary::Realised& realised, std::int64_t fence) {
  const auto last = TRY(context.ledger->events(realised.alarm, 0, 1));
  if (!last.empty() && last.front().kind == "cycle.noted" &&
      last.front().payload.contains("alarm")) {
    return false;
  }
  TRY(note(context, {"cycle.noted", "cycle", realised.alarm, {{"alarm", realised.because}}},
           fence));
  return true;
}

Result<> raise(Context& context, const ledger::Family& family, const canary::Realised& realised,
               const Say& say, std::int64_t fence) {
  bool raised = false;
  bool watched = false;
  for (const CanaryView& view : TRY(read_canaries(context, family.name))) {
    if (view.row.canary.hypothesis != realised.alarm) continue;
    watched = true;
    // A person who kept it has seen the numbers.
    const bool by_cycle = view.row.state == CanaryState::kKept && view.row.actor == "cycle";
    if (view.row.state != CanaryState::kOpen && !by_cycle) continue;
    model::CanaryResult result = view.result;
    result.outcome = CanaryState::kRollbackProposed;
    result.because = realised.because;
    TRY(note(context, {"canary.closed", "cycle", realised.alarm, encode(result)}, fence));
    raised = true;
  }
  if (!watched) raised = TRY(note_alarm(context, realised, fence));
  if (raised && say) {
    say(fmt::format("{}: alarm: {}: {}; {}", family.name, realised.alarm, realised.because,
                    rollback_hint(realised.alarm)));
  }
  return Ok{};
}

// When a change that is not in the stack left it; nothing if it is there.
Result<std::optional<Nanos>> rolled_back_at(Context& context, const ledger::Family& family,
                                            const std::string& hypothesis) {
  if (std::ranges::find(family.stack, hypothesis) != family.stack.end()) {
    return std::optional<Nanos>{};
  }
  std::int64_t before = 0;
  while (true) {
    const auto page = TRY(context.ledger->events(family.name, before, kEventsOfAPage));
    for (const ledger::Event& event : page) {
      if (event.kind == "baseline.rolled_back" &&
          event.payload.value("hypothesis", "") == hypothesis) {
        return std::optional(event.at);
      }
    }
    if (page.empty() || page.back().seq <= 1) return std::optional<Nanos>{Nanos{1}};
    before = page.back().seq;
  }
}

struct Booking {
  const std::vector<ledger::Earning>& booked;
  const Say& say;
  std::int64_t fence = 0;
};

Result<> watch_family(Context& context, const Finder& finder, const std::string& name,
                      std::vector<LaterJob> jobs, const Booking& booking) {
  const ledger::Family family = TRY(context.ledger->family(name));
  const std::vector<InEffect> changes = TRY(changes_in_effect(context, family));
  if (finder.add_new(name, jobs) > 0) TRY(keep_jobs(later_file(context, name), jobs, changes));
  const auto realised = canary::realised(changes, std::move(jobs));
  if (!realised) return Ok{};
  TRY(book(context, name, *realised, booking.booked, booking.fence));
  if (realised->alarm.empty()) return Ok{};
  return raise(context, family, *realised, booking.say, booking.fence);
}

}  // namespace

std::string later_json(const LaterJob& job) {
  Json json = {
      {"job", job.id}, {"start_ns", job.start.count()}, {"accelerator_s", job.accelerator_s}};
  if (job.work) json["work"] = *job.work;
  if (job.failed) json["failed"] = true;
  if (job.changes) json["changes"] = *job.changes;
  return dump_json(json);
}

Result<LaterJob> read_later(std::string_view line) {
  const Json json = TRY(parse_json(line));
  const bool whole = json.is_object() && json.contains("job") && json["job"].is_string() &&
                     json.contains("start_ns") && json["start_ns"].is_number_integer() &&
                     json.contains("accelerator_s") && json["accelerator_s"].is_number();
  if (!whole) return bad_input("expected job, start_ns and accelerator_s");
  LaterJob job;
  job.id = json["job"].get<std::string>();
  job.start = Nanos{json["start_ns"].get<std::int64_t>()};
  job.accelerator_s = json["accelerator_s"].get<double>();
  if (json.contains("work") && json["work"].is_number()) job.work = json["work"].get<double>();
  job.failed = json.contains("failed") && json["failed"] == true;
  if (!json.contains("changes")) return job;
  job.changes.emplace();
  for (const Json& id : json["changes"]) {
    if (!id.is_string()) return bad_input("/changes: expected ids");
    job.changes->push_back(id.get<std::string>());
  }
  return job;
}

void thin(std::vector<LaterJob>& jobs, std::span<const InEffect> changes, std::size_t most) {
  constexpr std::ptrdiff_t kBefore = 500;
  const auto is_compared_with = [&](std::vector<LaterJob>::const_iterator job) {
    return std::ranges::any_of(changes, [&](const InEffect& change) {
      const auto first = std::ranges::lower_bound(jobs, change.from, {}, &LaterJob::start);
      return job < first && first - job <= kBefore;
    });
  };
  for (std::size_t before = 0; jobs.size() > most && jobs.size() != before;) {
    before = jobs.size();
    const std::size_t old = jobs.size() - most / 2;
    std::vector<LaterJob> kept;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const auto job = jobs.cbegin() + static_cast<std::ptrdiff_t>(i);
      if (i >= old || i % 2 == 0 || is_compared_with(job)) kept.push_back(*job);
    }
    jobs = std::move(kept);
  }
}

Result<std::vector<InEffect>> changes_in_effect(Context& context, const ledger::Family& family) {
  std::vector<InEffect> changes;
  for (const ledger::Saving& saving : TRY(context.ledger->savings())) {
    if (saving.family != family.name) continue;
    const auto verdict = TRY(context.ledger->verdict(saving.hypothesis));
    if (!verdict) continue;
    const auto until = TRY(rolled_back_at(context, family, saving.hypothesis));
    changes.push_back({.hypothesis = saving.hypothesis,
                       .promised = -std::log1p(-saving.predicted_share),
                       .from = verdict->at,
                       .until = until.value_or(Nanos{})});
  }
  return changes;
}

Result<> watch_later_jobs(Context& context, const FleetAnswer& fleet, const Say& say,
                          std::int64_t fence) {
  std::set<std::string> promoted;
  for (const ledger::Saving& saving : TRY(context.ledger->savings())) {
    promoted.insert(saving.family);
  }
  if (promoted.empty()) return Ok{};
  TRY(os::make_dirs(context.path("later")));
  const Finder finder(context, fleet);
  const std::vector<ledger::Earning> booked = TRY(context.ledger->earnings());
  for (const std::string& name : promoted) {
    auto kept = kept_jobs(later_file(context, name));
    if (kept) {
      TRY(watch_family(context, finder, name, *std::move(kept), {booked, say, fence}));
    } else if (say) {
      say(fmt::format("{}: its savings are not booked: {}; remove the file to start anew", name,
                      kept.error().text));
    }
  }
  return Ok{};
}

}  // namespace amdahl::app
