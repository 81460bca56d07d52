#include "launch/slurm/rows.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace amdahl::launch::slurm {
namespace {

std::string fields(std::initializer_list<std::string_view> names) {
  std::string format;
  for (const std::string_view name : names) {
    format += fmt::format("{}{}:{}", format.empty() ? "" : ",", name, kSeparator);
  }
  return format;
}

struct StateRow {
  std::string_view name;
  RunState ended;  // State of a run without receipts.
};
constexpr auto kEnded = std::to_array<StateRow>({
    {"COMPLETED", RunState::kLost},
    {"FAILED", RunState::kLost},
    {"CANCELLED", RunState::kLost},
    {"TIMEOUT", RunState::kTimedOut},
    {"DEADLINE", RunState::kTimedOut},
    {"OUT_OF_MEMORY", RunState::kOutOfMemory},
    {"PREEMPTED", RunState::kPreempted},
    {"NODE_FAIL", RunState::kNodeFailed},
    {"BOOT_FAIL", RunState::kNodeFailed},
    {"REQUEUED", RunState::kRequeued},
    {"REVOKED", RunState::kRequeued},
});

constexpr auto kWaits = std::to_array<std::string_view>(
    {"PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"});

// Why a job waits that no end of another job lets start. Limits of one job ("QOSMaxGRESPerJob")
// too.
constexpr auto kNeverStarts = std::to_array<std::string_view>(
    {"DependencyNeverSatisfied", "PartitionConfig", "PartitionNodeLimit", "PartitionTimeLimit",
     "BadConstraints", "InvalidAccount", "InvalidQOS", "AccountNotAllowed", "QOSNotAllowed"});

bool never_starts(const std::string& reason) {
  const bool of_one_job = reason.find("PerJob") != std::string::npos;
  return of_one_job || std::ranges::find(kNeverStarts, reason) != kNeverStarts.end();
}

// Messages of sbatch that prove that nothing was submitted (slurm_errno.c).
constexpr auto kRefusals = std::to_array<std::string_view>(
    {"connect failure", "authentication error", "nvalid", "not available", "not permitted",
     "permission denied", "violates", "exceeds", "unrecognized option", "Unable to open",
     "specification", "More processors requested", "Requested time limit", "no such",
     "cannot start"});

std::optional<std::int64_t> seconds_in(std::string_view text) {
  return to_number<std::int64_t>(text);  // Nothing for "N/A", "None" and "Unknown".
}

// Of "gpu:a100:4(S:0-1),gpu:v100:2" those of a kind: "gpu" or "gpu:a100".
int gres_in(std::string_view text, const std::string& kind) {
  int sum = 0;
  std::string plain;
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : 0;
    if (depth == 0) plain += c;
    depth -= c == ')' ? 1 : 0;
  }
  for (const std::string_view item : split(plain, ',')) {
    const auto colon = item.rfind(':');
    if (colon == item.npos) continue;
    const std::string_view of = item.substr(0, colon);
    const bool same = of == kind || of.starts_with(kind + ":");
    if (same) sum += to_number<int>(item.substr(colon + 1)).value_or(0);
  }
  return sum;
}

// Of "1-02:00:00", "30:00" and the like; nothing for "infinite" and what is not a time.
std::optional<std::int64_t> minutes_in(std::string_view text) {
  const auto dash = text.find('-');
  std::int64_t days = 0;
  if (dash != text.npos) {
    days = to_number<std::int64_t>(text.substr(0, dash)).value_or(0);
    text.remove_prefix(dash + 1);
  }
  std::int64_t seconds = 0;
  for (const std::string_view part : split(text, ':')) {
    const auto number = to_number<std::int64_t>(part);
    if (!number) return std::nullopt;
    seconds = 60 * seconds + *number;
  }
  return days * 24 * 60 + seconds / 60;
}

std::optional<Charge> charge_of(const Row& row, int accelerators) {
  if (!row.start || !row.end || *row.end < *row.start) return Charge{};  // It never started.
  Charge charge;
  charge.wall = std::chrono::seconds(*row.end - *row.start);
  const int gpus = count_in(row.tres, "gres/gpu");
  charge.accelerators = gpus > 0 ? gpus : accelerators;
  charge.cpus = count_in(row.tres, "cpu");
  return charge;
}

