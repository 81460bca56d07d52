// Accounting and telemetry joined by the real program, in any order and by any names.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

constexpr std::int64_t kStart = 1'700'006'400;  // 2023-11-15 00:00 UTC.

std::string sacct(const std::string& rows) {
  return "JobID|User|Partition|State|Start|End|ElapsedRaw|NodeList|AllocTRES|JobName\n" + rows;
}

std::string job(const std::string& id, const std::string& node, const std::string& tres) {
  return fmt::format("{}|ada|main|COMPLETED|{}|{}|3600|{}|{}|train\n", id, kStart, kStart + 3600,
                     node, tres);
}

// A line for each minute of the hour.
template <class Line>
std::string hour(Line line) {
  std::string text;
  for (int minute = 0; minute < 60; ++minute) text += line(kStart + minute * 60);
  return text;
}

class Joined : public testing::Test {
 protected:
  Json scan(std::vector<std::string> words, const std::string& input = "/dev/null") {
    std::string line = fmt::format("'{}' scan --state state --json", program());
    for (const std::string& word : words) line += " '" + word + "'";
    const Outcome outcome = run({"sh", "-c", line + " < " + input}, {}, sandbox_.path());
    return json_of(outcome);
  }

  static std::uint64_t trouble(const Json& answer, const std::string& name) {
    for (const Json& row : answer.at("troubles")) {
      if (row.at("name") == name) return row.at("count");
    }
    return 0;
  }

  static double productive(const Json& answer) {
    return answer.at("totals").at("split_accelerator_s").at("productive");
  }

  Sandbox sandbox_;
};

TEST_F(Joined, AnyOrderOnTheCommandLinePrintsTheSame) {
  sandbox_.write("a_mapped.csv",
                 "t;node;g;v\n" + hour([](auto at) { return fmt::format("{};n1;0;0.5\n", at); }));
  sandbox_.write(
      "map.toml",
      "row = \"sample\"\n[columns]\ntime = \"t\"\nhost = \"node\"\naccelerator = \"g\"\n"
      "value = { column = \"v\", metric = \"DCGM_FI_DEV_GPU_UTIL\", unit = \"fraction\" }\n");
  sandbox_.write("b_names.txt", "GPU 3: A100 (UUID: GPU-d)\n");
  sandbox_.write("z_sacct.txt", sacct(job("1", "n1", "gres/gpu=1") + job("2", "n2", "gres/gpu=1")));
  sandbox_.write("y_places.csv", "jobid,host,gpu\n1,n1,0\n2,n2,3\n");
  sandbox_.write("n2/smi.csv", "timestamp, uuid, utilization.gpu [%]\n" + hour([](auto at) {
                                 return fmt::format("{}, GPU-d, 25 %\n", at);
                               }));
  std::vector<std::string> files = {"a_mapped.csv", "b_names.txt", "n2/smi.csv", "y_places.csv",
                                    "z_sacct.txt"};
  const Json first =
      scan({"--map", "map.toml", "--fresh", files[0], files[1], files[2], files[3], files[4]});
  EXPECT_NEAR(productive(first), 1800 + 900, 1e-6);
  EXPECT_EQ(first.at("samples_attributed"), 120);
  EXPECT_EQ(first.at("jobs_by_label"), false);
  // A command repeats the inputs as they were typed.
  const auto without_commands = [](Json answer) {
    for (Json& action : answer.at("actions")) action.erase("command");
    return answer.dump();
  };
  int orders = 0;
  while (std::next_permutation(files.begin(), files.end())) {
    if (++orders % 5 != 0) continue;  // Of 120 orders 23.
    std::vector<std::string> words = {"--map", "map.toml", "--fresh"};
    words.insert(words.end(), files.begin(), files.end());
    ASSERT_EQ(without_commands(scan(words)), without_commands(first))
        << fmt::format("{}", fmt::join(files, " "));
  }
  const Json twice = scan({"--map", "map.toml", "a_mapped.csv", "b_names.txt", "n2/smi.csv",
                           "y_places.csv", "z_sacct.txt", "./a_mapped.csv"});
  EXPECT_EQ(twice.at("samples"), 120) << "a file that is named twice is read once";
}

// What names both an index and a UUID may come after all samples of the UUID.
TEST_F(Joined, AUuidThatIsKnownLateIsKnown) {
  sandbox_.write("sacct.txt", sacct(job("1", "n1", "gres/gpu=1")));
  sandbox_.write("places.csv", "jobid,host,gpu\n1,n1,5\n");
  sandbox_.write("n1/smi.csv", "timestamp, uuid, utilization.gpu [%]\n" + hour([](auto at) {
                                 return fmt::format("{}, GPU-x, 50 %\n", at);
                               }));
  sandbox_.write("z_dcgm.csv",
                 fmt::format("timestamp,Hostname,gpu,UUID,DCGM_FI_DEV_GPU_UTIL\n{},n1,5,GPU-x,50\n",
                             kStart + 3599));
  const Json lost = scan({"sacct.txt", "places.csv", "n1/smi.csv"});
  EXPECT_EQ(lost.at("samples_attributed"), 0);
  EXPECT_EQ(trouble(lost, "unknown device"), 60U);
  const Json found = scan({"sacct.txt", "places.csv", "n1/smi.csv", "z_dcgm.csv"});
  EXPECT_EQ(trouble(found, "unknown device"), 0U) << found.at("troubles");
  EXPECT_NEAR(productive(found), 1800, 1);
  const Json piped = scan({"-", "places.csv", "n1/smi.csv", "z_dcgm.csv"}, "sacct.txt");
  EXPECT_EQ(piped.at("totals"), found.at("totals"))
      << "accounting from a pipe is there the second time";
}

