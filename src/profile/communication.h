// communication.h: recognises kernels that move data between accelerators, by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/string_pool.h"

namespace amdahl::profile {

// The library of a kernel; empty if it only computes. Ignores case, template and call arguments.
std::string_view communication_library(std::string_view kernel);

// The function with namespaces, without template and call arguments.
std::string function_name(std::string_view kernel);

// The same for interned names, each examined once.
class CommunicationCache {
 public:
  bool is(const model::StringPool& names, std::uint32_t name);

 private:
  std::vector<std::uint8_t> known_;  // 0: unknown, 1: no, 2: yes.
};

}  // namespace amdahl::profile
