#include <algorithm>

#include "base/text.h"
#include "dream/classes.h"
#include "dream/dream.h"
#include "dream/knob_names.h"
#include "dream/prose.h"
#include "dream/settings.h"

namespace amdahl::dream {
namespace {

constexpr double kWorthLooking = 0.05;  // Share of the cost.

void add(const std::vector<std::string>& phrases, std::vector<std::string>& to) {
  for (const std::string& phrase : phrases) {
    if (std::ranges::find(to, phrase) == to.end()) to.push_back(phrase);
  }
}

}  // namespace

Query query_for(const model::Profile& profile, const model::Spec& spec,
                std::span<const hypothesize::Entry> playbook) {
  Query query;
  add(words_of(profile.bottleneck), query.words);
  for (const model::Cause& cause : profile.causes) {
    if (cause.share >= kWorthLooking) add(words_of(cause.bottleneck), query.words);
  }
  add(names_of_tuners(), query.names);
  add(names_of_knobs(spec), query.names);
  for (const hypothesize::Entry& entry : playbook) {
    add({std::string(trim(folded(entry.title)))}, query.names);
  }
  return query;
}

}  // namespace amdahl::dream
