// receipt.h: the immutable record that a run leaves, and what a pair of them comes to.
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
  kExited,     // By itself; `code` is the status.
  kSignalled,  // By a signal from elsewhere; `code` is its number.
  kTimeLimit,  // We killed it.
  kMemoryLimit,
  kCancelled,
  kNotStarted,  // The program could not be executed; `reason` says why.
};
std::string_view name(Ending ending);  // "exited", "time limit", ...
std::optional<Ending> ending_named(std::string_view name);

// Why an arm can never run, however often it is tried: its change is at fault.
enum class NeverRuns : std::uint8_t {
  kNo,
  kPatchDoesNotApply,
  kBuildFailed,
  kDidNotEngage,
  kTooDear,  // It was stopped when it had cost several times its partner.
};
// "", "the patch does not apply", "the build failed", "the injection did not engage", ...
std::string_view name(NeverRuns why);
std::optional<NeverRuns> never_runs_named(std::string_view name);

struct Span {  // A phase of a job, since its start.
  std::string name;
  Nanos start{};
  Nanos duration{};

  friend bool operator==(const Span&, const Span&) = default;
};

// Utilisation of each accelerator, 0 to 1, one value an interval; NaN where it was not observed.
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
  bool presence_only = false;  // Not to be digested: it has to be there and not empty.

  bool operator==(const FileDigest&) const = default;
};

// Of a fix that was injected: whether it did anything. Summed over the job's processes.
struct Engagement {
  std::string fix;
  std::int64_t times = 0;          // How often it acted; 0: it did not engage.
  std::vector<std::string> where;  // "train.py:41: workers 0 → 2", the first few.
  std::string refused;             // Why it held back, if it did.

  friend bool operator==(const Engagement&, const Engagement&) = default;
};

// What else happened on the host while the job ran. NaN where unknown.
struct HostNoise {
  double load1 = 0;              // Mean of the 1-minute load average.
  double foreign_cpu_cores = 0;  // Cores used by everyone but the job.
  double steal_share = 0;        // Share of the CPU time taken by the hypervisor.
  double psi_cpu_some = 0;       // Share of the time that some task waited for a CPU.
  double run_queue = 0;          // Mean number of runnable tasks.

  friend bool operator==(const HostNoise&, const HostNoise&) = default;
};

// What the job's control group allowed and withheld while it ran; v1 and v2 alike.
struct CgroupUse {
  double quota_cores = 0;  // CPU bandwidth it was limited to; 0: no limit, or none that we can see.
  Nanos throttled{};       // Time its tasks were held back by that limit.
  std::int64_t throttled_periods = 0;
  std::int64_t memory_limit_bytes = 0;  // 0: no limit.
  std::int64_t memory_stalls = 0;       // Times it ran into the limit.

  friend bool operator==(const CgroupUse&, const CgroupUse&) = default;
};

// The steps that a job reported, in order: arm, time and work of each.
struct StepReports {
  std::string arms;             // One letter a step: "ABBA".
  std::vector<double> seconds;  // As many as there are letters.
  std::vector<double> work;     // The same; empty if it reports none.

  friend bool operator==(const StepReports&, const StepReports&) = default;
};

