#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/machine.h"
#include "app/simulate.h"
#include "base/text.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace amdahl::cli {
namespace {

std::string text_of(const sim::Table& content) {
  std::vector<std::vector<std::string>> rows;
  for (const std::vector<sim::Cell>& cells : content.rows) {
    std::vector<std::string> row;
    for (const sim::Cell& cell : cells) row.push_back(cell.text);
    rows.push_back(std::move(row));
  }
  std::string text = content.title + "\n\n" + table(content.columns, rows);
  for (const std::string& note : content.notes) text += note + "\n";
  return text + "\n";
}

Result<app::SimulateQuestion> question_of(const SimFlags& flags) {
  app::SimulateQuestion question;
  question.tables = flags.words;
  question.size = flags.hypotheses;
  question.scenario = flags.scenario;
  question.only = flags.policy;
  question.threads = flags.threads;
  question.canary = flags.canary;
  if (flags.hypotheses < 0) return bad_input("--hypotheses must be 1 or more");
  if (flags.seed.empty()) return question;
  const auto seed = to_number<std::uint64_t>(flags.seed);
  if (!seed) return bad_input(fmt::format("--seed must be a whole number, not '{}'", flags.seed));
  question.seed = *seed;
  return question;
}

}  // namespace

Result<int> do_sim(const SimFlags& flags) {
  const app::SimulateQuestion question = TRY(question_of(flags));
  std::optional<app::Context> context;
  if (flags.from_ledger) context = TRY(context_for(flags, false));
  catch_interrupts();
  ProgressLine line(flags);
  const app::SimulateAnswer answer = TRY(app::simulate(
      context ? &*context : nullptr, question, [&](std::string_view table, double done) {
        line.show(fmt::format("{}: {:.0f} % of the campaigns", table, 100 * done));
        return !interrupted();
      }));
  line.clear();
  if (flags.json) {
    print_json(api::simulated(question, answer));
    return answer.interrupted ? 130 : 0;
  }
  if (flags.from_ledger) print("Fitted to the ledger\n");
  for (const std::string& fact : answer.fitted) print("  " + fact + "\n");
  if (flags.from_ledger) print("\n");
  for (const sim::Table& table : answer.tables) print(text_of(table));
  if (answer.interrupted) print("Interrupted: the figures are of what was done until then.\n");
  return answer.interrupted ? 130 : 0;
}

}  // namespace amdahl::cli
