#include "model/patch_edits.h"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "base/text.h"

namespace amdahl::model {
namespace {

constexpr std::size_t kMostContext = 200;  // Lines on each side; then the place is counted.

// Remaining lines of the old and the new text in a hunk.
struct Hunk {
  std::size_t at = 0;
  int before = 0;
  int after = 0;
  bool open() const { return before > 0 || after > 0; }
};

int lines_in(std::string_view range) {  // "-12,7" or "+12"
  const std::size_t comma = range.find(',');
  return comma == range.npos ? 1 : to_number<int>(range.substr(comma + 1)).value_or(0);
}

Hunk hunk_of(std::string_view line) {  // "@@ -12,7 +12,8 @@ context"
  const std::vector<std::string_view> words = split(line, ' ');
  if (words.size() < 3 || !words[1].starts_with('-') || !words[2].starts_with('+')) return {};
  const int before = lines_in(words[1]);
  const auto first = to_number<std::size_t>(words[1].substr(1, words[1].find(',') - 1));
  // "-4,0" is after the fourth line, "-4,2" begins with it.
  const std::size_t line_number = first.value_or(0);
  return {line_number - (before > 0 && line_number > 0 ? 1 : 0), before, lines_in(words[2])};
}

// "b/x.py" or "x.py", with a date after a tab; "" for /dev/null.
std::string path_of(std::string_view text) {
  text = text.substr(0, text.find('\t'));
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text == "/dev/null") return "";
  const bool quoted = text.starts_with('"');
  std::string_view name = text.substr(quoted ? 1 : 0);
  if (name.starts_with("a/") || name.starts_with("b/")) name.remove_prefix(2);
  while (name.starts_with("./")) name.remove_prefix(2);
  return (quoted ? "\"" : "") + std::string(name);
}

class PatchReader {
 public:
  std::vector<FileEdit> read(std::string_view patch) {
    if (patch.ends_with('\n')) patch.remove_suffix(1);
    for (std::string_view line : split(patch, '\n')) {
      // Inside a hunk every byte may matter; the lines around show whether line ends were
      // rewritten.
      if (!hunk_.open() && !line.starts_with('\\')) rewritten_ = line.ends_with('\r');
      if (rewritten_ && line.ends_with('\r')) line.remove_suffix(1);
      take(line);
    }
    finish_file();
    std::ranges::stable_sort(files_, {}, &FileEdit::path);
    return std::move(files_);
  }

 private:
  void take(std::string_view line) {
    if (line.starts_with('\\')) {
      unended();
    } else if (hunk_.open()) {
      content(line);
    } else if (line.starts_with("@@ ")) {
      finish_edit();
      hunk_ = hunk_of(line);
      at_ = hunk_.at;
    } else if (in_binary_ && !line.starts_with("diff ")) {
      file_.binary += line;
      file_.binary += '\n';
    } else {
      header(line);
    }
  }

  void header(std::string_view line) {
    const auto rest = [&](std::string_view head) -> std::optional<std::string_view> {
      if (!line.starts_with(head)) return std::nullopt;
      return line.substr(head.size());
    };
    if (const auto names = rest("diff --git ")) {
      finish_file();
      named_by_git_ = true;
      // Both names are equal unless the file is renamed, which has its own lines.
      file_.path = path_of(names->substr(names->size() / 2 + 1));
    } else if (const auto mode = rest("new file mode ")) {
      file_.created = true;
      file_.new_mode = *mode;
    } else if (rest("deleted file mode ")) {
      file_.deleted = true;
    } else if (const auto changed = rest("new mode ")) {
      file_.new_mode = *changed;
    } else if (const auto from = rest("rename from ")) {
      file_.from = "rename " + std::string(*from);
    } else if (const auto copied = rest("copy from ")) {
      file_.from = "copy " + std::string(*copied);
    } else if (const auto to = rest("rename to "); to || rest("copy to ")) {
      file_.path = to ? *to : *rest("copy to ");
    } else if (const auto blobs = rest("index ")) {
      const std::size_t dots = blobs->find("..");
      if (dots == blobs->npos) return;
      file_.old_blob = blobs->substr(0, dots);
      const std::size_t blank = blobs->find(' ');
      file_.new_blob = blobs->substr(dots + 2, blank - dots - 2);
      if (blank != blobs->npos) file_.kept_mode = blobs->substr(blank + 1);
    } else if (rest("GIT binary patch") || rest("Binary files ")) {
      file_.binary = "differs\n";
      in_binary_ = true;
    } else if (const auto old_name = rest("--- ")) {
      old_name_ = path_of(*old_name);
      old_missing_ = old_name_->empty();
      if (!named_by_git_) finish_file();
    } else if (const auto new_name = rest("+++ "); new_name && old_name_) {
      const std::string name = path_of(*new_name);
      file_.deleted = file_.deleted || name.empty();
      file_.created = file_.created || old_missing_;
      if (!named_by_git_ || file_.from.empty()) file_.path = name.empty() ? *old_name_ : name;
      named_by_git_ = false;
    }
  }

