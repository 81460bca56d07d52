// json_items.h: extracts the items of arrays from a streamed JSON document.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace amdahl::fleet {

// For {"meta": {...}, "jobs": [{...}, {...}], "errors": [...]} it passes on each item of each
// array under a top-level key. Holds one item, so memory does not grow with the document. It looks
// only at brackets and strings; parsing an item is the reader's job.
class JsonItems {
 public:
  // `item` is valid during the call; `byte` is its offset.
  using Use = std::function<void(std::string_view key, std::string_view item, std::uint64_t byte)>;

  explicit JsonItems(Use use, std::size_t largest_item = std::size_t{1} << 28)
      : use_{std::move(use)}, largest_{largest_item} {}

  // Fails if an item is larger than `largest_item`, or the document is not an object.
  Result<> feed(std::string_view bytes);
  bool whole() const { return begun_ && depth_ == 0; }  // The document is complete.
  std::uint64_t byte() const { return byte_; }

 private:
  void structure(char c);
  void end_item();

  Use use_;
  std::size_t largest_;
  std::uint64_t byte_ = 0;
  std::uint64_t item_at_ = 0;
  int depth_ = 0;
  bool begun_ = false;
  bool in_string_ = false;
  bool escaped_ = false;
  bool in_array_ = false;  // Under a top-level key.
  bool key_next_ = false;  // The next string at depth 1 is a key.
  bool in_key_ = false;
  std::string key_;
  std::string item_;
};

}  // namespace amdahl::fleet
