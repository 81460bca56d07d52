// receipt.h: the immutable record of one run, and the result of a pair of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "model/observed.h"

namespace amdahl::model {

enum class Ending : std::uint8_t {
  kExited,     // By itself; `code` is the exit status.
  kSignalled,  // By a signal from outside; `code` is its number.
  kTimeLimit,  // We killed it at the time limit.
  kMemoryLimit,
  kCancelled,
  kNotStarted,  // exec failed; `reason` says why.
};
std::string_view name(Ending ending);  // "exited", "time limit", ...
std::optional<Ending> ending_named(std::string_view name);

// Why an arm can never run, however often it is retried: the fault is in its change.
enum class NeverRuns : std::uint8_t {
  kNo,
  kPatchDoesNotApply,
  kBuildFailed,
  kDidNotEngage,
  kTooDear,       // It was stopped when it had cost several times its partner.
  kCheckFailed,   // The spec's check.
  kFrozenChange,  // Frozen code differs from the commit.
};
// "", "the patch does not apply", "the build failed", "the injection did not engage", ...
std::string_view name(NeverRuns why);
std::optional<NeverRuns> never_runs_named(std::string_view name);

struct Span {  // A phase of a job, relative to its start.
  std::string name;
  Nanos start{};
  Nanos duration{};

  friend bool operator==(const Span&, const Span&) = default;
};

// Utilisation per accelerator, 0 to 1, one value per interval; NaN where not observed.
struct Utilisation {
  Nanos interval{};
  std::string metric;  // "NVML GPU_UTIL", "CPU slot", "reported device busy".
  std::vector<std::vector<float>> accelerators;

  friend bool operator==(const Utilisation&, const Utilisation&) = default;
};

struct FileDigest {
  std::string path;
  Observed<std::string> sha256;
  std::int64_t bytes = 0;
  bool presence_only = false;  // Not digested; must exist and not be empty.

  bool operator==(const FileDigest&) const = default;
};

// Whether an injected fix did anything, summed over the job's processes.
struct Engagement {
  std::string fix;
  std::int64_t times = 0;          // Number of times it acted; 0: it did not engage.
  std::vector<std::string> where;  // The first few: "train.py:41: workers 0 → 2".
  std::string refused;             // Why it did not act; empty if it did.

  friend bool operator==(const Engagement&, const Engagement&) = default;
};

// Other activity on the host while the job ran. NaN: unknown.
struct HostNoise {
  double load1 = 0;              // Mean of the 1-minute load average.
  double foreign_cpu_cores = 0;  // Cores used by processes outside the job.
  double steal_share = 0;        // Share of CPU time taken by the hypervisor.
  double psi_cpu_some = 0;       // Share of time in which some task waited for a CPU.
  double run_queue = 0;          // Mean number of runnable tasks.

  friend bool operator==(const HostNoise&, const HostNoise&) = default;
};

// Limits of the job's cgroup and how often they were hit; v1 and v2.
struct CgroupUse {
  double quota_cores = 0;  // CPU quota; 0: no limit, or none visible.
  Nanos throttled{};       // Time its tasks were throttled by the quota.
  std::int64_t throttled_periods = 0;
  std::int64_t memory_limit_bytes = 0;  // 0: no limit.
  std::int64_t memory_stalls = 0;       // Number of times it hit the limit.

  friend bool operator==(const CgroupUse&, const CgroupUse&) = default;
};

// The steps that a job reported, in order: arm, time and work of each.
struct StepReports {
  std::string arms;             // One letter per step: "ABBA".
  std::vector<double> seconds;  // Same length as `arms`.
  std::vector<double> work;     // Same length; empty if not reported.

  friend bool operator==(const StepReports&, const StepReports&) = default;
};

// A rank of a job of several nodes, seen from outside.
struct RankUse {
  int rank = 0;
  Nanos cpu{};               // Of its processes, those that it started included.
  std::vector<float> cores;  // Busy ones, one value per interval of the receipt's utilisation.

  friend bool operator==(const RankUse&, const RankUse&) = default;
};

// A node of a job of several nodes.
struct HostUse {
  std::string host;
  std::string boot_id;
  std::string hardware;
  HostNoise noise;
  Nanos cpu{};  // Of the job's processes there.
  std::int64_t peak_rss_bytes = 0;
  std::vector<RankUse> ranks;  // In order; empty if the job does not number them.

