#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "ledger/sqlite/chain.h"
#include "ledger/sqlite/queries.h"
#include "ledger/sqlite/rows.h"
#include "ledger/sqlite/store.h"

namespace amdahl::ledger::sqlite {

using model::Pair;

namespace {

constexpr std::string_view kReadRuns = "read runs";
constexpr std::size_t kIdDigits = 16;
constexpr std::size_t kMostWords = 32;      // Of a search,
constexpr std::int64_t kLeastOfAWord = 50;  // and what is read of each word.

Error not_there(std::string_view what, std::string_view id, std::string_view list) {
  return {Error::Kind::kNotFound, fmt::format("no {} \"{}\": see `amdahl {}`", what, id, list)};
}

// Typed words as FTS5 queries without syntax errors: each word quoted, none twice.
std::vector<std::string> fts_words(std::string_view typed) {
  std::vector<std::string> words;
  std::string word;
  const auto flush = [&] {
    const std::string quoted = "\"" + word + "\"";
    const bool known = std::ranges::find(words, quoted) != words.end();
    if (!word.empty() && !known && words.size() < kMostWords) words.push_back(quoted);
    word.clear();
  };
  for (const char c : typed) {
    // Split at a quote too: it would end our own quotes.
    const bool separates = static_cast<unsigned char>(c) <= ' ' || c == '"' || c == 0x7f;
    separates ? flush() : word.push_back(c);
  }
  flush();
  return words;
}

}  // namespace

template <class Row, class... Values>
Result<std::vector<Row>> Projections::all(std::string_view purpose, Decode<Row> read,
                                          std::string_view sql, const Values&... values) {
  db::Statement statement = TRY(query(purpose, sql, values...));
  std::vector<Row> rows;
  while (TRY(statement.step())) rows.push_back(TRY(read(statement).in(purpose)));
  return rows;
}

template <class Row, class... Values>
Result<std::optional<Row>> Projections::first(std::string_view purpose, Decode<Row> read,
                                              std::string_view sql, const Values&... values) {
  db::Statement statement = TRY(query(purpose, sql, values...));
  if (!TRY(statement.step())) return std::optional<Row>{};
  return std::optional<Row>{TRY(read(statement).in(purpose))};
}

Result<std::vector<Family>> Projections::families() {
  return all<Family>("read families", family_of, kFamilies);
}

Result<Family> Projections::family(const std::string& name) {
  auto found = TRY(first<Family>("read the family", family_of, kFamily, name));
  if (!found) return not_there("family", name, "status");
  return *std::move(found);
}

Result<HypothesisRow> Projections::hypothesis(const std::string& id) {
  auto exact = TRY(first<HypothesisRow>("read the hypothesis", hypothesis_of, kHypothesis, id));
  if (exact) return *std::move(exact);
  auto near = TRY(all<HypothesisRow>("read hypotheses", hypothesis_of, kHypothesisByPrefix, id));
  if (near.empty() || id.empty()) return not_there("hypothesis", id, "ledger list");
  if (near.size() == 1) return std::move(near.front());
  std::vector<std::string> ids;
  for (const HypothesisRow& row : near) ids.push_back(row.hypothesis.id);
  return bad_input(fmt::format("\"{}\" is ambiguous: it matches {}", id, join(ids, ", ")));
}

Result<std::vector<HypothesisRow>> Projections::hypotheses(const std::string& family,
                                                           const std::string& state) {
  constexpr auto kPurpose = "read hypotheses";
  if (!family.empty() && !state.empty()) {
    return all<HypothesisRow>(kPurpose, hypothesis_of, kHypothesesOfFamilyInState, family, state);
  }
  if (!family.empty()) {
    return all<HypothesisRow>(kPurpose, hypothesis_of, kHypothesesOfFamily, family);
  }
  if (!state.empty()) {
    return all<HypothesisRow>(kPurpose, hypothesis_of, kHypothesesInState, state);
  }
  return all<HypothesisRow>(kPurpose, hypothesis_of, kAllHypotheses);
}

Result<HypothesisPage> Projections::page_of_hypotheses(const std::string& family,
                                                       const std::string& state,
                                                       std::int64_t before, int at_most) {
  constexpr auto kPurpose = "read hypotheses";
  HypothesisPage page;
  db::Statement count = TRY(query(kPurpose, kHypothesisCount, family, state));
  if (TRY(count.step())) page.total = count.integer(0);
  if (before == 0) before = std::numeric_limits<std::int64_t>::max();
  const std::string_view whole = state.empty() ? kHypothesisPage : kHypothesisPageInState;
  const std::string_view of_family =
      state.empty() ? kHypothesisPageOfFamily : kHypothesisPageOfBoth;
  db::Statement row = TRY(query(kPurpose, family.empty() ? whole : of_family, before, family, state,
                                std::int64_t{at_most} + 1));
  while (TRY(row.step())) {
    if (std::ssize(page.items) == at_most) {
      page.next = page.items.back().number;
      break;
    }
    HypothesisPage::Item item{TRY(hypothesis_of(row).in(kPurpose)), std::nullopt, row.integer(5)};
    if (!row.is_null(7)) item.verdict = TRY(verdict_of(row, 6));
    page.items.push_back(std::move(item));
  }
  return page;
}

Result<std::optional<HypothesisRow>> Projections::holder_of_key(const std::string& key) {
  return first<HypothesisRow>("look for the key", hypothesis_of, kHolderOfKey, key);
}

Result<std::vector<HypothesisRow>> Projections::hypotheses_with_key(const std::string& key) {
  return all<HypothesisRow>("look for the key", hypothesis_of, kHypothesesWithKey, key);
}

// To rank all that match would read all of them. Of each word the newest are read, and a word that
// few of them have weighs more.
Result<std::vector<HypothesisRow>> Projections::search(const std::string& typed, int at_most) {
  constexpr std::string_view kPurpose = "search";
  const std::int64_t page = std::max<std::int64_t>(at_most, kLeastOfAWord);
  const std::vector<std::string> words = fts_words(typed);
  std::map<std::int64_t, double> weights;  // By number.
  const auto weigh = [&](const std::string& match, bool has_all) -> Result<> {
    db::Statement row = TRY(query(kPurpose, kSearch, match, page));
    std::vector<std::int64_t> numbers;
    while (TRY(row.step())) numbers.push_back(row.integer(0));
    const double share = 1 / static_cast<double>(std::max<std::size_t>(numbers.size(), 1));
    const double weight = has_all ? static_cast<double>(kMostWords) : share;
    for (const std::int64_t number : numbers) weights[number] += weight;
    return Ok{};
  };
  for (const std::string& word : words) TRY(weigh(word, false));
  if (words.size() > 1) TRY(weigh(join(words, " AND "), true));
  std::vector<std::pair<double, std::int64_t>> order;
  for (const auto& [number, weight] : weights) order.emplace_back(weight, number);
  std::ranges::sort(order, std::greater<>());
  if (std::ssize(order) > at_most) order.resize(static_cast<std::size_t>(std::max(at_most, 0)));
  std::vector<HypothesisRow> found;
  for (const auto& [_, number] : order) {
    auto row = TRY(first<HypothesisRow>(kPurpose, hypothesis_of, kHypothesisAt, number));
    if (row) found.push_back(*std::move(row));
  }
  return found;
}

Result<std::vector<ExperimentRow>> Projections::live_experiments() {
  return all<ExperimentRow>("read experiments", experiment_of, kLiveExperiments);
}

Result<ExperimentRow> Projections::experiment(const std::string& id) {
  auto found = TRY(first<ExperimentRow>("read the experiment", experiment_of, kExperiment, id));
  if (!found) return not_there("experiment", id, "status");
  return *std::move(found);
}

// Every look at what is live reads the same runs again, and those that ended never change: they are
// decoded once. Valid until the next call.
Result<const Pair*> Projections::pair_in(const db::Statement& row) {
  constexpr std::size_t kMostKept = 4096;  // A few kilobytes each.
  const auto known = ended_.find(std::string(row.text(0)));
  if (known != ended_.end()) return &known->second;
  Pair pair = TRY(pair_of(row).in(kReadRuns));
  if (in_flight(pair)) {
    running_ = std::move(pair);
    return &running_;
  }
  if (ended_.size() >= kMostKept) ended_.clear();
  std::string reservation = pair.reservation;
  return &ended_.emplace(std::move(reservation), std::move(pair)).first->second;
}

Result<std::vector<Pair>> Projections::pairs(Result<db::Statement> rows) {
  db::Statement row = TRY(std::move(rows));
  std::vector<Pair> list;
  while (TRY(row.step())) list.push_back(*TRY(pair_in(row)));
  return list;
}

Result<std::vector<Pair>> Projections::runs_of(const std::string& experiment) {
  return pairs(query(kReadRuns, kRunsOfExperiment, experiment));
}

Result<std::vector<Pair>> Projections::runs_in_flight() {
  return pairs(query(kReadRuns, kRunsInFlight));
}

Result<std::vector<Pair>> Projections::family_runs(const std::string& family) {
  return pairs(query(kReadRuns, kRunsOfFamily, family));
}

Result<std::vector<Pair>> Projections::family_runs(const std::string& family,
                                                   const model::Aim& aim) {
  return pairs(query(kReadRuns, kRunsOfFamilyFor, family, text_of(aim)));
}

Result<> Projections::each_family_run(const std::string& family, const model::Aim& aim,
                                      const std::function<bool(const Pair&)>& take) {
  db::Statement row = TRY(query(kReadRuns, kLatestRunsOfFamilyFor, family, text_of(aim)));
  while (TRY(row.step())) {
    if (!take(*TRY(pair_in(row)))) break;
  }
  return Ok{};
}

Result<std::vector<model::Finding>> Projections::votes(const std::string& experiment) {
  return all<model::Finding>("read votes", vote_of, kVotes, experiment);
}

Result<std::vector<GateRow>> Projections::gate(const std::string& state) {
  if (state.empty()) return all<GateRow>("read the gate", gate_of, kAllGates);
  return all<GateRow>("read the gate", gate_of, kGatesInState, state);
}

Result<std::vector<GateRow>> Projections::newest_gates(int at_most) {
  std::vector<GateRow> rows =
      TRY(all<GateRow>("read the gate", gate_of, kNewestGates, std::max(at_most, 0)));
  std::ranges::reverse(rows);
  return rows;
}

Result<std::optional<GateRow>> Projections::gate_at(const std::string& experiment) {
  return first<GateRow>("read the gate", gate_of, kGateOf, experiment);
}

Result<std::optional<model::Verdict>> Projections::verdict(const std::string& hypothesis) {
  return first<model::Verdict>("read the verdict", verdict_of, kVerdict, hypothesis);
}

Result<std::vector<model::Verdict>> Projections::verdicts(const std::string& family, int at_most) {
  const int limit = std::max(at_most, 0);
  if (family.empty()) {
    return all<model::Verdict>("read verdicts", verdict_of, kVerdicts, limit);
  }
  return all<model::Verdict>("read verdicts", verdict_of, kVerdictsOfFamily, family, limit);
}

Result<std::vector<model::StackResult>> Projections::stacks(const std::string& family) {
  if (family.empty()) return all<model::StackResult>("read stacks", stack_of, kAllStacks);
  return all<model::StackResult>("read stacks", stack_of, kStacksOfFamily, family);
}

Result<std::vector<Saving>> Projections::savings() {
  return all<Saving>("read savings", saving_of, kSavings);
}

Result<std::vector<Earning>> Projections::earnings() {
  return all<Earning>("read earnings", earning_of, kEarnings);
}

Result<std::vector<Outlay>> Projections::outlays(const std::string& resource) {
  return all<Outlay>("read outlays", outlay_of, kOutlaysByMonth, resource);
}

Result<std::map<std::string, double>> Projections::spent_by_family(const std::string& resource) {
  db::Statement row = TRY(query("read outlays", kOutlays, resource));
  std::map<std::string, double> spent;
  while (TRY(row.step())) spent.emplace(row.text(0), from_millionths(row.integer(1)));
  return spent;
}

Result<std::map<std::string, TrackRecord>> Projections::track_records() {
  db::Statement row = TRY(query("read track records", kTrackRecords));
  std::map<std::string, TrackRecord> records;
  while (TRY(row.step())) {
    records.emplace(row.text(0), TrackRecord{row.integer(1), row.integer(2)});
  }
  return records;
}

Result<std::map<model::Bottleneck, TrackRecord>> Projections::lever_records() {
  db::Statement row = TRY(query("read lever records", kLeverRecords));
  std::map<model::Bottleneck, TrackRecord> records;
  while (TRY(row.step())) {
    TrackRecord& record = records[model::bottleneck_named(row.text(0))];
    record.tried += row.integer(1);
    record.won += row.integer(2);
  }
  return records;
}

Result<std::optional<Choice>> Projections::choice() {
  return first<Choice>("read the choice", choice_of, kChoice);
}

Result<std::vector<CanaryRow>> Projections::canaries(const std::string& family) {
  if (family.empty()) return all<CanaryRow>("read canaries", canary_of, kAllCanaries);
  return all<CanaryRow>("read canaries", canary_of, kCanariesOfFamily, family);
}

Result<std::vector<CanaryRow>> Projections::canaries_in(model::CanaryState state) {
  return all<CanaryRow>("read canaries", canary_of, kCanariesInState,
                        std::string(model::name(state)));
}

Result<std::optional<Campaign>> Projections::campaign() {
  return first<Campaign>("read the campaign", campaign_of, kOpenCampaign);
}

Result<std::vector<Ask>> Projections::asks(const std::string& family, const std::string& state) {
  return all<Ask>("read questions", ask_of, kAsks, family, state);
}

Result<std::vector<Budget>> Projections::budgets() {
  return all<Budget>("read budgets", budget_of, kBudgets);
}

Result<std::map<std::string, std::int64_t>> Projections::tallies() {
  db::Statement row = TRY(query("read tallies", kTallies));
  std::map<std::string, std::int64_t> tallies;
  while (TRY(row.step())) tallies.emplace(row.text(0), row.integer(1));
  return tallies;
}

Result<std::vector<Event>> Projections::events(const std::string& subject, std::int64_t before,
                                               int at_most) {
  if (before <= 0) before = std::numeric_limits<std::int64_t>::max();
  const int limit = std::max(at_most, 0);
  if (subject.empty()) {
    return all<Event>("read events", event_of, kEventsBefore, before, limit);
  }
  return all<Event>("read events", event_of, kEventsOfSubjectBefore, subject, before, limit);
}

Result<> Projections::each_event(std::int64_t after,
                                 const std::function<bool(const Event&)>& take) {
  db::Statement row = TRY(query("read events", kEventsAfter, after));
  while (TRY(row.step())) {
    const Event event = TRY(event_of(row));
    if (!take(event)) break;
  }
  return Ok{};
}

Result<std::string> Projections::id() {
  db::Statement row = TRY(query("read the first event", kFirst));
  return TRY(row.step()) ? std::string(row.text(0).substr(0, kIdDigits)) : std::string();
}

}  // namespace amdahl::ledger::sqlite
