// source.h: one row per kind of accounting or telemetry we can read into usage.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/usage.h"

namespace amdahl::fleet {

struct Source {
  std::string_view name;                  // As typed after --source.
  std::string_view reads;                 // As people read it.
  bool (*claims)(std::string_view head);  // `head`: the first 4 KiB or less.
  // `bytes` must outlive the call only. Does no I/O.
  Result<std::vector<model::Usage>> (*read)(std::string_view bytes);
};

std::span<const Source> sources();

// The one source that claims these bytes; kUnsupported if none or several do.
Result<Source> source_for(std::string_view bytes);

}  // namespace amdahl::fleet
