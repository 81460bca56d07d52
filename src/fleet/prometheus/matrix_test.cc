#include "fleet/prometheus/matrix.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fleet/prometheus/prometheus.h"
#include "fleet/testing.h"

namespace amdahl::fleet::prometheus {
namespace {

constexpr std::string_view kAnswer =
    R"({"status":"success","data":{"resultType":"matrix","result":[)"
    R"({"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","Hostname":"gpu001.x.org","gpu":"3",)"
    R"("modelName":"A100 \"big\"","UUID":"GPU-1","hpc_job":"77"},)"
    R"("values":[[1507680000,"83"],[1507680000.25,"0.5"],[1507680300,"NaN"],)"
    R"([1507680600,"+Inf"],[1507680900,"9223372036854775794"],[1507681200,"1e1"]]},)"
    R"({"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL"},"values":[[1507680000,"1"]]}]},)"
    R"("warnings":["store gpu-b: no answer","PromQL warning: x"],)"
    R"("infos":["metric might not be a counter"]})";

std::string gunzip(const std::string& path) {
  std::string text;
  FILE* pipe = ::popen(fmt::format("zcat '{}'", path).c_str(), "r");
  char part[65536];
  for (std::size_t n = 0; pipe && (n = std::fread(part, 1, sizeof part, pipe)) > 0;) {
    text.append(part, n);
  }
  if (pipe) ::pclose(pipe);
  return text;
}

TEST(Matrix, ReadsSamplesAndCountsWhatIsNoNumber) {
  Recorder seen;
  MatrixReader reader(seen);
  ASSERT_TRUE(reader.feed(kAnswer));
  ASSERT_TRUE(reader.finish());
  ASSERT_EQ(seen.samples_of.size(), 1U);
  ASSERT_EQ(seen.samples_of[0].size(), 3U);
  EXPECT_EQ(seen.samples_of[0][0].at, std::chrono::seconds(1507680000));
  EXPECT_EQ(seen.samples_of[0][1].at, std::chrono::milliseconds(1507680000250));
  EXPECT_EQ(seen.samples_of[0][1].value, 0.5F);
  EXPECT_EQ(seen.samples_of[0][2].value, 10.0F);
  EXPECT_EQ(seen.count(model::Trouble::kNotFinite), 2U);
  EXPECT_EQ(seen.count(model::Trouble::kBlankValue), 1U);
  EXPECT_EQ(seen.count(model::Trouble::kBadLine), 1U);
  EXPECT_EQ(reader.answered().warnings, (std::vector<std::string>{"store gpu-b: no answer"}));
}

// The list of series alone, its object alone, and what VictoriaMetrics exports.
TEST(Matrix, ReadsWhatIsCutOutOfAnswers) {
  const std::string series =
      R"({"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","Hostname":"n1","gpu":"3"},)"
      R"("values":[[1507680000,"83"],[1507680060,"0.5"]]})";
  const std::string exported =
      R"({"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","Hostname":"n1","gpu":"3"},)"
      R"("values":[83,null,0.5],"timestamps":[1507680000000,1507680030000,1507680060000]})"
      "\n"
      R"({"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","Hostname":"n1","gpu":"4"},)"
      R"("values":[],"timestamps":[]})"
      "\n";
  for (const std::string& text :
       {"[" + series + "]", "[\n  " + series + "\n]\n",
        "{\"resultType\":\"matrix\",\"result\":[" + series + "]}", exported}) {
    SCOPED_TRACE(text);
    EXPECT_TRUE(claims(text));
    for (const std::size_t length : {std::size_t{1}, std::size_t{13}, text.size()}) {
      Recorder seen;
      MatrixReader reader(seen);
      for (std::size_t at = 0; at < text.size(); at += length) {
        const auto fed = reader.feed(std::string_view(text).substr(at, length));
        ASSERT_TRUE(fed) << fed.error().text;
      }
      ASSERT_TRUE(reader.finish());
      ASSERT_GE(seen.samples_of.size(), 1U);
      ASSERT_EQ(seen.samples_of[0].size(), 2U);
      EXPECT_EQ(seen.samples_of[0][1].at, std::chrono::seconds(1507680060));
      EXPECT_EQ(seen.samples_of[0][1].value, 0.5F);
      EXPECT_EQ(seen.count(model::Trouble::kBlankValue), text == exported ? 1U : 0U);
      EXPECT_EQ(seen.count(model::Trouble::kTruncated), 0U);
    }
  }
}

// An answer arrives in packets that end anywhere.
TEST(Matrix, CutsAnywhereGiveTheSame) {
  for (const std::size_t length : {1U, 2U, 7U, 40U, 100U}) {
    Recorder seen;
    MatrixReader reader(seen);
    for (std::size_t at = 0; at < kAnswer.size(); at += length) {
      ASSERT_TRUE(reader.feed(kAnswer.substr(at, length)));
    }
    ASSERT_TRUE(reader.finish());
    EXPECT_EQ(seen.sample_count(), 3U);
    EXPECT_EQ(seen.complaints.size(), 4U);
    EXPECT_EQ(reader.answered().samples, 3U);
  }
}

