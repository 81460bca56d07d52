// patch_edits.h: the edits that a unified diff makes, independent of how the diff is written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace amdahl::model {

// Removed lines and the lines that replace them.
struct LineEdit {
  // 0-based line in the old file: the first removed one, or the one to insert before.
  std::size_t at = 0;
  std::vector<std::string> removed;
  std::vector<std::string> added;
  bool removed_unended = false;  // The last removed line has no newline at its end.
  bool added_unended = false;
  // Context from the old file, only if the removed lines alone are ambiguous.
  std::vector<std::string> before;
  std::vector<std::string> after;
};

struct FileEdit {
  std::string path;  // Without "a/" and "b/".
  std::string from;  // Old path if the file was renamed or copied.
  bool created = false;
  bool deleted = false;
  std::string new_mode;   // "100755"; empty if not in the diff.
  std::string kept_mode;  // Of a file whose mode stays, if the diff has it.
  std::string old_blob;   // Git blob ids, if the diff has them.
  std::string new_blob;
  std::string binary;  // Binary part of the diff; empty for text.
  std::vector<LineEdit> edits;
};

// Every file that the diff touches, ordered by path. Accepts plain, git and mailed diffs with any
// amount of context; ignores text outside the diff.
std::vector<FileEdit> read_patch(std::string_view patch);

// Adds the shortest context that makes each edit's place in `old_text` unique. So the same edit at
// two places stays two edits, and changes far away do not matter.
void tell_apart(FileEdit& file, std::string_view old_text);

// The same text for the same edits: without line numbers, dates, prefixes and object names.
std::string describe_edits(const std::vector<FileEdit>& files);

}  // namespace amdahl::model
