// json_items.h: cuts the items of one array out of a JSON document that comes in pieces.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace amdahl::fleet {

// Of {"meta": {...}, "jobs": [{...}, {...}], "errors": [...]} it hands out each item of each array
// that stands under a key of the document. It holds one item, so memory does not grow with the
// document. It looks at brackets and strings only: whether an item is good JSON its reader says.
class JsonItems {
 public:
  // `item` lives as long as the call; `byte` is where it begins.
  using Use = std::function<void(std::string_view key, std::string_view item, std::uint64_t byte)>;

  explicit JsonItems(Use use, std::size_t largest_item = std::size_t{1} << 28)
      : use_{std::move(use)}, largest_{largest_item} {}

  // An error if an item is larger than `largest_item`, or the document is no object.
  Result<> feed(std::string_view bytes);
  bool whole() const { return begun_ && depth_ == 0; }  // The document is closed.
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
  bool in_array_ = false;  // Of a key of the document.
  bool key_next_ = false;  // A string at depth 1 is a key.
  bool in_key_ = false;
  std::string key_;
  std::string item_;
};

}  // namespace amdahl::fleet
