#include "fleet/nvidia_smi/nvidia_smi.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "fleet/feed.h"

namespace amdahl::fleet::nvidia_smi {
namespace {

using model::Trouble;
using std::chrono::seconds;

constexpr std::string_view kHeader =
    "timestamp, index, name, uuid, utilization.gpu [%], memory.used [MiB], power.draw [W]\n";

TEST(NvidiaSmi, ReadsUnitsAndBlanks) {
  const std::string bytes =
      std::string(kHeader) +
      "2017/10/11 00:00:00.312, 0, Tesla P100, GPU-0, 83 %, 9830 MiB, 189.70 W\n"
      "2017/10/11 00:00:00.313, 1, Tesla P100, GPU-1, [N/A], 9820 MiB, 187.80 W\n"
      "2017/10/11 00:00:10.312, 0, Tesla P100, GPU-0, [Not Supported], 9830 MiB, 189.70 W\n" +
      std::string(kHeader) +  // nvidia-smi was started again.
      "2017/10/11 00:00:20.312, 0, Tesla P100, GPU-0, 7 %, 9830 MiB, [Unknown Error]\n"
      "2017/10/11 00:00:30.312, 0, Tesla P100\n"
      "yesterday, 0, Tesla P100, GPU-0, 7 %, 9830 MiB, 1 W\n";
  EXPECT_TRUE(claims(bytes));
  for (const std::size_t piece : {std::string::npos, std::size_t{1}}) {
    const Fed fed = feed(make, bytes, {.path = "logs/nvidia-smi_gpu001_2017-10-11.csv.gz"}, piece);
    EXPECT_EQ(fed.error, "");
    ASSERT_EQ(fed.told.series_names.size(), 6U);
    EXPECT_EQ(fed.told.series_names[0], "gpu001/0 utilization.gpu uuid=GPU-0 kind=Tesla P100");
    EXPECT_EQ(fed.told.series_names[1], "gpu001/0 memory.used uuid=GPU-0 kind=Tesla P100");
    ASSERT_EQ(fed.told.samples_of[0].size(), 2U);
    EXPECT_EQ(fed.told.samples_of[0][0].at, seconds(1507680000) + Nanos(312'000'000));
    EXPECT_EQ(fed.told.samples_of[0][1].value, 7);
    EXPECT_EQ(fed.told.samples_of[1].at(0).value, 9830);
    EXPECT_EQ(fed.told.samples_of[2].at(0).value, 189.7F) << "in watts";
    EXPECT_EQ(fed.told.count(Trouble::kBlankValue), 3U);
    EXPECT_EQ(fed.told.count(Trouble::kBadLine), 1U);
    EXPECT_EQ(fed.told.count(Trouble::kBadTime), 1U);
    EXPECT_EQ(fed.told.complaints[0].text, "utilization.gpu '[N/A]'");
    EXPECT_EQ(fed.told.complaints[0].where.line, 3U);
  }
}

TEST(NvidiaSmi, WithoutUnitsInAnyOrder) {
  const Fed fed =
      feed(make, "uuid, utilization.gpu, timestamp\nGPU-7, 55, 2017/10/11 00:00:00.000\n",
           {.host = "n7"});
  EXPECT_EQ(fed.told.series_names.at(0), "n7/ utilization.gpu uuid=GPU-7");
  EXPECT_EQ(fed.told.samples_of.at(0).at(0).value, 55);
}

// In the hour that daylight saving repeats, time must not run backwards.
TEST(NvidiaSmi, ClocksThatGoBack) {
  std::string bytes(kHeader);
  for (const std::string_view time : {"02:10:00", "02:50:00", "02:10:00", "02:50:00", "03:10:00"}) {
    bytes += "2025/10/26 " + std::string(time) + ".000, 0, T, GPU-0, 5 %, 1 MiB, 1 W\n";
  }
  const Fed fed = feed(make, bytes, {.host = "n", .time_zone = "CET-1CEST,M3.5.0,M10.5.0/3"});
  ASSERT_EQ(fed.told.samples_of.at(0).size(), 5U);
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_GT(fed.told.samples_of[0][i].at, fed.told.samples_of[0][i - 1].at);
  }
  EXPECT_EQ(fed.told.count(Trouble::kAmbiguousTime), 4U);
}

TEST(NvidiaSmi, TheHostIsInThePath) {
  EXPECT_EQ(host_in_path("a/nvidia-smi_gpu001_2017-10-11.csv.gz"), "gpu001");
  EXPECT_EQ(host_in_path("gpu001.cluster.example.csv"), "gpu001");
  EXPECT_EQ(host_in_path("logs/gpu007/nvidia-smi.csv"), "gpu007");
  EXPECT_EQ(host_in_path("nvidia-smi.csv"), "");
  EXPECT_EQ(host_in_path("logs/nvidia-smi-gpu01.csv"), "gpu01");
  EXPECT_EQ(host_in_path("gpu01-smi.csv"), "gpu01");
  EXPECT_EQ(host_in_path("gn01/smi-L.txt"), "gn01");
  EXPECT_EQ(host_in_path("logs/hercules.csv"), "hercules");
  EXPECT_EQ(host_in_path("2026-11-02/hercules.csv"), "hercules");
  EXPECT_EQ(host_in_path(""), "");
}

TEST(NvidiaSmi, NamesOfAListWithMigDevices) {
  const std::string bytes =
      "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5b)\n"
      "  MIG 3g.20gb     Device  0: (UUID: MIG-c6d4)\n"
      "  MIG 1g.5gb      Device  1: (UUID: MIG-1234)\n"
      "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-77aa)\n";
  EXPECT_TRUE(claims(bytes));
  EXPECT_EQ(explain(bytes, {}).gives, Gives::kJobs);
  for (const std::size_t piece : {std::string::npos, std::size_t{1}}) {
    const Fed fed = feed(make, bytes, {.path = "gpu001/nvidia-smi.txt"}, piece);
    EXPECT_EQ(fed.error, "");
    EXPECT_EQ(join(fed.told.devices, ", "),
              "/0 uuid=GPU-5d5b likely=gpu001, "
              "/0 slice=MIG-c6d4 profile=3g.20gb uuid=MIG-c6d4 likely=gpu001, "
              "/0 slice=MIG-1234 profile=1g.5gb uuid=MIG-1234 likely=gpu001, "
              "/1 uuid=GPU-77aa likely=gpu001");
  }
}

TEST(NvidiaSmi, NamesOfATable) {
  const std::string bytes =
      "index, uuid, pci.bus_id, memory.total [MiB]\n"
      "0, GPU-a, 00000000:18:00.0, 40960 MiB\n3, [N/A], 00000000:3B:00.0, 40960 MiB\n1, GPU-b\n";
  EXPECT_TRUE(claims(bytes));
  EXPECT_EQ(explain(bytes, {}).gives, Gives::kJobs);
  const Fed fed = feed(make, bytes, {.host = "n1"});
  EXPECT_EQ(fed.told.devices, std::vector<std::string>{"n1/0 uuid=GPU-a bus=00000000:18:00.0"});
  EXPECT_EQ(fed.told.count(Trouble::kBadLine), 2U);
  EXPECT_EQ(explain(kHeader, {}).gives, Gives::kSamples);
  EXPECT_FALSE(claims("timestamp, hostname, index, utilization.gpu [%]\n")) << "of many hosts";
  EXPECT_FALSE(claims("hostname,index,uuid\n")) << "of many hosts";
}

TEST(NvidiaSmi, NamesOfALog) {
  const std::string gpu = "    GPU UUID                              : GPU-";
  const std::string bytes =
      "\n==============NVSMI LOG==============\n\n"
      "Timestamp                                 : Fri Nov 15 10:23:11 2024\n"
      "Attached GPUs                             : 4\n"
      "GPU 00000000:18:00.0\n" +
      gpu + "a\n    Minor Number                          : 2\n";
  EXPECT_TRUE(claims(bytes));
  const Fed one = feed(make, bytes, {.host = "n1"});
  EXPECT_EQ(one.told.devices, std::vector<std::string>{"n1/2 uuid=GPU-a bus=00000000:18:00.0"})
      << "of four only one is shown, so its number counts";
  const Fed bare =
      feed(make, "\n=====NVSMI LOG=====\nGPU 00000000:18:00.0\n    Minor Number : 0\n");
  EXPECT_EQ(bare.told.count(Trouble::kBadLine), 1U);
}

TEST(NvidiaSmi, NamesOfARealLog) {
  const char* corpus = std::getenv("AMDAHL_CORPUS");
  if (!corpus) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  std::ifstream file(std::string(corpus) + "/fleet/nvidia_smi/nvidia-smi-q.txt");
  std::stringstream bytes;
  bytes << file.rdbuf();
  ASSERT_TRUE(claims(bytes.str()));
  const Fed fed = feed(make, bytes.str(), {.host = "n1"});
  ASSERT_EQ(fed.told.devices.size(), 4U);
  EXPECT_EQ(fed.told.devices[3],
            "n1/3 uuid=GPU-198d6802-0000-0000-0000-000000000000 bus=00000000:AF:00.0");
}

TEST(NvidiaSmi, SaysWhatIsMissing) {
  EXPECT_EQ(feed(make, "1, 2, 3\n").error,
            "the first line is not the header of nvidia-smi --query-gpu, nor does it say by its "
            "units what its columns are; run it with --format=csv, without noheader");
  EXPECT_EQ(feed(make, "timestamp, utilization.gpu [%]\n2024/03/01 00:00:00.000, 5 %\n").error,
            "does not say which GPU a row is about; query index or uuid too");
}

// `nvidia-smi --query-gpu=timestamp,utilization.gpu -l 10` prints a row for each GPU, in order.
TEST(NvidiaSmi, RowsThatDoNotSayWhichGpuComeInOrder) {
  std::string bytes;
  for (int round = 0; round < 60; ++round) {
    for (int gpu = 0; gpu < 4; ++gpu) {
      if (round == 40 && gpu > 1) continue;  // It was stopped, and started again.
      bytes += fmt::format("2024/03/01 00:{:02}:{:02}.{:03}, {} %, 3 %\n", round / 6,
                           round % 6 * 10, gpu * 7, gpu * 10);
    }
  }
  const std::string header = "timestamp, utilization.gpu [%], utilization.memory [%]\n";
  for (const std::string& text : {header + bytes, bytes}) {
    ASSERT_TRUE(claims(text));
    for (const std::size_t piece : {std::string::npos, std::size_t{50}}) {
      const Fed fed = feed(make, text, {.path = "n1.csv"}, piece);
      EXPECT_EQ(fed.error, "");
      ASSERT_EQ(fed.told.series_names.size(), 4U);
      EXPECT_EQ(fed.told.series_names[3], "n1/3 utilization.gpu");
      for (std::size_t gpu = 0; gpu < 4; ++gpu) {
        EXPECT_EQ(fed.told.samples_of[gpu].size(), gpu > 1 ? 59U : 60U);
        for (const Sample& sample : fed.told.samples_of[gpu]) {
          EXPECT_EQ(sample.value, static_cast<float>(gpu * 10));
        }
      }
    }
  }
  const Fed later =
      feed(make, "2024/03/02 00:00:00.000, 0 %, 3 %\n2024/03/02 00:00:00.007, 10 %, 3 %\n",
           {.path = "n1.csv", .head = bytes});
  EXPECT_EQ(later.told.series_names,
            (std::vector<std::string>{"n1/0 utilization.gpu", "n1/1 utilization.gpu"}));
}

TEST(NvidiaSmi, WithoutAHeaderByUnits) {
  const std::string bytes =
      "2024/03/01 00:00:00.000, 0, 9830 MiB, 100 %\n"
      "2024/03/01 00:00:00.000, 1, 12 MiB, [N/A]\n"
      "2024/03/01 00:00:10.000, 0, 9830 MiB, 50 %\n";
  EXPECT_TRUE(claims(bytes));
  EXPECT_EQ(explain(bytes, {}).appended, Appended::kAlone);
  const Fed fed = feed(make, bytes, {.path = "n1.csv"});
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.series_names.size(), 2U);
  EXPECT_EQ(fed.told.series_names[0], "n1/0 utilization.gpu");
  ASSERT_EQ(fed.told.samples_of[0].size(), 2U);
  EXPECT_EQ(fed.told.samples_of[0][1].value, 50);
  EXPECT_EQ(fed.told.count(Trouble::kBlankValue), 1U);
  // A later part of it, by what its beginning was.
  const Fed later =
      feed(make, "2024/03/01 00:00:20.000, 1, 12 MiB, [N/A]\n", {.path = "n1.csv", .head = bytes});
  EXPECT_EQ(later.error, "");
  EXPECT_EQ(later.told.count(Trouble::kBlankValue), 1U);
  // Of three in percent, or none, nobody knows which is which.
  EXPECT_FALSE(claims("2024/03/01 00:00:00.000, 0, 3 %, 100 %, 5 %\n"));
  EXPECT_FALSE(claims("2024/03/01 00:00:00.000, 0, 100\n"));
  const Fed warm = feed(make, "2024/03/01 00:00:00.000, GPU-a, 3 %, 7 %, 45\n", {.path = "n1.csv"});
  EXPECT_EQ(warm.told.series_names, std::vector<std::string>{"n1/ utilization.gpu uuid=GPU-a"})
      << "a temperature is no index";
}

}  // namespace
}  // namespace amdahl::fleet::nvidia_smi
