// fleet_corpus.h: reads files of the corpus into a fold, for tests.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "scan/drive.h"
#include "scan/fold.h"

namespace amdahl::scan {

class FileStream final : public ByteStream {
 public:
  explicit FileStream(const std::string& path) : file_{path, std::ios::binary} {}
  bool is_open() const { return file_.is_open(); }
  Result<std::size_t> read(std::span<char> into) override {
    file_.read(into.data(), static_cast<std::streamsize>(into.size()));
    return static_cast<std::size_t>(file_.gcount());
  }

 private:
  std::ifstream file_;
};

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

inline Input file_input(const std::string& path) {
  Input input;
  input.name = path;
  input.open = [path]() -> Result<std::unique_ptr<ByteStream>> {
    auto stream = std::make_unique<FileStream>(path);
    if (!stream->is_open()) return external("cannot be opened");
    return Result<std::unique_ptr<ByteStream>>(std::move(stream));
  };
  return input;
}

inline Input text_input(const std::string& name, const std::string& text) {
  Input input;
  input.name = name;
  input.open = [text]() -> Result<std::unique_ptr<ByteStream>> {
    return Result<std::unique_ptr<ByteStream>>(std::make_unique<TextStream>(text));
  };
  return input;
}

// "" where there is no corpus.
inline std::string corpus(const std::string& path) {
  const char* root = std::getenv("AMDAHL_CORPUS");
  return root ? std::string(root) + "/" + path : std::string();
}

}  // namespace amdahl::scan
