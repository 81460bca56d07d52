#include "app/profile_now.h"

#include <algorithm>

#include <fmt/core.h>

#include "app/budget.h"
#include "app/lease.h"
#include "app/pairs.h"

namespace amdahl::app {
namespace {

constexpr Nanos kProfilePoll = std::chrono::milliseconds(50);

JobProfile with_lines(const Context& context, const ledger::Family& family,
                      const model::Profile& profile) {
  const Collected collected = collected_in(context.path(fmt::format("runs/{}/B", profile.id)));
  return explain(spec_of_run(family.spec, collected), profile, collected);
}

}  // namespace

Result<model::Profile> profile_now(Context& context, const std::string& name, const Say& say,
                                   const std::function<bool()>& stopped) {
  const ledger::Family family = TRY(need_family(context, name));
  const std::unique_ptr<Lease> lease = TRY(Lease::take(context));
  TRY(set_budgets(context, lease->fence()));
  Submitted submitted;
  model::Pair order;
  order.family = family.name;
  order.aim.purpose = model::Purpose::kProfile;
  order.index = next_index(TRY(context.ledger->family_runs(family.name, order.aim)));
  order.a = order.b = family.baseline;
  const auto need = static_cast<std::size_t>(TRY(slots_needed(family.spec, order)));
  if (need > context.config.slots.size()) {
    return bad_input(fmt::format("{} needs {} CPU slots and there are {}; give more with --slots",
                                 family.name, need, context.config.slots.size()));
  }
  std::string reservation;
  while (true) {
    TRY(reconcile(context, submitted, lease->fence(), say));
    const std::vector<model::Pair> open = TRY(context.ledger->runs_in_flight());
    const std::vector<int> free = free_slots(context.config, open);
    if (reservation.empty() && need <= free.size()) {
      const std::vector<int> cpus(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(need));
      const auto made = submit_pair(context, family, order, cpus, lease->fence());
      const bool full = !made && made.error().kind == Error::Kind::kBusy;
      if (!made && !full) return made.error();
      if (made) reservation = made->reservation;
      if (made && made->build.empty()) submitted[reservation] = {context.clock->monotonic(), 1};
    } else if (!reservation.empty() &&
               std::ranges::find(open, reservation, &model::Pair::reservation) == open.end()) {
      break;
    }
    if (stopped && stopped())
      return external("interrupted; the run continues, and the next cycle collects it");
    context.clock->sleep(kProfilePoll);
  }
  const ledger::Family after = TRY(need_family(context, name));
  if (!after.profile || after.profile->id != reservation) {
    return external(fmt::format("the profile run of {} failed; its output is in {}", name,
                                context.path(fmt::format("runs/{}/A", reservation))));
  }
  return *after.profile;
}

Result<JobProfile> profile_family(Context& context, const std::string& family, const Say& say,
                                  const std::function<bool()>& stopped) {
  const model::Profile profile = TRY(profile_now(context, family, say, stopped));
  return with_lines(context, TRY(need_family(context, family)), profile);
}

Result<JobProfile> latest_profile(Context& context, const std::string& family) {
  const ledger::Family known = TRY(need_family(context, family));
  if (!known.profile) {
    return Error{Error::Kind::kNotFound,
                 fmt::format("{0} has no profile yet; type: amdahl profile {0}", family)};
  }
  return with_lines(context, known, *known.profile);
}

}  // namespace amdahl::app
