#include "app/change_key.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/core.h>

#include "app/pairs.h"
#include "base/hash.h"
#include "base/text.h"
#include "hypothesize/propose.h"
#include "model/effect.h"
#include "model/patch_edits.h"
#include "model/plan.h"
#include "os/files.h"
#include "os/program.h"

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

// The repo's HEAD in an index and an object folder of our own.
class Trees {
 public:
  static Result<Trees> of(const std::string& repo, const std::string& scratch) {
    Trees trees;
    const std::string said =
        TRY(trees.git({"-C", repo, "rev-parse", "--show-toplevel", "--git-path", "objects"}));
    const std::vector<std::string_view> lines = split(trim(said), '\n');
    if (lines.size() != 2) return external(repo + ": git does not say where it is");
    trees.top_ = lines[0];
    // The second is relative to the folder that was asked in.
    const std::string objects = fs::absolute(fs::path(repo) / lines[1]).lexically_normal().string();
    trees.scratch_ = scratch;
    trees.env_ = {{"GIT_INDEX_FILE", scratch + "/index"},
                  {"GIT_OBJECT_DIRECTORY", scratch + "/objects"},
                  {"GIT_ALTERNATE_OBJECT_DIRECTORIES", objects}};
    TRY(os::make_dirs(scratch + "/objects"));
    TRY(trees.in_top({"read-tree", "HEAD"}));
    return trees;
  }

  Result<> apply(const std::string& patch) {
    const std::string file = scratch_ + "/change.patch";
    TRY(os::write_file(file, patch.ends_with('\n') ? patch : patch + "\n"));
    TRY(in_top({"apply", "--cached", "--whitespace=nowarn", file}));
    return Ok{};
  }

  Result<std::string> tree() { return in_top({"write-tree"}); }

  Result<std::string> difference(const std::string& before, const std::string& after) {
    const std::string diff =
        TRY(in_top({"-c", "core.quotePath=true", "-c", "diff.suppressBlankEmpty=false", "diff-tree",
                    "-r", "-p", "-U0", "--full-index", "--no-renames", "--no-color",
                    "--no-ext-diff", "--no-textconv", "--diff-algorithm=myers",
                    "--indent-heuristic", "--src-prefix=a/", "--dst-prefix=b/", before, after},
                   false));
    std::vector<model::FileEdit> files = model::read_patch(diff);
    for (model::FileEdit& file : files) {
      if (file.created || file.deleted || file.edits.empty()) continue;
      model::tell_apart(file, TRY(in_top({"cat-file", "blob", file.old_blob}, false)));
    }
    return model::describe_edits(files);
  }

 private:
  Result<std::string> in_top(std::vector<std::string> words, bool trimmed = true) const {
    words.insert(words.begin(), {"-C", top_});
    const std::string said = TRY(git(std::move(words)));
    return trimmed ? std::string(trim(said)) : said;
  }

  Result<std::string> git(std::vector<std::string> words) const {
    words.insert(words.begin(), "git");
    std::string said;
    TRY(os::run_program(
        {.argv = std::move(words), .env = env_, .limit = std::chrono::minutes(1)},
        [&](std::string_view bytes) -> Result<> {
          said.append(bytes);
          return Ok{};
        },
        [] { return false; }));
    return said;
  }

  std::string top_;
  std::string scratch_;
  std::map<std::string, std::string> env_;
};

Result<std::string> edits_on(const std::string& repo, const std::string& before,
                             const std::string& patch) {
  const Scratch scratch;
  if (scratch.path().empty()) return external("no folder for temporary files can be made");
  Trees trees = TRY(Trees::of(repo, scratch.path()));
  if (!before.empty()) TRY(trees.apply(before));
  const std::string old_tree = TRY(trees.tree());
  TRY(trees.apply(patch));
  return trees.difference(old_tree, TRY(trees.tree()));
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

// The change's effect in full: `folded` is without what the tree says.
std::string key_of(const model::Spec& spec, const std::string& before, const model::Change& change,
                   model::Change folded, std::string_view hardware) {
  if (!folded.patch.empty()) {
    if (const auto edits = edits_of(spec.repo, before, change.patch)) folded.patch = *edits;
  }
  return model::is_empty(folded) ? "" : model::effect_key(spec.family, folded, hardware);
}

// The same for a patch that was proposed before: git is asked once for each commit.
std::string key_of_past(Context& context, const std::string& head, const model::Spec& spec,
                        const ledger::Family& family, const model::Hypothesis& past) {
  const std::string about =
      sha256_hex(fmt::format("{}\n{}\n{}\n{}", head, spec.repo, family.baseline.patch, past.id));
  if (const auto known = context.effects_of_patches.find(about);
      !head.empty() && known != context.effects_of_patches.end()) {
    return known->second;
  }
  const model::Change change = with_one_path(spec.workdir, model::by_first_name(spec, past.change));
  std::string key = key_of(spec, family.baseline.patch, past.change, model::folded(spec, change),
                           context.hardware);
  if (!past.change.patch.empty()) context.effects_of_patches[about] = key;
  return key;
}

// Patches of different files do different things: git need not be asked.
std::set<std::string> files_of(const model::Change& change) {
  std::set<std::string> files;
  for (const model::FileEdit& file : model::read_patch(change.patch)) files.insert(file.path);
  return files;
}

}  // namespace

std::optional<std::string> edits_of(const std::string& repo, const std::string& before,
                                    const std::string& patch) {
  if (repo.empty()) return std::nullopt;
  if (!before.empty()) {
    const auto on_top = edits_on(repo, before, patch);
    if (on_top) return *on_top;
  }
  const auto alone = edits_on(repo, "", patch);
  return alone ? std::optional(*alone) : std::nullopt;
}

Result<> key_by_effect(const Context& context, const ledger::Family& family,
                       model::Hypothesis& hypothesis) {
  const model::Spec spec = with_one_path(family.spec);
  // Flags first, for a value may stand in one word with its flag.
  const auto seen = [&](const model::Change& change) {
    return with_one_path(spec.workdir, model::by_first_name(spec, change));
  };
  const model::Change folded =
      model::canonical(spec, seen(family.baseline), seen(hypothesis.change));
  const std::string key =
      key_of(spec, family.baseline.patch, hypothesis.change, folded, context.hardware);
  if (key.empty()) {
    return bad_input(fmt::format("the change does nothing, the baseline of {} has it already: {}",
                                 family.name, model::describe(hypothesis.change)));
  }
  hypothesis.key = key;
  hypothesis.id = hypothesize::id_of(key);
  return Ok{};
}

std::vector<model::Hypothesis> keyed_by_effect(const Context& context, const ledger::Family& family,
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
  const std::string head = files.empty() || spec.repo.empty() ? "" : head_of(spec.repo);
  for (const ledger::HypothesisRow& row : TRY(context.ledger->hypotheses(idea.family, ""))) {
    const model::Hypothesis& past = row.hypothesis;
    const bool elsewhere = model::is_for_other_hardware(past.key, context.hardware);
    if (past.key == idea.key || elsewhere || files_of(past.change) != files) continue;
    if (key_of_past(context, head, spec, family, past) == idea.key) rows.push_back(row);
  }
  std::ranges::stable_sort(rows, {}, &ledger::HypothesisRow::since);
  return rows;
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