TEST(Matrix, EveryPrefixIsReadOrNamedTruncated) {
  for (std::size_t length = 1; length < kAnswer.size(); ++length) {
    Recorder seen;
    MatrixReader reader(seen);
    ASSERT_TRUE(reader.feed(kAnswer.substr(0, length)));
    ASSERT_TRUE(reader.finish());
    ASSERT_EQ(seen.count(model::Trouble::kTruncated), 1U) << length;
  }
}

TEST(Matrix, SaysWhatIsWrong) {
  const struct {
    std::string_view bytes;
    std::string_view want;
  } cases[] = {
      {"JobID|State", "byte 1: an answer must begin with '{'"},
      {"{\"a\" \"b\"}", "byte 6: unexpected value"},
      {"{\"a\":tru,}", "byte 6: 'tru' is not JSON"},
      {"{]", "byte 2: unexpected ']'"},
      {"{\"a\":1,,", "byte 8: unexpected ','"},
      {R"({"a":"\q"})", "byte 6: invalid escape in a string"},
      {R"({"data":{"result":[{"metric":{},"values":[[1]]}]}})",
       "byte 45: a point must be [time, \"value\"]"},
  };
  for (const auto& c : cases) {
    Recorder seen;
    MatrixReader reader(seen);
    const auto fed = reader.feed(c.bytes);
    EXPECT_EQ(fed ? "no error" : fed.error().text, c.want);
  }
}

TEST(Matrix, SaysWhatTheServerOfASavedAnswerDidNotSee) {
  Recorder seen;
  const auto reader = make(seen, {});
  ASSERT_TRUE(
      reader->feed(R"({"status":"success","isPartial":true,"warnings":["no store for gpu[1-9]"],)"
                   R"("data":{"resultType":"matrix","result":[]}})"));
  ASSERT_TRUE(reader->finish());
  ASSERT_EQ(seen.count(model::Trouble::kMissing), 2U);
  EXPECT_EQ(seen.complaints[0].text, "no store for gpu[1-9]");
  EXPECT_EQ(seen.complaints[1].text, "the server reports a partial answer");
}

TEST(Matrix, KeepsTheErrorOfTheServer) {
  Recorder seen;
  MatrixReader reader(seen);
  ASSERT_TRUE(reader.feed(R"({"status":"error","errorType":"bad_data","error":"too long"})"));
  EXPECT_EQ(reader.answered().status, "error");
  EXPECT_EQ(reader.answered().error, "bad_data: too long");
}

// Before 0.2.2 the exporter of jobstats had the job as the value of a metric of its own.
TEST(Matrix, JobByValueGivesPlaces) {
  Recorder seen;
  MatrixReader reader(seen);
  ASSERT_TRUE(reader.feed(
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":)"
      R"({"__name__":"nvidia_gpu_jobId","instance":"della-l01g1:9445","minor_number":"2"},)"
      R"("values":[[1,"0"],[2,"4177"],[3,"4177"],[4,"4180"]]}]}})"));
  EXPECT_EQ(seen.places, (std::vector<std::string>{"4177 della-l01g1 2", "4180 della-l01g1 2"}));
  // Where and when each was seen, for fleets without accounting.
  EXPECT_EQ(seen.series_names,
            (std::vector<std::string>{"della-l01g1/2 nvidia_gpu_jobId job=4177",
                                      "della-l01g1/2 nvidia_gpu_jobId job=4180"}));
  EXPECT_EQ(seen.samples_of[0].size(), 2U);
  EXPECT_EQ(seen.samples_of[1].size(), 1U);
}

TEST(Matrix, ReadsASavedDay) {
  const char* corpus = std::getenv("AMDAHL_CORPUS");
  const std::string file = std::string(corpus ? corpus : "") +
                           "/fleet/philly_synth_week/prom_query_range_8nodes_2017-10-11.json.gz";
  if (!corpus || !std::filesystem::exists(file)) GTEST_SKIP() << "AMDAHL_CORPUS names no corpus";
  const std::string text = gunzip(file);
  EXPECT_TRUE(claims(std::string_view(text).substr(0, 4096)));
  Recorder seen;
  MatrixReader reader(seen);
  ASSERT_TRUE(reader.feed(text));
  ASSERT_TRUE(reader.finish());
  // From corpus/expected/fleet/philly_synth_week.json, prom_json_day.
  EXPECT_EQ(reader.answered().series, 221U);
  EXPECT_EQ(reader.answered().samples, 18432U);
  std::set<std::string> jobs;
  double labelled = 0;
  double sum = 0;
  double zeros = 0;
  for (std::size_t i = 0; i < seen.samples_of.size(); ++i) {
    const std::string& name = seen.series_names[i];
    const std::size_t at = name.find("job=") + 4;
    if (name.find("job=") == name.npos) continue;
    jobs.insert(name.substr(at, name.find(' ', at) - at));
    for (const Sample& sample : seen.samples_of[i]) {
      labelled += 1;
      sum += sample.value;
      zeros += sample.value == 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(jobs.size(), 165U);
  EXPECT_EQ(labelled, 17727);
  EXPECT_NEAR(sum / labelled, 65.19879, 1e-5);
  EXPECT_NEAR(zeros / labelled, 0.134653, 1e-6);
}

}  // namespace
}  // namespace amdahl::fleet::prometheus
