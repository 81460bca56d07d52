#include "profile/gpus.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"

namespace amdahl::profile {
namespace {

// A whole number that is not negative; nothing if it is absent.
Result<std::optional<std::int64_t>> whole_at(const Json& row, const char* name) {
  const auto found = row.find(name);
  if (found == row.end() || found->is_null()) return std::optional<std::int64_t>{};
  if (!found->is_number_integer() || *found < 0) {
    return bad_input(fmt::format("{} must be a whole number, 0 or more", name));
  }
  return std::optional(found->get<std::int64_t>());
}

Result<std::optional<double>> number_at(const Json& row, const char* name) {
  const auto found = row.find(name);
  if (found == row.end() || found->is_null()) return std::optional<double>{};
  if (!found->is_number() || found->get<double>() < 0) {
    return bad_input(fmt::format("{} must be a number, 0 or more", name));
  }
  return std::optional(found->get<double>());
}

Result<std::string> text_at(const Json& row, const char* name) {
  const auto found = row.find(name);
  if (found == row.end()) return std::string();
  if (!found->is_string()) return bad_input(fmt::format("{} must be a string", name));
  return found->get<std::string>();
}

Result<std::vector<GpuUse>> read_head(const Json& head) {
  if (!head.is_object() || head.value("schema", Json()) != 1) {
    return bad_input("the first row must have schema 1");
  }
  std::vector<GpuUse> uses;
  const Json rows = head.value("gpus", Json::array());
  if (!rows.is_array()) return bad_input("gpus must be a list");
  for (const Json& row : rows) {
    if (!row.is_object()) return bad_input("gpus must be a list of objects");
    GpuUse use;
    use.gpu = static_cast<int>(TRY(whole_at(row, "gpu")).value_or(0));
    use.name = TRY(text_at(row, "name"));
    use.uuid = TRY(text_at(row, "uuid"));
    use.memory_total_bytes = TRY(whole_at(row, "memory_total_bytes"));
    uses.push_back(std::move(use));
  }
  return uses;
}

Result<> add_processes(const Json& rows, GpuUse& use) {
  if (!rows.is_array()) return bad_input("processes must be a list");
  int strangers = 0;
  std::int64_t bytes = 0;
  for (const Json& row : rows) {
    if (!row.is_object()) return bad_input("processes must be a list of objects");
    if (row.value("ours", Json(true)) != false) continue;  // Ours, or nobody can tell.
    ++strangers;
    bytes += std::min<std::int64_t>(TRY(whole_at(row, "memory_bytes")).value_or(0), 1LL << 50);
    if (use.stranger_pid == 0) use.stranger_pid = TRY(whole_at(row, "pid")).value_or(0);
  }
  use.strangers = std::max(use.strangers, strangers);
  use.strangers_bytes = std::max(use.strangers_bytes, bytes);
  return Ok{};
}

Result<> add_look(const Json& row, std::vector<GpuUse>& uses) {
  if (!row.is_object()) return bad_input("a row must be an object");
  const auto gpu = TRY(whole_at(row, "gpu"));
  const auto use = std::ranges::find_if(uses, [&](const GpuUse& one) { return one.gpu == gpu; });
  if (!gpu || use == uses.end()) return bad_input("gpu must be one of the first row's");
  ++use->looks;
  if (const auto memory = TRY(whole_at(row, "memory_bytes"))) {
    use->memory_peak_bytes = std::max(use->memory_peak_bytes.value_or(0), *memory);
  }
  // A running mean: looks without power are rare, and as wrong as they are few.
  if (const auto power = TRY(number_at(row, "power_w"))) {
    const double before = use->power_w.value_or(*power);
    use->power_w = before + (*power - before) / use->looks;
  }
  if (const std::string trouble = TRY(text_at(row, "trouble")); !trouble.empty()) {
    ++use->lost_looks;
    use->trouble = trouble;
  }
  if (row.contains("processes")) TRY(add_processes(row["processes"], *use));
  return Ok{};
}

}  // namespace

Result<std::vector<GpuUse>> read_gpus(std::string_view lines) {
  std::vector<GpuUse> uses;
  int number = 0;
  for (const std::string_view line : split(lines, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const std::string where = fmt::format("line {}", number);
    const Json row = TRY(parse_json(line).in(where));
    if (number == 1) {
      uses = TRY(read_head(row).in(where));
    } else {
      TRY(add_look(row, uses).in(where));
    }
  }
  return uses;
}

Facts facts_of(const std::vector<GpuUse>& gpus) {
  Facts facts;
  double power = 0;
  int measured = 0;
  for (const GpuUse& use : gpus) {
    if (use.memory_peak_bytes && use.memory_total_bytes.value_or(0) > 0) {
      double& share = facts.evidence["gpu.memory_peak_share"];
      share = std::max(share, std::min(1.0, static_cast<double>(*use.memory_peak_bytes) /
                                                static_cast<double>(*use.memory_total_bytes)));
    }
    if (use.power_w) {
      power += *use.power_w;
      ++measured;
    }
    if (use.looks > 0) {
      double& strangers = facts.evidence["gpu.strangers"];
      strangers = std::max(strangers, static_cast<double>(use.strangers));
    }
    if (use.lost_looks > 0) {
      facts.missing.push_back(fmt::format("utilisation of GPU {}: missing in {} of {} samples: {}",
                                          use.gpu, use.lost_looks, use.looks, use.trouble));
    }
  }
  if (measured > 0) facts.evidence["gpu.power_w"] = power / measured;
  return facts;
}

std::string describe(const GpuUse& use) {
  const auto gigabytes = [](std::int64_t bytes) {
    return show_number(static_cast<double>(bytes) / 1e9);
  };
  std::string text = fmt::format("GPU {} ({}):", use.gpu, use.name);
  if (use.memory_peak_bytes) {
    text += fmt::format(" peak memory {}", gigabytes(*use.memory_peak_bytes));
    if (use.memory_total_bytes) text += fmt::format(" of {}", gigabytes(*use.memory_total_bytes));
    text += " GB,";
  }
  if (use.power_w) text += fmt::format(" {} W on average,", show_number(*use.power_w));
  if (use.strangers > 0) {
    text += fmt::format(
        " shared with {} other process{} ({} GB, one is pid {}), so the utilisation includes other "
        "jobs,",
        use.strangers, use.strangers == 1 ? "" : "es", gigabytes(use.strangers_bytes),
        use.stranger_pid);
  }
  if (use.lost_looks > 0) {
    text += fmt::format(" no utilisation in {} sample{} ({}),", use.lost_looks,
                        use.lost_looks == 1 ? "" : "s", use.trouble);
  }
  text += fmt::format(" {} sample{}", use.looks, use.looks == 1 ? "" : "s");
  return text;
}

}  // namespace amdahl::profile