  void content(std::string_view line) {
    const char kind = line.empty() ? ' ' : line.front();
    const std::string_view text = line.empty() ? line : line.substr(1);
    if (kind != '+') --hunk_.before;
    if (kind != '-') --hunk_.after;
    last_ = kind;
    if (kind != '+' && kind != '-') {
      finish_edit();
      ++at_;
      return;
    }
    if (edit_.removed.empty() && edit_.added.empty()) edit_.at = at_;
    (kind == '-' ? edit_.removed : edit_.added).emplace_back(text);
    if (kind == '-') ++at_;
  }

  void unended() {  // "\ No newline at end of file", of the line before.
    if (last_ == '-') edit_.removed_unended = true;
    if (last_ == '+') edit_.added_unended = true;
  }

  void finish_edit() {
    if (!edit_.removed.empty() || !edit_.added.empty()) file_.edits.push_back(std::move(edit_));
    edit_ = {};
    last_ = ' ';
  }

  void finish_file() {
    finish_edit();
    if (!file_.path.empty()) files_.push_back(std::move(file_));
    file_ = {};
    in_binary_ = false;
  }

  std::vector<FileEdit> files_;
  FileEdit file_;
  LineEdit edit_;
  Hunk hunk_;
  std::size_t at_ = 0;
  std::optional<std::string> old_name_;
  bool old_missing_ = false;
  bool named_by_git_ = false;
  bool in_binary_ = false;
  bool rewritten_ = false;
  char last_ = ' ';
};

// The line at `index`, or a mark that no line can be: beyond the ends of the file.
std::string line_at(const std::vector<std::string_view>& lines, std::ptrdiff_t index) {
  if (index < 0) return "^";
  if (index >= static_cast<std::ptrdiff_t>(lines.size())) return "$";
  return "=" + std::string(lines[static_cast<std::size_t>(index)]);
}

std::vector<std::ptrdiff_t> places_like(const std::vector<std::string_view>& lines,
                                        const LineEdit& edit) {
  std::vector<std::ptrdiff_t> places;
  const std::size_t length = edit.removed.size();
  for (std::size_t i = 0; i + length <= lines.size(); ++i) {
    const auto first = lines.begin() + static_cast<std::ptrdiff_t>(i);
    if (i != edit.at && std::equal(edit.removed.begin(), edit.removed.end(), first)) {
      places.push_back(static_cast<std::ptrdiff_t>(i));
    }
  }
  return places;
}

std::string edit_text(const LineEdit& edit) {
  std::string text = "@\n";
  const auto add = [&](char mark, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) text += fmt::format("{}{}\n", mark, line);
  };
  add('<', edit.before);
  add('-', edit.removed);
  if (edit.removed_unended) text += "\\-\n";
  add('+', edit.added);
  if (edit.added_unended) text += "\\+\n";
  add('>', edit.after);
  return text;
}

}  // namespace

std::vector<FileEdit> read_patch(std::string_view patch) { return PatchReader().read(patch); }

void tell_apart(FileEdit& file, std::string_view old_text) {
  if (old_text.ends_with('\n')) old_text.remove_suffix(1);
  const std::vector<std::string_view> lines = split(old_text, '\n');
  for (LineEdit& edit : file.edits) {
    std::vector<std::ptrdiff_t> others = places_like(lines, edit);
    const auto first = static_cast<std::ptrdiff_t>(edit.at);
    const auto length = static_cast<std::ptrdiff_t>(edit.removed.size());
    for (std::ptrdiff_t far = 1; !others.empty(); ++far) {
      if (edit.before.size() == kMostContext) {
        const auto earlier = std::ranges::count_if(others, [&](auto i) { return i < first; });
        edit.after.push_back(fmt::format("#{}", earlier));
        break;
      }
      const std::string above = line_at(lines, first - far);
      const std::string below = line_at(lines, first + length + far - 1);
      edit.before.insert(edit.before.begin(), above);
      edit.after.push_back(below);
      std::erase_if(others, [&](std::ptrdiff_t other) {
        return line_at(lines, other - far) != above ||
               line_at(lines, other + length + far - 1) != below;
      });
    }
  }
}

std::string describe_edits(const std::vector<FileEdit>& files) {
  std::string text;
  for (const FileEdit& file : files) {
    text += fmt::format("file {}\n", file.path);
    if (!file.from.empty()) text += fmt::format("from {}\n", file.from);
    if (file.deleted) {
      text += "deleted\n";  // Whatever was in it.
      continue;
    }
    if (file.created) {
      text += fmt::format("created {}\n", file.new_mode.empty() ? "100644" : file.new_mode);
    } else if (!file.new_mode.empty()) {
      text += fmt::format("mode {}\n", file.new_mode);
    }
    if (!file.binary.empty()) {
      // Known blob ids identify the content; else the diff's own encoding does.
      const bool known = file.new_blob.size() >= 40;
      text += known ? fmt::format("binary {} {}\n", file.old_blob, file.new_blob)
                    : fmt::format("binary\n{}", file.binary);
    }
    for (const LineEdit& edit : file.edits) text += edit_text(edit);
  }
  return text;
}

}  // namespace amdahl::model
