// launcher.h: the launcher interface and table, one row per place where pairs can run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/units.h"
#include "launch/slurm/settings.h"
#include "model/plan.h"
#include "model/receipt.h"
#include "model/spec.h"

namespace amdahl::launch {

// Both arms, by default run back to back on one allocation. Sent to the worker as JSON.
struct PairRequest {
  std::string reservation;  // From the ledger; names the run's folder.
  model::Spec spec;
  model::Plan a;
  model::Plan b;
  bool variant_second = false;
  // Runs `a` twice: plain, then with the hook, whose overhead distorts the second run's times; `b`
  // is ignored.
  bool profile = false;
  std::vector<int> cpus;  // Its slots; chosen by the caller, disjoint.
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
  // The worker has an allocation of its own: it takes environment, CPUs, devices and scratch from
  // there (launch/local/allocation.h), and claims the run by an exclusive create. Set by launchers.
  bool allocated = false;
  // Arms, builds and checks run in bubblewrap (os/bubblewrap.h): a model wrote some of the code.
  // Where that cannot be done, no arm starts.
  bool sandbox = false;
  bool by_agent = false;  // The variant's patch is a model's: frozen code must be as committed.
  // Runs no arm: makes and builds the worktree of `a`, without its check. `b` is the baseline.
  bool build = false;
  bool built = false;  // The worktrees were built by such runs.
};

inline constexpr std::size_t kBlockVariants = 4;

// Time beyond an arm's limit to end its processes and write the receipt.
inline constexpr Nanos kArmGrace = std::chrono::seconds(15);
inline constexpr Nanos kBuildLimit = std::chrono::hours(1);  // Per patched tree.

// Whether an arm has a patch; then all of them run in worktrees of one commit.
bool has_patch(const PairRequest& request);

// What an allocation for all arms must have; a build holds no accelerators.
int most_accelerators(const PairRequest& request);
int most_cpus(const PairRequest& request);

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

enum class RunState : std::uint8_t {
  kUnknown,      // The place cannot tell now. Ask again later; never a reason to submit.
  kAbsent,       // By evidence: nothing runs or will run under this reservation. May be submitted.
  kHeld,         // Accepted; starts only after release().
  kQueued,       // Released, not started yet.
  kRunning,      // Its worker is alive.
  kFinished,     // The receipts are complete.
  kLost,         // It started and ended without receipts, or was cancelled before it started.
  kRequeued,     // The place took it back to start it once more, which its claim would refuse; or
                 // it will never start it.
  kPreempted,    // Ended by the place for a run of higher priority,
  kNodeFailed,   // with its node,
  kTimedOut,     // at the time limit of the place,
  kOutOfMemory,  // or at its memory limit.
  kForeign,      // The folder belongs to another run or cannot be read: never collected.
};
std::string_view name(RunState state);  // "unknown", "node failed", ...
std::optional<RunState> run_state_named(std::string_view name);

// Whether the place ended it for reasons of its own, which no arm can bring about: never evidence.
bool is_infrastructure(RunState state);

// What the place bills for a run: its allocation, whatever the arms used of it.
struct Charge {
  Nanos wall{};
  int accelerators = 0;
  int cpus = 0;
};

// Times use the monotonic clock if possible.
struct RunStatus {
  RunState state = RunState::kUnknown;
  int released = 0;  // How often.
  // From the worker's start (before that: from the first release) to the end or until now; nothing
  // if unknown.
  std::optional<Nanos> elapsed = Nanos{0};
  Nanos arms{};                    // longest_arms(); 0: unknown.
  Nanos deadline{};                // For `elapsed`: longest_run(); 0: unknown.
  std::string worker{};            // The worker_run_id; empty if there is none.
  std::optional<Charge> charge{};  // After the end; nothing if the place has no accounting.
  std::string why{};               // The place's explanation of an unusual state, for people.
};

enum class Handover : std::uint8_t {
  kAccepted,  // Accepted and held.
  kRefused,   // Not accepted.
  kUnknown,   // No answer: it may have been accepted. status() will tell.
};

struct SubmitAnswer {
  Handover handover = Handover::kUnknown;
  std::string worker{};  // The worker_run_id, if it was accepted.
  std::string reason{};  // Why it was not accepted.
};

// What a place offers for runs like one request.
struct Capacity {
  std::optional<int> room{};  // How many more could start now; nothing: the caller counts slots.
  int waiting = 0;            // Our queued runs.
  std::string hardware{};     // Hardware class; equal for interchangeable places.
  std::string never{};        // Why no such run can ever start; empty if it can.
};

struct Receipts {
  std::optional<model::Receipt> a;
  std::optional<model::Receipt> b;  // For a profile, the run with the hook.
  std::string out_a;                // Output folders of the arms.
  std::string out_b;
  std::vector<std::optional<model::Receipt>> more;  // Further variants of a block.
  // For steps: the receipt of the whole process, and its pairs of neighbouring steps. `a` and `b`
  // are then shares of it (launch/steps.h): both start at the same time, and start-up is not in the
  // cost.
  std::optional<model::Receipt> whole;
  std::vector<model::StepPair> steps;
  std::vector<std::string> order;  // Names of the arms in the order they ran.
  Nanos build_wall{};              // Wall time to make all patched trees.
  Nanos build_cpu{};               // CPU time of that.
  std::string problem;             // Why a receipt is missing or cannot be trusted.
  bool lost = false;
  // The arms, as letters ("B"), that were running when the run was lost, or when a written receipt
  // was changed or removed.
  std::string under_way;
  std::vector<std::string> restored;  // Arms whose receipt the worker had to write again.
};

// Where pairs run. The ledger alone is enough to find a run again, so a new cycle can adopt it.
// Every call handles many runs at the cost of one. Not thread-safe: the loop owns it and calls it
// from one thread. Answers are in the order of the questions. conformance() in
// launch/conformance.h tests all of this.
class Launcher {
 public:
  virtual ~Launcher() = default;
  // Hands them over, held: none starts before release(). The reservation and its ticket travel with
  // the job. Submitting a reservation twice is harmless: only one worker runs it. A folder of
  // another run is moved aside; refused if that run's worker is still alive.
  virtual std::vector<SubmitAnswer> submit(std::span<const PairRequest> requests) = 0;
  // Lets them start, once their worker_run_id is recorded. Harmless for what has started or ended.
  // An error says what could not be released; what is still held may be released again.
  virtual Result<> release(std::span<const RunRef> runs) = 0;
  virtual std::vector<RunStatus> status(std::span<const RunRef> runs) = 0;
  // Also for a lost or an abandoned run: whatever it wrote.
  virtual Result<Receipts> collect(const RunRef& run) = 0;
  // Asks the run to end and to write receipts that say so, even if its worker is stopped. What has
  // not started never starts. Ok if it has already ended.
  virtual Result<> cancel(const RunRef& run) = 0;
  // Kills its worker: the run is lost.
  virtual Result<> kill(const RunRef& run) = 0;
  virtual Result<Capacity> capacity(const PairRequest& like) = 0;
};

// One run at a time: submit() and release(), and status().
Result<std::string> hand_over(Launcher& launcher, const PairRequest& request);
RunStatus status_of(Launcher& launcher, const RunRef& run);

// Parameters of a launcher.
struct Site {
  std::string state_dir;
  slurm::Settings slurm{};  // `poll` and `settle` apply to every scheduler.
  std::string plug_in{};    // Folder with the programs of the command launcher.
  std::map<std::string, slurm::Settings> families{};  // Of families that have their own, whole.
};

struct Kind {
  std::string_view name;  // As in the config: launcher = "local".
  // Whether each run has its own allocation: then the CPUs of a request are only a count, and the
  // actual ones are found in the allocation.
  bool allocates;
  // Hardware class of a family's runs there; "": of one without settings of its own.
  std::string (*hardware)(const Site& site, const std::string& family);
  std::unique_ptr<Launcher> (*make)(const Site& site);
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
