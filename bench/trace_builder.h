// trace_builder.h: traces of any size, made of a real one repeated.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace amdahl::bench {

// Repeats the events of `json`, a Kineto file, until `bytes` have gone to `write`: each copy starts
// after the end of the one before, and has correlations, flows and steps of its own. Returns how
// many bytes were written.
std::uint64_t repeat_trace(std::string_view json, std::uint64_t bytes,
                           const std::function<void(std::string_view)>& write);

}  // namespace amdahl::bench
