#include "fleet/csv/sacct_like.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "fleet/slurm/job.h"
#include "fleet/times.h"

namespace amdahl::fleet::csv {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

bool is_job_id(std::string_view text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9' &&
         text.find_first_not_of("0123456789_+.[]-%,batchextern") == text.npos;
}

bool is_iso_time(std::string_view text) {
  if (text == "Unknown") return true;
  return text.size() >= 19 && text[10] == 'T' && read_time(text, Zone()).known();
}

bool is_state(std::string_view text) {
  return text.size() > 5 && slurm::state_of(text) != model::JobState::kOther;
}

bool is_resources(std::string_view text) { return text.find("gres/gpu") != text.npos; }

// Whether nearly all filled cells of a column are such.
bool are(const Head& head, std::size_t column, bool (*is)(std::string_view)) {
  std::size_t filled = 0;
  std::size_t such = 0;
  for (const auto& row : head.rows) {
    if (row[column].empty()) continue;
    ++filled;
    such += is(row[column]) ? 1 : 0;
  }
  return such > 0 && such * 5 >= filled * 4;
}

}  // namespace

std::string sacct_fields(const Head& head) {
  if (head.has_header || head.delimiter != '|') return {};
  std::vector<std::string> names(head.header.size(), "?");
  std::vector<std::size_t> times;
  bool has_state = false;
  bool has_resources = false;
  bool has_id = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (are(head, i, is_iso_time)) {
      times.push_back(i);
    } else if (are(head, i, is_state)) {
      names[i] = "State";
      has_state = true;
    } else if (are(head, i, is_resources)) {
      names[i] = has_resources ? "?" : "AllocTRES";
      has_resources = true;
    } else if (!has_id && are(head, i, is_job_id)) {
      names[i] = "JobID";
      has_id = true;
    } else if (!times.empty() && are(head, i, is_digits)) {
      names[i] = "ElapsedRaw";
    }
  }
  if (!has_state || !has_resources || !has_id || times.size() < 2) return {};
  // Submit, if it is there, stands before the others.
  names[times[times.size() - 1]] = "End";
  names[times[times.size() - 2]] = "Start";
  if (times.size() > 2) names[times[0]] = "Submit";
  return join(names, ",");
}

}  // namespace amdahl::fleet::csv
