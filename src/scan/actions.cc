#include "scan/actions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include <fmt/core.h>

#include "base/amount.h"
#include "base/count.h"
#include "base/text.h"
#include "scan/peers.h"

namespace amdahl::scan {
namespace {

enum Kind : std::size_t {
  kEnd,
  kGive,
  kHold,
  kRelease,
  kFeed,
  kMore,
  kSmaller,
  kStart,
  kBalance,
  kLook,
  kKinds
};

constexpr std::size_t kMostPeers = 1'000'000;  // Of a kind; more tell hardly more.

struct KindRow {
  std::string_view id;
  model::Bottleneck against;
  std::string_view title;
  std::string_view message;
};
constexpr std::array<KindRow, kKinds> kRows = {{
    {"end-idle-sessions", model::Bottleneck::kAllocation, "End idle sessions",
     "Your sessions held accelerators that did nothing. Please end a session when you stop using "
     "it."},
    {"give-back-unused", model::Bottleneck::kAllocation, "Give back unused accelerators",
     "Your jobs ask for more accelerators than they use. Please ask for as many as they use."},
    {"stop-failing-early", model::Bottleneck::kUnknown, "Stop jobs that keep failing",
     "Several of your jobs failed one after another. Please look at the first failure before you "
     "submit more."},
    {"release-when-done", model::Bottleneck::kLifecycle, "Release accelerators when done",
     "Your jobs kept accelerators after (or without) using them. Please let the script end, or "
     "split what needs no accelerator into a job of its own."},
    {"feed-accelerators", model::Bottleneck::kInput, "Feed the accelerators",
     "The accelerators of your jobs stand still again and again, as they do when data comes too "
     "late. More loader workers, caching or a faster file format usually help."},
    {"more-work-per-accelerator", model::Bottleneck::kCompute, "More work per accelerator",
     "The accelerators of your jobs are busy but not full. A larger batch, or several runs on one "
     "accelerator (MPS), usually helps."},
    {"move-to-smaller", model::Bottleneck::kAllocation, "Use smaller accelerators or MIG",
     "Your jobs use less than a third of an accelerator at any time. A smaller accelerator or a "
     "MIG slice is enough."},
    {"shorten-start-and-checkpoints", model::Bottleneck::kLifecycle,
     "Shorten start-up and checkpoints",
     "Your jobs spend much of their time in start-up, warm-up or checkpoints."},
    {"balance-ranks", model::Bottleneck::kCommunication, "Balance the work between accelerators",
     "Some accelerators of your jobs do much less than others."},
    {"look-closer", model::Bottleneck::kUnknown, "Find out when it happens",
     "For your jobs only averages are known."},
}};

Kind kind_of(PartKind part) {
  switch (part) {
    case PartKind::kUnused:
    case PartKind::kTail:
      return kRelease;
    case PartKind::kPartial:
      return kGive;
    case PartKind::kStartUp:
    case PartKind::kRamp:
    case PartKind::kCheckpoints:
      return kStart;
    case PartKind::kStalls:
    case PartKind::kPauses:
      return kFeed;
    case PartKind::kImbalance:
      return kBalance;
    case PartKind::kSteady:
      return kMore;
    case PartKind::kUnplaced:
      return kLook;
  }
  return kLook;
}

// Whether a job has such waste once, however long it is: its share says nothing beside that of a
// longer job.
bool is_once(PartKind part) {
  return part == PartKind::kStartUp || part == PartKind::kRamp || part == PartKind::kTail;
}

struct Pile {
  double wasted = 0;
  double recovered = 0;
  double usd = 0;         // Of `recovered`.
  double usd_wasted = 0;  // Of `wasted`.
  bool is_priced = true;
  std::uint64_t jobs = 0;
  std::set<WordId> users;
  double most = 0;
  std::uint32_t worst = 0;  // The job with most.
};

class Builder {
 public:
  Builder(const FleetUsage& usage, const Families& families, const JobParts& parts,
          const Policies& policies, const ActionOptions& options)
      : usage_{usage},
        families_{families},
        parts_{parts},
        policies_{policies},
        options_{options},
        observed_(families.all.size()) {}

