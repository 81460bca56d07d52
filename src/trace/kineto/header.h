// header.h: the fields of a Kineto file besides its events.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace amdahl::trace::kineto {

struct HeaderDevice {
  std::int64_t id = 0;
  std::string name;
  std::uint64_t memory_bytes = 0;
  std::uint32_t multiprocessors = 0;
};

struct Header {
  bool readable = true;
  Nanos base{};
  std::string host;
  std::string backend;
  std::int32_t rank = -1;
  std::int32_t world_size = 0;
  std::vector<HeaderDevice> devices;
};

// `json` is Framer::header(). Missing or mistyped fields keep their defaults.
Header read_header(std::string_view json);

}  // namespace amdahl::trace::kineto
