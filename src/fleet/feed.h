// feed.h: runs a reader over bytes in chunks and records its output, for tests of readers.
#pragma once

#include <string>
#include <string_view>

#include "fleet/source.h"
#include "fleet/testing.h"

namespace amdahl::fleet {

struct Fed {
  Recorder told;
  std::string error;  // Empty on success.
};

// `piece`: chunk size. The bytes of each chunk are freed after the call, as a reader must expect.
inline Fed feed(std::unique_ptr<Reader> (*make)(Intake&, const ReaderOptions&),
                std::string_view bytes, const ReaderOptions& options = {},
                std::size_t piece = std::string_view::npos) {
  Fed fed;
  const std::unique_ptr<Reader> reader = make(fed.told, options);
  while (!bytes.empty()) {
    const std::string copy(bytes.substr(0, piece));
    if (auto result = reader->feed(copy); !result) {
      fed.error = result.error().text;
      return fed;
    }
    bytes.remove_prefix(copy.size());
  }
  if (auto result = reader->finish(); !result) fed.error = result.error().text;
  return fed;
}

}  // namespace amdahl::fleet
