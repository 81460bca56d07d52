#include <nlohmann/json.hpp>

#include "api/profile.h"

namespace amdahl::api {
namespace {

using profile::RoleWaits;

Json encode_role(const RoleWaits& role, double wall_s, bool is_exact) {
  Json blocked = Json::object();
  for (std::size_t i = 0; i < model::kWaits; ++i) {
    if (role.blocked_s[i] > 0) blocked[std::string(model::kWaitNames[i])] = role.blocked_s[i];
  }
  Json json{{"role", name(role.role)},       {"threads", role.threads},
            {"life_s", role.life_s},         {"running_s", role.running_s},
            {"runqueue_s", role.runqueue_s}, {"preempted_s", role.preempted_s},
            {"blocked_s", blocked}};
  if (!is_exact || wall_s <= 0) return json;
  json["wakeups_per_s"] = role.wakeups / wall_s;
  json["preemptions_per_s"] = role.preemptions / wall_s;
  json["until_loader_s"] = role.until_loader_s;
  json["until_pool_s"] = role.until_pool_s;
  if (role.syscalls >= 0) json["syscalls_per_s"] = role.syscalls / wall_s;
  return json;
}

Json encode_disk(const model::DeviceIo& disk) {
  return {{"name", disk.name},
          {"reads", disk.reads},
          {"writes", disk.writes},
          {"read_bytes", disk.read_bytes},
          {"write_bytes", disk.write_bytes},
          {"read_s", to_seconds(disk.read_time)},
          {"write_s", to_seconds(disk.write_time)},
          {"own", disk.own},
          {"own_s", to_seconds(disk.own_time)},
          {"longest_s", to_seconds(disk.longest)}};
}

Json encode_place(const profile::WaitPlace& place) {
  Json json{{"reason", place.reason},
            {"count", place.count},
            {"seconds", place.seconds},
            {"longest_s", place.longest_s},
            {"stack", place.stack}};
  if (place.line) {
    json["file"] = place.line->file;
    json["line"] = place.line->line;
    json["function"] = place.line->function;
  }
  return json;
}

}  // namespace

Json waits(const profile::WaitsReport& report) {
  const bool is_exact = report.collector == "bpf";
  Json json{{"collector", report.collector},
            {"wall_s", report.wall_s},
            {"collector_cpu_s", report.collector_cpu_s},
            {"lost",
             {{"threads", report.lost_tasks},
              {"places", report.lost_sites},
              {"waits", report.lost_events},
              {"wakes", report.lost_wakes},
              {"samples", report.lost_samples}}}};
  if (!is_exact) json["why_not_bpf"] = report.why_not;
  if (!is_exact) json["sample_every_s"] = report.sample_every_s;
  for (const char* list : {"roles", "places", "lines", "wakes", "disks"}) {
    json[list] = Json::array();
  }
  for (const RoleWaits& role : report.roles) {
    json["roles"].push_back(encode_role(role, report.wall_s, is_exact));
  }
  for (const auto& place : report.places) json["places"].push_back(encode_place(place));
  for (const profile::LineCost& cost : report.lines) {
    json["lines"].push_back({{"file", cost.file},
                             {"line", cost.line},
                             {"function", cost.function},
                             {"seconds", cost.seconds},
                             {"waits_only", cost.waits_only}});
  }
  for (const profile::WakeRow& row : report.wakes) {
    json["wakes"].push_back({{"waker", row.waker},
                             {"waker_name", row.waker_name},
                             {"wakee", row.wakee},
                             {"wakee_name", row.wakee_name},
                             {"count", row.count},
                             {"blocked_s", row.blocked_s}});
  }
  for (const model::DeviceIo& disk : report.disks) json["disks"].push_back(encode_disk(disk));
  return json;
}

}  // namespace amdahl::api
