#include "app/describe.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/amount.h"
#include "base/count.h"
#include "base/text.h"
#include "profile/ceiling.h"
#include "profile/course.h"
#include "refute/check.h"

namespace amdahl::app {
namespace {

constexpr double kTakenThatCounts = 0.02;
constexpr std::size_t kDetailWidth = 60;

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
  return fmt::format("cannot tell ({} give no bound)", pairs);
}

std::string what_settles(const Parked& p) {
  return fmt::format(
      "about {} would settle it: E is {} of {:.0f} for better and {} of {:.0f} for less "
      "than the smallest gain that matters; it goes on when slots are idle, when noise falls, when "
      "the baseline moves, or when it is proposed again",
      counted(p.pairs_to_settle, "more pair"), show_amount(p.e_better), p.e_asked,
      show_amount(p.e_no_effect), p.e_asked);
}

std::string describe(const ledger::Budget& b) {
  const bool time = b.resource == "accelerator_s";
  const bool money = b.resource == "usd";
  const auto amount = [&](double value) {
    if (money) return fmt::format("${:.2f}", value);
    return time ? show_hours(value / 3600) : show_amount(value);
  };
  std::string text = amount(b.spent + b.overrun);
  if (b.limit) text += fmt::format(" of {}", amount(*b.limit));
  if (!money) text += " " + (time ? std::string("of accelerator time") : b.resource);
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

// Details that tell events of the same kind apart.
std::string detail_of(const ledger::Event& event) {
  const auto text = [&](const char* name) {
    const auto found = event.payload.find(name);
    if (found == event.payload.end() || found->is_null()) return std::string();
    return found->is_string() ? found->get<std::string>() : dump_json(*found);
  };
  if (event.kind == "check.voted") return fmt::format("{}: {}", text("check"), text("vote"));
  if (event.kind == "experiment.staged") return text("stage");
  if (event.kind == "verdict.recorded") return text("kind");
  if (event.kind == "gate.decided") return text("approved") == "true" ? "approved" : "rejected";
  if (event.kind == "budget.set") return text("limit").empty() ? "no limit" : text("limit");
  if (event.kind == "run.reserved") return text("purpose");
  if (event.kind.starts_with("scan.")) return clip(text("why"), kDetailWidth);
  return clip(text("reason"), kDetailWidth);
}

NextWork next_work(const ledger::Choice& choice) {
  NextWork next{choice.family, choice.body.value("why", ""), {}};
  for (const Json& row : choice.body.value("next", Json::array())) {
    next.then.push_back(row.value("family", ""));
  }
  return next;
}

std::string load_of(const model::Profile& profile) {
  const double taken = profile::taken_by_others(profile.evidence);
  if (profile.causes.empty() || taken < kTakenThatCounts) return "";
  return fmt::format(
      "The ceilings are for a host without other work. Here other processes took up to {} of "
      "the run, so every cause is a larger share of what is left.",
      show_percent(taken));
}

std::vector<std::string> course_of(const model::Profile& profile) {
  return profile::course_of(profile);
}

}  // namespace amdahl::app
