#include "app/dreaming.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/propose.h"
#include "base/text.h"
#include "db/sqlite.h"
#include "dream/dream.h"
#include "hypothesize/playbook.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

constexpr int kPassagesPerFamily = 40;
constexpr std::uintmax_t kLargestDocument = 4 << 20;

// Documents cut into passages, in a full-text index that lives as long as the dream.
class Library {
 public:
  static Result<Library> open(const std::string& folder) {
    Library library(TRY(db::Connection::open(":memory:", db::Mode::kCreate, 1000)));
    TRY(library.index_.exec("make the index of documents",
                            "CREATE VIRTUAL TABLE passage USING fts5(document UNINDEXED, body, "
                            "tokenize = \"unicode61 tokenchars '_='\")"));
    if (!folder.empty()) TRY(library.read(folder));
    return library;
  }

  Result<std::vector<dream::Passage>> find(const std::string& words) {
    std::vector<dream::Passage> found;
    std::string query;
    for (const std::string_view word : split(words, ' ')) {
      if (word.empty()) continue;
      query += fmt::format("{}\"{}\"", query.empty() ? "" : " OR ", word);
    }
    if (query.empty()) return found;
    auto rows = TRY(index_.query(
        "search the documents",
        "SELECT document, body FROM passage WHERE passage MATCH ? ORDER BY rank LIMIT ?", query,
        kPassagesPerFamily));
    while (TRY(rows.step())) {
      found.push_back({std::string(rows.text(0)), std::string(rows.text(1))});
    }
    return found;
  }

  int documents() const { return documents_; }

 private:
  explicit Library(db::Connection index) : index_{std::move(index)} {}

  Result<> read(const std::string& folder) {
    if (!std::filesystem::is_directory(folder)) {
      return Error{Error::Kind::kNotFound, fmt::format("there is no folder {}", folder)};
    }
    TRY(index_.exec("fill the index", "BEGIN"));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             folder, std::filesystem::directory_options::skip_permission_denied)) {
      const std::string ending = entry.path().extension().string();
      const bool is_text = ending == ".md" || ending == ".txt" || ending == ".rst";
      if (!entry.is_regular_file() || !is_text || entry.file_size() > kLargestDocument) continue;
      TRY(add(entry.path().string()));
    }
    TRY(index_.exec("fill the index", "COMMIT"));
    return Ok{};
  }

  // A paragraph is a passage: what it names belongs together.
  Result<> add(const std::string& path) {
    const std::string text = TRY(os::read_file(path));
    ++documents_;
    std::string paragraph;
    for (const std::string_view line : split(text + "\n\n", '\n')) {
      if (!trim(line).empty()) {
        paragraph += std::string(line) + "\n";
        continue;
      }
      if (paragraph.empty()) continue;
      TRY(index_.run("index a passage", "INSERT INTO passage VALUES (?, ?)", path, paragraph));
      paragraph.clear();
    }
    return Ok{};
  }

  db::Connection index_;
  int documents_ = 0;
};

Result<std::vector<dream::Win>> all_wins(Context& context) {
  std::vector<dream::Win> wins;
  for (const ledger::HypothesisRow& row : TRY(context.ledger->hypotheses("", "promoted"))) {
    const auto verdict = TRY(context.ledger->verdict(row.hypothesis.id));
    wins.push_back(
        {row.hypothesis, verdict && verdict->comparison ? verdict->comparison->shrunk : 0.0});
  }
  return wins;
}

}  // namespace

Result<DreamOutcome> dream_up(Context& context, const DreamOptions& options) {
  DreamOutcome outcome;
  const std::vector<dream::Win> wins = TRY(all_wins(context));
  const std::vector<hypothesize::Entry> playbook = TRY(usable_playbook());
  Library library =
      TRY(Library::open(options.docs.empty() ? context.config.docs_dir : options.docs));
  outcome.wins_searched = static_cast<int>(wins.size());
  outcome.documents = library.documents();
  if (!options.family.empty()) TRY(need_family(context, options.family));

  const std::vector<ledger::Family> families = TRY(context.ledger->families());
  std::map<std::string, model::Spec> specs;
  for (const ledger::Family& family : families) specs.emplace(family.name, family.spec);
  for (const ledger::Family& family : families) {
    if (!options.family.empty() && family.name != options.family) continue;
    if (!family.profile) {
      outcome.unprofiled.push_back(family.name);
      continue;
    }
    std::vector<model::Hypothesis> ideas = dream::from_wins(
        wins, specs, family.spec, family.baseline, *family.profile, context.hardware);
    const std::vector<dream::Passage> passages =
        TRY(library.find(dream::query_for(*family.profile)));
    outcome.passages += static_cast<int>(passages.size());
    const std::vector<model::Hypothesis> read = dream::from_passages(
        passages, playbook, family.spec, family.baseline, *family.profile, context.hardware);
    ideas.insert(ideas.end(), read.begin(), read.end());
    ProposeOutcome admitted = TRY(admit(context, std::move(ideas), "dream"));
    if (!admitted.drafts.empty()) TRY(context.ledger->append(admitted.drafts));
    for (const auto& [state, count] : admitted.known) outcome.known[state] += count;
    for (model::Hypothesis& h : admitted.fresh) outcome.injected.push_back(std::move(h));
  }
  return outcome;
}

}  // namespace amdahl::app