  std::vector<Action> run(const Stop& stop) {
    add_replays();
    for (std::uint32_t i = 0; i < usage_.jobs.size() && !stop(i); ++i) add_parts(i);
    tell_timeout();
    tell_right_size();
    tell_failing();
    for (std::size_t k = 0; k < kKinds; ++k) tell_estimated(static_cast<Kind>(k));
    std::ranges::stable_sort(actions_, [](const Action& a, const Action& b) {
      return std::pair(!a.is_confirmed, -a.recovered) < std::pair(!b.is_confirmed, -b.recovered);
    });
    return std::move(actions_);
  }

 private:
  const JobRows::Traits& traits(std::uint32_t job) const {
    return usage_.jobs.traits()[usage_.jobs.traits_of(job)];
  }

  void put(Pile& pile, std::uint32_t job, double wasted, double recovered) {
    if (wasted <= 0 && recovered <= 0) return;
    pile.wasted += wasted;
    pile.recovered += recovered;
    const double price = options_.price ? options_.price(traits(job).kind)
                                        : std::numeric_limits<double>::quiet_NaN();
    pile.is_priced = pile.is_priced && !std::isnan(price);
    if (pile.is_priced) pile.usd += in_hours(recovered) * price;
    if (pile.is_priced) pile.usd_wasted += in_hours(wasted) * price;
    ++pile.jobs;
    if (traits(job).user != 0) pile.users.insert(traits(job).user);
    if (wasted <= pile.most) return;
    pile.most = wasted;
    pile.worst = job;
  }

  // A rule that is wrong in more than a quarter of its hits is no action.
  static bool is_sound(const Replay& replay) { return 4 * replay.wrong() <= replay.hits.size(); }

  // A job that two rules hit counts for the first of them.
  void add_replays() {
    const auto add = [&](const Replay& replay, Pile& pile) {
      if (!is_sound(replay)) return;
      for (const Hit& hit : replay.hits) {
        if (hit.is_wrong || taken_.contains(hit.job)) continue;
        taken_.emplace(hit.job, hit.recovered);
        put(pile, hit.job, hit.recovered, hit.recovered);
      }
    };
    if (const Replay* timeout = policies_.idle_timeout()) add(*timeout, counted_[kEnd]);
    add(policies_.right_size, counted_[kGive]);
    if (!is_sound(policies_.hold_failing)) return;
    for (const Hit& hit : policies_.hold_failing.hits) {
      // Time that failed is no waste by telemetry; what another rule frees of it is that rule's.
      const auto other = taken_.find(hit.job);
      const double rest = hit.recovered - (other == taken_.end() ? 0 : other->second);
      if (hit.is_wrong || rest <= 0) continue;
      failed_.insert(hit.job);
      put(counted_[kHold], hit.job, rest, rest);
    }
  }

  // What no rule frees, by when and where in the job it is wasted.
  void add_parts(std::uint32_t job) {
    const double seen = observed_in(usage_.jobs.split(job));
    if (seen > 0) ++observed_[families_.of_job[job]];
    if (wasted(usage_.jobs.split(job)) <= 0 || failed_.contains(job)) return;
    PartSeconds seconds = parts_.of(job);
    if (const auto hit = taken_.find(job); hit != taken_.end()) take_off(seconds, hit->second);
    const bool is_small = is_small_throughout(job);
    for (std::size_t k = 0; k < kPartKinds; ++k) {
      const auto part = static_cast<PartKind>(k);
      const Kind kind = part == PartKind::kSteady && is_small ? kSmaller : kind_of(part);
      // Rounding leaves next to nothing, which is no job of that kind.
      if (seconds[k] <= 1) continue;
      put(estimated_[kind], job, seconds[k], 0);
      if (peers_[kind].size() >= kMostPeers) continue;
      const double all = is_once(part) ? static_cast<double>(usage_.jobs.accelerators(job)) : seen;
      peers_[kind].push_back({families_.of_job[job], static_cast<std::uint32_t>(k),
                              static_cast<float>(seconds[k] / all), seconds[k]});
    }
  }

  static void take_off(PartSeconds& seconds, double recovered) {
    for (const PartKind kind :
         {PartKind::kUnused, PartKind::kTail, PartKind::kPartial, PartKind::kPauses,
          PartKind::kStalls, PartKind::kStartUp, PartKind::kUnplaced, PartKind::kSteady}) {
      const double part = std::min(recovered, seconds[index(kind)]);
      seconds[index(kind)] -= part;
      recovered -= part;
    }
  }

