// Builds ledgers of growing length and measures what status and an idle cycle read from them.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/text.h"
#include "ledger/ledger.h"
#include "ledger/sqlite/store.h"
#include "model/codec.h"
#include "os/clock.h"

namespace {

using namespace amdahl;
using ledger::Draft;
using ledger::Ledger;

constexpr int kFamilies = 50;
constexpr int kStillLive = 20;  // The same however long the ledger is.

Draft draft(std::string kind, std::string subject, Json payload) {
  return {std::move(kind), "cycle", std::move(subject), std::move(payload)};
}

void add_reservation(std::vector<Draft>& out, const std::string& run, const std::string& family,
                     const std::string& experiment, int index) {
  out.push_back(draft("run.reserved", run,
                      {{"family", family},
                       {"experiment", experiment},
                       {"purpose", "compare"},
                       {"index", index},
                       {"variant_second", false},
                       {"cpus", {0, 1}},
                       {"reserved_accelerator_s", 10},
                       {"request", {{"reservation", run}}}}));
}

// Ten events: proposed, registered, two runs, a comparison, a verdict.
void add_hypothesis(std::vector<Draft>& out, int number, bool ends) {
  const std::string digits = fmt::format("{:010x}", static_cast<unsigned>(number) * 2654435761u);
  const std::string family = fmt::format("family-{}", number % kFamilies);
  model::Hypothesis hypothesis;
  hypothesis.id = "h-" + digits;
  hypothesis.family = family;
  hypothesis.key = fmt::format("{:064x}", number);
  hypothesis.title = "larger batches";
  hypothesis.mechanism = "each launch costs the same however much it computes";
  hypothesis.change.args["--batch"] = std::to_string(number);
  out.push_back(draft("hypothesis.proposed", hypothesis.id, model::encode(hypothesis)));
  model::Experiment experiment;
  experiment.id = "x-" + digits;
  experiment.hypothesis = hypothesis.id;
  experiment.family = family;
  experiment.campaign = "c1";
  out.push_back(draft("experiment.registered", experiment.id, model::encode(experiment)));
  for (int index = 0; index < 2; ++index) {
    const std::string run = fmt::format("r-{}-{}", digits, index);
    add_reservation(out, run, family, experiment.id, index);
    if (!ends) continue;
    out.push_back(draft("run.submitted", run, {{"worker_run_id", "w-" + run}}));
    model::PairFact fact;
    fact.reservation = run;
    fact.index = index;
    out.push_back(
        draft("run.collected", run, {{"spent_accelerator_s", 9}, {"fact", model::encode(fact)}}));
  }
  if (!ends) return;
  out.push_back(draft("comparison.made", experiment.id, model::encode(model::Comparison{})));
  model::Verdict verdict;
  verdict.hypothesis = hypothesis.id;
  verdict.experiment = experiment.id;
  verdict.kind = number % 3 == 0 ? model::VerdictKind::kNoEffect : model::VerdictKind::kRefuted;
  verdict.reason = "the interval holds 0 after 40 pairs";
  out.push_back(draft("verdict.recorded", hypothesis.id, model::encode(verdict)));
}

Result<> build(const std::string& path, int hypotheses) {
  ledger::sqlite::StoreOptions options;
  options.durable = false;
  const auto opened = ledger::sqlite::open_store(path, options, os::real_clock());
  if (!opened) return opened.error();
  std::vector<Draft> drafts;
  drafts.push_back(draft("campaign.opened", "c1", {{"k", hypotheses}, {"alpha", 0.1}}));
  drafts.push_back(draft("budget.set", "accelerator_s", {{"limit", 1e9}}));
  for (int i = 0; i < kFamilies; ++i) {
    model::Spec spec;
    spec.family = fmt::format("family-{}", i);
    spec.command = {"train"};
    drafts.push_back(draft("family.adopted", spec.family, model::encode(spec)));
  }
  for (int i = 0; i < hypotheses; ++i) {
    add_hypothesis(drafts, i, i < hypotheses - kStillLive);
    if (drafts.size() < 10'000 && i + 1 < hypotheses) continue;
    TRY((*opened)->append(drafts));
    drafts.clear();
  }
  return Ok{};
}

// Median of many; stops the program if a read fails, because then its time means nothing.
double median_us(int times, const std::function<bool()>& work) {
  std::vector<double> took;
  for (int i = 0; i < times; ++i) {
    const Nanos start = os::real_clock().monotonic();
    CHECK(work());
    took.push_back(to_seconds(os::real_clock().monotonic() - start) * 1e6);
  }
  std::ranges::nth_element(took, took.begin() + times / 2);
  return took[static_cast<std::size_t>(times / 2)];
}

struct Column {
  const char* name;
  std::function<bool(Ledger&)> read;
};

const std::vector<Column>& columns() {
  static const std::vector<Column> kColumns = {
      {"tallies", [](Ledger& l) { return bool(l.tallies()); }},
      {"live x", [](Ledger& l) { return (*l.live_experiments()).size() == kStillLive; }},
      {"in flight", [](Ledger& l) { return (*l.runs_in_flight()).size() == 2 * kStillLive; }},
      {"live h", [](Ledger& l) { return (*l.hypotheses("", "live")).size() == kStillLive; }},
      {"families", [](Ledger& l) { return (*l.families()).size() == kFamilies; }},
      {"budgets", [](Ledger& l) { return bool(l.budgets()) && bool(l.campaign()); }},
      {"by key", [](Ledger& l) { return bool(*l.holder_of_key(fmt::format("{:064x}", 7))); }},
      {"50 events", [](Ledger& l) { return (*l.events("", 0, 50)).size() == 50; }},
  };
  return kColumns;
}

Result<> measure(const std::string& path, int hypotheses, bool verify) {
  const Nanos start = os::real_clock().monotonic();
  TRY(build(path, hypotheses));
  const double build_s = to_seconds(os::real_clock().monotonic() - start);
  auto ledger = TRY(ledger::open_sqlite(path));
  std::string row = fmt::format("{:>10} {:>9}", hypotheses, (*ledger->events("", 0, 1)).at(0).seq);
  // What `amdahl status` and an idle cycle cost, cold handle included.
  row += fmt::format(" {:>10.0f}", median_us(50, [&] {
                       auto fresh = ledger::open_sqlite(path);
                       if (!fresh) return false;
                       const auto opened = *std::move(fresh);
                       return std::ranges::all_of(columns(),
                                                  [&](const Column& c) { return c.read(*opened); });
                     }));
  row += fmt::format(" {:>8.0f}", median_us(50, [&] { return bool(ledger::open_sqlite(path)); }));
  for (const Column& column : columns()) {
    row += fmt::format(" {:>9.0f}", median_us(50, [&] { return column.read(*ledger); }));
  }
  row += fmt::format(" {:>9.0f}", median_us(50, [&] {
                       return bool(ledger->append(std::vector{draft("cycle.noted", "c", {})}));
                     }));
  row += fmt::format(" {:>8.1f}", build_s);
  if (verify) {
    const Nanos began = os::real_clock().monotonic();
    const auto report = TRY(ledger->verify());
    CHECK(report.ok());
    row += fmt::format(" {:>9.1f}", to_seconds(os::real_clock().monotonic() - began));
  }
  const double size = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  fmt::print("{} {:>7.0f}\n", row, size);
  std::fflush(stdout);
  return Ok{};
}

}  // namespace

int main(int argc, char** argv) {
  const int most = argc > 1 ? to_number<int>(argv[1]).value_or(100'000) : 100'000;
  const std::filesystem::path folder =
      argc > 2 ? std::filesystem::path(argv[2])
               : std::filesystem::temp_directory_path() / fmt::format("ledger_bench-{}", getpid());
  std::filesystem::create_directories(folder);
  fmt::print("median microseconds; build and verify in seconds; file in MB\n");
  fmt::print("{:>10} {:>9} {:>10} {:>8}", "hypotheses", "events", "all reads", "open");
  for (const Column& column : columns()) fmt::print(" {:>9}", column.name);
  fmt::print(" {:>9} {:>8} {:>9} {:>7}\n", "append 1", "build s", "verify s", "file");
  int failures = 0;
  for (int hypotheses = 1000; hypotheses <= most; hypotheses *= 10) {
    const std::string path = (folder / fmt::format("{}.db", hypotheses)).string();
    if (const auto done = measure(path, hypotheses, true); !done) {
      fmt::print(stderr, "{}: {}\n", path, done.error().text);
      ++failures;
    }
  }
  if (argc <= 2) std::filesystem::remove_all(folder);
  return failures == 0 ? 0 : 1;
}
