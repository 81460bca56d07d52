#include "profile/pipeline.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "profile/page.h"
#include "profile/trace_report.h"
#include "trace/testing.h"

namespace amdahl::profile {
namespace {

using std::chrono::milliseconds;

// A job of two stages and some replicas, each step one micro-batch: forward, send, receive, forward
// on the second stage, backward, send back, receive, backward; then all replicas reduce.
class MadeJob {
 public:
  MadeJob(int replicas, int steps) : replicas_(replicas), steps_(steps) {
    builder_.source({.file = "made", .format = "operations"});
  }
  // Milliseconds of a forward pass; backward takes twice as long.
  std::map<std::pair<int, int>, int> forward;  // By replica and stage; 10 otherwise.

  model::Trace build() {
    for (int step = 0; step < steps_; ++step) {
      for (int replica = 0; replica < replicas_; ++replica) add_lane(step, replica);
    }
    return std::move(builder_).finish();
  }

 private:
  int length(int replica, int stage) const {
    const auto found = forward.find({replica, stage});
    return found == forward.end() ? 10 : found->second;
  }
  void add(const char* kind, int step, int replica, int stage, int start, int duration) {
    builder_.trace().operations.push_back({.start = milliseconds(1000 * step + start),
                                           .duration = milliseconds(duration),
                                           .step = step,
                                           .name = builder_.intern(kind),
                                           .replica = replica,
                                           .stage = stage,
                                           .chunk = 0});
  }
  void add_lane(int step, int replica) {
    const int first = length(replica, 0);
    const int second = length(replica, 1);
    int at = first;
    add("forward-compute", step, replica, 0, 0, first);
    add("forward-send", step, replica, 0, at, 1);
    add("forward-recv", step, replica, 1, at, 1);
    add("forward-compute", step, replica, 1, at + 1, second);
    add("backward-compute", step, replica, 1, at + 1 + second, 2 * second);
    at += 1 + 3 * second;
    add("backward-send", step, replica, 1, at, 1);
    add("backward-recv", step, replica, 0, at, 1);
    add("backward-compute", step, replica, 0, at + 1, 2 * first);
    // Starts once all have come; the clocks of this test agree.
    int last = 0;
    for (int other = 0; other < replicas_; ++other) {
      last = std::max(last, 2 + 3 * length(other, 0) + 3 * length(other, 1));
    }
    add("grads-reduce-scatter", step, replica, 0, last, 5);
    add("grads-reduce-scatter", step, replica, 1, last, 5);
  }

