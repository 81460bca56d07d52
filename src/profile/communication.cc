#include "profile/communication.h"

#include <array>
#include <string>

namespace amdahl::profile {
namespace {

constexpr auto kNames = std::to_array<CommunicationName>({
    {"nccl", false, "NCCL"},  // Also ncclDevKernel_...
    {"rccl", false, "RCCL"},
    {"hccl", false, "HCCL"},
    {"hcom_", false, "HCCL"},
    {"deep_ep::internode", false, "DeepEP"},
    {"deep_ep::intranode", false, "DeepEP"},
    {"::ep::internode", true, "DeepEP"},
    {"::ep::intranode", true, "DeepEP"},
    {"cross_device_reduce", false, "custom all-reduce"},
    {"multimem_all", false, "symmetric memory"},
    {"nvshmem", false, "NVSHMEM"},
});

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

bool matches(std::string_view own_name, const CommunicationName& row) {
  for (std::size_t at = own_name.find(row.pattern); at != std::string_view::npos;
       at = own_name.find(row.pattern, at + 1)) {
    if (row.anywhere || at == 0 || !is_word(own_name[at - 1])) return true;
  }
  return false;
}

}  // namespace

std::span<const CommunicationName> communication_names() { return kNames; }

std::string_view communication_library(std::string_view kernel) {
  std::string own_name(kernel.substr(0, kernel.find_first_of("<(")));
  for (char& c : own_name) c = lower(c);
  for (const CommunicationName& row : kNames) {
    if (matches(own_name, row)) return row.of;
  }
  return {};
}

bool CommunicationCache::is(const model::StringPool& names, std::uint32_t name) {
  if (name >= known_.size()) known_.resize(names.size(), 0);
  if (known_[name] == 0) known_[name] = communication_library(names[name]).empty() ? 1 : 2;
  return known_[name] == 2;
}

}  // namespace amdahl::profile
