// library.h: documents and repositories, cut into passages and commits that can be searched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "db/sqlite.h"
#include "dream/dream.h"
#include "dream/leads.h"

namespace amdahl::app {

// A lead with where it stands.
struct FoundLead {
  dream::Lead lead;
  std::string origin;  // "DOCUMENT:LINE" or "REPOSITORY@COMMIT".
  std::string title;   // The heading, or the commit's first line.
  std::string text;    // Of the passage, or the commit's message.
  std::string diff;    // Empty for a passage.
};

// A full-text index in a file, which is brought up to date: what has not changed is not read again.
class Library {
 public:
  // An empty path gives an empty library. A folder is read with all below it but what is hidden,
  // a file by itself; kNotFound if there is neither. What is no text is passed over and counted.
  // Of git repositories the commits are read, too. The index is a cache: one that cannot be read is
  // made anew.
  static Result<Library> open(const std::string& path, const std::string& index = ":memory:");

  // At most this many are found at once.
  static constexpr int kPassagesPerSearch = 200;

  // Passages whose text holds a name, those first that hold rare names and many words.
  Result<std::vector<dream::Passage>> find(const dream::Query& query);
  // Optimisations that the documents and commits speak of, the surest first; of near duplicates
  // the first. At most kPassagesPerSearch.
  Result<std::vector<FoundLead>> leads();

  int documents() const { return documents_; }
  int unchanged() const { return unchanged_; }  // Of them, as they were in the index.
  int repositories() const { return repositories_; }
  int commits() const { return commits_; }          // In the index,
  int new_commits() const { return new_commits_; }  // and of them those read now.
  int duplicates() const { return duplicates_; }    // Leads that leads() left out.
  int passed_over() const { return static_cast<int>(unread_.size()) + other_; }
  // Text that could not be read, each with the reason.
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
  std::string root_;  // What this library is of; the index may hold more.
  int documents_ = 0;
  int unchanged_ = 0;
  int repositories_ = 0;
  int commits_ = 0;
  int new_commits_ = 0;
  int duplicates_ = 0;
  int other_ = 0;  // Files of other endings.
  std::vector<std::string> unread_;
};

}  // namespace amdahl::app
