#include "code/commit.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/text.h"
#include "code/looks.h"

namespace amdahl::code {
namespace {

using Edits = std::vector<Edit>;

// Sets a keyword; nothing to do if it has that value.
std::optional<Edits> with_keyword(const Subject& subject, std::string_view keyword,
                                  std::string_view value) {
  if (subject.site.has_splat) return std::nullopt;
  if (const Argument* given = argument(subject.site, keyword)) {
    return given->text == value ? Edits{} : replace(given->range, value);
  }
  Edits edits = add_keyword(subject, keyword, value);
  if (edits.empty()) return std::nullopt;
  return edits;
}

std::optional<Edits> workers(const Subject& subject, std::string_view value) {
  constexpr std::size_t kWorkersAt = 5;
  if (argument_at(subject.site, kWorkersAt) != nullptr) return std::nullopt;
  std::optional<Edits> edits = with_keyword(subject, "num_workers", value);
  if (!edits || value == "0") return edits;
  if (argument(subject.site, "persistent_workers") != nullptr) return edits;
  // Both go to one place, and then the order of the two is not given.
  const bool added = argument(subject.site, "num_workers") == nullptr;
  if (added) {
    edits->front().text += ", persistent_workers=True";
    return edits;
  }
  const std::optional<Edits> more = with_keyword(subject, "persistent_workers", "True");
  if (!more) return std::nullopt;
  edits->insert(edits->end(), more->begin(), more->end());
  return edits;
}

std::optional<Edits> persistent(const Subject& subject, std::string_view) {
  return with_keyword(subject, "persistent_workers", "True");
}

std::optional<Edits> set_to_none(const Subject& subject, std::string_view) {
  return with_keyword(subject, "set_to_none", "True");
}

std::optional<Edits> no_anomaly(const Subject& subject, std::string_view) {
  const Argument* mode = argument_at(subject.site, 0);
  if (mode == nullptr) mode = argument(subject.site, "mode");
  if (mode == nullptr || mode->text != "True") return std::nullopt;
  return replace(mode->range, "False");
}

std::optional<Edits> no_sync(const Subject& subject, std::string_view) {
  Edits edits = drop_statement(subject);
  if (edits.empty()) return std::nullopt;
  return edits;
}

// The same text, written later.
std::optional<Edits> no_flush(const Subject& subject, std::string_view) {
  const Site& site = subject.site;
  if (site.kind == SiteKind::kName && site.name == "endl") return replace(site.range, "'\\n'");
  if (site.kind == SiteKind::kName) return replace(site.range, "\"\"");
  const bool is_stdout = site.callee == "fflush" && site.arguments.size() == 1 &&
                         site.arguments.front().text == "stdout";
  if (is_stdout && site.is_statement) return replace(site.range, "(void)0");
  return Edits{};
}

struct Row {
  std::string_view fix;
  Language language;
  std::array<std::string_view, 3> names;  // Of what is called there.
  bool everywhere;                        // Not only where it acted: that is not known.
  std::optional<Edits> (*edit)(const Subject& subject, std::string_view value);
};

constexpr auto kRows = std::to_array<Row>({
    {"loader-workers", Language::kPython, {"DataLoader"}, false, workers},
    {"loader-persistent", Language::kPython, {"DataLoader"}, false, persistent},
    {"zero-grad-none", Language::kPython, {"zero_grad"}, false, set_to_none},
    {"anomaly-off", Language::kPython, {"set_detect_anomaly", "detect_anomaly"}, false, no_anomaly},
    {"fsync-late", Language::kPython, {"fsync"}, false, no_sync},
    {"native-stdout", Language::kCpp, {"endl", "flush", "fflush"}, true, no_flush},
});

// "train.py:41: 0 → 2 workers".
struct ActedAt {
  std::string_view file;
  int line = 0;
};

std::optional<ActedAt> acted_in(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return std::nullopt;
  const std::string_view rest = text.substr(colon + 1);
  const auto line = to_number<int>(rest.substr(0, rest.find(':')));
  if (!line) return std::nullopt;
  return ActedAt{text.substr(0, colon), *line};
}

bool is_file(std::string_view path, std::string_view file) {
  return path == file || (path.ends_with(file) && path[path.size() - file.size() - 1] == '/');
}

class Editor {
 public:
  Editor(const Row& row, const Acted& acted) : row_{row}, acted_{acted} {}

  // False if a place was not found, or cannot be edited.
  bool edit(const Source& source) {
    const auto facts = facts_of(row_.language, source.bytes);
    if (!facts) return false;
    Edits edits;
    for (const Site& site : facts->sites) {
      const bool is_named = std::ranges::find(row_.names, site.name) != row_.names.end();
      if (site.name.empty() || !is_named) continue;
      if (!row_.everywhere && !acted_at(source, site)) continue;
      const std::span<const Facts> all(&*facts, 1);
      const auto more = row_.edit({*facts, site, HowOften::kOnce, all}, acted_.value);
      if (!more) return false;
      edits.insert(edits.end(), more->begin(), more->end());
    }
    patch_ +=
        unified_diff(source.in_repo.empty() ? source.path : source.in_repo, source.bytes, edits);
    return true;
  }

  bool found_all() const {
    return row_.everywhere || std::ranges::all_of(acted_.where, [&](const std::string& where) {
             return found_.contains(where);
           });
  }
  std::string take() { return std::move(patch_); }

 private:
  bool acted_at(const Source& source, const Site& site) {
    bool is_there = false;
    for (const std::string& where : acted_.where) {
      const auto place = acted_in(where);
      if (!place || !is_file(source.path, place->file)) continue;
      if (place->line < site.range.line || place->line > site.range.end_line) continue;
      ++found_[where];
      is_there = true;
    }
    return is_there;
  }

  const Row& row_;
  const Acted& acted_;
  std::map<std::string, int> found_;
  std::string patch_;
};

}  // namespace

std::string commit_for(const Acted& acted, std::span<const Source> sources) {
  const auto row = std::ranges::find(kRows, acted.fix, &Row::fix);
  if (row == kRows.end()) return {};
  Editor editor(*row, acted);
  for (const Source& source : sources) {
    if (language_of(source.path) != row->language) continue;
    if (!editor.edit(source)) return {};
  }
  return editor.found_all() ? editor.take() : std::string();
}

}  // namespace amdahl::code
