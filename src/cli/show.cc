#include "cli/show.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/amount.h"
#include "base/shown.h"
#include "base/text.h"
#include "cli/terminal.h"

namespace amdahl::cli {
namespace {

int print_error = 0;  // The first that printing met; stdio only keeps that there was one.

void write_out(const std::string& text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() || print_error != 0) return;
  print_error = errno != 0 ? errno : EIO;
}

}  // namespace

Result<app::Config> config_for(const Flags& flags, app::Overrides overrides) {
  overrides.config_file = flags.config;
  overrides.state_dir = flags.state;
  return app::load_config(overrides);
}

Result<app::Context> context_for(const Flags& flags, bool create, app::Overrides overrides) {
  const app::Config config = TRY(config_for(flags, std::move(overrides)));
  auto context = app::open_context(config, create);
  if (!context) return context.error();
  if (const std::string why = context->ledger->stale_because(); !why.empty()) {
    fmt::print(stderr,
               "warning: the ledger's server is away, so that the newest events may be "
               "missing: {}\n",
               why);
  }
  return context;
}

void print(const std::string& text) { write_out(harmless(text)); }

void tell(const std::string& line) { fmt::print(stderr, "{}\n", harmless(line)); }

Result<> check_printed() {
  errno = 0;
  if (std::fflush(stdout) != 0 && print_error == 0) print_error = errno;
  if (print_error == 0) return Ok{};
  std::clearerr(stdout);
  return external(fmt::format("standard output: {}; the output is incomplete",
                              std::system_category().message(std::exchange(print_error, 0))));
}

void print_json(const Json& document) { write_out(pretty_json(document) + "\n"); }

void print_outcome(const Flags& flags, const Json& outcome) {
  if (flags.json) return print_json(outcome);
  print(outcome.at("outcome").get<std::string>() + "\n");
}

int exit_status(const model::Receipt& receipt) {
  switch (receipt.ending) {
    case model::Ending::kExited:
      return receipt.code;
    case model::Ending::kSignalled:
      return 128 + receipt.code;
    case model::Ending::kCancelled:
      // The receipt keeps the signal in words.
      return 128 + (receipt.reason.starts_with("cancelled by SIGTERM") ? SIGTERM : SIGINT);
    case model::Ending::kNotStarted:
      return 127;
    case model::Ending::kTimeLimit:
    case model::Ending::kMemoryLimit:
      break;
  }
  return 124;
}

std::string show_packet(const Flags& flags, const ledger::GateRow& row,
                        const std::vector<app::Attack>& attacks) {
  const model::GatePacket& p = row.packet;
  std::string text = fmt::format("{}  {}  {}\n\n", bold(flags, p.hypothesis), p.family, row.state);
  text += fmt::format("Claim     {}\n", p.claim);
  text += fmt::format("Measured  {}\n", describe(p.comparison));
  text += fmt::format("Evidence  E = {:.0f}, noise of one pair {}\n",
                      std::exp(std::min(p.comparison.log_e_win, 50.0)),
                      show_percent(p.comparison.sigma));
  text += fmt::format("Cost      {} of accelerator time so far\n",
                      show_hours(p.spent_accelerator_s / 3600));
  text += fmt::format("Saves     {} of accelerator time a day at the observed rate\n",
                      show_hours(p.saves_accelerator_h_per_day));
  text += fmt::format("Rollback  {}\n", p.rollback);
  if (row.state != "pending") {
    text +=
        fmt::format("Decision  {} by {}: {}\n", row.state, row.decision.actor, row.decision.reason);
  }
  text += fmt::format("\nChange\n{}\nVotes\n{}", p.diff, show_votes(p.votes));
  if (!attacks.empty()) text += "\nAttacks by models\n" + app::show_attacks(attacks);
  if (row.state == "pending") {
    text += fmt::format(
        "\nDecide: amdahl gate approve {0} --reason TEXT\n"
        "        amdahl gate reject {0} --reason TEXT\n",
        p.hypothesis);
  }
  return text;
}

}  // namespace amdahl::cli
