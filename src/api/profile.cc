#include "api/profile.h"

#include <nlohmann/json.hpp>

#include "api/document.h"
#include "model/codec.h"

namespace amdahl::api {
namespace {

Json encode_finding(const profile::Finding& finding) {
  return {{"file", finding.code.file},
          {"line", finding.code.line},
          {"rule", finding.code.rule},
          {"snippet", finding.code.snippet},
          {"finds", finding.code.finds},
          {"accelerator_s", finding.accelerator_seconds},
          {"share", finding.share},
          {"ceiling", finite(finding.ceiling)},
          {"expected", finite(finding.expected)},
          {"measured", finding.measured},
          {"cause", finding.cause},
          {"because", finding.because},
          {"try", finding.code.suggestion},
          {"playbook", finding.code.playbook},
          {"patch", finding.code.patch}};
}

Json encode(const app::Ceiling& ceiling) {
  const auto known = [&](double speed_up) {
    return ceiling.problem.empty() ? Json(speed_up) : Json();
  };
  return {{"cause", ceiling.cause},
          {"computed", ceiling.computed ? Json(*ceiling.computed) : Json()},
          {"measured", known(ceiling.measured)},
          {"lower", known(ceiling.lower)},
          {"upper", known(ceiling.upper)},
          {"pairs", ceiling.pairs},
          {"problem", ceiling.problem}};
}

}  // namespace

Json gpu(const profile::GpuUse& use) {
  return {{"gpu", use.gpu},
          {"name", use.name},
          {"uuid", use.uuid},
          {"looks", use.looks},
          {"memory_total_bytes", or_null(use.memory_total_bytes)},
          {"memory_peak_bytes", or_null(use.memory_peak_bytes)},
          {"power_w", or_null(use.power_w)},
          {"strangers", use.strangers},
          {"strangers_bytes", use.strangers_bytes},
          {"trouble", use.trouble}};
}

Json job_profile(const app::JobProfile& job) {
  Json json = encode(job.profile);
  json["findings"] = Json::array();
  for (const profile::Finding& finding : job.findings) {
    json["findings"].push_back(encode_finding(finding));
  }
  for (std::size_t i = 0; i < job.profile.causes.size(); ++i) {
    const app::CauseAdvice advice = app::advice_on(job, job.profile.causes[i]);
    Json& row = json["causes"][i];
    row["expected"] = finite(advice.expected);
    row["try"] = advice.to_try;
    if (advice.behind != nullptr) {
      row["file"] = advice.behind->code.file;
      row["line"] = advice.behind->code.line;
    }
    if (!advice.went_to.empty()) row["went_to"] = advice.went_to;
  }
  json["gpus"] = Json::array();
  for (const profile::GpuUse& use : job.gpus) json["gpus"].push_back(gpu(use));
  json["waits"] = job.waits ? waits(*job.waits) : Json();
  json["not_read"] = job.problems;
  return document(std::move(json));
}

Result<Json> job_profile(app::Context& context, const std::string& family) {
  return job_profile(TRY(app::latest_profile(context, family)));
}

Json brief(const app::Brief& brief) {
  Json json = brief.packet;
  json["tokens_estimated"] = brief.tokens_estimated;
  return document(std::move(json));
}

Json command_profile(const app::CommandProfile& done, std::span<const app::Ceiling> ceilings) {
  Json json = job_profile(done.joined);
  for (const app::Ceiling& ceiling : ceilings) json["ceilings"].push_back(encode(ceiling));
  json["folder"] = done.folder;
  json["ending"] = describe_ending(done.receipt);
  return json;
}

}  // namespace amdahl::api