  friend bool operator==(const HostUse&, const HostUse&) = default;
};

inline constexpr int kReceiptWithHosts = 2;  // Its schema.

struct Receipt {
  int schema = 1;
  std::string id;  // Reservation and arm ("r-…/A"), or the job's id.
  std::string family;
  std::string arm;  // "A" to "E", "run", "profile", or "steps" for A and B alternating.
  std::string plan_digest;
  std::vector<std::string> argv;
  std::string host;
  std::string boot_id;
  std::string hardware;
  // The nodes of a job of several. Noise is then that of the worst node, and CPU time, memory and
  // utilisation are of all nodes. Empty: `host` alone.
  std::vector<HostUse> hosts;
  std::vector<int> cpus;  // CPUs it was pinned to; empty: not pinned.
  int accelerators = 1;
  std::string accelerator_kind;  // "gpu", "cpu slot", "device".
  Nanos started{};               // Unix time.
  Nanos started_monotonic{};     // Since boot; orders runs of one boot_id. 0: unknown.
  Nanos wall{};
  Nanos cpu_user{};
  Nanos cpu_system{};
  std::int64_t peak_rss_bytes = 0;
  std::int64_t voluntary_switches = 0;
  std::int64_t involuntary_switches = 0;
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
  std::int64_t read_blocks = 0;
  std::int64_t write_blocks = 0;
  std::int64_t read_calls = 0;  // System calls that read or write files, pipes and terminals,
  std::int64_t write_calls = 0;
  std::int64_t read_bytes = 0;  // and what they moved, from whatever cache.
  std::int64_t write_bytes = 0;
  std::int64_t peak_threads = 0;
  Ending ending = Ending::kNotStarted;
  int code = 0;
  std::string reason;  // For people; set if it did not exit with 0.
  NeverRuns never_runs = NeverRuns::kNo;
  bool held_back = false;  // Could have started but did not, because another arm cannot run.
  // What it ran besides its plan: the state of its repo (HEAD and the diff against it), and its
  // inherited environment. Empty: none, or unknown.
  std::string source;
  std::string environment;
  std::vector<Engagement> injected;  // One for each fix of the plan.
  int left_behind = 0;               // Processes still alive when the main one ended; killed.
  Observed<double> work;
  std::map<std::string, double> metrics;
  std::vector<Span> phases;                  // Ordered by start.
  StepReports steps;                         // Only for arm "steps".
  std::vector<std::string> report_problems;  // "line 3: not JSON", at most 20.
  Utilisation utilisation;
  std::vector<FileDigest> outputs;
  Observed<std::string> input_fingerprint;  // Observed only if all inputs in the spec were read.
  std::int64_t input_bytes = 0;
  HostNoise noise;
  CgroupUse cgroup;
  Nanos run_delay{};        // Time its tasks were runnable and waited for a CPU.
  Nanos observer_cpu{};     // CPU time spent on watching it.
  std::string stdout_tail;  // The last 4 KiB, redacted.
  std::string stderr_tail;
  Observed<std::string> stdout_sha256;
  std::string digest;  // Over all other fields; see seal() in model/codec.h.

  bool operator==(const Receipt&) const = default;
};

bool succeeded(const Receipt& receipt);
// From the receipt; for older receipts from the beginning of `reason`.
NeverRuns why_never(const Receipt& receipt);
AcceleratorSeconds cost(const Receipt& receipt);

// "exit 1", "killed by SIGSEGV", "over the time limit of 30 s".
std::string describe_ending(const Receipt& receipt);

// One arm of a pair, reduced to what verdicts need.
struct ArmFact {
  double cost = 0;  // Accelerator-seconds.
  double wall_s = 0;
  double cpu_s = 0;
  Observed<double> work;
  Observed<double> metric;                // The spec's metric, if the job reports it.
  std::map<std::string, double> quality;  // Reported quality metrics; see quality_of().
  Observed<std::string> output_digest;    // Over all digested outputs; absent if one of them is.
  Observed<std::string> input_fingerprint;
  double input_bytes = 0;
  Observed<std::string> host;
  Observed<double> foreign_cpu_cores;
  Observed<double> steal_share;
  Observed<double> psi_cpu_some;
  double started_s = 0;  // Unix time.
  int accelerators = 1;
  std::map<std::string, double> phases;  // Seconds per reported phase.
  double run_delay_s = 0;                // As in the receipt.
  double throttled_s = 0;
  int left_behind = 0;
  // The arm gave no number: it failed, was lost while running, or left out a required output. Not
  // set for a run that was not started through no fault of its own.
  bool failed = false;
  std::string failure;
  NeverRuns never_runs = NeverRuns::kNo;

  bool operator==(const ArmFact&) const = default;
};

Observed<double> quality_of(const ArmFact& arm, const std::string& metric);

// Two neighbouring steps of one process, one per arm; in the metric's unit per step.
struct StepPair {
  bool variant_second = false;  // As the coin assigned it.
  double a = 0;
  double b = 0;

  friend bool operator==(const StepPair&, const StepPair&) = default;
};

enum class Purpose : std::uint8_t {
  kCompare,
  kReplicate,
  kTopUp,
  kSame,
  kStack,
  kProfile,
  kRace,   // Chooses among values of one setting; never evidence.
  kBuild,  // Makes the worktree of a patch, before the pairs that need it.
};
std::string_view name(Purpose purpose);  // "compare", "replicate", "top-up", "same", "stack", ...
std::optional<Purpose> purpose_named(std::string_view name);

struct PairFact {
  std::string reservation;
  int index = 0;  // Index of the coin; never reused within an experiment.
  Purpose purpose = Purpose::kCompare;
  std::string target;                 // For kTopUp: the check that asked for it.
  bool variant_second = false;        // As the coin (or a top-up) assigned it.
  Observed<bool> ran_variant_second;  // As the receipts show.
  bool after_shared = false;          // In a block: another variant ran before this one.
  bool concurrent = false;            // Both arms at once on separate slots, swapped by the coin.
  bool contended = false;             // With neighbours placed on its slots.
  std::string stratum;                // Input class from the spec's strata; empty without strata.
  std::string block;                  // Reservation of the run with the shared baseline.
  std::vector<StepPair> steps;        // For arms that alternate inside one process.
  ArmFact a;
  ArmFact b;
  bool voided = false;
  std::string void_reason;

  bool operator==(const PairFact&) const = default;
};

// Which arm caused the loss of a pair. A variant must not choose its sample: a pair lost to B
// counts against B.
enum class Fault : std::uint8_t { kNobody, kA, kB, kBoth, kUnknown };
// kNobody if the pair counts; kUnknown if neither arm is to blame.
Fault fault_of(const PairFact& pair);

}  // namespace amdahl::model
