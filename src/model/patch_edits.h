// patch_edits.h: what a unified diff does to files, without how the diff was written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace amdahl::model {

// Lines that go and lines that come in their place.
struct LineEdit {
  std::size_t at = 0;  // Of the first removed line in the old file, from 0; else before which.
  std::vector<std::string> removed;
  std::vector<std::string> added;
  bool removed_unended = false;  // The last removed line has no newline.
  bool added_unended = false;
  // Lines of the old file around the place, if the removed lines alone do not tell it apart.
  std::vector<std::string> before;
  std::vector<std::string> after;
};

struct FileEdit {
  std::string path;  // Without "a/" and "b/".
  std::string from;  // The old path, if the file was renamed or copied.
  bool created = false;
  bool deleted = false;
  std::string new_mode;  // "100755"; empty if the diff says none.
  std::string old_blob;  // Names of the objects, if the diff has them.
  std::string new_blob;
  std::string binary;  // What the diff says of bytes that are no lines; empty for text.
  std::vector<LineEdit> edits;
};

// Every file that the diff touches, by path. Takes plain, git's and mailed diffs with any context
// and order; text outside the diff is ignored.
std::vector<FileEdit> read_patch(std::string_view patch);

// Adds the shortest context that tells each edit's place in `old_text` from all others, so that one
// edit at two places stays two edits, and lines that move far away change nothing.
void tell_apart(FileEdit& file, std::string_view old_text);

// The same text for the same edits: no context, line numbers, dates, prefixes or object names.
std::string describe_edits(const std::vector<FileEdit>& files);

}  // namespace amdahl::model
