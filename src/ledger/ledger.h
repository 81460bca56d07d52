// ledger.h: the append-only store of all events and decisions.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "model/canary.h"
#include "model/hypothesis.h"
#include "model/pair.h"
#include "model/profile.h"
#include "model/spec.h"

namespace amdahl::os {
class Clock;
}

namespace amdahl::ledger {

// What is written, what was, and what a scan gave: ledger/event.h.
struct Draft;
struct Event;
struct Choice;

struct Family {
  std::string name;
  model::Spec spec;
  model::Change baseline;                   // All promoted changes, combined.
  std::vector<std::string> stack;           // Ids of promoted hypotheses, oldest first.
  std::optional<model::Profile> profile;    // The latest.
  double volume_accelerator_h_per_day = 0;  // From the latest scan,
  std::int64_t volume_jobs = 0;             // from so many jobs.
  std::string version;  // Digest of spec and stack: a change of the baseline names the one it saw.
};

struct HypothesisRow {
  model::Hypothesis hypothesis;
  std::string state;  // "live", "reopened", "parked", or a verdict's name.
  Nanos since{};      // When it came into that state.
};

// A page of the list of hypotheses, newest first, each with its verdict.
struct HypothesisPage {
  struct Item {
    HypothesisRow row;
    std::optional<model::Verdict> verdict;
    std::int64_t number = 0;  // Ever growing; as `before`: those older than this one.
  };
  std::vector<Item> items;
  std::int64_t total = 0;  // On all pages.
  std::int64_t next = 0;   // What to ask for as `before` to go on; 0: this was the last page.
};

struct ExperimentRow {
  model::Experiment experiment;
  std::string state;  // "live" or "closed".
  model::Stage stage = model::Stage::kCompare;
  std::optional<model::Comparison> comparison;  // The latest.
  int resumed = 0;  // Pairs it had when somebody last asked for more; 0: nobody did.
};

struct GateRow {
  model::GatePacket packet;
  std::string state;   // "pending", "approved", "rejected", "withdrawn".
  std::string digest;  // Of the packet: a decision names the digest that it saw.
  model::GateDecision decision;
};

struct Budget {
  std::string resource;         // "accelerator_s", "usd", "tokens" or whatever a reservation names.
  std::optional<double> limit;  // Nothing: it is counted and not limited.
  double committed = 0;
  double spent = 0;
  double overrun = 0;  // What runs used beyond their reservations; not in spent.
};

// A question to a model.
struct Ask {
  std::string id;  // "q-" and hex digits.
  std::string family;
  std::string about;  // The profile it rests on, or the experiment that it attacks.
  std::string role;   // "propose", "attack", "dream".
  int tier = 0;       // 0 is the cheapest model.
  std::string state;  // "reserved" or "settled".
  std::map<std::string, double> reserved;  // By resource.
  std::map<std::string, double> spent;
  std::string request;  // JSON: docs/format/ledger.md.
  std::string outcome;  // "answered" or why not; empty while it is reserved.
  Nanos at{};           // When it was reserved.
};

struct Campaign {
  std::string id;
  int k = 200;
  double alpha = 0.10;
  std::string seed;
  int registered = 0;
  int promoted = 0;  // D.
};

// Hypotheses that were tested and have a verdict. Aborted (infrastructure) and dropped (not worth
// the hours) ones were not tested to the end and do not count.
struct TrackRecord {
  std::int64_t tried = 0;
  std::int64_t won = 0;  // Promoted ones among them.
};

struct LeaseInfo {
  std::string holder;  // "pid 4711".
  std::string host;
  Nanos taken{};
  Nanos renewed{};
  Nanos expires{};
  std::int64_t token = 0;  // Fencing: grows with every taking.
};

struct VerifyReport {
  std::int64_t events = 0;
  std::int64_t bad_event = 0;            // The first whose hash does not fit; 0 if none.
  std::vector<std::string> differences;  // "hypothesis h-12: state is live, replay says refuted".
  bool ok() const { return bad_event == 0 && differences.empty(); }
};

struct Saving {
  std::string family;
  std::string hypothesis;
  double predicted_share = 0;  // Shrunk, at promotion.
  std::optional<double> realised_share;
};

// What a family's later jobs saved in one month, against what they would have cost without the
// changes that were promoted; in accelerator-seconds. The last booking counts.
struct Earning {
  std::string family;
  std::string month;  // "2026-11", UTC.
  std::int64_t jobs = 0;
  double used = 0;   // By these jobs.
  double saved = 0;  // Below 0: they cost more.
  double lower = 0;  // 95 % interval of `saved`.
  double upper = 0;
};

// What runs of a family that were reserved in one month have used of a resource.
struct Outlay {
  std::string family;
  std::string month;
  double spent = 0;
};

struct CanaryRow {
  model::Canary canary;
  model::CanaryState state = model::CanaryState::kOpen;
  std::string actor;                          // Who closed it last.
  std::string reason;                         // Why.
  Nanos closed{};                             // When; 0 while it is open.
  std::optional<model::CanaryResult> result;  // What had been seen when it was closed.
};

// One process's handle, for one thread at a time. Reads never block; writes wait for each other.
class Ledger {
 public:
  virtual ~Ledger() = default;

