// testing.h: inputs from text, for the tests of a scan.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "scan/drive.h"

namespace amdahl::scan {

// Bytes in memory, given out in pieces.
class TextStream final : public ByteStream {
 public:
  explicit TextStream(std::string text) : text_{std::move(text)} {}
  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t size = text_.copy(into.data(), into.size(), at_);
    at_ += size;
    return size;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

inline Input text_input(const std::string& name, const std::string& text) {
  Input input;
  input.name = name;
  input.open = [text]() -> Result<std::unique_ptr<ByteStream>> {
    return Result<std::unique_ptr<ByteStream>>(std::make_unique<TextStream>(text));
  };
  return input;
}

}  // namespace amdahl::scan
