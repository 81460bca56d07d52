// communication.h: which kernels move data between accelerators, by their names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/string_pool.h"

namespace amdahl::profile {

struct CommunicationName {
  std::string_view pattern;  // Lower case.
  bool anywhere = false;     // Else where a word of the function's own name starts.
  std::string_view of;       // The library, as people know it.
};

std::span<const CommunicationName> communication_names();

// The library that a kernel of this name belongs to; empty if it only computes. Letter case does
// not count, nor do template and call arguments.
std::string_view communication_library(std::string_view kernel);

// The function with its namespaces, without template and call arguments.
std::string function_name(std::string_view kernel);

// The same for names of a pool, each looked at once.
class CommunicationCache {
 public:
  bool is(const model::StringPool& names, std::uint32_t name);

 private:
  std::vector<std::uint8_t> known_;  // 0: not looked at, 1: no, 2: yes.
};

}  // namespace amdahl::profile
