#include "app/change_key.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/core.h>

#include "app/git.h"
#include "app/pairs.h"
#include "base/hash.h"
#include "base/text.h"
#include "code/canonical.h"
#include "hypothesize/propose.h"
#include "model/effect.h"
#include "model/patch_edits.h"
#include "model/plan.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

namespace fs = std::filesystem;

// A folder that is gone with its owner.
class Scratch {
 public:
  Scratch() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "amdahl-XXXXXX").string();
    if (!error && ::mkdtemp(name.data())) path_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Whether '#' begins a comment in such files.
bool has_comments(std::string_view path) {
  constexpr auto kEndings = std::to_array<std::string_view>(
      {".sh", ".bash", ".yaml", ".yml", ".toml", ".cmake", "CMakeLists.txt", ".cfg", ".ini"});
  return std::ranges::any_of(kEndings, [&](auto ending) { return path.ends_with(ending); });
}

// The repo's HEAD in an index and an object folder of our own.
class Trees {
 public:
  static Result<Trees> of(const std::string& repo, const std::string& scratch) {
    Trees trees;
    trees.top_ = repo;
    const std::string said = TRY(trees.git(
        {"rev-parse", "--show-toplevel", "--git-path", "objects", "--verify", "HEAD^{tree}"}));
    const std::vector<std::string_view> lines = split(trim(said), '\n');
    if (lines.size() != 3) return external(repo + ": git rev-parse printed something unexpected");
    trees.top_ = lines[0];
    trees.head_ = lines[2];
    // The second is relative to the folder that was asked in.
    const std::string objects = fs::absolute(fs::path(repo) / lines[1]).lexically_normal().string();
    trees.env_ = {{"GIT_INDEX_FILE", scratch + "/index"},
                  {"GIT_OBJECT_DIRECTORY", scratch + "/objects"},
                  {"GIT_ALTERNATE_OBJECT_DIRECTORIES", objects}};
    TRY(os::make_dirs(scratch + "/objects"));
    TRY(trees.git({"read-tree", trees.head_}));
    return trees;
  }

  // The tree before any patch.
  const std::string& head() const { return head_; }

  // The tree after the patch.
  Result<std::string> apply(const std::string& patch) {
    TRY(git({"apply", "--cached", "--whitespace=nowarn", "-"},
            patch.ends_with('\n') ? patch : patch + "\n"));
    return id_said({"write-tree"});
  }

  Result<std::string> plain_difference(const std::string& before, const std::string& after) const {
    return diff({"diff-tree", "-r", "--no-renames"}, before, after);
  }

  Result<std::string> described(const std::string& difference) {
    std::vector<model::FileEdit> files = model::read_patch(difference);
    TRY(spell_once(files));
    return model::describe_edits(files);
  }

 private:
  Result<std::string> diff(std::vector<std::string> words, const std::string& before,
                           const std::string& after) const {
    words.insert(words.begin(),
                 {"-c", "core.quotePath=true", "-c", "diff.suppressBlankEmpty=false"});
    words.insert(words.end(), {"-p", "-U0", "--full-index", "--no-color", "--no-ext-diff",
                               "--no-textconv", "--diff-algorithm=myers", "--indent-heuristic",
                               "--src-prefix=a/", "--dst-prefix=b/", before, after});
    return git(std::move(words));
  }

  // In the order of their ids.
  Result<std::vector<std::string>> blobs(const std::vector<std::string>& ids) const {
    std::vector<std::string> blobs;
    if (ids.empty()) return blobs;
    const std::string said = TRY(git({"cat-file", "--batch"}, join(ids, "\n") + "\n"));
    std::string_view rest = said;
    while (blobs.size() < ids.size()) {
      // "ID blob SIZE", the bytes and a line end.
      const std::string_view head = rest.substr(0, rest.find('\n'));
      const auto size = to_number<std::size_t>(head.substr(head.rfind(' ') + 1));
      if (!size || rest.size() < head.size() + *size + 2) {
        return external("git cat-file does not print " + ids[blobs.size()]);
      }
      blobs.emplace_back(rest.substr(head.size() + 1, *size));
      rest.remove_prefix(head.size() + *size + 2);
    }
    return blobs;
  }

