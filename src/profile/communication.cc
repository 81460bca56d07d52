#include "profile/communication.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace amdahl::profile {
namespace {

struct CommunicationName {
  std::string_view pattern;  // Lower case.
  bool anywhere = false;  // Match anywhere; else only at the start of a word of the function name.
  std::string_view of;    // Library, for people.
};

constexpr auto kCollectives = std::to_array<CommunicationName>({
    {"nccl", false, "NCCL"},  // Also ncclDevKernel_...
    {"rccl", false, "RCCL"},
    {"hccl", false, "HCCL"},
    {"hcom_", false, "HCCL"},
    {"deep_ep::internode", false, "DeepEP"},
    {"deep_ep::intranode", false, "DeepEP"},
    {"::ep::internode", true, "DeepEP"},
    {"::ep::intranode", true, "DeepEP"},
    {"cross_device_reduce", false, "custom all-reduce"},
    {"multimem_", false, "symmetric memory"},
    {"one_shot_all_reduce", false, "symmetric memory"},
    {"two_shot_all_reduce", false, "symmetric memory"},
    {"oneshotallreduce", false, "custom all-reduce"},
    {"twoshotallreduce", false, "custom all-reduce"},
    {"nvshmem", false, "NVSHMEM"},
    {"mscclpp", false, "MSCCL++"},
    {"quickreduce", false, "quick reduce"},
    {"quick_reduce", false, "quick reduce"},
    {"userbuffers_", false, "userbuffers"},
    {"allreduce_fusion_kernel", false, "fused all-reduce"},
    {"trtllm_allreduce", false, "TensorRT-LLM all-reduce"},
    {"moereduction", false, "fused all-reduce"},
});

constexpr char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

bool matches(std::string_view own_name, const CommunicationName& row) {
  for (std::size_t at = own_name.find(row.pattern); at != std::string_view::npos;
       at = own_name.find(row.pattern, at + 1)) {
    if (row.anywhere || at == 0 || !is_word(own_name[at - 1])) return true;
  }
  return false;
}

// Namespaces without a name, which stand in brackets: what follows them is the name.
constexpr auto kNameless = std::to_array<std::string_view>(
    {"(anonymous namespace)::", "(anonymous class)::", "<unnamed>::"});

// "_ZN4c10d12_GLOBAL__N_16kernelIfEEvPT_" as "c10d::_GLOBAL__N_1::kernel": the names up to the
// first template argument.
std::string demangled(std::string_view symbol) {
  std::string name;
  symbol.remove_prefix(2);
  while (!symbol.empty() && !is_digit(symbol.front())) {
    // Nested, const and static.
    if (std::string_view("NKL").find(symbol.front()) == std::string_view::npos) return name;
    symbol.remove_prefix(1);
  }
  while (!symbol.empty() && is_digit(symbol.front())) {
    std::size_t length = 0;
    for (; !symbol.empty() && is_digit(symbol.front()); symbol.remove_prefix(1)) {
      length = std::min<std::size_t>(length * 10 + static_cast<std::size_t>(symbol.front() - '0'),
                                     symbol.size());
    }
    name += name.empty() ? "" : "::";
    name += symbol.substr(0, length);
    symbol.remove_prefix(std::min(length, symbol.size()));
  }
  return name;
}

}  // namespace

std::string function_name(std::string_view kernel) {
  if (kernel.starts_with("_Z")) return demangled(kernel);
  std::string name;
  while (true) {
    const std::size_t bracket = kernel.find_first_of("<(");
    name += kernel.substr(0, bracket);
    if (bracket == std::string_view::npos) return name;
    kernel.remove_prefix(bracket);
    const auto nameless = std::ranges::find_if(
        kNameless, [&](std::string_view space) { return kernel.starts_with(space); });
    if (nameless == kNameless.end()) return name;
    kernel.remove_prefix(nameless->size());
  }
}

std::string_view communication_library(std::string_view kernel) {
  std::string name = function_name(kernel);
  for (char& c : name) c = lower_letter(c);
  for (const CommunicationName& row : kCollectives) {
    if (matches(name, row)) return row.of;
  }
  return {};
}

bool CommunicationCache::is(const model::StringPool& names, std::uint32_t name) {
  if (name >= known_.size()) known_.resize(names.size(), 0);
  if (known_[name] == 0) known_[name] = communication_library(names[name]).empty() ? 1 : 2;
  return known_[name] == 2;
}

}  // namespace amdahl::profile
