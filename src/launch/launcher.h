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

// Both arms, run back to back on one allocation unless it says otherwise. Travels to the worker as
// JSON.
struct PairRequest {
  std::string reservation;  // From the ledger; the run's folder bears its name.
  model::Spec spec;
  model::Plan a;
  model::Plan b;
  bool variant_second = false;
  // `a` twice, plain and then with the hook, whose cost spoils the second run's times; `b` is
  // ignored.
  bool profile = false;
  std::vector<int> cpus;  // The slots it is given; chosen by the caller, disjoint.
  // Both arms at once, each on half of `cpus`: the variant on the second half if variant_second.
  bool concurrent = false;
  // Neighbours spin on the slots while the arms run, so that the claim is tested on a busy host.
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
  // Whose run it is: the ledger's id, and a word drawn for this reservation alone. A folder whose
  // request bears another ticket is another run's, whatever its name.
  std::string ledger = {};
  std::string ticket = {};
  // Digest of what the arms inherit (launch/environment.h); empty: whatever the worker does.
  std::string environment = {};
};

inline constexpr std::size_t kBlockVariants = 4;

// What an arm may take beyond its limit: to end a tree of processes and to write the receipt.
inline constexpr Nanos kArmGrace = std::chrono::seconds(15);
inline constexpr Nanos kBuildLimit = std::chrono::hours(1);  // For each tree of a patch.

// Whether an arm has a patch; then all of them run in worktrees of one commit.
bool has_patch(const PairRequest& request);

// For how long the run holds at most what its arms hold, one after another or at once.
Nanos longest_arms(const PairRequest& request);
// The longest that it may take from its worker's start to its end: the arms and their builds.
Nanos longest_run(const PairRequest& request);

// As the ledger keeps it and the worker reads it; fails with the path of the field. What is as by
// default is left out, so requests of older versions still read.
Json encode_request(const PairRequest& request);
Result<PairRequest> decode_request(const Json& json);

// Which run is meant: a reservation, and the ticket that its request bears.
struct RunRef {
  std::string reservation;
  std::string ticket = {};
};

enum class RunState {
  kUnknown,  // Never started: may be submitted (again) under the same reservation.
  kRunning,
  kFinished,  // The receipts are there.
  kLost,      // It started and its worker is gone without all of its receipts: void.
  kForeign,   // What lies in its place is another run's, or cannot be read: never collected.
};

// Times are by a clock that no one sets, as far as there is one.
struct RunStatus {
  RunState state = RunState::kUnknown;
  int handed_over = 0;  // How often it was submitted.
  // From its worker's start, or before that from when it was first submitted, to its end or until
  // now; nothing where that cannot be told.
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
  // For steps: the process's own receipt, and its pairs of neighbouring steps. `a` and `b` are then
  // its shares (launch/steps.h): both start at once, and what they cost leaves out start-up.
  std::optional<model::Receipt> whole;
  std::vector<model::StepPair> steps;
  std::vector<std::string> order;  // The arms' names, as they ran.
  Nanos build_wall{};              // What making the trees of patches took,
  Nanos build_cpu{};               // all of them together.
  std::string problem;             // Why a receipt is absent or not to be trusted.
  bool lost = false;
  std::string under_way;  // Of a lost run: the arms that were under way, as their letters ("B").
};

// Not thread-safe: the loop owns one and calls it from one thread.
class Launcher {
 public:
  virtual ~Launcher() = default;
  // Returns at once with the worker_run_id. Submitting one reservation twice is harmless: only
  // one worker runs it. What another run left in its place is moved aside; kConflict if that run's
  // worker still lives.
  virtual Result<std::string> submit(const PairRequest& request) = 0;
  // Needs nothing but what the ledger has, so that a cold cycle can adopt what it finds.
  virtual Result<RunStatus> poll(const RunRef& run) = 0;
  virtual Result<std::string> worker_of(const RunRef& run) = 0;
  // Also of a lost run, or of one that is given up while it runs: what it left.
  virtual Result<Receipts> collect(const RunRef& run) = 0;
  // Asks it to end, and to leave receipts that say so; also one whose worker is stopped. Ok if it
  // is already over.
  virtual Result<> cancel(const RunRef& run) = 0;
  // Ends its worker outright: it is lost.
  virtual Result<> kill(const RunRef& run) = 0;
};

struct Kind {
  std::string_view name;  // As in the config: launcher = "local".
  std::string_view runs_on;
  std::unique_ptr<Launcher> (*make)(const std::string& state_dir);
};

std::span<const Kind> kinds();

// The body of the worker (`amdahl exec --pair DIR`): takes the claim, runs the arms, leaves the
// receipts in A/receipt.json, B/receipt.json and so on of the folder, and done.json last. Returns
// quietly if another worker has or had the claim, or the run was cancelled before it began. What
// the job or its patch does wrong is in the receipts; what is wrong with the request is the problem
// in done.json; an error is ours, and leaves the run lost.
// Forks to run arms at once or beside neighbours: call it from a process of one thread.
Result<> run_pair(const std::string& run_dir);

// The same, here and now, in <state_dir>/runs/<reservation>: for a person who waits. SIGINT and
// SIGTERM end the arm under way, whose receipt then says so, and the rest is not started.
Result<Receipts> run_here(const std::string& state_dir, const PairRequest& request);

}  // namespace amdahl::launch
