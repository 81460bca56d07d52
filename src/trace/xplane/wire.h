// wire.h: walks the fields of a protocol buffer message.
#pragma once

#include <cstdint>
#include <string_view>

namespace amdahl::trace::xplane {

struct Field {
  std::uint32_t number = 0;
  std::uint64_t value = 0;   // Of numbers; 0 otherwise.
  std::string_view bytes{};  // Of texts and messages.
};

// Fields in the order of the bytes. Those of unknown types end the walk: is_whole() is then false.
class Message {
 public:
  explicit Message(std::string_view bytes) : rest_{bytes} {}

  bool next(Field& field);

  // Whether every byte so far was understood; a text that the bytes cut short is not.
  bool is_whole() const { return is_whole_; }

 private:
  bool number(std::uint64_t& value);
  bool fixed(std::size_t bytes);
  bool stop();

  std::string_view rest_;
  bool is_whole_ = true;
};

}  // namespace amdahl::trace::xplane
