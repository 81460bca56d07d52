// library.h: a search index of documents and repositories, split into passages and commits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "db/sqlite.h"
#include "dream/dream.h"
#include "dream/leads.h"

namespace amdahl::app {

// A lead with its source.
struct FoundLead {
  dream::Lead lead;
  std::string origin;  // "DOCUMENT:LINE" or "REPOSITORY@COMMIT".
  std::string title;   // Heading, or the commit's first line.
  std::string text;    // Passage, or the commit's message.
  std::string diff;    // Empty for a passage.
};

// A full-text index in a file; updating it reads only what changed.
class Library {
 public:
  // An empty path gives an empty library. Reads a folder recursively (except hidden files) or one
  // file; kNotFound if it does not exist. Files that are not text are skipped and counted. For git
  // repositories the commits are read too. The index is a cache: an unreadable one is rebuilt.
  static Result<Library> open(const std::string& path, const std::string& index = ":memory:");

  // Limit per search.
  static constexpr int kPassagesPerSearch = 200;

  // Passages that contain a name; those with rare names and many words first.
  Result<std::vector<dream::Passage>> find(const dream::Query& query);
  // Optimisations mentioned in documents and commits, strongest first, without near duplicates. At
  // most kPassagesPerSearch.
  Result<std::vector<FoundLead>> leads();

  int documents() const { return documents_; }
  int unchanged() const { return unchanged_; }  // Unchanged since they were indexed.
  int repositories() const { return repositories_; }
  int commits() const { return commits_; }          // In the index,
  int new_commits() const { return new_commits_; }  // and those read now.
  int duplicates() const { return duplicates_; }    // Omitted by leads().
  int passed_over() const { return static_cast<int>(unread_.size()) + other_; }
  // Text that could not be read, with the reason.
  const std::vector<std::string>& unread() const { return unread_; }

 private:
  explicit Library(db::Connection index) : index_{std::move(index)} {}

  static Result<Library> make(const std::string& index);
  Result<> read(const std::string& path);
  Result<> read_folder(const std::string& folder);
  Result<> add(const std::string& path);
  Result<> add_text(const std::string& path, const std::string& text);
  Result<> insert(const dream::Passage& passage);
  Result<> forget(const std::string& path);
  Result<> forget_missing();
  Result<> add_commits(const std::string& repository);
  Result<> add_commit(const dream::Commit& commit);

  db::Connection index_;
  std::string root_;  // The indexed path; the index may contain more.
  int documents_ = 0;
  int unchanged_ = 0;
  int repositories_ = 0;
  int commits_ = 0;
  int new_commits_ = 0;
  int duplicates_ = 0;
  int other_ = 0;  // Files with other extensions.
  std::vector<std::string> unread_;
};

}  // namespace amdahl::app