  // Edits of code as edits of its canonical spelling; those that change nothing but the spelling
  // are dropped. Each is told apart from equal lines elsewhere in its file.
  Result<> spell_once(std::vector<model::FileEdit>& files) {
    std::vector<model::FileEdit*> edited;
    std::vector<std::string> ids;
    for (model::FileEdit& file : files) {
      if (file.deleted || file.edits.empty()) continue;
      edited.push_back(&file);
      ids.push_back(file.created ? file.new_blob : file.old_blob);
      ids.push_back(file.new_blob);
    }
    std::vector<std::string> texts = TRY(blobs(ids));
    std::vector<code::Versions> sources;
    std::vector<model::FileEdit*> of_sources;
    for (std::size_t i = 0; i < edited.size(); ++i) {
      model::FileEdit& file = *edited[i];
      const std::string before = file.created ? "" : std::move(texts[2 * i]);
      const std::string after = std::move(texts[2 * i + 1]);
      if (const auto language = code::language_of(file.path)) {
        sources.push_back({*language, before, after});
        of_sources.push_back(&file);
      } else if (has_comments(file.path)) {
        TRY(edit_again(file, code::without_comments(before), code::without_comments(after)));
      } else if (!file.created) {
        model::tell_apart(file, before);
      }
    }
    code::make_canonical(sources);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      TRY(edit_again(*of_sources[i], sources[i].before, sources[i].after));
    }
    std::erase_if(files, [](const model::FileEdit& file) {
      return file.edits.empty() && file.binary.empty() && file.new_mode.empty() && !file.created &&
             !file.deleted;
    });
    return Ok{};
  }

  Result<> edit_again(model::FileEdit& file, const std::string& before, const std::string& after) {
    file.edits.clear();
    if (before == after) return Ok{};
    const std::vector<std::string> store{"hash-object", "-w", "--no-filters", "--stdin"};
    const std::string old_id = TRY(id_said(store, before));
    const std::string new_id = TRY(id_said(store, after));
    const std::string said = TRY(diff({"diff"}, old_id, new_id));
    std::vector<model::FileEdit> again = model::read_patch(said);
    if (!again.empty()) file.edits = std::move(again.front().edits);
    if (!file.created) model::tell_apart(file, before);
    return Ok{};
  }

  Result<std::string> id_said(std::vector<std::string> words, const std::string& input = "") const {
    return std::string(trim(TRY(git(std::move(words), input))));
  }

  Result<std::string> git(const std::vector<std::string>& words,
                          const std::string& input = "") const {
    os::Program program = git_in(top_, words);
    program.env.insert(env_.begin(), env_.end());
    program.input_text = input;
    program.limit = std::chrono::minutes(1);
    return said_by(program);
  }

  std::string top_;
  std::string head_;
  std::map<std::string, std::string> env_;
};

Result<PatchEffect> effect_on(const std::string& repo, const std::string& before,
                              const std::string& patch) {
  const Scratch scratch;
  if (scratch.path().empty()) return external("cannot create a temporary folder");
  Trees trees = TRY(Trees::of(repo, scratch.path()));
  const std::string old_tree = before.empty() ? trees.head() : TRY(trees.apply(before));
  PatchEffect effect;
  const std::string new_tree = TRY(trees.apply(patch));
  effect.diff = TRY(trees.plain_difference(old_tree, new_tree));
  effect.edits = TRY(trees.described(effect.diff));
  return effect;
}

