#include "fleet/table/layouts.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace amdahl::fleet::table {
namespace {

constexpr auto kLayouts = std::to_array<Layout>({
    {"ClusterCockpit job table", "job_id,subcluster,start_time,duration,num_acc,nodes", false, R"(
row = "job"
[columns]
id = "job_id"
user = "user"
account = "acct"
partition = "subcluster"
kind = "subcluster"
state = "job_state"
start = "start_time"
elapsed = "duration"
accelerators = "num_acc"
host_count = "num_nodes"
hosts = { column = "nodes", separator = ";", cut = ":" }
utilisation = { column = "acc_utilization_avg_pct", unit = "percent", metric = "acc_utilization" }
)"},
    {"Philly jobs as Pollux and Sia use them", "timestamp,duration,num_gpus,gpu_time,cluster", true,
     R"(
row = "job"
[columns]
id = { from = "line" }
account = "cluster"
partition = "cluster"
start = "timestamp"
elapsed = "duration"
accelerators = "num_gpus"
)"},
    // Its clock starts at 0; a year of its publication keeps that from meaning "never".
    {"Alibaba GPU pods (openb)",
     "name,num_gpu,gpu_milli,pod_phase,creation_time,deletion_time,scheduled_time", false, R"(
row = "job"
time = "epoch_s"
time_base = "2023-01-01"
[columns]
id = "name"
name = "name"
partition = "qos"
kind = "gpu_spec"
state = "pod_phase"
submit = "creation_time"
start = "scheduled_time"
end = "deletion_time"
accelerators = { column = "num_gpu", times = "gpu_milli", scale = 0.001 }
)"},
    {"Alibaba GPU nodes (openb)", "sn,cpu_milli,memory_mib,gpu,model", true, R"(
row = "capacity"
[columns]
host = "sn"
kind = "model"
accelerators = "gpu"
)"},
    {"Helios occupancy of a virtual cluster", "time,total_gpu_num,running_gpu_num,idle_gpu_num",
     false, R"(
row = "occupancy"
[columns]
time = "time"
partition = { from = "file" }
total = "total_gpu_num"
allocated = "running_gpu_num"
held = { constant = 60 }
)"},
    {"names of accelerators", "host,gpu,uuid", true, R"(
row = "device"
[columns]
host = "host"
accelerator = "gpu"
uuid = "uuid"
)"},
    {"accelerators of jobs", "jobid,host,gpu", true, R"(
row = "place"
[columns]
job = "jobid"
host = "host"
accelerator = "gpu"
)"},
});

// Alibaba's PAI keeps its headers in files of their own.
constexpr auto kShapes = std::to_array<Layout>({
    {"Alibaba PAI tasks (2020)", "hwnsnnnnnw", true, R"(
row = "job"
header = false
time = "epoch_s"
[columns]
id = { column = "1", and = "2" }
name = "2"
kind = "10"
state = "4"
start = "5"
end = "6"
host_count = "3"
accelerators = { column = "9", times = "3", scale = 0.01 }
)"},
    {"Alibaba PAI machines (2020)", "hwnnn", true, R"(
row = "capacity"
header = false
[columns]
host = "1"
kind = "2"
accelerators = "5"
)"},
});

bool cell_fits(std::string_view cell, char letter) {
  const auto only = [&](std::string_view letters) {
    return cell.find_first_not_of(letters) == cell.npos;
  };
  switch (letter) {
    case 'h':
      return cell.size() >= 12 && only("0123456789abcdef");
    case 'n':
      return only("0123456789.");
    case 's':
      return cell == "Terminated" || cell == "Failed" || cell == "Running" || cell == "Waiting";
    default:
      return only("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") &&
             (cell.empty() || cell.front() > '9');
  }
}

}  // namespace

std::span<const Layout> layouts() { return kLayouts; }
std::span<const Layout> shapes() { return kShapes; }

const Layout* shape_of(const std::vector<std::string_view>& cells) {
  for (const Layout& shape : kShapes) {
    if (shape.columns.size() == cells.size() &&
        std::ranges::equal(cells, shape.columns, cell_fits)) {
      return &shape;
    }
  }
  return nullptr;
}

const Layout* layout_of(const std::vector<std::string_view>& header) {
  for (const Layout& layout : kLayouts) {
    const auto columns = split(layout.columns, ',');
    if (layout.only && columns.size() != header.size()) continue;
    const bool all = std::ranges::all_of(columns, [&](std::string_view column) {
      return std::ranges::find(header, column) != header.end();
    });
    if (all) return &layout;
  }
  return nullptr;
}

}  // namespace amdahl::fleet::table
