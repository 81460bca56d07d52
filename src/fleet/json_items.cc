#include "fleet/json_items.h"

#include <fmt/core.h>

#include "base/text.h"

namespace amdahl::fleet {

void JsonItems::end_item() {
  const std::string_view item = trim(item_);
  if (!item.empty()) use_(key_, item, item_at_);
  item_.clear();
}

// A character outside strings.
void JsonItems::structure(char c) {
  const bool at_items = in_array_ && depth_ == 2;
  switch (c) {
    case '{':
    case '[':
      if (depth_ == 1 && c == '[') in_array_ = true;
      if (depth_ == 0) key_next_ = true;
      if (depth_ >= 2 && in_array_) item_ += c;
      ++depth_;
      return;
    case '}':
    case ']':
      if (at_items) {
        end_item();
        in_array_ = false;
      }
      --depth_;
      if (depth_ >= 2 && in_array_) item_ += c;
      return;
    case ',':
      if (depth_ == 1) key_next_ = true;
      if (at_items) return end_item();
      break;
    case ':':
      if (depth_ == 1) key_next_ = false;
      break;
    case '"':
      in_string_ = true;
      if (depth_ == 1 && key_next_) {
        in_key_ = true;
        key_.clear();
      }
      break;
    default:
      break;
  }
  if (depth_ >= 2 && in_array_) item_ += c;
}

Result<> JsonItems::feed(std::string_view bytes) {
  for (const char c : bytes) {
    ++byte_;
    if (in_string_) {
      if (in_key_) {
        if (c != '"' || escaped_) key_ += c;
      } else if (depth_ >= 2 && in_array_) {
        item_ += c;
      }
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_string_ = in_key_ = false;
      }
      continue;
    }
    if (depth_ == 0) {
      if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
      if (c != '{' || begun_) {
        return bad_input(fmt::format("byte {}: is not one JSON object", byte_ - 1));
      }
      begun_ = true;
    }
    if (item_.empty() && in_array_ && depth_ == 2) item_at_ = byte_ - 1;
    structure(c);
    if (item_.size() > largest_ || key_.size() > largest_) {
      return bad_input(fmt::format("byte {}: an item of '{}' is larger than {} bytes", item_at_,
                                   clip(key_, 40), largest_));
    }
  }
  return Ok{};
}

}  // namespace amdahl::fleet