RunStatus ended(const Row& row, const FolderFacts& facts, int accelerators) {
  RunStatus status;
  const auto known = std::ranges::find(kEnded, row.state, &StateRow::name);
  status.state = known == kEnded.end() ? RunState::kLost : known->ended;
  status.worker = worker_id(row);
  status.charge = charge_of(row, accelerators);
  status.elapsed = status.charge->wall;
  // The worker writes receipts when the place ends it, too: those are no evidence.
  const bool taken = status.state == RunState::kPreempted || status.state == RunState::kNodeFailed;
  if (facts.done && !taken) {
    status.state = RunState::kFinished;
  } else {
    status.why = fmt::format("Slurm job {}: {} ({}){}{}", row.id, row.state, row.reason,
                             row.nodes.empty() ? "" : " on ", row.nodes);
  }
  return status;
}

RunStatus living(const Row& row, const FolderFacts& facts) {
  RunStatus status;
  status.worker = worker_id(row);
  const bool waits = std::ranges::find(kWaits, row.state) != kWaits.end();
  status.state = RunState::kRunning;
  if (!waits) return status;
  status.state = is_held(row) ? RunState::kHeld : RunState::kQueued;
  if (status.state == RunState::kQueued) status.why = row.reason;
  if (status.state == RunState::kQueued && never_starts(row.reason)) {
    status.state = RunState::kRequeued;  // To be cancelled; no arm is to blame.
    status.why = fmt::format("Slurm never starts job {}: {}", row.id, row.reason);
  }
  if (facts.had_started && !facts.done) {
    status.state = RunState::kRequeued;
    status.why = fmt::format("Slurm job {} waits to start again ({})", row.id, row.reason);
  }
  return status;
}

RunStatus nowhere(const Look& look, const FolderFacts& facts) {
  RunStatus status;
  if (!look.problem.empty()) {
    status.why = look.problem;
  } else if (facts.cancelled && !facts.started) {
    status.state = RunState::kLost;  // Even if it appears, its worker sees the mark.
  } else if (!facts.long_absent) {
    status.why = "neither squeue nor sacct shows it; looking again later";
  } else if (facts.done) {
    status.state = RunState::kFinished;
  } else {
    const bool over = facts.started || facts.cancelled;
    status.state = over ? RunState::kLost : RunState::kAbsent;
    status.why = "neither squeue nor sacct lists it any more";
  }
  if (facts.started) status.elapsed = std::nullopt;
  return status;
}

}  // namespace

int count_in(const std::string& tres, std::string_view key) {
  for (const std::string_view item : split(tres, ',')) {
    const auto equals = item.find('=');
    if (equals == item.npos || item.substr(0, equals) != key) continue;
    return to_number<int>(item.substr(equals + 1)).value_or(0);
  }
  return 0;
}

const std::string kQueueFormat =
    fields({"jobid", "state", "reason", "starttime", "endtime", "tres-alloc", "nodelist", "name"});
const std::string kAccountingFormat =
    "JobIDRaw,State,ExitCode,Start,End,AllocTRES,NodeList,JobName";
const std::string kNodeFormat =
    fields({"nodelist", "statelong", "cpusstate", "gres", "gresused", "time"});

