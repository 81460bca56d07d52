#include "fleet/table/sacct_like.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "fleet/slurm/job.h"
#include "fleet/times.h"

namespace amdahl::fleet::table {
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

// Whether each record has a time in it, or says that there is none yet: the Layout of a step is
// "Unknown" too, but a job has none.
bool are_times(const Head& head, std::size_t column) {
  return count(head, column, is_iso_time) * 5 >= head.rows.size() * 4;
}

// How many records lie later in the first column than in the second. A time that is not known yet
// is later than any that is.
std::size_t later(const Head& head, std::size_t column, std::size_t than) {
  std::size_t count = 0;
  for (const auto& row : head.rows) {
    const Instant a = read_time(row[column], Zone());
    const Instant b = read_time(row[than], Zone());
    count += b.known() && (!a.known() || a.at > b.at) ? 1 : 0;
  }
  return count;
}

// How well a column says how long it was from one time to the other; of records that have no end
// yet, from their start to one moment: when sacct was asked.
struct Between {
  std::size_t known = 0;
  std::size_t same = 0;

  bool is_so() const { return same > 0 && same * 5 >= known * 4; }
};
Between between(const Head& head, std::size_t column, std::size_t from, std::size_t to) {
  Between found;
  std::map<Nanos, std::set<Nanos>> asked;  // The starts that lead to one moment.
  std::size_t open = 0;
  for (const auto& row : head.rows) {
    const Instant start = read_time(row[from], Zone());
    const Instant end = read_time(row[to], Zone());
    Nanos elapsed{};
    if (!start.known() || !read_duration(row[column], elapsed)) continue;
    ++found.known;
    if (end.known()) {
      found.same += end.at - start.at == elapsed ? 1 : 0;
    } else {
      ++open;
      asked[start.at + elapsed].insert(start.at);
    }
  }
  const bool is_one = asked.size() == 1 && asked.begin()->second.size() > 1;
  found.same += is_one ? open : 0;
  return found;
}

// The columns of Submit, Start and End among those with times, in whatever order they stand.
struct Spans {
  std::size_t start = 0;
  std::size_t end = 0;
  std::optional<std::size_t> submit;
  std::optional<std::size_t> elapsed;
};
Spans spans_of(const Head& head, std::vector<std::size_t> times) {
  // The latest last: End, before it Start, then when it became eligible, or was submitted.
  std::map<std::size_t, std::size_t> lateness;
  for (const std::size_t a : times) {
    for (const std::size_t b : times) lateness[a] += later(head, a, b);
  }
  std::ranges::stable_sort(times, {}, [&](std::size_t column) { return lateness[column]; });
  Spans spans{.start = times[times.size() - 2], .end = times.back(), .submit = {}, .elapsed = {}};
  std::size_t most = 0;
  for (std::size_t i = 0; i < head.header.size(); ++i) {
    const Between found = between(head, i, spans.start, spans.end);
    if (!found.is_so() || found.same <= most) continue;
    most = found.same;
    spans.elapsed = i;
  }
  if (times.size() > 2) spans.submit = times.front();
  return spans;
}

// What sonar asks sacct for; its files keep the answer as it came.
constexpr std::string_view kSonar =
    "JobID,JobIDRaw,User,Account,State,Start,End,AveCPU,AveDiskRead,AveDiskWrite,AveRSS,AveVMSize,"
    "ElapsedRaw,ExitCode,Layout,MaxRSS,MaxVMSize,MinCPU,ReqCPUS,ReqMem,ReqNodes,Reservation,Submit,"
    "Suspended,SystemCPU,TimelimitRaw,UserCPU,NodeList,Partition,AllocTRES,Priority,JobName";

// The list of a tool that fits all that was told from the cells, since it names more of them.
std::string or_known(const std::vector<std::string>& names) {
  const auto known = split(kSonar, ',');
  const bool fits = std::ranges::equal(
      names, known, [](std::string_view a, std::string_view b) { return a == "?" || a == b; });
  return fits ? std::string(kSonar) : join(names, ",");
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
    if (are_times(head, i)) {
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
  const Spans spans = spans_of(head, std::move(times));
  names[spans.end] = "End";
  names[spans.start] = "Start";
  if (spans.submit) names[*spans.submit] = "Submit";
  if (spans.elapsed && names[*spans.elapsed] == "?") {
    names[*spans.elapsed] = are(head, *spans.elapsed, is_digits) ? "ElapsedRaw" : "Elapsed";
  }
  if (const auto hosts = hosts_column(head, names)) names[*hosts] = "NodeList";
  return or_known(names);
}

}  // namespace amdahl::fleet::table
