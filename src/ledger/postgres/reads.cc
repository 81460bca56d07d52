#include <fmt/core.h>

#include "ledger/event.h"
#include "ledger/postgres/store.h"

namespace amdahl::ledger::postgres {

// Every read looks for news first, so that a long watch sees what other machines wrote.

Result<std::vector<Family>> Store::families() {
  TRY(news());
  return replica_->families();
}
Result<Family> Store::family(const std::string& name) {
  TRY(news());
  return replica_->family(name);
}
Result<HypothesisRow> Store::hypothesis(const std::string& id) {
  TRY(news());
  return replica_->hypothesis(id);
}
Result<std::vector<HypothesisRow>> Store::hypotheses(const std::string& family,
                                                     const std::string& state) {
  TRY(news());
  return replica_->hypotheses(family, state);
}
Result<HypothesisPage> Store::page_of_hypotheses(const std::string& family,
                                                 const std::string& state, std::int64_t before,
                                                 int at_most) {
  TRY(news());
  return replica_->page_of_hypotheses(family, state, before, at_most);
}
Result<std::optional<HypothesisRow>> Store::holder_of_key(const std::string& key) {
  TRY(news());
  return replica_->holder_of_key(key);
}
Result<std::vector<HypothesisRow>> Store::hypotheses_with_key(const std::string& key) {
  TRY(news());
  return replica_->hypotheses_with_key(key);
}
Result<std::vector<ExperimentRow>> Store::live_experiments() {
  TRY(news());
  return replica_->live_experiments();
}
Result<ExperimentRow> Store::experiment(const std::string& id) {
  TRY(news());
  return replica_->experiment(id);
}
Result<std::vector<model::Pair>> Store::runs_of(const std::string& experiment) {
  TRY(news());
  return replica_->runs_of(experiment);
}
Result<std::vector<model::Pair>> Store::runs_in_flight() {
  TRY(news());
  return replica_->runs_in_flight();
}
Result<std::vector<model::Pair>> Store::family_runs(const std::string& family) {
  TRY(news());
  return replica_->family_runs(family);
}
Result<std::vector<model::Pair>> Store::family_runs(const std::string& family,
                                                    const model::Aim& aim) {
  TRY(news());
  return replica_->family_runs(family, aim);
}
Result<> Store::each_family_run(const std::string& family, const model::Aim& aim,
                                const std::function<bool(const model::Pair&)>& take) {
  TRY(news());
  return replica_->each_family_run(family, aim, take);
}
Result<std::vector<model::Finding>> Store::votes(const std::string& experiment) {
  TRY(news());
  return replica_->votes(experiment);
}
Result<std::vector<GateRow>> Store::gate(const std::string& state) {
  TRY(news());
  return replica_->gate(state);
}
Result<std::vector<GateRow>> Store::newest_gates(int at_most) {
  TRY(news());
  return replica_->newest_gates(at_most);
}
Result<std::optional<GateRow>> Store::gate_at(const std::string& experiment) {
  TRY(news());
  return replica_->gate_at(experiment);
}
Result<std::optional<model::Verdict>> Store::verdict(const std::string& hypothesis) {
  TRY(news());
  return replica_->verdict(hypothesis);
}
Result<std::vector<model::Verdict>> Store::verdicts(const std::string& family, int at_most) {
  TRY(news());
  return replica_->verdicts(family, at_most);
}
Result<std::vector<model::StackResult>> Store::stacks(const std::string& family) {
  TRY(news());
  return replica_->stacks(family);
}
Result<std::vector<Saving>> Store::savings() {
  TRY(news());
  return replica_->savings();
}
Result<std::vector<Earning>> Store::earnings() {
  TRY(news());
  return replica_->earnings();
}
Result<std::vector<Outlay>> Store::outlays(const std::string& resource) {
  TRY(news());
  return replica_->outlays(resource);
}
Result<std::map<std::string, double>> Store::spent_by_family(const std::string& resource) {
  TRY(news());
  return replica_->spent_by_family(resource);
}
Result<std::map<std::string, TrackRecord>> Store::track_records() {
  TRY(news());
  return replica_->track_records();
}
Result<std::map<model::Bottleneck, TrackRecord>> Store::lever_records() {
  TRY(news());
  return replica_->lever_records();
}
Result<std::optional<Choice>> Store::choice() {
  TRY(news());
  return replica_->choice();
}
Result<std::vector<CanaryRow>> Store::canaries(const std::string& family) {
  TRY(news());
  return replica_->canaries(family);
}
Result<std::vector<CanaryRow>> Store::canaries_in(model::CanaryState state) {
  TRY(news());
  return replica_->canaries_in(state);
}
Result<std::vector<Ask>> Store::asks(const std::string& family, const std::string& state) {
  TRY(news());
  return replica_->asks(family, state);
}
Result<std::optional<Campaign>> Store::campaign() {
  TRY(news());
  return replica_->campaign();
}
Result<std::vector<Budget>> Store::budgets() {
  TRY(news());
  return replica_->budgets();
}
Result<std::map<std::string, std::int64_t>> Store::tallies() {
  TRY(news());
  return replica_->tallies();
}
Result<std::vector<Event>> Store::events(const std::string& subject, std::int64_t before,
                                         int at_most) {
  TRY(news());
  return replica_->events(subject, before, at_most);
}
Result<> Store::each_event(std::int64_t after, const std::function<bool(const Event&)>& take) {
  TRY(news());
  return replica_->each_event(after, take);
}
Result<std::vector<HypothesisRow>> Store::search(const std::string& words, int at_most) {
  TRY(news());
  return replica_->search(words, at_most);
}
Result<std::string> Store::id() {
  TRY(news());
  return replica_->id();
}

// Only the replica has projections.
Result<> Store::rebuild() { return replica_->rebuild(); }

// The server's chain is computed again from its rows; the replica must have the same hashes.
Result<> Store::check_server_chain(VerifyReport& report) {
  constexpr int kAtOnce = 1000;
  const auto add = [&](std::string text) { report.differences.push_back(std::move(text)); };
  sqlite::Head last;
  std::int64_t bad = 0;
  db::Connection& replica = replica_->connection();
  const sqlite::Head mine = TRY(sqlite::head_of(replica));  // The server may get more meanwhile.
  const auto check = [&](const sqlite::StoredEvent& event, std::string_view hash) -> Result<> {
    const bool fits = event.seq == last.seq + 1 && hash == sqlite::chain_hash(last.hash, event);
    if (!fits && bad == 0) bad = event.seq;
    auto row =
        TRY(replica.query("read the replica", "SELECT hash FROM events WHERE seq = ?", event.seq));
    const bool same = event.seq > mine.seq || (TRY(row.step()) && row.text(0) == hash);
    if (!same && bad == 0) {
      add(fmt::format("event {}: the replica's is another", event.seq));
      bad = event.seq;
    }
    last = {event.seq, std::string(hash)};
    return Ok{};
  };
  while (TRY(server_.fetch(last.seq, kAtOnce, check)) == kAtOnce) {
  }
  const Server::Look now = TRY(server_.look(0));
  const sqlite::Head& head = now.head.last;
  if (head.seq < last.seq || (head.seq == last.seq && head.hash != last.hash)) {
    add(fmt::format("amdahl_ledger: the head is event {}, but the last event is {}", head.seq,
                    last.seq));
  }
  if (bad != 0 && (report.bad_event == 0 || bad < report.bad_event)) report.bad_event = bad;
  return Ok{};
}

Result<VerifyReport> Store::verify() {
  TRY(patiently("verify", place_.wait, [&] { return catch_up(); }));
  VerifyReport report = TRY(replica_->verify());
  TRY(check_server_chain(report));
  return report;
}

}  // namespace amdahl::ledger::postgres
