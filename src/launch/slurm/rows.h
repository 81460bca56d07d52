// rows.h: what Slurm's programs print, and what follows from it; no I/O.
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

// A job as squeue or sacct show it.
struct Row {
  std::string id;
  std::string state;                  // "COMPLETED"; without "by 0".
  std::string reason;                 // Of squeue; of sacct the exit code.
  std::optional<std::int64_t> start;  // Unix seconds.
  std::optional<std::int64_t> end;
  std::string tres;  // "cpu=2,gres/gpu=2": what it was allocated.
  std::string nodes;
  std::string name;
};

// Fields end in this byte, which no name of ours has.
inline constexpr char kSeparator = '\x1f';
extern const std::string kQueueFormat;       // For squeue -O.
extern const std::string kAccountingFormat;  // For sacct -o.

// A line that is no row (a name of someone's job may hold newlines) is left out.
std::vector<Row> parse_rows(std::string_view text);

// The id that `sbatch --parsable` printed.
std::optional<std::string> parse_id(std::string_view text);

// Whether an error of sbatch proves that nothing was submitted.
bool is_refusal(const Error& error);

// What Slurm says of the run's name.
struct Look {
  std::vector<Row> queue;
  std::vector<Row> accounting;
  std::string problem;  // Why one of the two could not be asked; empty: both answered.
};

bool is_live(const Row& row);
bool is_held(const Row& row);

// Of several live jobs with the run's name the one to keep: one that runs, else the recorded one,
// else the first. Nothing if none lives.
std::optional<Row> chosen(const std::vector<Row>& queue, const std::string& recorded);

// State, worker, charge and why; `accelerators` is what the largest arm holds, for sites without
// GPU accounting.
RunStatus decide(const Look& look, const FolderFacts& facts, int accelerators);

std::string worker_id(const Row& row);

// Of `sinfo -N`, which prints a node once for each of its partitions.
extern const std::string kNodeFormat;  // For sinfo -O.
struct Node {
  std::string name;
  std::string state;
  int cpus_free = 0;
  int cpus = 0;
  int accelerators_free = 0;
  int accelerators = 0;
};
std::vector<Node> parse_nodes(std::string_view text, const std::string& gres);

struct Need {
  int accelerators = 0;  // 0 where they are CPU slots.
  int cpus = 1;
};
Need need_of(const PairRequest& request, const Settings& settings);

// How many such runs could start now; `never` if none ever can.
Capacity room_on(const std::vector<Node>& nodes, const Need& need, bool exclusive);

// The words after "sbatch" for the run; `script` is the fixed job script, `command` what it starts.
std::vector<std::string> submit_words(const PairRequest& request, const Settings& settings,
                                      const std::string& script, const std::string& log,
                                      const std::vector<std::string>& command);

}  // namespace amdahl::launch::slurm
