#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/redact.h"
#include "base/text.h"
#include "brief/brief.h"
#include "brief/numbers.h"
#include "model/bpf.h"

namespace amdahl::brief {
namespace {

constexpr std::size_t kSentence = 240;
constexpr std::size_t kMostFindings = 12;
constexpr std::size_t kMostPlaces = 6;
// Evidence that a section of its own tells, or that is about us.
constexpr std::array<std::string_view, 4> kToldElsewhere{"knob.", "env.", "hook.exit", "waits."};

Json limits_of(const model::Spec& spec) {
  Json json{{"time_limit_s", to_seconds(spec.time_limit)}};
  if (spec.memory_limit_mb) json["memory_limit_mb"] = *spec.memory_limit_mb;
  return json;
}

// What must stay as it is.
Json guards_of(const model::Spec& spec) {
  Json outputs = Json::array();
  for (const model::Output& output : spec.outputs) {
    outputs.push_back(output.path + (output.digest ? "" : " (must exist)"));
  }
  Json quality = Json::array();
  for (const model::Quality& metric : spec.quality) {
    quality.push_back(fmt::format("{} may get worse by {} at most", metric.name, metric.tolerance));
  }
  return {{"same_outputs", outputs}, {"quality", quality}, {"inputs", spec.inputs}};
}

Json job_of(const Observed& seen) {
  const model::Spec& spec = seen.spec;
  Json strata = Json::array();
  for (const model::Stratum& stratum : spec.strata) strata.push_back(stratum.name);
  Json json{{"family", spec.family},
            {"command", shell_quote(spec.command)},
            {"env", spec.env},
            {"accelerators", spec.accelerators},
            {"cpus", spec.cpus},
            {"limits", limits_of(spec)},
            {"metric", spec.metric},
            {"lower_is_better", spec.lower_is_better},
            {"work_unit", spec.work_unit},
            {"must_keep", guards_of(spec)}};
  if (!strata.empty()) json["input_classes"] = strata;
  if (!spec.repo.empty()) {
    json["repo"] = {{"commit", seen.commit}, {"build", shell_quote(spec.build)}};
    if (!spec.check.empty()) json["repo"]["check"] = shell_quote(spec.check);
    if (!spec.paths.empty()) json["repo"]["may_touch"] = join(spec.paths, ", ");
    if (!spec.deny.empty()) json["repo"]["may_not_touch"] = join(spec.deny, ", ");
  }
  if (!is_empty(seen.baseline)) json["promoted_already"] = describe(seen.baseline);
  return json;
}

Json knobs_of(const model::Spec& spec) {
  Json list = Json::array();
  for (const auto& [name, knob] : spec.knobs) {
    if (knob.effect == "semantic") continue;
    Json row{{"name", name}};
    if (!knob.arg.empty()) row["arg"] = knob.arg;
    if (!knob.env.empty()) row["env"] = knob.env;
    if (!knob.config.empty()) row["config"] = knob.config;
    if (!knob.value.empty()) row["now"] = knob.value;
    if (knob.min) row["min"] = *knob.min;
    if (knob.max) row["max"] = *knob.max;
    if (!knob.choices.empty()) row["choices"] = join(knob.choices, ", ");
    list.push_back(std::move(row));
  }
  return list;
}

Json injections_of(const Observed& seen) {
  Json list = Json::array();
  for (const hypothesize::Entry& entry : seen.injections) {
    for (const auto& [fix, value] : entry.inject) {
      list.push_back({{"name", fix}, {"value", value}, {"does", clip(entry.title, kSentence)}});
    }
  }
  return list;
}

Json anatomy_of(const model::Profile& profile) {
  Json numbers = Json::object();
  for (const auto& [name, value] : profile.evidence) {
    const bool told = std::ranges::any_of(
        kToldElsewhere, [&](std::string_view start) { return name.starts_with(start); });
    if (!told && std::isfinite(value)) numbers[name] = rounded(value);
  }
  return {{"wall_s", rounded(to_seconds(profile.wall))},
          {"accelerators", profile.accelerators},
          {"bottleneck", name(profile.bottleneck)},
          {"because", clip(profile.rule, kSentence)},
          {"numbers", numbers}};
}

Json causes_of(const Observed& seen) {
  Json list = Json::array();
  for (std::size_t i = 0; i < seen.profile.causes.size(); ++i) {
    const model::Cause& cause = seen.profile.causes[i];
    Json row{{"id", cause.id},
             {"cause", name(cause.bottleneck)},
             {"accelerator_s", rounded(cause.accelerator_seconds)},
             {"share", rounded(cause.share)},
             {"most_speed_up", rounded(cause.ceiling)},
             {"because", clip(cause.because, kSentence)}};
    if (i < seen.notes.size()) {
      if (!seen.notes[i].line.empty()) row["line"] = clip(seen.notes[i].line, kSentence);
      if (!seen.notes[i].to_try.empty()) row["try"] = clip(seen.notes[i].to_try, kSentence);
    }
    list.push_back(std::move(row));
  }
  return list;
}

Json findings_of(std::span<const profile::Finding> findings) {
  Json list = Json::array();
  for (const profile::Finding& finding : findings.first(std::min(findings.size(), kMostFindings))) {
    list.push_back({{"at", fmt::format("{}:{}", finding.code.file, finding.code.line)},
                    {"rule", finding.code.rule},
                    {"share", rounded(finding.share)},
                    {"share_is_measured", finding.measured},
                    {"most_speed_up", rounded(finding.ceiling)},
                    {"finds", clip(finding.code.finds, kSentence)},
                    {"try", clip(finding.code.suggestion, kSentence)},
                    {"has_patch", !finding.code.patch.empty()}});
  }
  return list;
}

Json threads_of(const profile::WaitsReport& waits) {
  Json roles = Json::array();
  for (const profile::RoleWaits& role : waits.roles) {
    Json row{{"role", name(role.role)},
             {"threads", role.threads},
             {"running_s", rounded(role.running_s)},
             {"runqueue_s", rounded(role.runqueue_s)}};
    for (std::size_t i = 0; i < model::kWaits; ++i) {
      if (role.blocked_s[i] < 0.01) continue;
      row[fmt::format("blocked_{}_s", model::kWaitNames[i])] = rounded(role.blocked_s[i]);
    }
    roles.push_back(std::move(row));
  }
  Json places = Json::array();
  for (const profile::WaitPlace& place : waits.places) {
    if (places.size() >= kMostPlaces) break;
    places.push_back(clip(profile::show(place), kSentence));
  }
  return {{"collector", waits.collector}, {"roles", roles}, {"step_threads_waited", places}};
}

}  // namespace

Json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::round(value) && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
  const auto digits = to_number<double>(fmt::format("{:.3g}", value));
  return digits ? Json(*digits) : Json(value);
}

Json evidence(const Observed& seen) {
  Json code = Json::array();
  for (const Excerpt& excerpt : seen.code) {
    code.push_back(
        {{"file", excerpt.file}, {"seconds", rounded(excerpt.seconds)}, {"lines", excerpt.text}});
    if (!excerpt.dearest.empty()) code.back()["dearest_lines"] = excerpt.dearest;
  }
  Json files = Json::array();
  for (const SourceFile& file : seen.files) {
    files.push_back(fmt::format("{} ({} lines)", file.path, file.lines));
  }
  Json missing = Json::array();
  for (const std::string& text : seen.profile.missing) missing.push_back(clip(text, kSentence));
  return redact(Json{{"profile", seen.profile.id},
                     {"job", job_of(seen)},
                     {"anatomy", anatomy_of(seen.profile)},
                     {"causes", causes_of(seen)},
                     {"findings", findings_of(seen.findings)},
                     {"code", code},
                     {"files", files},
                     {"threads", seen.waits ? threads_of(*seen.waits) : Json()},
                     {"knobs", knobs_of(seen.spec)},
                     {"injections", injections_of(seen)},
                     {"missing", missing}});
}

}  // namespace amdahl::brief
