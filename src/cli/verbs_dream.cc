#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "api/loop.h"
#include "app/dreaming.h"
#include "app/propose.h"
#include "base/count.h"
#include "base/text.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace amdahl::cli {
namespace {

constexpr std::size_t kReasonsShown = 10;

std::string show_search(const app::DreamOutcome& outcome) {
  std::string text = fmt::format("Searched {}", counted(outcome.wins_searched, "win"));
  if (outcome.docs.empty()) {
    return text +
           ". No documents: name a folder with --docs DIR, or as docs under [dream] in the "
           "configuration.\n";
  }
  text += fmt::format(" and {} in {} ({} could fit{}).\n", counted(outcome.documents, "document"),
                      outcome.docs, counted(outcome.passages, "passage"),
                      outcome.more_passages ? "; only the best of them were read" : "");
  if (outcome.unchanged > 0) {
    text += fmt::format("{} in the index already; read now: {}.\n",
                        counted(outcome.unchanged, "document was", "documents were"),
                        outcome.documents - outcome.unchanged);
  }
  if (outcome.repositories > 0) {
    text += fmt::format("{} with {}, {} new.\n",
                        counted(outcome.repositories, "repository", "repositories"),
                        counted(outcome.commits, "commit"), outcome.new_commits);
  }
  if (outcome.passed_over > 0) {
    text += fmt::format("{} passed over: only text is read (.md .txt .rst .adoc .org .html).\n",
                        counted(outcome.passed_over, "file"));
  }
  for (const std::string& file : outcome.unread) text += fmt::format("not read: {}\n", file);
  return text;
}

// Documents by their place in the folder that was named; the ledger has the whole path.
std::string show_origin(const std::string& origin, const std::string& docs) {
  const bool inside = !docs.empty() && origin.starts_with(docs + "/");
  return inside ? origin.substr(docs.size() + 1) : origin;
}

std::string show_injected(const app::DreamOutcome& outcome) {
  if (outcome.injected.empty()) return "No new hypotheses.\n";
  std::vector<std::vector<std::string>> rows;
  for (const model::Hypothesis& h : outcome.injected) {
    rows.push_back({h.id, h.family, h.title, model::describe(h.change),
                    show_percent(h.predicted_gain), show_origin(h.origin.ref, outcome.docs)});
  }
  return table({"hypothesis", "family", "title", "change", "may save", "from"}, rows) +
         "They wait like any other hypothesis: amdahl cycle tests them.\n";
}

std::string show_left_out(const app::DreamOutcome& outcome) {
  std::string text;
  const std::size_t shown = std::min(outcome.left_out.size(), kReasonsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const app::NotTaken& idea = outcome.left_out[i];
    text += fmt::format("not for {}: {} ({}): {}\n", idea.family, clip(idea.what, 60),
                        show_origin(idea.origin, outcome.docs), idea.because);
  }
  if (shown < outcome.left_out.size()) {
    text += fmt::format("and {} more not taken: --json has all\n", outcome.left_out.size() - shown);
  }
  return text;
}

// What texts speak of and no machine can apply: for people and agents.
std::string show_leads(const app::DreamOutcome& outcome) {
  if (outcome.leads.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const app::DreamLead& lead : outcome.leads) {
    if (rows.size() >= kReasonsShown) break;
    rows.push_back({std::string(model::name(lead.found.lead.bottleneck)), lead.found.lead.technique,
                    lead.families.empty() ? "-" : join(lead.families, ", "),
                    show_origin(lead.found.origin, outcome.docs), clip(lead.found.lead.quote, 60)});
  }
  std::string text = fmt::format(
      "{}{}:\n", counted(static_cast<std::int64_t>(outcome.leads.size()), "optimisation"),
      " in these texts");
  text += table({"against", "technique", "fits", "from", "says"}, rows);
  if (rows.size() < outcome.leads.size()) text += "--json has all\n";
  if (outcome.duplicates > 0) {
    text += fmt::format("{} more left out: nearly the same text\n", outcome.duplicates);
  }
  return text;
}

std::string show_known(const app::DreamOutcome& outcome) {
  std::string text;
  const auto live = outcome.known.find("live");
  if (live != outcome.known.end()) {
    text +=
        fmt::format("{} in the queue already\n",
                    live->second == 1 ? "1 idea is" : fmt::format("{} ideas are", live->second));
  }
  if (const std::string known = app::describe_known(outcome.known); !known.empty()) {
    text += known + "\n";
  }
  if (outcome.queue_is_full > 0) {
    text += fmt::format("{} postponed: enough ideas of dream wait already ([loop] queue)\n",
                        counted(outcome.queue_is_full, "idea"));
  }
  return text;
}

}  // namespace

Result<int> do_dream(const DreamFlags& flags) {
  app::Context context = TRY(context_for(flags, false));
  const app::DreamOutcome outcome =
      TRY(app::dream_up(context, {.docs = flags.docs, .family = flags.family, .fence = 0}));
  if (flags.json) {
    print_json(api::dream(outcome));
    return 0;
  }
  print(show_search(outcome));
  for (const std::string& family : outcome.unprofiled) {
    print(fmt::format("{0} has no profile yet: amdahl profile {0}\n", family));
  }
  for (const std::string& family : outcome.unclassified) {
    print(
        fmt::format("{0} has a profile that names no cause of 5 % or more, so there was nothing "
                    "to search documents for: let the job report its phases, then amdahl "
                    "profile {0}\n",
                    family));
  }
  print(show_leads(outcome));
  print(show_injected(outcome));
  print(show_known(outcome));
  print(show_left_out(outcome));
  return 0;
}

}  // namespace amdahl::cli