// One spelling for a path that is there: relative to the workdir, or absolute outside of it. What
// is not there may be a name of something else and stays as it is.
std::string one_path(const std::string& workdir, const std::string& text) {
  constexpr std::size_t kLongest = 4096;
  const bool plain = !text.empty() && text.size() < kLongest && text.find('\0') == text.npos;
  if (!plain || workdir.empty() || text.front() == '-') return text;
  const fs::path base = fs::path(workdir).lexically_normal();
  const fs::path whole = (base / text).lexically_normal();
  if (!os::exists(whole.string())) return text;
  std::string path = whole.lexically_relative(base).string();
  if (path.empty() || path.starts_with("..")) path = whole.string();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

model::Change with_one_path(const std::string& workdir, model::Change change) {
  for (auto* values : {&change.env, &change.args}) {
    for (auto& [name, value] : *values) {
      if (value) value = one_path(workdir, *value);
    }
  }
  return change;
}

model::Spec with_one_path(model::Spec spec) {
  for (std::string& word : spec.command) {
    const std::size_t equals = word.starts_with('-') ? word.find('=') : word.npos;
    const std::size_t from = equals == word.npos ? 0 : equals + 1;
    word.replace(from, word.npos, one_path(spec.workdir, word.substr(from)));
  }
  for (auto& [name, value] : spec.env) value = one_path(spec.workdir, value);
  for (auto& [name, knob] : spec.knobs) knob.value = one_path(spec.workdir, knob.value);
  return spec;
}

// The change's effect in full: `folded` is without what the tree says; `effect`, if git can tell.
std::string key_of(const model::Spec& spec, model::Change folded,
                   const std::optional<PatchEffect>& effect, std::string_view hardware) {
  if (!folded.patch.empty() && effect) folded.patch = effect->edits;
  return model::is_empty(folded) ? "" : model::effect_key(spec.family, folded, hardware);
}

// What patches do to the family's code; git is asked once for each commit.
class KnownEffects {
 public:
  KnownEffects(Context& context, const ledger::Family& family)
      : context_{context}, family_{family} {}

  std::optional<PatchEffect> of(const std::string& patch) {
    const std::string& repo = family_.spec.repo;
    const std::string& before = family_.baseline.patch;
    if (repo.empty() || patch.empty()) return std::nullopt;
    if (!head_) head_ = head_of(repo);
    const std::string about =
        sha256_hex(fmt::format("{}\n{}\n{}\n{}", *head_, repo, before, patch));
    auto known = context_.patch_effects.find(about);
    if (head_->empty() || known == context_.patch_effects.end()) {
      known = context_.patch_effects.insert_or_assign(about, effect_of(repo, before, patch)).first;
    }
    return known->second;
  }

 private:
  Context& context_;
  const ledger::Family& family_;
  std::optional<std::string> head_;
};

// Patches of different files do different things: git need not be asked.
std::set<std::string> files_of(const model::Change& change) {
  std::set<std::string> files;
  for (const model::FileEdit& file : model::read_patch(change.patch)) files.insert(file.path);
  return files;
}

// Each edit with its file, of a text of model::describe_edits().
std::set<std::string> edits_in(const std::string& description) {
  std::set<std::string> edits;
  std::string file;
  std::string edit;
  const auto finish = [&] {
    if (!edit.empty()) edits.insert(file + edit);
    edit.clear();
  };
  for (const std::string_view line : split(trim(description), '\n')) {
    const bool is_file = line.starts_with("file ");
    if (is_file || line == "@") finish();
    if (is_file) file = line;
    edit += line;
    edit += '\n';
  }
  finish();
  return edits;
}

template <class Map>
bool has_all_of(const Map& all, const Map& some) {
  return std::ranges::all_of(some, [&](const auto& item) {
    const auto found = all.find(item.first);
    return found != all.end() && found->second == item.second;
  });
}

bool has_settings_of(const model::Change& all, const model::Change& some) {
  return has_all_of(all.env, some.env) && has_all_of(all.args, some.args) &&
         has_all_of(all.config, some.config) && has_all_of(all.inject, some.inject) &&
         (!some.accelerators || all.accelerators == some.accelerators);
}

}  // namespace

std::optional<PatchEffect> effect_of(const std::string& repo, const std::string& before,
                                     const std::string& patch) {
  if (repo.empty() || patch.empty()) return std::nullopt;
  if (!before.empty()) {
    if (auto on_top = effect_on(repo, before, patch)) return *std::move(on_top);
  }
  auto alone = effect_on(repo, "", patch);
  return alone ? std::optional(*std::move(alone)) : std::nullopt;
}

std::optional<PatchEffect> known_effect(Context& context, const ledger::Family& family,
                                        const std::string& patch) {
  return KnownEffects(context, family).of(patch);
}

