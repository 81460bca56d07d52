#include "fleet/table/states.h"

#include <string>

#include "base/text.h"
#include "fleet/slurm/job.h"

namespace amdahl::fleet::table {
namespace {

using model::JobState;

struct StateWord {
  std::string_view word;
  JobState state;
};
// What schedulers other than Slurm call them, in lower case.
constexpr StateWord kStates[] = {
    {"succeeded", JobState::kCompleted},   {"success", JobState::kCompleted},
    {"pass", JobState::kCompleted},        {"done", JobState::kCompleted},
    {"finished", JobState::kCompleted},    {"terminated", JobState::kCompleted},
    {"error", JobState::kFailed},          {"killed", JobState::kCancelled},
    {"canceled", JobState::kCancelled},    {"stopped", JobState::kCancelled},
    {"deleted", JobState::kCancelled},     {"evicted", JobState::kPreempted},
    {"interrupted", JobState::kPreempted}, {"waiting", JobState::kPending},
    {"queued", JobState::kPending},        {"oomkilled", JobState::kOutOfMemory},
    {"oom", JobState::kOutOfMemory},       {"timelimit", JobState::kTimeout},
    {"finish", JobState::kCompleted},      {"complete", JobState::kCompleted},
    {"ok", JobState::kCompleted},          {"fail", JobState::kFailed},
    {"exit", JobState::kFailed},           {"aborted", JobState::kCancelled},
    {"kill", JobState::kCancelled},        {"evict", JobState::kPreempted},
    {"submitted", JobState::kPending},     {"active", JobState::kRunning},
};

}  // namespace

JobState state_of_word(std::string_view word) {
  std::string upper(trim(word));
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  if (const JobState known = slurm::state_of(upper); known != JobState::kOther) return known;
  const std::string small = lower(trim(word));
  for (const StateWord& row : kStates) {
    if (row.word == small) return row.state;
  }
  return JobState::kOther;
}

}  // namespace amdahl::fleet::table
