// job_html.h: the first part of the HTML page of a profiled command.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/profile.h"
#include "profile/findings.h"
#include "profile/line_causes.h"

namespace amdahl::profile {

// Name of the job, its bottleneck and why, and the tables below.
struct JobLead {
  std::string name;
  model::Bottleneck bottleneck = model::Bottleneck::kUnknown;
  std::string rule;
  std::string body;  // HTML.
};

// `words`: the terminal output, which has everything that the tables leave out.
JobLead job_lead(const model::Profile& profile, std::span<const Finding> findings,
                 const HotLines& hot, const std::string& words);

}  // namespace amdahl::profile
