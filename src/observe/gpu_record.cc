#include "observe/gpu_record.h"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "os/files.h"

namespace amdahl::observe {
namespace {

constexpr std::size_t kMostRows = 20'000;

}  // namespace

GpuRecord::GpuRecord(const Nvml& nvml, std::vector<int> gpus)
    : nvml_{nvml}, gpus_{std::move(gpus)} {}

void GpuRecord::look(Nanos elapsed, std::span<const ProcessIdentity> members) {
  if (gpus_.empty() || elapsed < next_) return;
  next_ = elapsed + every_;
  for (const int gpu : gpus_) rows_.push_back(row_of(gpu, elapsed, members));
  if (rows_.size() < kMostRows) return;
  // Drops whole samples, so that the rows of all GPUs stay together.
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (i / gpus_.size() % 2 == 0) kept.push_back(std::move(rows_[i]));
  }
  rows_ = std::move(kept);
  every_ *= 2;
}

std::string GpuRecord::row_of(int gpu, Nanos elapsed,
                              std::span<const ProcessIdentity> members) const {
  Json row = {{"t_ns", elapsed.count()}, {"gpu", gpu}};
  if (const auto busy = nvml_.utilisation(gpu)) {
    row["busy"] = *busy;
  } else {
    row["trouble"] = nvml_.trouble(gpu);
  }
  if (const auto memory = nvml_.memory(gpu)) row["memory_bytes"] = memory->used_bytes;
  if (const auto power = nvml_.power_w(gpu)) row["power_w"] = *power;
  const auto processes = nvml_.processes(gpu);
  if (!processes) return row.dump();
  row["processes"] = Json::array();
  for (const GpuProcess& process : *processes) {
    Json one = {{"pid", process.pid}};
    if (process.memory_bytes) one["memory_bytes"] = *process.memory_bytes;
    const bool is_ours = std::ranges::any_of(
        members, [&](const ProcessIdentity& member) { return member.pid == process.pid; });
    // From inside a container the numbers of others, and of ourselves, mean nothing.
    const bool is_known = is_ours || os::exists(fmt::format("/proc/{}", process.pid));
    if (is_known) one["ours"] = is_ours;
    row["processes"].push_back(std::move(one));
  }
  return row.dump();
}

Result<> GpuRecord::write(const std::string& path) const {
  if (gpus_.empty()) return Ok{};
  Json head = {{"schema", 1}, {"gpus", Json::array()}};
  for (const int gpu : gpus_) {
    Json one = {{"gpu", gpu}, {"name", nvml_.name(gpu)}, {"uuid", nvml_.uuid(gpu)}};
    if (const auto memory = nvml_.memory(gpu)) one["memory_total_bytes"] = memory->total_bytes;
    head["gpus"].push_back(std::move(one));
  }
  std::string text = head.dump() + "\n";
  for (const std::string& row : rows_) text += row + "\n";
  return os::write_file(path, text);
}

}  // namespace amdahl::observe
