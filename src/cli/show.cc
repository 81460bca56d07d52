#include "cli/show.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <system_error>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/status.h"
#include "base/count.h"
#include "base/text.h"
#include "cli/terminal.h"
#include "refute/check.h"

namespace amdahl::cli {
namespace {

int print_error = 0;  // The first that printing met; stdio only keeps that there was one.

std::string vote_word(const model::Finding& finding) {
  if (finding.vote == model::Vote::kAgree) return "agree";
  if (finding.vote == model::Vote::kAbstain) return "abstain";
  return finding.decisive ? "REFUTE" : "refute";
}

std::string question(const std::string& check) {
  const auto rows = refute::checks();
  const auto row = std::ranges::find(rows, check, &refute::Check::id);
  return row == rows.end() ? "" : std::string(row->asks);
}

}  // namespace

Result<app::Config> config_for(const Flags& flags, app::Overrides overrides) {
  overrides.config_file = flags.config;
  overrides.state_dir = flags.state;
  return app::load_config(overrides);
}

Result<app::Context> context_for(const Flags& flags, bool create, app::Overrides overrides) {
  const app::Config config = TRY(config_for(flags, std::move(overrides)));
  return app::open_context(config, create);
}

void print(const std::string& text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() || print_error != 0) return;
  print_error = errno != 0 ? errno : EIO;
}

Result<> check_printed() {
  errno = 0;
  if (std::fflush(stdout) != 0 && print_error == 0) print_error = errno;
  if (print_error == 0) return Ok{};
  std::clearerr(stdout);
  return external(fmt::format("standard output: {}; the output is incomplete",
                              std::system_category().message(std::exchange(print_error, 0))));
}

void print_json(const Json& document) { print(pretty_json(document) + "\n"); }

std::string saving(double log_effect) {
  if (std::isinf(log_effect)) return log_effect > 0 ? "all of it" : "unbounded";
  return show_percent(1 - std::exp(-log_effect));
}

std::string describe(const model::Comparison& c) {
  if (c.pairs == 0) return "no pairs yet";
  const std::string pairs = fmt::format("{} pair{}", c.pairs, c.pairs == 1 ? "" : "s");
  const bool below = std::isfinite(c.lower);
  const bool above = std::isfinite(c.upper);
  if (below && above) {
    return fmt::format("{} ({} to {}, 95 %, {})", saving(c.effect), saving(c.lower),
                       saving(c.upper), pairs);
  }
  // A number without an interval is one that nobody should believe.
  if (below) return fmt::format("at least {} (95 %, {})", saving(c.lower), pairs);
  if (above) return fmt::format("at most {} (95 %, {})", saving(c.upper), pairs);
  return fmt::format("cannot tell ({} bound nothing)", pairs);
}

std::string what_settles(const app::Parked& p) {
  return fmt::format(
      "about {} would settle it: E is {} of {:.0f} for better and {} of {:.0f} for less "
      "than the smallest gain that matters; it goes on when slots are idle, when noise falls, when "
      "the baseline moves, or when it is proposed again",
      counted(p.pairs_to_settle, "more pair"), show_number(p.e_better), p.e_asked,
      show_number(p.e_no_effect), p.e_asked);
}

std::string describe(const ledger::Budget& b) {
  const bool time = b.resource == "accelerator_s";
  const bool money = b.resource == "usd";
  const auto amount = [&](double value) {
    return money ? fmt::format("${:.2f}", value) : show_number(time ? value / 3600 : value);
  };
  std::string text = amount(b.spent + b.overrun);
  if (b.limit) text += fmt::format(" of {}", amount(*b.limit));
  if (!money) text += fmt::format(" {}", time ? "accelerator-hours" : b.resource);
  text += fmt::format(" spent, {} committed", amount(b.committed));
  if (!b.limit) text += ", no limit";
  if (b.overrun > 0) {
    text += fmt::format("; {} of it beyond what runs had reserved", amount(b.overrun));
  }
  return text;
}

std::string describe_time(Nanos unix_time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(unix_time).count();
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string show_votes(const std::vector<model::Finding>& votes) {
  std::string text;
  for (const model::Finding& vote : votes) {
    text += fmt::format("  {:<8} {:<10} {}\n", vote_word(vote), vote.check, question(vote.check));
    text += fmt::format("  {:<8} {:<10} {}\n", "", "", vote.because);
  }
  return text;
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

std::string show_packet(const Flags& flags, const ledger::GateRow& row) {
  const model::GatePacket& p = row.packet;
  std::string text = fmt::format("{}  {}  {}\n\n", bold(flags, p.hypothesis), p.family, row.state);
  text += fmt::format("Claim     {}\n", p.claim);
  text += fmt::format("Measured  {}\n", describe(p.comparison));
  text += fmt::format("Evidence  E = {:.0f}, noise of one pair {}\n",
                      std::exp(std::min(p.comparison.log_e_win, 50.0)),
                      show_percent(p.comparison.sigma));
  text +=
      fmt::format("Cost      {} accelerator-seconds so far\n", show_number(p.spent_accelerator_s));
  text += fmt::format("Saves     {} accelerator-hours a day at the observed rate\n",
                      show_number(p.saves_accelerator_h_per_day));
  text += fmt::format("Rollback  {}\n", p.rollback);
  if (row.state != "pending") {
    text +=
        fmt::format("Decision  {} by {}: {}\n", row.state, row.decision.actor, row.decision.reason);
  }
  text += fmt::format("\nChange\n{}\nVotes\n{}", p.diff, show_votes(p.votes));
  if (row.state == "pending") {
    text += fmt::format(
        "\nDecide: amdahl gate approve {0} --reason TEXT\n"
        "        amdahl gate reject {0} --reason TEXT\n",
        p.hypothesis);
  }
  return text;
}

}  // namespace amdahl::cli