  // Whether the job has one accelerator and never uses more than a third of it.
  bool is_small_throughout(std::uint32_t job) const {
    constexpr double kSmall = 1.0 / 3;
    if (usage_.jobs.lanes(job) != 1) return false;
    const FleetJob told = usage_.jobs[job];
    const auto bins = usage_.bins_of(usage_.lanes_of(told).front());
    return !bins.empty() && std::ranges::all_of(bins, [](const Bin& bin) {
      return bin.samples == 0 || most_of(bin) <= kSmall;
    });
  }

  Action& begin(Kind kind, const Pile& pile, bool is_confirmed) {
    Action& action = actions_.emplace_back();
    action.id = kRows[kind].id;
    action.title = kRows[kind].title;
    action.message = kRows[kind].message;
    action.is_confirmed = is_confirmed;
    action.wasted = pile.wasted;
    action.recovered = action.lower = action.upper = pile.recovered;
    action.jobs = pile.jobs;
    action.users = pile.users.size();
    if (pile.is_priced && options_.price) {
      action.usd = pile.usd;
      action.usd_wasted = pile.usd_wasted;
    }
    return action;
  }

  static std::string n(std::uint64_t count, std::string_view one) {
    return counted(static_cast<std::int64_t>(count), one);
  }

  static std::string hours(double seconds) { return show_hours(in_hours(seconds)); }

  void tell_timeout() {
    const Replay* replay = policies_.idle_timeout();
    const Pile& pile = counted_[kEnd];
    if (!replay || pile.jobs == 0) return;
    Action& action = begin(kEnd, pile, true);
    const std::uint64_t hits = replay->hits.size();
    action.confidence = counted_rate(hits - replay->wrong(), hits, "hits that never worked again");
    const std::string limit = timeout_text(replay->limit);
    action.because = fmt::format(
        "idle-timeout={} replayed on {}: ends {}; {} of them worked again later ({} of work)",
        limit, n(replay->judged, "job"), n(hits, "job"), replay->wrong(), hours(replay->at_risk()));
    const std::vector<const Hit*> now = idle_now(*replay);
    action.command = now.empty() ? fmt::format("{} --policy idle-timeout={}", options_.scan, limit)
                                 : end_command(now);
    if (!now.empty()) action.because += fmt::format("; {} still run", now.size());
  }

  // Jobs of one cluster at once, the costliest first.
  std::string end_command(const std::vector<const Hit*>& hits) const {
    constexpr std::size_t kShown = 8;
    std::string cluster;  // Of the first, where several clusters gave the same number.
    std::vector<std::string> ids;
    for (const Hit* hit : hits) {
      const std::string id(usage_.text(usage_.jobs.id(hit->job)));
      const std::size_t slash = id.rfind('/');
      const std::string of = slash == id.npos ? "" : id.substr(slash + 1);
      if (ids.empty()) cluster = of;
      if (of == cluster && ids.size() < kShown) ids.push_back(id.substr(0, slash));
    }
    const bool is_named = !cluster.empty() && options_.end_jobs == "scancel";
    return fmt::format("{}{} {}", options_.end_jobs, is_named ? " -M " + cluster : "",
                       join(ids, " "));
  }

  // Hits that still run, the costliest first.
  std::vector<const Hit*> idle_now(const Replay& replay) const {
    std::vector<const Hit*> running;
    for (const Hit& hit : replay.hits) {
      if (!hit.is_wrong && usage_.jobs.running(hit.job)) running.push_back(&hit);
    }
    std::ranges::stable_sort(running, std::greater<>{}, &Hit::recovered);
    return running;
  }

  void tell_right_size() {
    const Replay& replay = policies_.right_size;
    const Pile& pile = counted_[kGive];
    if (pile.jobs == 0) return;
    Action& action = begin(kGive, pile, true);
    const std::uint64_t hits = replay.hits.size();
    action.confidence = counted_rate(hits - replay.wrong(), hits, "jobs that did with fewer");
    action.because = fmt::format(
        "as many accelerators as earlier jobs of the family used, replayed on {}: {} get fewer, of "
        "which {} used more",
        n(replay.judged, "job"), n(hits, "job"), replay.wrong());
    action.command = options_.scan + " --mail mails";
  }

  void tell_failing() {
    const Replay& replay = policies_.hold_failing;
    const Pile& pile = counted_[kHold];
    if (pile.jobs == 0) return;
    Action& action = begin(kHold, pile, true);
    const std::uint64_t hits = replay.hits.size();
    action.confidence = counted_rate(hits - replay.wrong(), hits, "held jobs that failed, too");
    action.because = fmt::format(
        "holding a job after three failures of its family in a row, replayed on {}: holds {}, of "
        "which {} did not fail",
        n(replay.judged, "job"), n(hits, "job"), replay.wrong());
    action.command = options_.scan + " --by family --order lost";
  }

