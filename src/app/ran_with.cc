#include "app/ran_with.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json.h"
#include "launch/environment.h"
#include "launch/source.h"
#include "model/codec.h"
#include "model/spec_digest.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

// Git is asked at most so often: a cycle looks many times a minute.
constexpr Nanos kSourceHolds = std::chrono::seconds(5);

std::string digest_of(const model::Spec& spec) {
  return sha256_hex(dump_json(encode(spec))).substr(0, 16);
}

std::string pin_of(const Context& context, const std::string& family) {
  return context.path(fmt::format("environments/of-{}.json", family));
}

// The digest that is pinned for this spec; empty if none is.
std::string pinned(const Context& context, const std::string& family, const model::Spec& spec) {
  const auto text = os::read_file(pin_of(context, family));
  if (!text) return "";
  const auto pin = parse_json(*text);
  if (!pin || !pin->is_object() || pin->value("spec", "") != digest_of(spec)) return "";
  return pin->value("environment", "");
}

std::string source_now(Context& context, const std::string& family, const model::Spec& spec) {
  if (spec.repo.empty()) return "";
  const Nanos now = context.clock->monotonic();
  Context::Source& known = context.sources[family];
  const bool fresh = known.repo == spec.repo && now - known.at < kSourceHolds;
  if (!fresh) known = {spec.repo, launch::source_of(spec), now};
  return known.digest;
}

}  // namespace

RanWith ran_with(Context& context, const std::string& family, const model::Spec& spec) {
  return {pinned(context, family, spec), source_now(context, family, spec)};
}

Result<std::vector<std::string>> pin_environment(Context& context, const std::string& family,
                                                 const model::Spec& spec, bool anew) {
  const launch::Environment now = launch::own_environment();
  const std::string state = context.path("");
  std::vector<std::string> differ;
  if (const std::string before = pinned(context, family, spec); !before.empty()) {
    const auto kept = launch::kept_environment(state, before);
    if (kept) differ = launch::differences(*kept, now);
    if (kept && (!anew || differ.empty())) return differ;
  }
  TRY(launch::keep_environment(state, now));
  const Json pin{{"environment", launch::digest(now)}, {"spec", digest_of(spec)}};
  TRY(os::write_file(pin_of(context, family), pretty_json(pin)));
  return differ;
}

std::string setup_of(const model::Spec& spec, const model::Plan& baseline, const RanWith& with) {
  const std::string setup = model::setup_of(spec, baseline);
  return sha256_hex(setup + with.environment + with.source).substr(0, 16);
}

}  // namespace amdahl::app
