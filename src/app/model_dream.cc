#include "app/model_dream.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/library.h"
#include "app/propose.h"
#include "base/redact.h"
#include "base/shown.h"
#include "base/text.h"
#include "dream/classes.h"
#include "dream/dream.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

constexpr double kFits = 0.05;  // Share of the cost that its class has.
constexpr std::size_t kMostTexts = 16;
constexpr std::size_t kShortestText = 20;
constexpr std::size_t kLongestText = 500;
constexpr std::size_t kShortestQuote = 12;
constexpr std::size_t kLongestQuote = 300;

// Words with one space between them.
std::string squeezed(std::string_view text) {
  const std::string line = on_one_line(text);
  std::string out;
  for (const std::string_view word : split(line, ' ')) {
    if (!word.empty()) out += (out.empty() ? "" : " ") + std::string(word);
  }
  return out;
}

class Texts {
 public:
  explicit Texts(std::string root) : root_{std::move(root) + "/"} {}

  void add(const std::string& origin, const std::string& text) {
    const std::string source =
        squeezed(origin.starts_with(root_) ? origin.substr(root_.size()) : origin);
    const std::string line = clip(squeezed(redact(text)), kLongestText);
    const bool is_heading = line.size() < kShortestText;
    if (!is_heading && lines_.size() < kMostTexts && seen_.insert(source).second) {
      lines_.push_back(fmt::format("{}: {}", source, line));
    }
  }
  std::vector<std::string> lines() && { return std::move(lines_); }

 private:
  std::string root_;
  std::vector<std::string> lines_;
  std::set<std::string> seen_;
};

// Why the quote is none; empty if it is one.
std::string wrong_quote(const Json& idea, const std::vector<std::string>& lines) {
  const std::string source = squeezed(idea.at("source").get<std::string>());
  const std::string quote = squeezed(idea.at("quote").get<std::string>());
  if (quote.size() < kShortestQuote) return "its quote is too short to be one";
  const bool stands = std::ranges::any_of(lines, [&](const std::string& line) {
    // Two short ones are on one line.
    const std::string head = source + ": ";
    const std::size_t at = line.starts_with(head) ? 0 : line.find("; " + head);
    return !source.empty() && at != line.npos && line.find(quote, at) != line.npos;
  });
  if (stands) return "";
  return fmt::format("'{}' does not say that: \"{}\"", clip(source, 80), clip(quote, 80));
}

Json proposal_of(const Json& idea) {
  Json change{{"env", Json::array()},    {"args", Json::array()},   {"config", Json::array()},
              {"inject", Json::array()}, {"accelerators", nullptr}, {"patch", ""},
              {"needs_build", false}};
  for (const Json& row : idea.at("settings")) {
    change.at(row.at("kind").get<std::string>())
        .push_back({{"name", row.at("name")}, {"value", row.at("value")}});
  }
  const std::string quote = clip(squeezed(idea.at("quote").get<std::string>()), kLongestQuote);
  return {{"title", idea.at("title")},
          {"cause", idea.at("cause")},
          {"mechanism", fmt::format("{}: \"{}\" {}", idea.at("source").get<std::string>(), quote,
                                    idea.at("mechanism").get<std::string>())},
          {"expected_saving", idea.at("expected_saving")},
          {"change", change}};
}

}  // namespace

Result<std::vector<std::string>> texts_for(Context& context, const ledger::Family& family) {
  if (context.config.docs_dir.empty() || !family.profile) return std::vector<std::string>{};
  TRY(make_state(context.path("dream")));
  Library library =
      TRY(Library::open(context.config.docs_dir, context.path("dream/index.db")).in("dream.docs"));
  Texts texts(os::absolute(context.config.docs_dir));
  // A cost that nothing explains may be of any class.
  const double unexplained = dream::share_of_class(*family.profile, model::Bottleneck::kUnknown);
  for (const FoundLead& found : TRY(library.leads())) {
    const double share = dream::share_of_class(*family.profile, found.lead.bottleneck);
    if (share + unexplained < kFits) continue;
    texts.add(found.origin, found.text);
  }
  const std::vector<hypothesize::Entry> playbook = TRY(usable_playbook());
  const auto passages = TRY(library.find(dream::query_for(*family.profile, family.spec, playbook)));
  for (const dream::Passage& passage : passages) {
    texts.add(fmt::format("{}:{}", passage.document, passage.line), passage.text);
  }
  return std::move(texts).lines();
}

ReadDream read_dream(const Json& answer, const std::string& brief) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(brief, '\n')) {
    if (!line.starts_with("|")) continue;
    std::string words = squeezed(line.substr(1));
    for (const std::string_view mark : {"documents: ", "- "}) {
      if (words.starts_with(mark)) words.erase(0, mark.size());
    }
    lines.push_back(std::move(words));
  }
  ReadDream read{{{"hypotheses", Json::array()}, {"nothing_because", ""}}, {}};
  for (const Json& idea : answer.at("ideas")) {
    std::string fault = wrong_quote(idea, lines);
    if (fault.empty()) {
      read.proposals["hypotheses"].push_back(proposal_of(idea));
    } else {
      read.refused.push_back({squeezed(idea.at("title").get<std::string>()), std::move(fault)});
    }
  }
  return read;
}

}  // namespace amdahl::app