// Without accounting jobs are what samples are labelled with, in every source that has labels.
TEST_F(Joined, LabelsMakeJobsWhateverCarriesThem) {
  const auto matrix = [](const std::string& labels, const std::string& value) {
    std::string values;
    for (int minute = 0; minute < 60; ++minute) {
      values += fmt::format("{}[{},\"{}\"]", minute == 0 ? "" : ",", kStart + minute * 60, value);
    }
    return fmt::format(
        "{{\"status\":\"success\",\"data\":{{\"resultType\":\"matrix\",\"result\":"
        "[{{\"metric\":{{{}}},\"values\":[{}]}}]}}}}",
        labels, values);
  };
  const auto dcgm = [&](const std::string& more) {
    return "\"__name__\":\"DCGM_FI_DEV_GPU_UTIL\",\"Hostname\":\"n1\",\"gpu\":\"0\"," + more;
  };
  const std::string place = "\"instance\":\"n1:9445\",\"minor_number\":\"0\"";
  sandbox_.write("hpc_job.json", matrix(dcgm("\"hpc_job\":\"77\""), "50"));
  sandbox_.write("jobid.json", matrix("\"__name__\":\"nvidia_gpu_duty_cycle\",\"jobid\":\"77\","
                                      "\"userid\":\"1000\"," +
                                          place,
                                      "50"));
  sandbox_.write("job_id.json", matrix("\"__name__\":\"gpu_gfx_activity\",\"hostname\":\"n1\","
                                       "\"gpu_id\":\"0\",\"job_id\":\"77\"",
                                       "50"));
  sandbox_.write("long.csv", "timestamp,Hostname,gpu,jobid,DCGM_FI_DEV_GPU_UTIL\n" +
                                 hour([](auto at) { return fmt::format("{},n1,0,77,50\n", at); }));
  sandbox_.write("by_value.csv",
                 "timestamp,instance,minor_number,nvidia_gpu_jobId,nvidia_gpu_duty_cycle\n" +
                     hour([](auto at) { return fmt::format("{},n1:9445,0,77,50\n", at); }));
  sandbox_.write("mapped.csv", "t,node,g,j,v\n" + hour([](auto at) {
                                 return fmt::format("{},n1,0,77,50\n", at);
                               }));
  sandbox_.write("map.toml",
                 "row = \"sample\"\n[columns]\ntime = \"t\"\nhost = \"node\"\naccelerator = \"g\"\n"
                 "job = \"j\"\nvalue = { column = \"v\", metric = \"DCGM_FI_DEV_GPU_UTIL\" }\n");
  sandbox_.write("a_duty.json", matrix("\"__name__\":\"nvidia_gpu_duty_cycle\"," + place, "50"));
  sandbox_.write("value.json", matrix("\"__name__\":\"nvidia_gpu_jobId\"," + place, "77"));
  const std::vector<std::vector<std::string>> cases = {{"hpc_job.json"},
                                                       {"jobid.json"},
                                                       {"job_id.json"},
                                                       {"long.csv"},
                                                       {"by_value.csv"},
                                                       {"mapped.csv", "--map", "map.toml"},
                                                       {"a_duty.json", "value.json"}};
  for (const auto& words : cases) {
    SCOPED_TRACE(words[0]);
    const auto expect_job = [](const Json& answer) {
      EXPECT_EQ(answer.at("jobs_by_label"), true);
      EXPECT_EQ(answer.at("totals").at("jobs"), 1);
      EXPECT_NEAR(answer.at("totals").at("split_accelerator_s").at("allocated"), 3600, 1e-6);
      EXPECT_NEAR(productive(answer), 1800, 1e-6);
      EXPECT_EQ(answer.at("samples_attributed"), 60);
    };
    expect_job(scan(words));
    std::vector<std::string> piped = words;  // And from standard input.
    piped[0] = "-";
    expect_job(scan(piped, words[0]));
  }
  EXPECT_TRUE(sandbox_.list("state/scan").empty() ||
              std::ranges::none_of(
                  sandbox_.list("state/scan"),
                  [](const std::string& name) { return name.starts_with("standard-input"); }))
      << "what was copied is gone";
}

}  // namespace
}  // namespace amdahl::e2e