  // All or nothing. kConflict, naming the conflicting row, if an invariant forbids it; kBudget if
  // the budget does; kBusy if `fence` is not 0 and a newer lease was taken.
  virtual Result<std::vector<Event>> append(std::span<const Draft> drafts,
                                            std::int64_t fence = 0) = 0;
  // Events of another ledger, as they are there, after our last. All or nothing. kConflict if their
  // hashes do not follow.
  virtual Result<> import(std::span<const Event> events) = 0;

  virtual Result<std::vector<Family>> families() = 0;
  virtual Result<Family> family(const std::string& name) = 0;

  virtual Result<HypothesisRow> hypothesis(const std::string& id) = 0;  // A unique prefix will do.
  virtual Result<std::vector<HypothesisRow>> hypotheses(const std::string& family,
                                                        const std::string& state) = 0;  // "" = all.
  // At most so many of those that were proposed before `before` (0: the newest); "" = all.
  virtual Result<HypothesisPage> page_of_hypotheses(const std::string& family,
                                                    const std::string& state, std::int64_t before,
                                                    int at_most) = 0;
  // The hypothesis that holds the key: live, refuted, declined, promoted, no effect, harmful.
  virtual Result<std::optional<HypothesisRow>> holder_of_key(const std::string& key) = 0;
  // All hypotheses that ever had the key, oldest first.
  virtual Result<std::vector<HypothesisRow>> hypotheses_with_key(const std::string& key) = 0;

  virtual Result<std::vector<ExperimentRow>> live_experiments() = 0;
  virtual Result<ExperimentRow> experiment(const std::string& id) = 0;
  virtual Result<std::vector<model::Pair>> runs_of(const std::string& experiment) = 0;
  virtual Result<std::vector<model::Pair>> runs_in_flight() = 0;  // Reserved or submitted.
  virtual Result<std::vector<model::Pair>> family_runs(const std::string& family) = 0;
  virtual Result<std::vector<model::Pair>> family_runs(const std::string& family,
                                                       const model::Aim& aim) = 0;
  // Newest first, until `take` returns false.
  virtual Result<> each_family_run(const std::string& family, const model::Aim& aim,
                                   const std::function<bool(const model::Pair&)>& take) = 0;
  virtual Result<std::vector<model::Finding>> votes(const std::string& experiment) = 0;
  virtual Result<std::vector<GateRow>> gate(const std::string& state) = 0;  // "" = all.
  virtual Result<std::vector<GateRow>> newest_gates(int at_most) = 0;       // Oldest first.
  virtual Result<std::optional<GateRow>> gate_at(const std::string& experiment) = 0;
  virtual Result<std::optional<model::Verdict>> verdict(const std::string& hypothesis) = 0;
  virtual Result<std::vector<model::Verdict>> verdicts(const std::string& family, int at_most) = 0;
  virtual Result<std::vector<model::StackResult>> stacks(const std::string& family) = 0;
  virtual Result<std::vector<Saving>> savings() = 0;
  virtual Result<std::vector<Earning>> earnings() = 0;  // By family and month.
  virtual Result<std::vector<Outlay>> outlays(const std::string& resource) = 0;  // The same order.
  // Use of a resource by all runs of each family; updated by every write.
  virtual Result<std::map<std::string, double>> spent_by_family(
      const std::string& resource = "accelerator_s") = 0;
  // By family, kept up by every verdict.
  virtual Result<std::map<std::string, TrackRecord>> track_records() = 0;
  // By the bottleneck that hypotheses act on, all families together.
  virtual Result<std::map<model::Bottleneck, TrackRecord>> lever_records() = 0;
  virtual Result<std::optional<Choice>> choice() = 0;  // Nothing before the first scan.
  virtual Result<std::vector<CanaryRow>> canaries(const std::string& family) = 0;  // "" = all.
  virtual Result<std::vector<CanaryRow>> canaries_in(model::CanaryState state) = 0;
  // Questions to models, oldest first; "" = all.
  virtual Result<std::vector<Ask>> asks(const std::string& family, const std::string& state) = 0;
  virtual Result<std::optional<Campaign>> campaign() = 0;  // The open one.
  virtual Result<std::vector<Budget>> budgets() = 0;       // Whatever was limited or used, by name.
  // "hypothesis.live" to 3, "verdict.refuted" to 12, ...: kept up by every write, not counted.
  virtual Result<std::map<std::string, std::int64_t>> tallies() = 0;