std::vector<Row> parse_rows(std::string_view text) {
  std::vector<Row> rows;
  for (const std::string_view line : split(text, '\n')) {
    const auto cells = split(line, kSeparator);
    if (cells.size() < 8 || !to_number<std::int64_t>(cells[0])) continue;
    Row row;
    row.id = cells[0];
    row.state = cells[1].substr(0, cells[1].find(' '));
    row.reason = cells[2];
    row.start = seconds_in(cells[3]);
    row.end = seconds_in(cells[4]);
    row.tres = cells[5];
    row.nodes = cells[6];
    row.name = cells[7];
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<std::string> parse_id(std::string_view text) {
  const std::string_view line = trim(text);
  const std::string_view id = line.substr(0, line.find(';'));
  if (!to_number<std::int64_t>(id)) return std::nullopt;
  return std::string(id);
}

bool is_refusal(const Error& error) {
  if (error.kind == Error::Kind::kUnsupported) return true;  // There is no such program.
  return std::ranges::any_of(kRefusals, [&](std::string_view words) {
    return error.text.find(words) != std::string::npos;
  });
}

bool is_live(const Row& row) {
  return std::ranges::find(kEnded, row.state, &StateRow::name) == kEnded.end();
}

bool is_held(const Row& row) {
  return row.reason.starts_with("JobHeld") || row.reason.find("held") != std::string::npos;
}

std::optional<Row> chosen(const std::vector<Row>& queue, const std::string& recorded) {
  std::optional<Row> best;
  const auto rank = [&](const Row& row) {
    if (row.state != "PENDING") return 2;
    return row.id == recorded ? 1 : 0;
  };
  for (const Row& row : queue) {
    if (is_live(row) && (!best || rank(row) > rank(*best))) best = row;
  }
  return best;
}

RunStatus decide(const Look& look, const FolderFacts& facts, int accelerators) {
  if (!facts.submitted && !facts.started) {
    RunStatus status;
    status.state = facts.cancelled ? RunState::kLost : RunState::kAbsent;
    return status;
  }
  if (const auto row = chosen(look.queue, facts.recorded)) return living(*row, facts);
  // A copy cancelled while held says nothing about the one that ran.
  const Row* last = nullptr;
  for (const auto* rows : {&look.queue, &look.accounting}) {
    for (const Row& row : *rows) {
      // Accounting may show an end that is not written yet, or a job that the queue shows better.
      if (is_live(row) || !row.end) continue;
      const bool better = !last || (!last->start && row.start) || row.id == facts.recorded;
      if (better && (!last || last->id != facts.recorded)) last = &row;
    }
    if (last) break;
  }
  return last ? ended(*last, facts, accelerators) : nowhere(look, facts);
}

std::string worker_id(const Row& row) { return fmt::format("slurm:{}:{}", row.id, row.name); }

std::vector<Node> parse_nodes(std::string_view text, const std::string& gres) {
  std::vector<Node> nodes;
  for (const std::string_view line : split(text, '\n')) {
    const auto cells = split(line, kSeparator);
    if (cells.size() < 5) continue;
    const auto cpus = split(cells[2], '/');  // Allocated, idle, other, all.
    if (cpus.size() != 4) continue;
    Node node;
    node.name = cells[0];
    node.state = cells[1];
    node.cpus_free = to_number<int>(cpus[1]).value_or(0);
    node.cpus = to_number<int>(cpus[3]).value_or(0);
    node.accelerators = gres.empty() ? 0 : gres_in(cells[3], gres);
    node.accelerators_free = node.accelerators - (gres.empty() ? 0 : gres_in(cells[4], gres));
    if (cells.size() > 5) node.longest_min = minutes_in(cells[5]);
    const auto same = std::ranges::find(nodes, node.name, &Node::name);
    if (same == nodes.end()) {
      nodes.push_back(std::move(node));
    } else if (same->longest_min) {
      same->longest_min =
          node.longest_min ? std::max(same->longest_min, node.longest_min) : std::nullopt;
    }
  }
  return nodes;
}

Need need_of(const PairRequest& request, const Settings& settings) {
  Need need;
  const model::Layout& layout = request.spec.layout;
  const auto per_node = [&](int all) { return (all + layout.nodes - 1) / layout.nodes; };
  need.nodes = layout.nodes;
  need.tasks = layout.tasks_per_node;
  need.accelerators = per_node(most_accelerators(request));
  need.cpus = std::max(1, per_node(most_cpus(request)));
  if (settings.gres.empty()) {
    need.cpus = std::max(need.cpus, need.accelerators);
    need.accelerators = 0;
  }
  // Slurm gives CPUs to tasks: each gets as many.
  need.cpus = (need.cpus + need.tasks - 1) / need.tasks * need.tasks;
  need.minutes = std::chrono::ceil<std::chrono::minutes>(longest_run(request)).count() + 2;
  return need;
}

Capacity room_on(const std::vector<Node>& nodes, const Need& need, bool exclusive) {
  Capacity capacity;
  int room = 0;  // Of one node's part.
  int ever = 0;
  int most_cpus = 0;
  int most_accelerators = 0;
  std::int64_t longest = 0;  // Of those that are too short, the longest.
  for (const Node& node : nodes) {
    most_cpus = std::max(most_cpus, node.cpus);
    most_accelerators = std::max(most_accelerators, node.accelerators);
    const bool fits = node.cpus >= need.cpus && node.accelerators >= need.accelerators;
    if (!fits) continue;
    if (node.longest_min && *node.longest_min < need.minutes) {
      longest = std::max(longest, *node.longest_min);
      continue;
    }
    ++ever;  // A node that is down now comes back.
    const bool idle = node.state == "idle";
    if (!idle && (exclusive || node.state != "mixed")) continue;
    if (exclusive) {
      ++room;
      continue;
    }
    int here = node.cpus_free / need.cpus;
    if (need.accelerators > 0) here = std::min(here, node.accelerators_free / need.accelerators);
    // A job of several nodes has one part on each of them.
    room += need.nodes > 1 ? std::clamp(here, 0, 1) : std::max(0, here);
  }
  capacity.room = room / need.nodes;
  if (ever < need.nodes && longest > 0) {
    capacity.never = fmt::format(
        "its pairs may take {} min by the time limits of its spec, and the partition ends jobs "
        "after {} min: lower time_limit_s, or name another partition",
        need.minutes, longest);
  } else if (ever < need.nodes) {
    capacity.never = fmt::format(
        "it needs {} with {} CPUs and {} accelerators{}; the largest has {} and {}",
        need.nodes > 1 ? fmt::format("{} nodes", need.nodes) : "a node", need.cpus,
        need.accelerators, need.nodes > 1 ? fmt::format(" each (there are {})", ever) : "",
        most_cpus, most_accelerators);
  }
  return capacity;
}

std::vector<std::string> submit_words(const PairRequest& request, const Settings& settings,
                                      const std::string& script, const std::string& log,
                                      const std::vector<std::string>& command) {
  const RunRef run{request.reservation, request.ticket};
  const Need need = need_of(request, settings);
  std::string safe_log;
  for (const char c : log) {
    safe_log += c == '%' ? "%%" : (c == '\\' ? "\\\\" : std::string(1, c));
  }
  std::vector<std::string> words{"sbatch"};
  words.insert(words.end(), settings.options.begin(), settings.options.end());
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("--{}={}", option, value));
  };
  add("partition", settings.partition);
  add("account", settings.account);
  add("qos", settings.qos);
  add("constraint", settings.constraint);
  // A build leaves the node's accelerators to others.
  if (settings.exclusive && !request.build) words.emplace_back("--exclusive");
  if (need.accelerators > 0) add("gres", fmt::format("{}:{}", settings.gres, need.accelerators));
  if (const auto limit = request.spec.memory_limit_mb) {
    add("mem", fmt::format("{}M", std::lround(*limit + kWorkerMb)));
  }
  add("nice", std::to_string(settings.nice));
  add("export", settings.exported.empty() ? "NONE" : join(settings.exported, ","));
  add("job-name", job_name(run));
  add("comment", "amdahl " + job_name(run));
  add("output", safe_log);
  add("time", std::to_string(need.minutes));
  add("cpus-per-task", std::to_string(need.cpus / need.tasks));
  add("nodes", std::to_string(need.nodes));
  add("ntasks-per-node", std::to_string(need.tasks));
  for (const char* fixed : {"--open-mode=append", "--no-requeue", "--hold", "--parsable"}) {
    words.emplace_back(fixed);
  }
  words.push_back(script);
  words.insert(words.end(), settings.modules.begin(), settings.modules.end());
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

bool says_ended(std::string_view error) {
  // scancel often says nothing and exits with the low byte of Slurm's error: 2021, the job is
  // completing or has completed.
  return error.find("Invalid job id specified") != error.npos ||
         error.find("already completing or completed") != error.npos ||
         error.starts_with("scancel: exit 229");
}

}  // namespace amdahl::launch::slurm
