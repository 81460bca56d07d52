#include "app/own_waste.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/text.h"
#include "scan/parts.h"

namespace amdahl::app {
namespace {

OwnJob own_job(const FleetAnswer& fleet, std::uint32_t index) {
  const scan::FleetJob job = fleet.usage.jobs[index];
  OwnJob own;
  own.id = fleet.usage.text(job.id);
  own.name = fleet.usage.text(job.name);
  own.family = fleet.families.all[fleet.families.of_job[index]].name;
  own.user = fleet.usage.text(job.user);
  own.state = model::name(job.state);
  own.start = job.start;
  own.split = job.split;
  const scan::Dissection found = scan::dissect(scan::lines_of(fleet.usage, job));
  if (found.parts.empty()) return own;
  own.part = scan::name(found.parts.front().kind);
  own.evidence = found.parts.front().evidence;
  own.action = scan::action(found.parts.front().kind);
  return own;
}

template <class Row>
void keep_first(std::vector<Row>& rows, std::size_t most, double (*wasted)(const Row&)) {
  std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) { return wasted(a) > wasted(b); });
  if (rows.size() > most) rows.resize(most);
}

}  // namespace

Result<OwnWaste> own_waste(const FleetAnswer& fleet, scan::By by, const std::string& name,
                           std::size_t most) {
  if (by != scan::By::kUser && by != scan::By::kAccount) {
    return bad_input(
        fmt::format("jobs belong to a user or an account, not to a {}", scan::name(by)));
  }
  const scan::JobRows& rows = fleet.usage.jobs;
  OwnWaste own{.by = by, .name = name};
  std::map<std::uint32_t, OwnFamily> families;
  struct Wasteful {
    std::uint32_t job = 0;
    double wasted = 0;
  };
  std::vector<Wasteful> worst;
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    const scan::JobRows::Traits& traits = rows.traits()[rows.traits_of(i)];
    if (fleet.usage.text(by == scan::By::kUser ? traits.user : traits.account) != name) continue;
    const scan::Split split = rows.split(i);
    const bool lost = model::is_lost(rows.state(i));
    ++own.jobs;
    own.split += split;
    own.lost_jobs += lost ? 1 : 0;
    own.lost += lost ? split.allocated : 0;
    OwnFamily& family = families[fleet.families.of_job[i]];
    ++family.jobs;
    family.split += split;
    worst.push_back({i, scan::wasted(split)});
  }
  if (own.jobs == 0) {
    return Error{Error::Kind::kNotFound, fmt::format("no {} '{}' held an accelerator in this scan",
                                                     scan::name(by), clip(name, 60))};
  }
  for (auto& [number, family] : families) {
    family.name = fleet.families.all[number].name;
    own.families.push_back(std::move(family));
  }
  keep_first<OwnFamily>(own.families, most,
                        [](const OwnFamily& f) { return scan::wasted(f.split); });
  keep_first<Wasteful>(worst, most, [](const Wasteful& w) { return w.wasted; });
  for (const Wasteful& one : worst) own.worst.push_back(own_job(fleet, one.job));
  return own;
}

}  // namespace amdahl::app