  // Newest first if `before` is 0; else those below it.
  virtual Result<std::vector<Event>> events(const std::string& subject, std::int64_t before,
                                            int at_most) = 0;
  // In order, from seq `after` on, until `take` returns false.
  virtual Result<> each_event(std::int64_t after,
                              const std::function<bool(const Event&)>& take) = 0;
  // Full text over hypotheses, verdicts and reasons: those with all words first, then those with
  // the rarest of them, then the newest. Reads about a page for each word.
  virtual Result<std::vector<HypothesisRow>> search(const std::string& words, int at_most) = 0;

  virtual Result<VerifyReport> verify() = 0;
  virtual Result<> rebuild() = 0;  // Projections anew from the events.

  // kBusy with the holder's name, host and age if someone living has it.
  virtual Result<LeaseInfo> take_lease(const std::string& holder, const std::string& host,
                                       Nanos for_how_long) = 0;
  virtual Result<> renew_lease(std::int64_t token, Nanos for_how_long) = 0;
  virtual Result<> release_lease(std::int64_t token) = 0;
  virtual Result<std::optional<LeaseInfo>> lease() = 0;

  virtual int schema_version() = 0;
  // Why reads may be older than the newest event, for a warning; empty: they are not.
  virtual std::string stale_because() { return ""; }
  // This machine's clock minus the one that events are dated by.
  virtual Nanos clock_ahead() { return Nanos{}; }
  // The start of its first event's hash: unique per ledger, kept by copies. Empty before the first
  // event. Files that belong to a ledger carry it.
  virtual Result<std::string> id() = 0;
};

// What this program writes; a ledger file with a higher one is from the future.
int schema_version();

struct OpenOptions {
  bool create = true;  // Make the file if there is none.
  bool read_only = false;
};

// Opens the file, checks that it is a ledger (kBadInput for a foreign or corrupt file, with what to
// do), and migrates it (kUnsupported if it is newer than this program).
// The cost does not depend on the ledger's length.
Result<std::unique_ptr<Ledger>> open_sqlite(const std::string& path,
                                            const OpenOptions& options = {});
// With a clock of the caller's, which must outlive the ledger.
Result<std::unique_ptr<Ledger>> open_sqlite(const std::string& path, const OpenOptions& options,
                                            os::Clock& clock);

// A ledger that many machines share: a PostgreSQL server has the events and the lease, and each
// machine a replica with the projections. See docs/design/0004-one-ledger-for-many-machines.md.
struct ServerPlace {
  std::string url;      // postgresql://USER@HOST:PORT/DATABASE, without a password.
  std::string replica;  // Path of this machine's SQLite file; it is made anew if it is missing.
  // A write waits this long for a server that is away, restarts or fails over. Then it fails with
  // kExternal.
  Nanos wait = std::chrono::seconds(60);
};

// Reads are answered by the replica, which looks for news at most every second; while the server
// is away they are as old as the last look. Writes go to the server. Times in events and of the
// lease are the server's. Opens as open_sqlite() does; kExternal if the server is away and there is
// no replica yet.
Result<std::unique_ptr<Ledger>> open_postgres(const ServerPlace& place,
                                              const OpenOptions& options = {});

// Nothing, or why this address cannot be used; a password in it is refused.
Result<> check_address(const std::string& url);

// How a shared ledger is, at one look and without waiting.
struct ServerState {
  std::string version;              // "15.18 (Debian 15.18-0+deb12u1)".
  std::int64_t events = 0;          // On the server,
  std::int64_t replica_events = 0;  // and on this machine.
  Nanos clock_ahead{};              // This machine's clock minus the server's.
  bool syncs = true;                // False: the server's fsync is off; a power cut loses events.
};
// kNotFound if there is no ledger there yet, kExternal if the server is away. Changes nothing.
Result<ServerState> server_state(const ServerPlace& place);

// Copies the events of `from` that `to` does not have yet, with their hashes: how many. kConflict
// if the events of `to` are no beginning of those of `from`. Can be repeated after an interruption.
Result<std::int64_t> copy_events(Ledger& from, Ledger& to);

}  // namespace amdahl::ledger
