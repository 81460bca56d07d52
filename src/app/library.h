// library.h: a folder of documents, cut into passages that can be searched.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "db/sqlite.h"
#include "dream/dream.h"

namespace amdahl::app {

// A full-text index in memory; lives as long as the dream.
class Library {
 public:
  // An empty path gives an empty library. A folder is read with all below it but what is hidden,
  // a file by itself; kNotFound if there is neither. What is no text is passed over and counted.
  static Result<Library> open(const std::string& path);

  // At most this many are found at once.
  static constexpr int kPassagesPerSearch = 200;

  // Passages whose text holds a name, those first that hold rare names and many words.
  Result<std::vector<dream::Passage>> find(const dream::Query& query);

  int documents() const { return documents_; }
  int passed_over() const { return static_cast<int>(unread_.size()) + other_; }
  // Text that could not be read, each with the reason.
  const std::vector<std::string>& unread() const { return unread_; }

 private:
  explicit Library(db::Connection index) : index_{std::move(index)} {}

  Result<> read(const std::string& path);
  Result<> read_folder(const std::string& folder);
  Result<> add(const std::string& path);
  Result<> add_text(const std::string& path, const std::string& text);
  Result<> insert(const dream::Passage& passage);

  db::Connection index_;
  int documents_ = 0;
  int other_ = 0;  // Files of other endings.
  std::vector<std::string> unread_;
};

}  // namespace amdahl::app
