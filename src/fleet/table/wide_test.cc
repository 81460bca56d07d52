// Tables whose columns are named after series: as Grafana and InfluxDB write them, and people.
#include "fleet/table/wide.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "fleet/feed.h"
#include "fleet/table/table.h"

namespace amdahl::fleet::table {
namespace {

TEST(Wide, NamesThatHaveHostAndAccelerator) {
  const struct {
    std::string_view name;
    std::string_view want;  // "HOST|BETWEEN|ACCELERATOR|METRIC".
  } cases[] = {
      {"10.140.1.10-3", "10.140.1.10|-|3|"},
      {"gn01:3", "gn01|:|3|"},
      {"gn01 GPU 3", "gn01| GPU |3|"},
      {"gn01 - GPU3", "gn01| - GPU|3|"},
      {"gn-01_gpu12", "gn-01|_gpu|12|"},
      {"gn01.example.org/card1", "gn01.example.org|/card|1|"},
      {"GPU 3 (gn01)", "gn01||3|"},
      {"gpu3@gn01.example.org", "gn01.example.org||3|"},
      {"gn01_gpu3_util", "gn01||3|gpu_util"},
      {"gn01.gpu3.sm_active", "gn01||3|DCGM_FI_PROF_SM_ACTIVE"},
      {"gn01.gpu3.memory_util", "none"},
      {"gpu3", "none"},
      {"gpu3_util", "none"},
      {"gpu_util", "none"},
      {"3", "none"},
      {"Time", "none"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto place = place_in(c.name);
    EXPECT_EQ(place ? fmt::format("{}|{}|{}|{}", place->host, place->between, place->accelerator,
                                  place->metric)
                    : "none",
              c.want);
  }
}

// What a scan makes of a file without being told anything.
std::string read(std::string_view bytes, const std::string& path) {
  const ReaderOptions options{.path = path};
  const auto source = sources().claiming(bytes, options);
  if (!source) return source.error().text;
  const Fed fed = feed(source->make, bytes, options);
  if (!fed.error.empty()) return fed.error;
  std::vector<std::string> series;
  for (std::size_t i = 0; i < fed.told.series_names.size(); ++i) {
    std::string text = fed.told.series_names[i] + ":";
    for (const Sample& sample : fed.told.samples_of[i]) text += fmt::format(" {}", sample.value);
    series.push_back(std::move(text));
  }
  return join(series, "; ");
}

TEST(Wide, ColumnsThatGrafanaNames) {
  const std::string labels =
      "\"Time\",\"{__name__=\"\"DCGM_FI_DEV_GPU_UTIL\"\", Hostname=\"\"n1\"\", gpu=\"\"0\"\", "
      "modelName=\"\"A100, 80GB\"\"}\",\"DCGM_FI_DEV_GPU_UTIL{gpu=\"\"1\"\",Hostname=\"\"n1\"\","
      "hpc_job=\"\"77\"\"}\",\"DCGM_FI_DEV_POWER_USAGE{gpu=\"\"1\"\",Hostname=\"\"n1\"\"}\"\n"
      "2026-11-02 00:00:00,10,20,300\n2026-11-02 00:01:00,30,,310\n";
  const std::string want =
      "n1/0 DCGM_FI_DEV_GPU_UTIL kind=A100, 80GB: 10 30; n1/1 DCGM_FI_DEV_GPU_UTIL job=77: 20";
  EXPECT_EQ(read(labels, "export.csv"), want);
  EXPECT_EQ(read("sep=,\r\n" + labels, "export.csv"), want);
  const std::string file = "GPU Utilization-data-2026-11-02 10_00_00.csv";
  EXPECT_EQ(read("Time,\"{Hostname=\"\"n1\"\", gpu=\"\"0\"\"}\"\n2026-11-02 00:00:00,45%\n"
                 "2026-11-02 00:01:00,0%\n",
                 file),
            "n1/0 gpu_util: 45 0");
  EXPECT_EQ(read("Time,n1 - GPU 0,n2 - GPU 0\n2026-11-02 00:00:00,45%,5%\n", file),
            "n1/0 gpu_util: 45; n2/0 gpu_util: 5");
  EXPECT_EQ(read("Time,GPU 0 (n1),GPU 0 (n2.example.org)\n2026-11-02 00:00:00,45%,5%\n", file),
            "n1/0 gpu_util: 45; n2/0 gpu_util: 5");
  EXPECT_EQ(read(",Time,10.1.0.1-0,10.1.0.1-1\n0,2026-11-02 00:00:00,45,5\n", "GPU_UTIL.csv"),
            "10.1.0.1/0 gpu_util: 45; 10.1.0.1/1 gpu_util: 5")
      << "with the numbers of lines that pandas adds";
  EXPECT_EQ(read("Time,n1.gpu0.utilization,n1.gpu1.utilization\n2026-11-02 00:00:00,45,5\n", "x"),
            "n1/0 utilization: 0.45; n1/1 utilization: 0.05");
}

TEST(Wide, OneColumnOfValues) {
  const std::string table = "Time,Hostname,gpu,Value\n2026-11-02 00:00:00,n1,0,45\n";
  EXPECT_EQ(read(table, "pod_gpu_duty_cycle_2026.csv"), "n1/0 gpu_util: 45");
  EXPECT_EQ(read(table, "DCGM_FI_DEV_GPU_UTIL.csv"), "n1/0 DCGM_FI_DEV_GPU_UTIL: 45");
  for (const std::string path : {"data.csv", "gpu_memory_util.csv", "gpu-temperature.csv"}) {
    EXPECT_NE(read(table, path).find("value: the metric of"), std::string::npos) << path;
  }
}

TEST(Wide, TablesOfInfluxDb) {
  const std::string head =
      "#group,false,false,true,true,false,false,true,true,true,true\r\n"
      "#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,long,string,string,"
      "string,string\r\n#default,_result,,,,,,,,,\r\n"
      ",result,table,_start,_stop,_time,_value,_field,_measurement,host,index\r\n";
  const auto row = [](int minute, int value, std::string_view field, int gpu) {
    return fmt::format(
        ",,0,2026-11-02T00:00:00Z,2026-11-02T09:00:00Z,2026-11-02T00:{:02}:00Z,{},{},nvidia_smi,"
        "n1,{}\r\n",
        minute, value, field, gpu);
  };
  const std::string table = head + row(0, 11000, "memory_used", 0) +
                            row(1, 12000, "memory_used", 0) + "\r\n" + head +
                            row(0, 45, "utilization_gpu", 0) + row(1, 0, "utilization_gpu", 0) +
                            row(0, 7, "utilization_gpu", 1);
  const std::string got = read(table, "export.csv");
  EXPECT_NE(got.find("n1/0 gpu_util: 45 0; n1/1 gpu_util: 7"), std::string::npos) << got;
}

TEST(Wide, MetricsByLooseNames) {
  const auto table = [](std::string_view value) {
    return fmt::format(
        "time,node,device,name,value\n2026-11-02 00:00:00,n1,gpu0,gpu.temperature,55\n"
        "2026-11-02 00:00:00,n1,gpu0,gpu.utilization,{}\n",
        value);
  };
  EXPECT_NE(read(table("45"), "x.csv").find("n1/0 gpu_util: 45"), std::string::npos);
  EXPECT_NE(read(table("0.45"), "x.csv").find("n1/0 gpu_util: 45"), std::string::npos);
  EXPECT_NE(read("timestamp,host,gpu,metric,value\n1793577600,n1,0,gpu.utilization,45\n", "x.csv")
                .find("n1/0 gpu_util: 45"),
            std::string::npos);
}

// Each column is weighed alone: one in percent says nothing of another from 0 to 1.
TEST(Wide, TwoColumnsInTwoUnits) {
  std::string table = "time,host,gpu,gpu_util,sm_active\n";
  for (int i = 0; i < 60; ++i) table += fmt::format("{},n1,0,80,0.4\n", 1793577600 + i * 60);
  const std::string got = read(table, "x.csv");
  EXPECT_NE(got.find("n1/0 gpu_util: 80 80"), std::string::npos) << got;
  EXPECT_NE(got.find("n1/0 DCGM_FI_PROF_SM_ACTIVE: 0.4 0.4"), std::string::npos) << got;
}

}  // namespace
}  // namespace amdahl::fleet::table
