// job_html.h: what the profile of a command says, as the first part of its page.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/profile.h"
#include "profile/findings.h"
#include "profile/line_causes.h"

namespace amdahl::profile {

// Of the job: its name, what bounds it and why, and the tables below that.
struct JobLead {
  std::string name;
  model::Bottleneck bottleneck = model::Bottleneck::kUnknown;
  std::string rule;
  std::string body;  // HTML.
};

// `words`: the page of the terminal, which has all that the tables leave out.
JobLead job_lead(const model::Profile& profile, std::span<const Finding> findings,
                 const HotLines& hot, const std::string& words);

}  // namespace amdahl::profile
