// store.h: the ledger in one SQLite file.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "db/sqlite.h"
#include "ledger/event.h"
#include "ledger/ledger.h"
#include "ledger/sqlite/chain.h"
#include "ledger/sqlite/schema.h"
#include "os/clock.h"

namespace amdahl::ledger::sqlite {

struct StoreOptions {
  OpenOptions options;
  Schema schema = present_schema();
  bool durable = true;           // False only to build large files quickly: a power cut ruins them.
  bool replica = false;          // A power cut may take the last events: a server has them all.
  int busy_timeout_ms = 30'000;  // How long a write waits for other processes.
};

// As open_sqlite(), with the parts that tests and benchmarks replace.
Result<std::unique_ptr<Ledger>> open_store(const std::string& path, const StoreOptions& setup,
                                           os::Clock& clock);
// Only the file: checked, migrated and ready for reads and writes.
Result<db::Connection> open_file(const std::string& path, const StoreOptions& setup,
                                 os::Clock& clock);

// The last event of a ledger.
struct Head {
  std::int64_t seq = 0;
  std::string hash;  // Empty before the first event.
};
Result<Head> head_of(db::Connection& db);

// An event with its payload as it is stored.
struct Written {
  Event event;
  std::string text;
};
// Writes what follows `last`, with its projections. The caller holds a transaction.
Result<Written> write_new(db::Connection& db, const Draft& draft, const Head& last, Nanos at);
// The same for an event that another ledger has, with its hash; kConflict if it does not follow.
Result<> write_stored(db::Connection& db, const StoredEvent& event, std::string_view hash,
                      const Head& last);
// An event of another ledger, as it is stored there; kConflict if its hash does not follow.
Result<Written> write_copy(db::Connection& db, const Event& event, const Head& last);

// For kBusy: who has the lease, and since when.
std::string describe_holder(const LeaseInfo& held, Nanos now);
// Whether "pid 4711", known to be of this host, is of a process that is no more.
bool is_dead(std::string_view holder);

// Brings a replay of all events of `from` into the empty projections of `to`, which may be the
// same.
Result<> replay(db::Connection& from, db::Connection& to);
// Drops all tables but events and lease, and makes them anew. The caller holds a transaction.
Result<> rebuild_projections(db::Connection& db);

// Answers reads from the projections in one SQLite file.
class Projections : public Ledger {
 public:
  Result<std::vector<Family>> families() override;
  Result<Family> family(const std::string& name) override;
  Result<HypothesisRow> hypothesis(const std::string& id) override;
  Result<std::vector<HypothesisRow>> hypotheses(const std::string& family,
                                                const std::string& state) override;
  Result<std::optional<HypothesisRow>> holder_of_key(const std::string& key) override;
  Result<HypothesisPage> page_of_hypotheses(const std::string& family, const std::string& state,
                                            std::int64_t before, int at_most) override;
  Result<std::vector<HypothesisRow>> hypotheses_with_key(const std::string& key) override;
  Result<std::vector<ExperimentRow>> live_experiments() override;
  Result<ExperimentRow> experiment(const std::string& id) override;
  Result<std::vector<model::Pair>> runs_of(const std::string& experiment) override;
  Result<std::vector<model::Pair>> runs_in_flight() override;
  Result<std::vector<model::Pair>> family_runs(const std::string& family) override;
  Result<std::vector<model::Pair>> family_runs(const std::string& family,
                                               const model::Aim& aim) override;
  Result<> each_family_run(const std::string& family, const model::Aim& aim,
                           const std::function<bool(const model::Pair&)>& take) override;
  Result<std::vector<model::Finding>> votes(const std::string& experiment) override;
  Result<std::vector<GateRow>> gate(const std::string& state) override;
  Result<std::vector<GateRow>> newest_gates(int at_most) override;
  Result<std::optional<GateRow>> gate_at(const std::string& experiment) override;
  Result<std::optional<model::Verdict>> verdict(const std::string& hypothesis) override;
  Result<std::vector<model::Verdict>> verdicts(const std::string& family, int at_most) override;
  Result<std::vector<model::StackResult>> stacks(const std::string& family) override;
  Result<std::vector<Saving>> savings() override;
  Result<std::vector<Earning>> earnings() override;
  Result<std::vector<Outlay>> outlays(const std::string& resource) override;
  Result<std::map<std::string, double>> spent_by_family(const std::string& resource) override;
  Result<std::map<std::string, TrackRecord>> track_records() override;
  Result<std::map<model::Bottleneck, TrackRecord>> lever_records() override;
  Result<std::optional<Choice>> choice() override;
  Result<std::vector<CanaryRow>> canaries(const std::string& family) override;
  Result<std::vector<CanaryRow>> canaries_in(model::CanaryState state) override;
  Result<std::vector<Ask>> asks(const std::string& family, const std::string& state) override;
  Result<std::optional<Campaign>> campaign() override;
  Result<std::vector<Budget>> budgets() override;
  Result<std::map<std::string, std::int64_t>> tallies() override;
  Result<std::vector<Event>> events(const std::string& subject, std::int64_t before,
                                    int at_most) override;
  Result<> each_event(std::int64_t after, const std::function<bool(const Event&)>& take) override;
  Result<std::vector<HypothesisRow>> search(const std::string& words, int at_most) override;

  Result<VerifyReport> verify() override;
  Result<> rebuild() override;
  int schema_version() override { return schema_version_; }
  Result<std::string> id() override;

 protected:
  Projections(db::Connection db, int schema_version)
      : db_{std::move(db)}, schema_version_{schema_version} {}

  db::Connection db_;

 private:
  // Called before each read, for a file that is a copy: fetches what it lacks.
  virtual Result<> news() { return Ok{}; }

  template <class... Values>
  Result<db::Statement> query(std::string_view purpose, std::string_view sql,
                              const Values&... values) {
    TRY(news());
    return db_.query(purpose, sql, values...);
  }
  template <class Row>
  using Decode = Result<Row> (*)(const db::Statement&);
  template <class Row, class... Values>
  Result<std::vector<Row>> all(std::string_view purpose, Decode<Row> read, std::string_view sql,
                               const Values&... values);
  template <class Row, class... Values>
  Result<std::optional<Row>> first(std::string_view purpose, Decode<Row> read, std::string_view sql,
                                   const Values&... values);
  Result<std::vector<model::Pair>> pairs(Result<db::Statement> rows);
  Result<const model::Pair*> pair_in(const db::Statement& row);

  int schema_version_;
  // Runs that ended, by reservation, and the last that did not.
  std::unordered_map<std::string, model::Pair> ended_{};
  model::Pair running_{};
};

// The ledger in one file.
class Store final : public Projections {
 public:
  Store(db::Connection db, int schema_version, os::Clock& clock)
      : Projections{std::move(db), schema_version}, clock_{clock} {}

  Result<std::vector<Event>> append(std::span<const Draft> drafts, std::int64_t fence) override;
  Result<> import(std::span<const Event> events) override;

  Result<LeaseInfo> take_lease(const std::string& holder, const std::string& host,
                               Nanos for_how_long) override;
  Result<> renew_lease(std::int64_t token, Nanos for_how_long) override;
  Result<> release_lease(std::int64_t token) override;
  Result<std::optional<LeaseInfo>> lease() override;

 private:
  Result<> check_fence(std::int64_t fence);

  os::Clock& clock_;
};

}  // namespace amdahl::ledger::sqlite
