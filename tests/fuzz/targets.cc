#include "targets.h"

#include <array>

#include "fleet_targets.h"
#include "http_target.h"
#include "profile_targets.h"

namespace amdahl::fuzz {
namespace {

// To add one: a row here, and a folder of that name with small inputs in tests/fuzz/corpus/.
constexpr auto kTargets = std::to_array<Target>({
    {"slurm", [](std::string_view bytes) { read_by_source("slurm", bytes); }},
    {"pbs", [](std::string_view bytes) { read_by_source("pbs", bytes); }},
    {"sge", [](std::string_view bytes) { read_by_source("sge", bytes); }},
    {"lsf", [](std::string_view bytes) { read_by_source("lsf", bytes); }},
    {"sonar", [](std::string_view bytes) { read_by_source("sonar", bytes); }},
    {"csv", [](std::string_view bytes) { read_by_source("csv", bytes); }},
    {"csv-long", [](std::string_view bytes) { read_by_source("csv-long", bytes); }},
    {"nvidia-smi", [](std::string_view bytes) { read_by_source("nvidia-smi", bytes); }},
    {"nvidia-smi-mon", [](std::string_view bytes) { read_by_source("nvidia-smi-mon", bytes); }},
    {"prometheus-text", [](std::string_view bytes) { read_by_source("prometheus-text", bytes); }},
    {"philly", [](std::string_view bytes) { read_by_source("philly", bytes); }},
    {"json-table", [](std::string_view bytes) { read_by_source("json-table", bytes); }},
    {"guess", guess_source},
    {"prometheus", [](std::string_view bytes) { read_by_source("prometheus", bytes); }},
    {"clustercockpit", [](std::string_view bytes) { read_by_source("clustercockpit", bytes); }},
    {"clustercockpit-data",
     [](std::string_view bytes) { read_by_source("clustercockpit-data", bytes); }},
    {"local", [](std::string_view bytes) { read_by_source("local", bytes); }},
    {"zone", read_zone},
    {"hosts", read_hosts},
    {"unpack", unpack},
    {"kineto", [](std::string_view bytes) { read_trace("kineto", bytes); }},
    {"nsys", [](std::string_view bytes) { read_trace("nsys", bytes); }},
    {"rocpd", [](std::string_view bytes) { read_trace("rocpd", bytes); }},
    {"xplane", [](std::string_view bytes) { read_trace("xplane", bytes); }},
    {"ncu", [](std::string_view bytes) { read_trace("ncu", bytes); }},
    {"operations", [](std::string_view bytes) { read_trace("operations", bytes); }},
    {"bpf", [](std::string_view bytes) { read_trace("bpf", bytes); }},
    {"perf", [](std::string_view bytes) { read_trace("perf", bytes); }},
    {"code", read_code},
    {"http", read_request},
});

}  // namespace

std::span<const Target> targets() { return kTargets; }

const Target* find_target(std::string_view name) {
  for (const Target& target : kTargets) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

}  // namespace amdahl::fuzz
