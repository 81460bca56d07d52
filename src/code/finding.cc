#include "code/finding.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "code/facts.h"
#include "code/patch.h"
#include "code/rule.h"

namespace amdahl::code {
namespace {

constexpr std::size_t kSnippetColumns = 120;
// More findings of one rule in one (generated) file add nothing.
constexpr std::size_t kMostOfARule = 100;
constexpr std::size_t kMostOfAFile = 5000;
constexpr std::size_t kMostBytesToPatch = std::size_t{512} << 10U;

// The line of a site, without indentation and invalid UTF-8.
std::string snippet_of(const Facts& facts, const Range& range) {
  // A file of one line must not be searched from its start each time.
  const std::size_t from = range.begin - std::min<std::size_t>(range.begin, 4 * kSnippetColumns);
  const auto before = facts.bytes.substr(from, range.begin - from).rfind('\n');
  const std::size_t begin = before == facts.bytes.npos ? from : from + before + 1;
  std::string_view line = facts.bytes.substr(begin);
  line =
      trim(line.substr(0, std::min(line.find('\n'), line.size())).substr(0, 4 * kSnippetColumns));
  std::string plain;
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    plain += byte >= ' ' && byte < 127 ? c : '?';
  }
  return clip(plain, kSnippetColumns);
}

struct Spot {
  const Source& source;
  const Facts& facts;
  const Site& site;
  HowOften how_often;
  bool is_step_loop = false;  // Of a loop itself.
};

Finding finding_of(const Spot& spot, const Rule& rule, const Match& match) {
  Finding finding;
  finding.file = spot.source.path;
  finding.line = spot.site.range.line;
  finding.column = spot.site.range.column;
  // For a loop, only its head is meant.
  finding.end_line =
      spot.site.kind == SiteKind::kWholeLoop ? finding.line : spot.site.range.end_line;
  finding.rule = rule.id;
  finding.snippet = snippet_of(spot.facts, spot.site.range);
  if (spot.site.function >= 0) {
    const Function& function = spot.facts.functions[static_cast<std::size_t>(spot.site.function)];
    finding.function = function.owner.empty() ? std::string(function.name)
                                              : fmt::format("{}.{}", function.owner, function.name);
    finding.function_line = function.range.line;
    finding.function_end_line = function.range.end_line;
  }
  finding.how_often = spot.how_often;
  finding.finds = rule.finds;
  if (!match.detail.empty()) finding.finds += fmt::format(" ({})", match.detail);
  finding.suggestion = rule.suggest;
  finding.playbook = rule.playbook;
  if (spot.source.bytes.size() <= kMostBytesToPatch) {
    const Source& source = spot.source;
    finding.patch = unified_diff(source.in_repo.empty() ? source.path : source.in_repo,
                                 source.bytes, match.edits);
  }
  finding.explains.assign(rule.explains.begin(), rule.explains.end());
  finding.touches.assign(rule.touches.begin(), rule.touches.end());
  finding.need = rule.need.evidence;
  finding.need_above = rule.need.above;
  finding.cost = rule.cost;
  return finding;
}

void look_at(const Spot& spot, std::span<const Facts> all, std::vector<Finding>& found) {
  const auto rules = spot.facts.language == Language::kPython ? python_rules() : cpp_rules();
  for (const Rule& rule : rules) {
    if (rule.kind != spot.site.kind || spot.how_often < rule.least || !is_named(rule, spot.site)) {
      continue;
    }
    if (rule.kind == SiteKind::kWholeLoop && !spot.is_step_loop) continue;
    std::optional<Match> match = Match{};
    if (rule.look != nullptr) match = rule.look({spot.facts, spot.site, spot.how_often, all});
    if (match) found.push_back(finding_of(spot, rule, *match));
  }
}

// At most one finding per rule and line, and a limit per file.
void thin_out(std::vector<Finding>& found) {
  std::ranges::stable_sort(found, {}, [](const Finding& f) { return std::tie(f.line, f.column); });
  std::set<std::pair<std::string, int>> seen;
  std::map<std::string, std::size_t> count;
  std::erase_if(found, [&](const Finding& f) {
    return !seen.emplace(f.rule, f.line).second || ++count[f.rule] > kMostOfARule;
  });
}

// If any loop may be the step loop, only measured line times can tell.
void ask_for_times(std::vector<Finding>& found) {
  for (Finding& finding : found) {
    const bool is_of_steps = rule_named(finding.rule)->least == HowOften::kStep;
    if (is_of_steps && finding.cost == Cost::kHere) finding.cost = Cost::kOnlyHere;
  }
}

// The modules that an import may bring in: each of its words can be a file.
std::set<std::string_view> imported_by(const Facts& facts) {
  std::set<std::string_view> found;
  for (const Site& site : facts.sites) {
    if (site.kind != SiteKind::kImport) continue;
    for (const std::string_view text : {site.receiver, site.callee}) {
      for (const std::string_view word : split(text, '.')) found.insert(word);
    }
  }
  return found;
}

// Leaves out Python files that the entry does not import, by whatever way.
void keep_imported(std::string_view entry, std::vector<Facts>& all,
                   std::vector<const Source*>& of) {
  std::vector<bool> keep(all.size(), false);
  std::vector<std::size_t> next;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (of[i]->path == entry && all[i].language == Language::kPython) next.push_back(i);
  }
  if (next.empty()) return;
  while (!next.empty()) {
    const std::size_t at = next.back();
    next.pop_back();
    if (keep[at]) continue;
    keep[at] = true;
    const auto imported = imported_by(all[at]);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!keep[i] && imported.contains(module_of(of[i]->path))) next.push_back(i);
    }
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!keep[i] && all[i].language == Language::kPython) continue;
    if (kept != i) {
      all[kept] = std::move(all[i]);
      of[kept] = of[i];
    }
    ++kept;
  }
  all.resize(kept);
  of.resize(kept);
}