  // With what was tried here against such waste.
  BaseRate learnt(BaseRate rate, Kind kind) const {
    const auto known = options_.tried.find(kRows[kind].against);
    if (known == options_.tried.end() || known->second.tried == 0) return rate;
    rate.mean = rate_after(rate.mean, known->second);
    rate.lower = rate_after(rate.lower, known->second);
    rate.upper = rate_after(rate.upper, known->second);
    return rate;
  }

  void tell_estimated(Kind kind) {
    const Pile& pile = estimated_[kind];
    if (pile.jobs == 0) return;
    Action& action = begin(kind, pile, false);
    action.confidence = learnt(peer_rate(std::move(peers_[kind]), observed_), kind);
    action.recovered = pile.wasted * action.confidence.mean;
    action.lower = pile.wasted * action.confidence.lower;
    action.upper = pile.wasted * action.confidence.upper;
    if (kind == kLook) {
      action.recovered = action.lower = 0;
      action.confidence = {.upper = action.confidence.upper};
    }
    if (action.usd) action.usd = pile.usd_wasted * action.recovered / pile.wasted;
    const std::string worst(usage_.text(usage_.jobs.id(pile.worst)));
    action.because = fmt::format("{} in {}, most in job {} ({}){}", hours(pile.wasted),
                                 n(pile.jobs, "job"), worst, hours(pile.most),
                                 kind == kLook ? "; only samples over time tell what helps" : "");
    // Averages show nothing more of a job.
    action.command = kind == kLook ? options_.scan + " --source prometheus=http://HOST:9090"
                                   : fmt::format("{} --job {}", options_.scan, worst);
  }

  const FleetUsage& usage_;
  const Families& families_;
  const JobParts& parts_;
  const Policies& policies_;
  const ActionOptions& options_;
  std::vector<std::uint32_t> observed_;  // Jobs of each family.
  std::array<std::vector<PeerWaste>, kKinds> peers_;
  std::array<Pile, kKinds> counted_;
  std::array<Pile, kKinds> estimated_;
  std::unordered_map<std::uint32_t, double> taken_;  // Jobs that a rule hits rightly.
  std::set<std::uint32_t> failed_;
  std::vector<Action> actions_;
};

}  // namespace

std::string confidence_text(const Action& action, bool with_interval) {
  const BaseRate& rate = action.confidence;
  std::string text =
      fmt::format("{} {}", show_percent(rate.mean), action.is_confirmed ? "right" : "back");
  if (with_interval) {
    text += fmt::format(" ({} to {})", show_percent(rate.lower), show_percent(rate.upper));
  }
  return text;
}

std::vector<std::string> bases_of(const std::vector<const Action*>& actions) {
  std::vector<std::pair<std::string_view, std::string>> numbers;  // By source.
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const std::string_view source = actions[i]->confidence.source;
    if (actions[i]->is_confirmed || source.empty()) continue;
    auto at = std::ranges::find(numbers, source, &decltype(numbers)::value_type::first);
    if (at == numbers.end()) at = numbers.insert(numbers.end(), {source, {}});
    at->second += fmt::format("{}{}", at->second.empty() ? "" : ", ", i + 1);
  }
  std::vector<std::string> bases;
  for (const auto& [source, which] : numbers) {
    bases.push_back(fmt::format("Back in {}: {}", which, source));
  }
  return bases;
}

std::string brief_command(std::string_view command) {
  constexpr std::string_view kScan = "amdahl scan";
  if (!command.starts_with(kScan)) return std::string(command);
  for (const std::string_view option :
       {" --policy ", " --mail ", " --by ", " --job ", " --source prometheus=http://HOST"}) {
    const std::size_t at = command.rfind(option);
    if (at != command.npos && at > kScan.size()) {
      return fmt::format("{} …{}", kScan, command.substr(at));
    }
  }
  return std::string(command);
}

std::vector<Action> actions_of(const FleetUsage& usage, const Families& families,
                               const JobParts& parts, const Policies& policies,
                               const ActionOptions& options, const Stop& stop) {
  return Builder(usage, families, parts, policies, options).run(stop);
}

}  // namespace amdahl::scan
