// launcher.h: one row per place where a pair can run.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/units.h"
#include "model/plan.h"
#include "model/receipt.h"
#include "model/spec.h"

namespace amdahl::launch {

// Both arms, by default run back to back on one allocation. Sent to the worker as JSON.
struct PairRequest {
  std::string reservation;  // From the ledger; the run's folder bears its name.
  model::Spec spec;
  model::Plan a;
  model::Plan b;
  bool variant_second = false;
  // Runs `a` twice: plain, then with the hook, whose overhead distorts the second run's times; `b`
  // is ignored.
  bool profile = false;
  std::vector<int> cpus;  // The slots it is given; chosen by the caller, disjoint.
  // Both arms at once, each on half of `cpus`: the variant on the second half if variant_second.
  bool concurrent = false;
  // Load processes spin on the slots while the arms run: tests the claim on a busy host.
  bool contended = false;
  // One process that alternates between the arms by steps; see docs/format/report.md. `schedule`
  // has a letter a step, from step_schedule() in launch/steps.h.
  bool steps = false;
  std::string schedule;
  // Further variants that share A's run: a block of at most kBlockVariants, B among them. `order`
  // then lists all arms, 0 is A, 1 is B, 2 the first of `more`; without it variant_second counts.
  std::vector<model::Plan> more;
  std::vector<int> order;
  // Of the spec's repo, to which patches are applied; empty: its HEAD when the worker starts.
  std::string commit = {};
  // The owner: the ledger's id, and a random ticket for this reservation. A folder whose request
  // has another ticket belongs to another run, whatever its name.
  std::string ledger = {};
  std::string ticket = {};
  // Digest of the arms' environment (launch/environment.h); empty: the worker's own.
  std::string environment = {};
};

inline constexpr std::size_t kBlockVariants = 4;

// Time beyond an arm's limit to end its processes and to write the receipt.
inline constexpr Nanos kArmGrace = std::chrono::seconds(15);
inline constexpr Nanos kBuildLimit = std::chrono::hours(1);  // For each tree of a patch.

// Whether an arm has a patch; then all of them run in worktrees of one commit.
bool has_patch(const PairRequest& request);

// The longest time that the run can hold its slots.
Nanos longest_arms(const PairRequest& request);
// The longest time from the worker's start to its end: arms and builds.
Nanos longest_run(const PairRequest& request);

// JSON for the ledger and the worker; errors name the field. Defaults are left out, so requests of
// older versions can still be read.
Json encode_request(const PairRequest& request);
Result<PairRequest> decode_request(const Json& json);

// Identifies a run: a reservation and the ticket of its request.
struct RunRef {
  std::string reservation;
  std::string ticket = {};
};

enum class RunState {
  kUnknown,  // Never started: may be submitted (again) under the same reservation.
  kRunning,
  kFinished,  // The receipts are complete.
  kLost,      // It started, and its worker died before all receipts were written: void.
  kForeign,   // The folder belongs to another run or cannot be read: never collected.
};

// Times use the monotonic clock if possible.
struct RunStatus {
  RunState state = RunState::kUnknown;
  int handed_over = 0;  // How often it was submitted.
  // From the worker's start (before that: from the first submission) to the end or until now;
  // nothing if unknown.
  std::optional<Nanos> elapsed = Nanos{0};
  Nanos arms{};      // longest_arms(); 0 if it is not known.
  Nanos deadline{};  // Of `elapsed`: longest_run(); 0 if it is not known.
};

struct Receipts {
  std::optional<model::Receipt> a;
  std::optional<model::Receipt> b;  // For a profile, the run with the hook.
  std::string out_a;                // Folders the arms wrote to.
  std::string out_b;
  std::vector<std::optional<model::Receipt>> more;  // Of a block's further variants.
  // For steps: the receipt of the whole process, and its pairs of neighbouring steps. `a` and `b`
  // are then shares of it (launch/steps.h): both start at the same time, and start-up is not in the
  // cost.
  std::optional<model::Receipt> whole;
  std::vector<model::StepPair> steps;
  std::vector<std::string> order;  // The arms' names, as they ran.
  Nanos build_wall{};              // Time to make all patched trees,
  Nanos build_cpu{};               // and its CPU time.
  std::string problem;             // Why a receipt is missing or cannot be trusted.
  bool lost = false;
  // The arms that were under way when the run was lost, or when a receipt that had been written was
  // changed or removed; as their letters ("B").
  std::string under_way;
  std::vector<std::string> restored;  // Arms whose receipt the worker had to write again.
};

// Not thread-safe: the loop owns one and calls it from one thread.
class Launcher {
 public:
  virtual ~Launcher() = default;
  // Returns at once with the worker_run_id. Submitting a reservation twice is harmless: only one
  // worker runs it. A folder of another run is moved aside; kConflict if that run's worker is still
  // alive.
  virtual Result<std::string> submit(const PairRequest& request) = 0;
  // Needs only what is in the ledger, so that a new cycle can adopt running pairs.
  virtual Result<RunStatus> poll(const RunRef& run) = 0;
  virtual Result<std::string> worker_of(const RunRef& run) = 0;
  // Also for a lost or an abandoned run: whatever it wrote.
  virtual Result<Receipts> collect(const RunRef& run) = 0;
  // Asks the run to end and to write receipts that say so, even if its worker is stopped. Ok if it
  // has already ended.
  virtual Result<> cancel(const RunRef& run) = 0;
  // Kills its worker: the run is lost.
  virtual Result<> kill(const RunRef& run) = 0;
};

struct Kind {
  std::string_view name;  // As in the config: launcher = "local".
  std::string_view runs_on;
  std::unique_ptr<Launcher> (*make)(const std::string& state_dir);
};

std::span<const Kind> kinds();

// The body of the worker (`amdahl exec --pair DIR`): takes the claim, runs the arms, writes the
// receipts to A/receipt.json, B/receipt.json and so on, and done.json last. Returns without an
// error if another worker has or had the claim, or if the run was cancelled before it started.
// Failures of the job or its patch are in the receipts; a bad request is the problem in done.json;
// a returned error is our own failure, and the run is lost. Forks for concurrent arms and for load
// processes: call it from a single-threaded process.
Result<> run_pair(const std::string& run_dir);

// The same in this process, in <state_dir>/runs/<reservation>, for a person who waits. SIGINT and
// SIGTERM end the running arm, which its receipt records; the other arms are not started.
Result<Receipts> run_here(const std::string& state_dir, const PairRequest& request);

}  // namespace amdahl::launch
