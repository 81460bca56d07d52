#include "profile/host_ranks.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include <fmt/core.h>

#include "base/text.h"
#include "profile/cause_kinds.h"
#include "profile/causes.h"

namespace amdahl::profile {
namespace {

constexpr auto kHostCollectives = std::to_array<std::string_view>({"gloo:", "mpi:"});
constexpr std::uint64_t kFewest = 5;
// The last rank is inside for at most this part of what the second last is.
constexpr double kClearlyShorter = 0.5;

struct Inside {
  std::vector<Nanos> times;
  Nanos first = Nanos::max();
  Nanos last{};
};

Nanos middle(std::vector<Nanos> times) {
  const auto half = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, half);
  return *half;
}

using ByName = std::map<std::uint32_t, std::map<std::uint32_t, Inside>>;  // Name, then source.

ByName collectives_of(const model::Trace& trace) {
  std::map<std::uint32_t, bool> known;
  ByName found;
  for (const model::HostEvent& event : trace.host_events) {
    const auto [name, is_new] = known.try_emplace(event.name, false);
    if (is_new) {
      const std::string_view text = trace.names[event.name];
      name->second = std::ranges::any_of(
          kHostCollectives, [&](std::string_view prefix) { return text.starts_with(prefix); });
    }
    if (!name->second || event.thread == model::kNone) continue;
    Inside& inside = found[event.name][trace.processes[trace.threads[event.thread].process].source];
    inside.times.push_back(event.duration);
    inside.first = std::min(inside.first, event.start);
    inside.last = std::max(inside.last, event.end());
  }
  return found;
}

Nanos sum_of(const Inside& inside) {
  Nanos sum{};
  for (const Nanos time : inside.times) sum += time;
  return sum;
}

}  // namespace

HostRanks host_ranks(const model::Trace& trace) {
  const ByName all = collectives_of(trace);
  const std::map<std::uint32_t, Inside>* most = nullptr;
  Nanos longest{};
  HostRanks found;
  for (const auto& [name, by_source] : all) {
    Nanos sum{};
    for (const auto& [source, inside] : by_source) sum += sum_of(inside);
    if (sum <= longest || by_source.size() < 2) continue;
    longest = sum;
    most = &by_source;
    found.collective = trace.names[name];
  }
  if (most == nullptr) return found;
  double span = 0;
  double waited = 0;
  for (const auto& [source, inside] : *most) {
    const model::TraceSource& of = trace.sources[source];
    found.ranks.push_back(
        {of.rank, of.host, inside.times.size(), middle(inside.times), sum_of(inside)});
    span += to_seconds(inside.last - inside.first);
  }
  std::ranges::sort(found.ranks, {}, &HostRank::rank);
  std::vector<Nanos> medians;
  for (const HostRank& rank : found.ranks) medians.push_back(rank.median);
  std::ranges::sort(medians);
  for (const HostRank& rank : found.ranks) {
    waited += to_seconds(rank.median - medians[0]) * static_cast<double>(rank.times);
  }
  found.share = span > 0 ? std::min(1.0, waited / span) : 0;
  const bool enough =
      std::ranges::all_of(found.ranks, [](const HostRank& rank) { return rank.times >= kFewest; });
  const bool clear = to_seconds(medians[0]) < kClearlyShorter * to_seconds(medians[1]);
  if (!enough || !clear || found.share < kSmallestCause) return found;
  const auto late = std::ranges::find(found.ranks, medians[0], &HostRank::median);
  found.straggler = static_cast<std::uint32_t>(late - found.ranks.begin());
  found.made_wait = medians[1] - medians[0];
  return found;
}

Facts facts_of(const HostRanks& ranks, double in_steps) {
  Facts facts;
  if (ranks.straggler == model::kNone) return facts;
  const HostRank& late = ranks.ranks[ranks.straggler];
  facts.evidence[kStragglerRank] = late.rank;
  facts.evidence["ranks.straggler_wait_s"] = to_seconds(ranks.made_wait);
  facts.evidence["ranks.straggler_share"] = ranks.share;
  model::Cause cause;
  set_kind(cause, causes::kStragglers);
  cause.bottleneck = model::Bottleneck::kCommunication;
  cause.share = ranks.share * in_steps;
  cause.because = fmt::format(
      "rank {}{} comes last to {}: it is inside for {} (median of {}), the next rank for {} longer",
      late.rank, late.host.empty() ? "" : " on " + late.host, ranks.collective,
      show_duration(late.median), late.times, show_duration(ranks.made_wait));
  facts.causes.push_back(std::move(cause));
  return facts;
}

}  // namespace amdahl::profile
