#include "fleet/csv/sacct_like.h"

#include <algorithm>
#include <optional>
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

bool is_resources(std::string_view text) {
  return text.find("cpu=") != text.npos || text.find("gres/") != text.npos;
}

bool has_accelerators(std::string_view text) { return text.find("gres/gpu") != text.npos; }

// "gn01", "gn[01-04],cn7", "None assigned".
bool is_hosts(std::string_view text) {
  if (text == "None assigned") return true;
  const bool is_letter = !text.empty() && (text[0] | 32) >= 'a' && (text[0] | 32) <= 'z';
  return is_letter && text.find_first_of("0123456789") != text.npos &&
         text.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,[]") == text.npos;
}

bool is_surely_hosts(std::string_view text) {
  return is_hosts(text) && text.find_first_of("[ ") != text.npos;
}

// How many of the filled cells of a column are such.
std::size_t count(const Head& head, std::size_t column, bool (*is)(std::string_view)) {
  return static_cast<std::size_t>(std::ranges::count_if(
      head.rows, [&](const std::vector<std::string>& row) { return is(row[column]); }));
}

// Whether nearly all filled cells of a column are such.
bool are(const Head& head, std::size_t column, bool (*is)(std::string_view)) {
  const auto filled = std::ranges::count_if(
      head.rows, [&](const std::vector<std::string>& row) { return !row[column].empty(); });
  const std::size_t such = count(head, column, is);
  return such > 0 && such * 5 >= static_cast<std::size_t>(filled) * 4;
}

// Whether a column says how long it was from one time to the other.
bool is_between(const Head& head, std::size_t column, std::size_t from, std::size_t to) {
  std::size_t known = 0;
  std::size_t same = 0;
  for (const auto& row : head.rows) {
    const Instant start = read_time(row[from], Zone());
    const Instant end = read_time(row[to], Zone());
    Nanos elapsed{};
    if (!start.known() || !end.known() || !read_duration(row[column], elapsed)) continue;
    ++known;
    same += end.at - start.at == elapsed ? 1 : 0;
  }
  return same > 0 && same * 5 >= known * 4;
}

// The best of the columns that may be lists of hosts: one that can be nothing else, or the only
// one.
std::optional<std::size_t> hosts_column(const Head& head, const std::vector<std::string>& names) {
  std::vector<std::size_t> may;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "?" && are(head, i, is_hosts)) may.push_back(i);
  }
  for (const std::size_t i : may) {
    if (count(head, i, is_surely_hosts) > 0) return i;
  }
  return may.size() == 1 ? std::optional(may.front()) : std::nullopt;
}

// The column of resources that says what was allocated: one with accelerators, and the last, for
// what was asked for stands before it.
std::optional<std::size_t> resources_column(const Head& head) {
  std::optional<std::size_t> best;
  bool has = false;
  for (std::size_t i = 0; i < head.header.size(); ++i) {
    if (!are(head, i, is_resources)) continue;
    const bool mine = count(head, i, has_accelerators) > 0;
    if (best && has && !mine) continue;
    best = i;
    has = mine;
  }
  return best;
}

}  // namespace

std::string sacct_fields(const Head& head) {
  if (head.has_header || head.delimiter != '|') return {};
  std::vector<std::string> names(head.header.size(), "?");
  std::vector<std::size_t> times;
  bool has_state = false;
  bool has_id = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (are(head, i, is_iso_time)) {
      times.push_back(i);
    } else if (!has_state && are(head, i, is_state)) {
      names[i] = "State";
      has_state = true;
    } else if (!has_id && are(head, i, is_job_id)) {
      names[i] = "JobID";
      has_id = true;
    }
  }
  const auto resources = resources_column(head);
  if (!has_state || !has_id || !resources || times.size() < 2) return {};
  names[*resources] = "AllocTRES";
  // Submit, if it is there, stands before the others.
  const std::size_t start = times[times.size() - 2];
  const std::size_t end = times[times.size() - 1];
  names[end] = "End";
  names[start] = "Start";
  if (times.size() > 2) names[times[0]] = "Submit";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != "?" || !is_between(head, i, start, end)) continue;
    names[i] = are(head, i, is_digits) ? "ElapsedRaw" : "Elapsed";
    break;
  }
  if (const auto hosts = hosts_column(head, names)) names[*hosts] = "NodeList";
  return join(names, ",");
}

}  // namespace amdahl::fleet::csv
