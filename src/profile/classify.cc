#include "profile/classify.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "model/plan.h"
#include "profile/causes.h"

namespace amdahl::profile {
namespace {

using model::Bottleneck;
using model::Cause;
using Evidence = std::map<std::string, double>;

// A number is itself, a switch 0 or 1; a bare flag is on. A number that the job leaves to its
// default is there but not known: NaN, which no comparison holds for.
double knob_value(const model::Knob& knob, const std::optional<std::string>& present) {
  const std::string value = lower(trim(present.value_or("")));
  if (const auto number = to_number<double>(value)) return *number;
  if (knob.min || knob.max) return std::numeric_limits<double>::quiet_NaN();
  if (!present) return 0;
  for (const char* off : {"false", "off", "no"}) {
    if (value == off) return 0;
  }
  return !knob.off.empty() && value == lower(knob.off) ? 0 : 1;
}

void add_new(Evidence& evidence, const Evidence& more) {
  for (const auto& [name, value] : more) evidence.try_emplace(name, value);
}

// The option with which Python was told not to read PYTHONPATH, such as "-IB"; empty if with none.
std::string_view isolating_option(const std::vector<std::string>& command) {
  auto word = std::ranges::find_if(command, [](const std::string& candidate) {
    return candidate.substr(candidate.rfind('/') + 1).starts_with("python");
  });
  if (word == command.end()) return "";
  for (++word; word != command.end() && word->size() > 1 && word->front() == '-'; ++word) {
    if (*word == "-c" || *word == "-m" || word->starts_with("--")) break;
    if (*word == "-W" || *word == "-X") {
      if (++word == command.end()) break;
    } else if (!word->starts_with("-W") && !word->starts_with("-X") &&
               word->find_first_of("EIS") != std::string::npos) {
      return *word;
    }
  }
  return "";
}

std::string why_no_hook(const std::vector<std::string>& command) {
  const std::string start = "hook: no report, so steps, loader and operators are unknown: ";
  if (const std::string_view option = isolating_option(command); !option.empty()) {
    return start + fmt::format("Python ignores the hook with {}; profile without it", option);
  }
  return start + "not a PyTorch job, or its Python does not read PYTHONPATH";
}

void add_collected(const model::Spec& spec, const std::vector<Facts>& collected,
                   model::Profile& profile) {
  bool has_hook = false;
  for (const Facts& facts : collected) {
    for (const auto& [name, value] : facts.evidence) {
      has_hook = has_hook || name.starts_with("hook.");
    }
    add_new(profile.evidence, facts.evidence);
    for (const std::string& missing : facts.missing) {
      if (std::ranges::find(profile.missing, missing) == profile.missing.end()) {
        profile.missing.push_back(missing);
      }
    }
  }
  if (!has_hook) profile.missing.push_back(why_no_hook(spec.command));
}

std::string line_of(const Cause& cause) {
  return fmt::format(
      "{} {}, speed-up at most {}", cause.name, show_percent(cause.share),
      std::isinf(cause.ceiling) ? "unbounded" : fmt::format("{:.2f}x", cause.ceiling));
}

// The productive share; without samples, the share of compute phases.
std::optional<std::pair<std::string, double>> productive(const Evidence& evidence) {
  for (const char* name : {"productive_share", "compute_share"}) {
    if (const auto found = evidence.find(name); found != evidence.end()) return *found;
  }
  return std::nullopt;
}

}  // namespace

bool was_cut_short(const model::Receipt& receipt) {
  using enum model::Ending;
  const bool was_told = receipt.ending == kSignalled && receipt.code == SIGTERM;
  return was_told || receipt.ending == kCancelled || receipt.ending == kTimeLimit ||
         receipt.ending == kMemoryLimit;
}

void conclude(model::Profile& profile, double left_alone) {
  const Cause* largest = profile.causes.empty() ? nullptr : &profile.causes.front();
  if (largest != nullptr && largest->share >= kCauseThatCounts) {
    profile.bottleneck = largest->bottleneck;
    if (largest->bottleneck == Bottleneck::kUnknown) {
      profile.rule = fmt::format("unknown: the largest cause is {}; let the job report its phases",
                                 line_of(*largest));
    } else {
      profile.rule = fmt::format("largest cause: {} ({})", line_of(*largest), largest->because);
    }
    return;
  }
  const std::string no_cause = fmt::format("no cause reaches {}", show_percent(kCauseThatCounts));
  auto computing = productive(profile.evidence);
  if (computing) computing->second = std::min(1.0, computing->second / (1 - left_alone));
  if (!computing) {
    profile.bottleneck = Bottleneck::kUnknown;
    profile.rule =
        fmt::format("unknown: {}, but neither utilisation nor phases were observed", no_cause);
    return;
  }
  const bool is_compute = computing->second >= kComputeAtLeast;
  profile.bottleneck = is_compute ? Bottleneck::kCompute : Bottleneck::kUnknown;
  profile.rule =
      fmt::format("{}{} is {} ({} {}) and {}", is_compute ? "" : "unknown: ", computing->first,
                  show_percent(computing->second), is_compute ? "at least" : "below",
                  show_percent(kComputeAtLeast), no_cause);
}

model::Profile classify(const model::Spec& spec, const model::Receipt& receipt,
                        const std::vector<Facts>& collected, const model::Change& baseline) {
  model::Profile profile;
  profile.id = "p-" + sha256_hex(receipt.id + "\n" + receipt.digest).substr(0, 10);
  profile.family = receipt.family.empty() ? spec.family : receipt.family;
  profile.baseline = receipt.plan_digest;
  profile.wall = receipt.wall;
  profile.accelerators = receipt.accelerators;
  if (!model::succeeded(receipt)) {
    const std::string ending = model::describe_ending(receipt);
    profile.missing.push_back(
        was_cut_short(receipt)
            ? fmt::format("the rest: the run was cut short ({}); all figures are for the part "
                          "before that",
                          ending)
            : fmt::format("success: the run failed ({}); all figures are for a failed run",
                          ending));
  }

  Facts own = facts_of(receipt);
  profile.evidence = own.evidence;
  profile.missing.insert(profile.missing.end(), own.missing.begin(), own.missing.end());
  add_collected(spec, collected, profile);
  add_new(profile.evidence, plain_shares(profile.evidence, to_seconds(receipt.wall)));
  for (const auto& [name, knob] : spec.knobs) {
    const auto present = model::current_value(spec, baseline, knob);
    profile.evidence["knob." + name] = knob_value(knob, present);
  }

  std::vector<Cause> seen;
  for (const Facts& facts : collected) {
    seen.insert(seen.end(), facts.causes.begin(), facts.causes.end());
  }
  const CauseInputs inputs{.reported = std::move(own.evidence),
                           .all = profile.evidence,
                           .seen = std::move(seen),
                           .accelerator_kind = receipt.accelerator_kind,
                           .allocated = receipt.accelerators * to_seconds(receipt.wall),
                           .asked = spec.accelerators > 0};
  profile.causes = causes_of(inputs);
  for (const Cause& cause : profile.causes) {
    // The classes that no phase or hook times, for playbook entries to ask for.
    if (cause.bottleneck == Bottleneck::kAllocation)
      profile.evidence["allocation_share"] = cause.share;
    if (cause.bottleneck == Bottleneck::kContention) {
      profile.evidence["contention_share"] = cause.share;
      if (is_own_contention(cause)) profile.evidence["own_threads_share"] = cause.share;
    }
    if (cause.bottleneck == Bottleneck::kWakeups) profile.evidence["wakeup_share"] = cause.share;
    if (cause.bottleneck == Bottleneck::kUnknown)
      profile.evidence["unexplained_share"] = cause.share;
  }
  conclude(profile, left_alone(inputs));
  return profile;
}

}  // namespace amdahl::profile
