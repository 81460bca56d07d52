// rows.h: parses the output of Slurm's programs and derives a run's state; no I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/launcher.h"
#include "launch/marks.h"
#include "launch/slurm/settings.h"

namespace amdahl::launch::slurm {

// A job as printed by squeue or sacct.
struct Row {
  std::string id;
  std::string state;                  // "COMPLETED"; without "by 0".
  std::string reason;                 // From squeue; for sacct the exit code.
  std::optional<std::int64_t> start;  // Unix seconds.
  std::optional<std::int64_t> end;
  std::string tres;  // "cpu=2,gres/gpu=2": allocated resources.
  std::string nodes;
  std::string name;
};

// Field separator; never part of our names.
inline constexpr char kSeparator = '\x1f';
extern const std::string kQueueFormat;       // For squeue -O.
extern const std::string kAccountingFormat;  // For sacct -o.

// Skips malformed lines (other users' job names may contain newlines).
std::vector<Row> parse_rows(std::string_view text);

// Of "cpu=2,gres/gpu=2" the number of a kind; 0 if it is not among them.
int count_in(const std::string& tres, std::string_view key);

// The id printed by `sbatch --parsable`.
std::optional<std::string> parse_id(std::string_view text);

// Whether an error of sbatch proves that nothing was submitted.
bool is_refusal(const Error& error);

// What Slurm knows under the run's name.
struct Look {
  std::vector<Row> queue;
  std::vector<Row> accounting;
  std::string problem;  // Why one of the two queries failed; empty: both answered.
};

bool is_live(const Row& row);
bool is_held(const Row& row);

// Which of several live jobs with the run's name to keep: a running one, else the recorded one,
// else the first. Nothing if none is alive.
std::optional<Row> chosen(const std::vector<Row>& queue, const std::string& recorded);

// State, worker, charge and reason. `accelerators`: what the largest arm holds, for sites without
// GPU accounting.
RunStatus decide(const Look& look, const FolderFacts& facts, int accelerators);

std::string worker_id(const Row& row);

// From `sinfo -N`, which prints a node once per partition.
extern const std::string kNodeFormat;  // For sinfo -O.
struct Node {
  std::string name;
  std::string state;
  int cpus_free = 0;
  int cpus = 0;
  int accelerators_free = 0;
  int accelerators = 0;
  std::optional<std::int64_t> longest_min{};  // That its partition lets a job run; nothing: any.
};
std::vector<Node> parse_nodes(std::string_view text, const std::string& gres);

struct Need {
  int accelerators = 0;  // 0 if accelerators are CPU slots.
  int cpus = 1;
  int nodes = 1;  // With so much on each.
  int tasks = 1;  // Of a node.
  std::int64_t minutes = 0;
};
Need need_of(const PairRequest& request, const Settings& settings);

// How many such runs could start now; `never` if none ever can.
Capacity room_on(const std::vector<Node>& nodes, const Need& need, bool exclusive);

// Arguments of sbatch for the run; `script` is the fixed job script, `command` what it starts.
std::vector<std::string> submit_words(const PairRequest& request, const Settings& settings,
                                      const std::string& script, const std::string& log,
                                      const std::vector<std::string>& command);

// Whether an error of scancel means that the job has ended already.
bool says_ended(std::string_view error);

}  // namespace amdahl::launch::slurm
