#include "trace/kineto/header.h"

#include <optional>

#include <nlohmann/json.hpp>

#include "trace/kineto/decimal.h"
#include "trace/kineto/window.h"

namespace amdahl::trace::kineto {
namespace {

using HeaderJson = nlohmann::json;

std::optional<std::int64_t> integer(const HeaderJson& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  if (found->is_number_integer()) return found->get<std::int64_t>();
  if (found->is_string()) return integer_of(found->get_ref<const std::string&>());
  return {};
}

std::string text(const HeaderJson& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// A rank or a count; -1 if invalid.
std::int32_t small(std::optional<std::int64_t> value, std::int32_t otherwise) {
  return value && *value >= 0 && *value < INT32_MAX ? static_cast<std::int32_t>(*value) : otherwise;
}

void read_devices(const HeaderJson& list, Header& header) {
  constexpr std::size_t kMostDevices = 4096;
  for (const HeaderJson& row : list) {
    if (!row.is_object() || header.devices.size() >= kMostDevices) continue;
    const auto id = integer(row, "id");
    if (!id) continue;
    const auto memory = integer(row, "totalGlobalMem").value_or(0);
    header.devices.push_back({*id, text(row, "name"),
                              memory > 0 ? static_cast<std::uint64_t>(memory) : 0,
                              static_cast<std::uint32_t>(small(integer(row, "numSms"), 0))});
  }
}

}  // namespace

Header read_header(std::string_view json) {
  Header header;
  HeaderJson root = HeaderJson::parse(json, nullptr, false);
  // The tail may be cut or broken; what comes before the events rarely is.
  if (root.is_discarded()) {
    header.readable = false;
    const std::size_t list = json.find("\"traceEvents\"");
    if (list == std::string_view::npos) return header;
    root = HeaderJson::parse(std::string(json.substr(0, list)) + "\"traceEvents\": []}", nullptr,
                             false);
  }
  if (!root.is_object()) return header;
  const auto base = integer(root, "baseTimeNanoseconds");
  if (base && *base > 0 && Nanos(*base) <= kLatest) header.base = Nanos(*base);
  header.host = text(root, "host_name");
  if (const auto job = root.find("distributedInfo"); job != root.end() && job->is_object()) {
    header.backend = text(*job, "backend");
    header.rank = small(integer(*job, "rank"), -1);
    header.world_size = small(integer(*job, "world_size"), 0);
  }
  if (const auto list = root.find("deviceProperties"); list != root.end() && list->is_array()) {
    read_devices(*list, header);
  }
  return header;
}

}  // namespace amdahl::trace::kineto