struct Receipt {
  int schema = 1;
  std::string id;  // Reservation and arm: "r-…/A"; or the job's id.
  std::string family;
  std::string arm;  // "A", "B" and on to "E", "run", "profile", or "steps" for A and B in turn.
  std::string plan_digest;
  std::vector<std::string> argv;
  std::string host;
  std::string boot_id;
  std::string hardware;
  std::vector<int> cpus;  // Where it was pinned; empty if it was not.
  int accelerators = 1;
  std::string accelerator_kind;  // "gpu", "cpu slot", "device".
  Nanos started{};               // Unix time.
  Nanos started_monotonic{};     // Since boot: orders what ran under one boot_id. 0: not known.
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
  std::int64_t peak_threads = 0;
  Ending ending = Ending::kNotStarted;
  int code = 0;
  std::string reason;  // For people, when it did not exit with 0.
  NeverRuns never_runs = NeverRuns::kNo;
  bool held_back = false;  // It could be started and was not, because another arm cannot be.
  // What it ran besides its plan: the source in its repo (HEAD and what differs from it), and
  // what it inherited of its environment. Empty where there is none or it is not known.
  std::string source;
  std::string environment;
  std::vector<Engagement> injected;  // One for each fix of the plan.
  int left_behind = 0;  // Processes still alive when the main one ended; killed.
  Observed<double> work;
  std::map<std::string, double> metrics;
  std::vector<Span> phases;                  // In order of start.
  StepReports steps;                         // Empty but for arm "steps".
  std::vector<std::string> report_problems;  // "line 3: not JSON", at most 20.
  Utilisation utilisation;
  std::vector<FileDigest> outputs;
  Observed<std::string> input_fingerprint;  // Observed only if all that the spec names was read.
  std::int64_t input_bytes = 0;
  HostNoise noise;
  CgroupUse cgroup;
  Nanos run_delay{};        // Time its tasks were ready and waited for a CPU.
  Nanos observer_cpu{};     // What watching it cost us.
  std::string stdout_tail;  // The last 4 KiB, redacted.
  std::string stderr_tail;
  Observed<std::string> stdout_sha256;
  std::string digest;  // Over all the rest; see seal() in model/codec.h.

  bool operator==(const Receipt&) const = default;
};

bool succeeded(const Receipt& receipt);
// As the receipt says, or, of an older one, the beginning of its reason.
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
  Observed<double> metric;                // The spec's metric if it is a reported one.
  std::map<std::string, double> quality;  // What was reported; see quality_of().
  Observed<std::string> output_digest;    // Over all digested outputs; absent if one of them is.
  Observed<std::string> input_fingerprint;
  double input_bytes = 0;
  Observed<std::string> host;
  Observed<double> foreign_cpu_cores;
  Observed<double> steal_share;
  Observed<double> psi_cpu_some;
  double started_s = 0;  // Unix time.
  int accelerators = 1;
  std::map<std::string, double> phases;  // Seconds in each phase the job reported.
  double run_delay_s = 0;                // As in the receipt.
  double throttled_s = 0;
  int left_behind = 0;
  // It gave no number, whatever the way: it ended badly, it was lost while it ran, or it left out
  // what the spec says must be there. Never set for a run that was not begun through no fault of
  // its own.
  bool failed = false;
  std::string failure;
  NeverRuns never_runs = NeverRuns::kNo;

  bool operator==(const ArmFact&) const = default;
};

Observed<double> quality_of(const ArmFact& arm, const std::string& metric);

// Two neighbouring steps of one process, one in each arm; in the metric's unit per step.
struct StepPair {
  bool variant_second = false;  // As the coin assigned it.
  double a = 0;
  double b = 0;

  friend bool operator==(const StepPair&, const StepPair&) = default;
};

enum class Purpose : std::uint8_t { kCompare, kReplicate, kTopUp, kSame, kStack, kProfile };
std::string_view name(Purpose purpose);  // "compare", "replicate", "top-up", "same", "stack", ...
std::optional<Purpose> purpose_named(std::string_view name);

struct PairFact {
  std::string reservation;
  int index = 0;  // The coin's index: never reused within an experiment.
  Purpose purpose = Purpose::kCompare;
  std::string target;                 // The check that asked for it, for kTopUp.
  bool variant_second = false;        // As the coin (or a top-up) assigned it.
  Observed<bool> ran_variant_second;  // As the receipts say.
  bool after_shared = false;          // Of a block: another variant ran before this one.
  bool concurrent = false;            // Both arms at once, on separate slots swapped by the coin.
  bool contended = false;             // With neighbours that we put on its slots.
  std::string stratum;                // Input class, of the spec's strata; empty without any.
  std::string block;                  // Reservation of the run that holds the shared baseline.
  std::vector<StepPair> steps;        // For arms that alternate inside one process.
  ArmFact a;
  ArmFact b;
  bool voided = false;
  std::string void_reason;

  bool operator==(const PairFact&) const = default;
};

// To whom a pair was lost. A variant must not choose its sample: what is lost to B counts against
// B.
enum class Fault : std::uint8_t { kNobody, kA, kB, kBoth, kUnknown };
Fault fault_of(const PairFact& pair);  // kNobody if it counts; kUnknown if no arm was to blame.

}  // namespace amdahl::model
