#include "app/context.h"

#include <array>
#include <chrono>
#include <memory>

#include <fmt/core.h>

#include "app/private_state.h"
#include "app/store.h"
#include "base/text.h"
#include "ledger/event.h"
#include "os/files.h"

namespace amdahl::app {

std::string Context::path(std::string_view inside) const {
  return fmt::format("{}/{}", config.state_dir, inside);
}

const std::string& Context::hardware_for(const std::string& family) const {
  const auto own = own_hardware.find(family);
  return own == own_hardware.end() ? hardware : own->second;
}

Result<> make_state(const std::string& folder) {
  const auto made = os::make_dirs(folder);
  if (made) return Ok{};
  return Error{Error::Kind::kExternal,
               fmt::format("the state folder cannot be created: {}; name another with --state DIR",
                           made.error().text)};
}

namespace {

// Events of a shared ledger are dated by its server. A machine whose clock is off must compare them
// with that clock, or what it just wrote looks old or is yet to come.
class LedgerClock final : public os::Clock {
 public:
  explicit LedgerClock(Nanos ahead) : ahead_{ahead} {}
  Nanos monotonic() override { return os::real_clock().monotonic(); }
  Nanos unix_time() override { return os::real_clock().unix_time() - ahead_; }
  void sleep(Nanos time) override { os::real_clock().sleep(time); }

 private:
  Nanos ahead_;
};

constexpr Nanos kMostSkew = std::chrono::seconds(2);

}  // namespace

Result<Context> open_context(const Config& config, bool create) {
  Context context;
  context.config = config;
  context.clock = &os::real_clock();
  if (create) TRY(make_state(config.state_dir));
  context.ledger = TRY(open_ledger(config, create));
  TRY(keep_private(config.state_dir));
  if (const Nanos ahead = context.ledger->clock_ahead(); std::chrono::abs(ahead) > kMostSkew) {
    context.ledger_clock = std::make_unique<LedgerClock>(ahead);
    context.clock = context.ledger_clock.get();
  }

  for (const launch::Kind& kind : launch::kinds()) {
    if (kind.name != config.launcher) continue;
    if (kind.name == "command" && config.plug_in.empty()) {
      return bad_input("launcher = \"command\" needs plug_in = \"FOLDER\" in the configuration");
    }
    const launch::Site site{config.state_dir, config.slurm, config.plug_in, config.slurm_families};
    context.launcher = kind.make(site);
    context.hardware = kind.hardware(site, "");
    for (const auto& [family, settings] : config.slurm_families) {
      context.own_hardware[family] = kind.hardware(site, family);
    }
    context.allocates = kind.allocates;
  }
  if (!context.launcher) {
    std::string known;
    for (const launch::Kind& kind : launch::kinds()) known += fmt::format(" {}", kind.name);
    return bad_input(fmt::format("unknown launcher '{}'; known:{}", config.launcher, known));
  }
  return context;
}

Result<> note(Context& context, ledger::Draft draft, std::int64_t fence) {
  TRY(context.ledger->append(std::array{std::move(draft)}, fence));
  return Ok{};
}

Result<ledger::Family> need_family(Context& context, const std::string& name) {
  auto found = context.ledger->family(name);
  if (found || found.error().kind != Error::Kind::kNotFound) return found;
  const std::vector<ledger::Family> all = TRY(context.ledger->families());
  std::vector<std::string_view> names;
  for (const ledger::Family& f : all) names.push_back(f.name);
  const auto near = did_you_mean(name, names);
  return Error{Error::Kind::kNotFound,
               fmt::format("no family '{}' has a spec{}; type: amdahl adopt JOB", name,
                           near ? fmt::format(", did you mean '{}'?", *near) : "")};
}

}  // namespace amdahl::app