Result<> key_by_effect(Context& context, const ledger::Family& family,
                       model::Hypothesis& hypothesis) {
  const model::Spec spec = with_one_path(family.spec);
  // Flags first, for a value may stand in one word with its flag.
  const auto seen = [&](const model::Change& change) {
    return with_one_path(spec.workdir, model::by_first_name(spec, change));
  };
  const model::Change folded =
      model::canonical(spec, seen(family.baseline), seen(hypothesis.change));
  const auto effect =
      folded.patch.empty() ? std::nullopt : known_effect(context, family, hypothesis.change.patch);
  const std::string key = key_of(spec, folded, effect, context.hardware_for(family.name));
  if (key.empty()) {
    return bad_input(fmt::format("the change does nothing, the baseline of {} has it already: {}",
                                 family.name, model::describe(hypothesis.change)));
  }
  hypothesis.key = key;
  hypothesis.id = hypothesize::id_of(key);
  return Ok{};
}

std::vector<model::Hypothesis> keyed_by_effect(Context& context, const ledger::Family& family,
                                               std::vector<model::Hypothesis> ideas) {
  std::erase_if(ideas,
                [&](model::Hypothesis& idea) { return !key_by_effect(context, family, idea); });
  return ideas;
}

Result<std::vector<ledger::HypothesisRow>> same_effect(Context& context,
                                                       const model::Hypothesis& idea) {
  std::vector<ledger::HypothesisRow> rows = TRY(context.ledger->hypotheses_with_key(idea.key));
  const ledger::Family family = TRY(context.ledger->family(idea.family));
  const model::Spec spec = with_one_path(family.spec);
  const std::set<std::string> files = files_of(idea.change);
  const std::string& hardware = context.hardware_for(family.name);
  KnownEffects effects(context, family);
  for (const ledger::HypothesisRow& row : TRY(context.ledger->hypotheses(idea.family, ""))) {
    const model::Hypothesis& past = row.hypothesis;
    const bool elsewhere = model::is_for_other_hardware(past.key, hardware);
    if (past.key == idea.key || elsewhere || files_of(past.change) != files) continue;
    const model::Change change =
        with_one_path(spec.workdir, model::by_first_name(spec, past.change));
    const std::string key =
        key_of(spec, model::folded(spec, change), effects.of(past.change.patch), hardware);
    if (key == idea.key) rows.push_back(row);
  }
  std::ranges::stable_sort(rows, {}, &ledger::HypothesisRow::since);
  return rows;
}

Result<std::optional<ledger::HypothesisRow>> refuted_part_of(Context& context,
                                                             const model::Hypothesis& idea) {
  const ledger::Family family = TRY(context.ledger->family(idea.family));
  const model::Spec spec = with_one_path(family.spec);
  KnownEffects effects(context, family);
  const auto folded = [&](const model::Change& change) {
    return model::folded(spec, with_one_path(spec.workdir, model::by_first_name(spec, change)));
  };
  const auto edits = [&](const model::Change& change) {
    return edits_in(effects.of(change.patch).value_or(PatchEffect{}).edits);
  };
  const model::Change whole = folded(idea.change);
  const std::string& hardware = context.hardware_for(family.name);
  for (const ledger::HypothesisRow& row : TRY(context.ledger->hypotheses(idea.family, "refuted"))) {
    const model::Hypothesis& past = row.hypothesis;
    if (past.key == idea.key || model::is_for_other_hardware(past.key, hardware)) continue;
    if (!has_settings_of(whole, folded(past.change))) continue;
    if (past.change.patch.empty()) return std::optional(row);
    if (idea.change.patch.empty()) continue;
    const std::set<std::string> part = edits(past.change);
    if (!part.empty() && std::ranges::includes(edits(idea.change), part)) return std::optional(row);
  }
  return std::optional<ledger::HypothesisRow>{};
}

Result<std::optional<ledger::HypothesisRow>> holder_of(
    Context& context, const std::vector<ledger::HypothesisRow>& rows) {
  for (const ledger::HypothesisRow& row : rows) {
    const auto holder = TRY(context.ledger->holder_of_key(row.hypothesis.key));
    if (holder && holder->hypothesis.id == row.hypothesis.id) return holder;
  }
  return std::optional<ledger::HypothesisRow>{};
}

}  // namespace amdahl::app