// Calls that reach the model, by whatever way.
std::vector<LineRange> model_calls(const Source& source, const Facts& facts,
                                   const std::vector<bool>& launches) {
  std::vector<LineRange> found;
  for (std::size_t s = 0; s < facts.sites.size(); ++s) {
    const Range& range = facts.sites[s].range;
    if (launches[s]) found.push_back({source.path, range.line, range.end_line});
  }
  return found;
}

void mark_mixed(const std::vector<LineRange>& calls, std::vector<Finding>& found) {
  int last = 0;
  for (const LineRange& call : calls) last = std::max(last, call.end_line);
  std::vector<int> open(static_cast<std::size_t>(last) + 2, 0);  // By line, from 1.
  for (const LineRange& call : calls) {
    ++open[static_cast<std::size_t>(call.line)];
    --open[static_cast<std::size_t>(call.end_line) + 1];
  }
  std::partial_sum(open.begin(), open.end(), open.begin());
  for (Finding& finding : found) {
    for (int line = finding.line; line <= std::min(finding.end_line, last); ++line) {
      finding.runs_model = finding.runs_model || open[static_cast<std::size_t>(line)] > 0;
    }
  }
}

// What a job in Python runs as its model: those calls, and what modules do in theirs.
void add_models(const Source& source, const Facts& facts, const std::vector<bool>& launches,
                std::vector<Finding>& found, std::vector<LineRange>& models) {
  if (facts.language != Language::kPython) return;
  std::vector<LineRange> calls = model_calls(source, facts, launches);
  mark_mixed(calls, found);
  std::ranges::move(calls, std::back_inserter(models));
  for (const Function& function : facts.functions) {
    if (function.name != "forward" || function.owner.empty()) continue;
    models.push_back({source.path, function.range.line, function.range.end_line});
  }
}

}  // namespace

Analysis analyse(std::span<const Source> sources, std::string_view entry) {
  Analysis analysis;
  std::vector<Facts> all;
  std::vector<const Source*> of;
  for (const Source& source : sources) {
    const auto language = language_of(source.path);
    if (!language) continue;
    auto facts = facts_of(*language, source.bytes).in(source.path);
    if (!facts) {
      analysis.skipped.push_back(facts.error().text);
      continue;
    }
    all.push_back(*std::move(facts));
    all.back().path = source.path;
    of.push_back(&source);
  }
  keep_imported(entry, all, of);
  const StepMap step_map = step_map_of(all);
  analysis.has_step_loop = step_map.has_step_loop;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<Finding> found;
    for (std::size_t s = 0; s < all[i].sites.size() && found.size() < kMostOfAFile; ++s) {
      const Site& site = all[i].sites[s];
      const bool is_step_loop =
          site.whole_loop >= 0 && step_map.step_loops[i][static_cast<std::size_t>(site.whole_loop)];
      const HowOften how_often = is_step_loop ? HowOften::kStep : step_map.sites[i][s];
      look_at({*of[i], all[i], site, how_often, is_step_loop}, all, found);
    }
    thin_out(found);
    add_models(*of[i], all[i], step_map.launches[i], found, analysis.models);
    if (!analysis.has_step_loop && all[i].language == Language::kCpp) ask_for_times(found);
    std::ranges::move(found, std::back_inserter(analysis.findings));
  }
  return analysis;
}

}  // namespace amdahl::code
