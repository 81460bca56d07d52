// testing.h: traces from the corpus and from texts, for tests.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <zlib.h>

#include "base/result.h"
#include "model/trace_builder.h"
#include "trace/reader.h"

namespace amdahl::trace {

// Folder of reference traces, ending in a slash; empty if there is none.
inline std::string corpus() {
  const char* const folder = std::getenv("AMDAHL_CORPUS");
  return folder == nullptr ? std::string() : std::string(folder) + "/";
}

struct CloseGzip {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

// A file's bytes, unpacked if needed.
inline NextBytes bytes_of(const std::string& path) {
  const std::shared_ptr<gzFile_s> file(gzopen(path.c_str(), "rb"), CloseGzip{});
  return [file, path](std::span<char> room) -> Result<std::size_t> {
    const int got = file ? gzread(file.get(), room.data(), static_cast<unsigned>(room.size())) : -1;
    if (got < 0) return external("cannot read " + path);
    return static_cast<std::size_t>(got);
  };
}

// The bytes of `text`, at most `at_once` at a time.
inline NextBytes bytes_in(std::string text, std::size_t at_once = SIZE_MAX) {
  return [text = std::move(text), at_once,
          at = std::size_t{0}](std::span<char> room) mutable -> Result<std::size_t> {
    const std::size_t got = text.copy(room.data(), std::min(room.size(), at_once), at);
    at += got;
    return got;
  };
}

inline Result<model::Trace> load(const Reader& reader, const std::string& name, NextBytes next,
                                 const Limits& limits = {}) {
  model::TraceBuilder builder;
  Input input;
  input.name = name;
  input.next = std::move(next);
  TRY(reader.read(input, limits, builder).in(name));
  return std::move(builder).finish();
}

inline Result<model::Trace> load_kineto(const std::string& text, const Limits& limits = {}) {
  return load(TRY(reader_named("kineto")), "a.json", bytes_in(text), limits);
}

}  // namespace amdahl::trace
