#include "fleet/slurm/scontrol.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/hostlist.h"
#include "fleet/mig.h"
#include "fleet/slurm/tres.h"

namespace amdahl::fleet::slurm {
namespace {

using model::Trouble;

// The value of ` Key=value` in a record; it ends at the next space.
std::string_view value_of(std::string_view record, std::string_view key) {
  for (std::size_t at = record.find(key); at != record.npos; at = record.find(key, at + 1)) {
    const bool begins = at == 0 || record[at - 1] == ' ' || record[at - 1] == '\n';
    const std::size_t value = at + key.size();
    if (!begins || value >= record.size() || record[value] != '=') continue;
    const std::string_view rest = record.substr(value + 1);
    const std::string_view found = rest.substr(0, rest.find_first_of(" \n\t\r"));
    return found == "(null)" || found == "N/A" ? std::string_view() : found;
  }
  return {};
}

// "Reason=bad gpu [root@2026-11-16T03:31:30]": since when.
std::string_view reason_time(std::string_view record) {
  const std::size_t reason = record.find("Reason=");
  if (reason == record.npos) return {};
  const std::size_t open = record.find('@', reason);
  const std::size_t close = record.find(']', reason);
  if (open == record.npos || close == record.npos || close < open) return {};
  return record.substr(open + 1, close - open - 1);
}

// Of a host with several kinds that of most; the count is of all.
double give_capacity(Intake& intake, std::string_view host, std::string_view partition,
                     std::string_view gres) {
  const Devices devices = devices_of_gres(gres);
  if (devices.count > 0 && devices.count <= 1e6) {
    // Slices need not fill their devices: two of 3g.20gb are one.
    const auto whole = static_cast<int>(std::ceil(devices.count - 1e-6));
    intake.tell(Capacity{host, partition, devices.kind, whole});
    if (devices.shards > 0) intake.tell(Parts{host, devices.shards / devices.count});
  }
  return devices.count;
}

// `devices`: 0 are none that could be down.
void give_down(Intake& intake, std::string_view host, Nanos from, Nanos to, double devices) {
  if (devices <= 0 || to <= from) return;
  intake.tell(Down{.host = host, .from = from, .to = to, .accelerators = devices});
}

// Between '|', or in columns of spaces.
std::vector<std::string_view> sinfo_cells(std::string_view line) {
  if (line.find('|') != line.npos) return split(line, '|');
  std::vector<std::string_view> cells;
  for (const std::string_view cell : split(line, ' ')) {
    if (!trim(cell).empty()) cells.push_back(trim(cell));
  }
  return cells;
}

// The default partition is marked: "gpu*".
std::string_view without_star(std::string_view partition) {
  return partition.ends_with('*') ? partition.substr(0, partition.size() - 1) : partition;
}

}  // namespace

bool is_node_record(std::string_view line) {
  return line.starts_with("NodeName=") && line.find(" Arch=") != line.npos;
}

bool is_job_record(std::string_view line) {
  return line.starts_with("JobId=") && line.find(" JobName=") != line.npos;
}

bool is_event_header(std::string_view line) {
  const auto has = [&](std::string_view name) { return line.find(name) != line.npos; };
  return has("NodeName|") && has("TimeStart|") && has("TimeEnd|") && has("State");
}

bool is_sinfo_header(std::string_view line) {
  const std::vector<std::string_view> cells = sinfo_cells(line);
  const auto has = [&](std::string_view name) {
    return std::find(cells.begin(), cells.end(), name) != cells.end();
  };
  // Between '|' other tables may have these names, too.
  const bool is_narrow = line.find('|') == line.npos;
  if (!has("GRES")) return false;
  return (has("NODELIST") && (is_narrow || has("PARTITION"))) || (is_narrow && has("HOSTNAMES"));
}

void Sinfo::line(std::string_view line, Where where) {
  if (trim(line).empty()) return;
  const std::vector<std::string_view> cells = sinfo_cells(line);
  if (is_sinfo_header(line)) {
    columns_.assign(cells.begin(), cells.end());
    return;
  }
  if (cells.size() < columns_.size()) {
    intake_.trouble(Trouble::kBadLine, where,
                    fmt::format("has fewer cells than {}", join(columns_, "|")));
    return;
  }
  const auto cell = [&](std::string_view name) {
    const auto at = std::find(columns_.begin(), columns_.end(), name);
    return at == columns_.end() ? std::string_view()
                                : trim(cells[static_cast<std::size_t>(at - columns_.begin())]);
  };
  // Without -N, a line is of all hosts that are alike.
  const std::string_view list = cell("HOSTNAMES").empty() ? cell("NODELIST") : cell("HOSTNAMES");
  const auto hosts = expand_hosts(list);
  if (!hosts || hosts->empty()) {
    intake_.trouble(Trouble::kBadLine, where,
                    fmt::format("'{}' is no list of hosts", clip(list, 40)));
    return;
  }
  for (const std::string& host : *hosts) {
    if (seen_.emplace(host).second)
      tell(host, {cell("PARTITION"), cell("GRES"), cell("STATE"), cell("TIMESTAMP"), where});
  }
}

void Sinfo::tell(std::string_view host, const Told& told) {
  const auto& [partition, gres, state, timestamp, where] = told;
  const double devices = give_capacity(intake_, host, without_star(partition), gres);
  if (devices <= 0 || !is_down(state)) return;
  const Instant since = read_time(timestamp, zone_);
  if (since.known()) {
    give_down(intake_, host, since.at, now_, devices);
  } else {
    intake_.trouble(Trouble::kMissing, where,
                    fmt::format("{} is {}, but since when is unknown", host, state));
  }
}

bool is_down(std::string_view state) {
  const std::string words = lower(state);
  for (const std::string_view word :
       {"down", "drain", "drng", "fail", "error", "inval", "future", "unknown"}) {
    if (words.find(word) == words.npos) continue;
    // A node that power saving switched off is there when it is wanted.
    if (word == "down" && words.find("powered_down") != words.npos &&
        words.find("down") == words.find("powered_down") + 8) {
      continue;
    }
    return true;
  }
  return false;
}

void Scontrol::begin(Where where) {
  node();
  job();
  node_.clear();
  job_.clear();
  job_record_.clear();
  node_where_ = where;
}

void Scontrol::line(std::string_view line, Where where) {
  if (is_node_record(line)) {
    begin(where);
    node_ = line;
    return;
  }
  if (is_job_record(line)) {
    begin(where);
    job_ = value_of(line, "JobId");
    job_where_ = where;
  }
  if (!job_.empty()) {
    job_record_ += line;
    job_record_ += '\n';
    return job_line(line);
  }
  if (!node_.empty()) {
    node_ += '\n';
    node_ += line;
    return;
  }
  if (!trim(line).empty()) {
    intake_.trouble(Trouble::kBadLine, where, "belongs to no node and no job");
  }
}

// "  Nodes=n[1-2] CPU_IDs=0 Mem=2000 GRES=gpu:a100:2(IDX:0-1)"
void Scontrol::job_line(std::string_view line) {
  // With -o all details of a job stand in one line.
  for (std::size_t at = line.find(" Nodes="); at != line.npos; at = line.find(" Nodes=", at + 1)) {
    const std::string_view rest = line.substr(at + 1);
    const std::string_view detail = rest.substr(0, rest.find(" Nodes="));
    const auto hosts = expand_hosts(value_of(detail, "Nodes"));
    if (!hosts) continue;
    for (const Gres& gres : accelerators_of_gres(value_of(detail, "GRES"))) {
      if (mig_share(gres.kind) > 0) continue;  // Slurm numbers slices, not devices.
      for (const int index : expand_indices(gres.indices)) {
        for (const std::string& host : *hosts)
          intake_.tell(Assignment{job_, host, std::to_string(index)});
      }
    }
  }
}

void Scontrol::job() {
  const std::string_view record = job_record_;
  const auto get = [&](std::string_view key) { return value_of(record, key); };
  const bool is_beside_sacct =
      record.find(" CPU_IDs=") != record.npos || record.find('\n') + 1 == record.size();
  if (job_.empty() || is_beside_sacct || get("StartTime").empty()) return;
  JobFields words;
  words.raw = job_;
  std::string id = job_;
  const std::string_view task = get("ArrayTaskId");
  if (!get("ArrayJobId").empty() && to_number<int>(task)) {
    id = fmt::format("{}_{}", get("ArrayJobId"), task);
  } else if (!get("HetJobId").empty() && !get("HetJobOffset").empty()) {
    id = fmt::format("{}+{}", get("HetJobId"), get("HetJobOffset"));
  }
  words.id = id;
  words.name = get("JobName");
  words.user = get("UserId").substr(0, get("UserId").find('('));
  words.account = get("Account");
  words.partition = get("Partition");
  words.state = get("JobState");
  words.submit = get("SubmitTime");
  words.start = get("StartTime");
  words.exit_code = get("ExitCode");
  // Of a job that runs the end is when its time will be up; of one that waits, a forecast.
  const model::JobState state = state_of(words.state);
  const bool waits = state == model::JobState::kPending;
  if (waits) words.start = {};
  if (!waits && state != model::JobState::kRunning) words.end = get("EndTime");
  words.elapsed = get("RunTime");
  words.limit = get("TimeLimit");
  words.nodes = get("NumNodes");
  words.node_list = get("NodeList");
  words.alloc_tres = get("AllocTRES").empty() ? get("TRES") : get("AllocTRES");
  words.req_tres = get("ReqTRES").empty() ? get("TRES") : get("ReqTRES");
  words.script = get("Command");
  jobs_.take(words, job_where_);
}

void Scontrol::node() {
  if (node_.empty()) return;
  const std::string_view host = value_of(node_, "NodeName");
  const std::string_view partitions = value_of(node_, "Partitions");
  const std::string_view partition = partitions.substr(0, partitions.find(','));
  double devices = give_capacity(intake_, host, partition, value_of(node_, "Gres"));
  if (devices > 0 && is_down(value_of(node_, "State"))) {
    // What still runs on a draining node is not down.
    devices -= devices_of_tres(value_of(node_, "AllocTRES")).count;
    const Instant since = read_time(reason_time(node_), zone_);
    if (since.known()) {
      give_down(intake_, host, since.at, now_, devices);
    } else {
      intake_.trouble(
          Trouble::kMissing, node_where_,
          fmt::format("{} is {}, but since when is unknown", host, value_of(node_, "State")));
    }
  }
}

void Scontrol::finish() { begin({}); }

void Events::line(std::string_view line, Where where) {
  if (trim(line).empty()) return;
  const std::vector<std::string_view> cells = split(line, '|');
  if (is_event_header(line)) {
    has_header_ = true;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const int at = static_cast<int>(i);
      if (cells[i] == "NodeName") node_ = at;
      if (cells[i] == "TimeStart") from_ = at;
      if (cells[i] == "TimeEnd") to_ = at;
      if (cells[i] == "State") state_ = at;
      if (cells[i] == "TRES") tres_ = at;
    }
    return;
  }
  const int last = std::max({node_, from_, to_, state_, tres_});
  if (!has_header_ || static_cast<int>(cells.size()) <= last) {
    intake_.trouble(Trouble::kBadLine, where, "is not an event of a node");
    return;
  }
  const auto cell = [&](int at) {
    return at < 0 ? std::string_view() : cells[static_cast<std::size_t>(at)];
  };
  if (cell(node_).empty() || !is_down(cell(state_))) return;  // The cluster's own events.
  const double devices = devices_of_tres(cell(tres_)).count;
  if (tres_ >= 0 && devices == 0) return;
  const Instant from = read_time(cell(from_), zone_);
  const Instant to = read_time(cell(to_), zone_);
  if (!from.known() || to.is == Instant::Is::kBad || (to.known() && to.at < from.at)) {
    intake_.trouble(Trouble::kBadTime, where,
                    fmt::format("from '{}' to '{}'", clip(cell(from_), 40), clip(cell(to_), 40)));
    return;
  }
  const Nanos until = to.known() ? to.at : now_;
  if (tres_ >= 0) return give_down(intake_, cell(node_), from.at, until, devices);
  // Without TRES, which sacctmgr prints only if asked to: whatever the node has.
  if (from.at < until) intake_.tell(Down{.host = cell(node_), .from = from.at, .to = until});
}

}  // namespace amdahl::fleet::slurm
