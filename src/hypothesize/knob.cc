#include "hypothesize/knob.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>

#include "base/text.h"
#include "model/plan.h"

namespace amdahl::hypothesize {
namespace {

struct Opposite {
  std::string_view off;
  std::string_view on;
};

constexpr auto kOpposites = std::to_array<Opposite>({
    {"0", "1"},
    {"false", "true"},
    {"False", "True"},
    {"off", "on"},
    {"no", "yes"},
});

bool is_off_word(std::string_view value) {
  return std::ranges::find(kOpposites, value, &Opposite::off) != kOpposites.end();
}

// A switch is 0 or 1. A number that the job leaves to its default is not a number: it exists, and
// no comparison holds.
double as_number(const model::Knob& knob, const Present& present) {
  if (const auto number = to_number<double>(present.value)) return *number;
  if (knob.min || knob.max) return std::numeric_limits<double>::quiet_NaN();
  const bool off = !present.set || is_off_word(present.value) ||
                   (!knob.off.empty() && present.value == knob.off);
  return off ? 0 : 1;
}

}  // namespace

Present present_of(const model::Spec& spec, const model::Change& baseline,
                   const std::string& variable) {
  const auto changed = baseline.env.find(variable);
  if (changed != baseline.env.end()) {
    return {changed->second.has_value(), changed->second.value_or("")};
  }
  const auto given = spec.env.find(variable);
  return given == spec.env.end() ? Present{} : Present{true, given->second};
}

Present present_of(const model::Spec& spec, const model::Change& baseline,
                   const model::Knob& knob) {
  const std::optional<std::string> value = model::current_value(spec, baseline, knob);
  return {value.has_value(), value.value_or("")};
}

int accelerators_of(const model::Spec& spec, const model::Change& baseline) {
  return baseline.accelerators.value_or(spec.accelerators);
}

std::optional<std::string> switched(const model::Knob& knob, const Present& present, bool on) {
  const std::string& wanted = on ? knob.on : knob.off;
  if (!wanted.empty()) return wanted;
  for (const Opposite& pair : kOpposites) {
    if (present.value == pair.off || present.value == pair.on) {
      return std::string(on ? pair.on : pair.off);
    }
  }
  if (knob.arg.empty()) {
    // A variable or a key has no bare form.
    if (on) return knob.env.empty() ? "true" : "1";
    if (knob.env.empty()) return "false";
  }
  if (on) return "";
  return std::nullopt;
}

bool set_knob(const model::Knob& knob, const std::optional<std::string>& value,
              model::Change& change) {
  if (!knob.arg.empty()) {
    change.args[knob.arg] = value;
  } else if (!knob.env.empty()) {
    change.env[knob.env] = value;
  } else if (!knob.config.empty() && value) {
    change.config[knob.config] = *value;
  } else {
    return false;
  }
  return true;
}

model::Profile on_baseline(const model::Profile& profile, const model::Spec& spec,
                           const model::Change& baseline) {
  model::Profile result = profile;
  std::erase_if(result.evidence, [](const auto& row) { return row.first.starts_with("knob."); });
  for (const auto& [name, knob] : spec.knobs) {
    const Present present = present_of(spec, baseline, knob);
    result.evidence["knob." + name] = as_number(knob, present);
  }
  std::map<std::string, std::optional<std::string>> variables(spec.env.begin(), spec.env.end());
  for (const auto& [name, value] : baseline.env) variables[name] = value;
  for (const auto& [name, value] : variables) {
    if (!value) continue;
    result.evidence["env." + name] =
        to_number<double>(*value).value_or(std::numeric_limits<double>::quiet_NaN());
  }
  result.evidence["accelerators"] = accelerators_of(spec, baseline);
  return result;
}

}  // namespace amdahl::hypothesize