  model::TraceBuilder builder_;
  int replicas_;
  int steps_;
};

Pipeline pipeline_of(const model::Trace& trace) {
  std::string why;
  auto made = pipeline(trace, why);
  EXPECT_TRUE(made) << why;
  return made.value_or(Pipeline{});
}

TEST(Pipeline, EvenOperationsAreNoSlowdown) {
  const Pipeline made = pipeline_of(MadeJob(3, 4).build());
  EXPECT_EQ(made.replicas, 3);
  EXPECT_EQ(made.stages, 2);
  EXPECT_EQ(made.steps.size(), 4u);
  EXPECT_DOUBLE_EQ(made.slowdown, 1);
  // 10 + 1 + 10 + 20 + 1 + 20 + 5, of which each worker computes 30.
  EXPECT_EQ(made.even, milliseconds(67));
  EXPECT_NEAR(made.bubble, 1 - 30.0 / 67, 1e-9);
  EXPECT_TRUE(made.advice.empty());
}

TEST(Pipeline, TheSlowRankIsNamed) {
  MadeJob job(4, 5);
  job.forward[{2, 0}] = 30;
  job.forward[{2, 1}] = 30;
  const Pipeline made = pipeline_of(job.build());
  EXPECT_EQ(made.by_replica.front().number, 2);
  // Means: forward 15, backward 30. An even step: 15 + 1 + 15 + 30 + 1 + 30 + 5.
  EXPECT_EQ(made.even, milliseconds(97));
  // The slow rank alone: 30 + 1 + 30 + 60 + 1 + 60 + 5, as in the recording.
  EXPECT_EQ(made.replayed, milliseconds(187));
  EXPECT_NEAR(made.by_replica.front().factor, 187.0 / 97, 1e-9);
  EXPECT_NEAR(made.by_replica[1].factor, 1, 1e-9);
  ASSERT_EQ(made.by_replica.front().by_step.size(), 5u);
  EXPECT_NEAR(made.by_replica.front().by_step[4], 187.0 / 97, 1e-9);
  ASSERT_EQ(made.advice.size(), 1u);
  EXPECT_NE(made.advice.front().find("rank 2"), std::string::npos);
}

TEST(Pipeline, TheSlowStageIsNamed) {
  MadeJob job(2, 3);
  job.forward[{0, 1}] = 30;
  job.forward[{1, 1}] = 30;
  const Pipeline made = pipeline_of(job.build());
  EXPECT_EQ(made.by_stage.front().number, 1);
  // Both stages together take as long as two of the mean.
  EXPECT_NEAR(made.slowdown, 1, 1e-9);
  EXPECT_EQ(made.means[1].forward, milliseconds(30));
}

TEST(Pipeline, StepsThatLackOperationsAreLeftOut) {
  model::Trace trace = MadeJob(2, 3).build();
  std::erase_if(trace.operations, [&](const model::Operation& row) {
    return row.step == 1 && row.replica == 1 && row.stage == 0 &&
           trace.names[row.name] == "forward-send";
  });
  const Pipeline made = pipeline_of(trace);
  EXPECT_EQ(made.steps_left_out, 1u);
  ASSERT_EQ(made.steps.size(), 2u);
  EXPECT_EQ(made.steps[1].number, 2);
}

TEST(Pipeline, TransfersThatDoNotMatchAreRefused) {
  model::Trace trace = MadeJob(1, 2).build();
  std::erase_if(trace.operations, [&](const model::Operation& row) {
    return trace.names[row.name] == "forward-recv";
  });
  std::string why;
  EXPECT_FALSE(pipeline(trace, why));
  EXPECT_NE(why.find("forward-recv"), std::string::npos) << why;
  const TraceReport shown = report(Prepared(trace));
  EXPECT_EQ(std::ranges::count(shown.profile.missing, why), 1);
}

TEST(Pipeline, TheReportNamesTheClassAndShowsTheMap) {
  MadeJob job(4, 5);
  job.forward[{2, 0}] = 30;
  job.forward[{2, 1}] = 30;
  const TraceReport made = report(Prepared(job.build()));
  EXPECT_EQ(made.profile.bottleneck, model::Bottleneck::kCommunication);
  ASSERT_FALSE(made.profile.causes.empty());
  const std::string page = draw(made, 100, false);
  EXPECT_NE(page.find("rank 2      99999\n"), std::string::npos) << page;
  EXPECT_NE(page.find("rank 1      00000\n"), std::string::npos) << page;
  const std::string html_page = html(made, {});
  EXPECT_NE(html_page.find("title=\"rank 2, step 4: 1.928x\""), std::string::npos);
}

nlohmann::json published(const std::string& name) {
  std::ifstream file(trace::corpus() + "traces/straggler/result-" + name + ".json");
  return nlohmann::json::parse(file, nullptr, false);
}

double worst_difference(const std::vector<Slowdown>& rows, const Pipeline& made,
                        const nlohmann::json& overall, const nlohmann::json& by_step) {
  double worst = 0;
  for (const Slowdown& row : rows) {
    const std::string key = row.number < 0 ? row.name : std::to_string(row.number);
    worst = std::max(worst, std::abs(row.factor / overall.at(key).get<double>() - 1));
    for (std::size_t i = 0; i < made.steps.size(); ++i) {
      const std::string step = std::to_string(made.steps[i].number);
      if (!by_step.contains(step)) continue;
      const double theirs = by_step.at(step).at(key).get<double>();
      worst = std::max(worst, std::abs(row.by_step[i] / theirs - 1));
    }
  }
  return worst;
}

// The authors' figures leave out two steps of SE, so that means differ a little.
TEST(Pipeline, FiguresAreThePublishedOnes) {
  if (trace::corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  for (const auto& [name, near] : std::map<std::string, double>{{"ST", 1e-5}, {"SE", 0.02}}) {
    SCOPED_TRACE(name);
    const auto loaded = trace::load(
        *trace::reader_named("operations"), name,
        trace::bytes_of(trace::corpus() + "traces/straggler/timeline-" + name + ".json.gz"));
    ASSERT_TRUE(loaded) << loaded.error().text;
    const nlohmann::json theirs = published(name);
    ASSERT_TRUE(theirs.is_object());
    const Pipeline made = pipeline_of(*loaded);
    EXPECT_EQ(made.replicas, theirs.at("job_meta").at("dp_size").get<int>());
    EXPECT_EQ(made.stages, theirs.at("job_meta").at("pp_size").get<int>());
    EXPECT_NEAR(made.slowdown, theirs.at("blocking_slowdown").get<double>(), near);
    const auto compare = [&](const std::vector<Slowdown>& rows, const std::string& key) {
      SCOPED_TRACE(key);
      EXPECT_LT(worst_difference(rows, made, theirs.at("blocking_decompose_by_" + key),
                                 theirs.at("blocking_decompose_by_" + key + "_per_step")),
                near);
    };
    compare(made.by_stage, "stage");
    compare(made.by_kind, "optype");
    compare(made.by_replica, "dp_rank");
  }
}

// ST: the last stage is too long. SE: sequences of different lengths.
TEST(Pipeline, TheAdviceFitsTheJobs) {
  if (trace::corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  const auto advice_of = [](const std::string& name) {
    const auto loaded = trace::load(
        *trace::reader_named("operations"), name,
        trace::bytes_of(trace::corpus() + "traces/straggler/timeline-" + name + ".json.gz"));
    return loaded ? pipeline_of(*loaded).advice : std::vector<std::string>{};
  };
  const std::vector<std::string> stages = advice_of("ST");
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_NE(stages.front().find("stage 3 alone"), std::string::npos);
  const std::vector<std::string> lengths = advice_of("SE");
  ASSERT_FALSE(lengths.empty());
  EXPECT_NE(lengths.back().find("sequences of different lengths"), std::string::npos);
}

}  // namespace
}  // namespace amdahl::profile
