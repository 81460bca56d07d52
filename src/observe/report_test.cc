#include "observe/report.h"

#include <gtest/gtest.h>

namespace amdahl::observe {
namespace {

using namespace std::chrono_literals;

ReportContext context() { return {1'700'000'000s, 100s, 2, {}}; }

TEST(ReportTest, TheLastWordOnWorkAndMetricsCounts) {
  const Report report = read_report(
      "{\"work\": 10}\n"
      "{\"metric\": {\"loss\": 0.5, \"accuracy\": 1}}\n"
      "\n"
      "{\"work\": 25.5, \"metric\": {\"loss\": 0.25}}",
      false, context());
  EXPECT_EQ(report.work, 25.5);
  EXPECT_EQ(report.metrics, (std::map<std::string, double>{{"accuracy", 1}, {"loss", 0.25}}));
  EXPECT_TRUE(report.problems.empty());
}

TEST(ReportTest, PhasesHaveTimesSinceTheStartOrSince1970) {
  const Report report = read_report(
      R"({"phase": "load", "start": 1700000002.5, "end": 1700000004}
{"phase": "import", "start": 0, "end": 2.5}
{"phase": "train", "at": 10}
{"phase": "eval", "at": 1700000060}
)",
      false, context());
  ASSERT_EQ(report.problems, std::vector<std::string>{});
  ASSERT_EQ(report.phases.size(), 4u);
  EXPECT_EQ(report.phases[0].name, "import");
  EXPECT_EQ(report.phases[0].duration, 2500ms);
  EXPECT_EQ(report.phases[1].name, "load");
  EXPECT_EQ(report.phases[1].start, 2500ms);
  EXPECT_EQ(report.phases[1].duration, 1500ms);
  EXPECT_EQ(report.phases[2].name, "train");
  EXPECT_EQ(report.phases[2].duration, 50s);
  EXPECT_EQ(report.phases[3].name, "eval");
  EXPECT_EQ(report.phases[3].duration, 40s);
}

TEST(ReportTest, APhaseWithoutATimeBeginsWhenItsLineWasSeen) {
  const std::string first = "{\"phase\": \"a\"}\n";
  ReportContext seen = context();
  seen.growth = {{first.size(), 3s}, {2 * first.size(), 7s}};
  const Report report = read_report(first + "{\"phase\": \"b\"}\n", false, seen);
  ASSERT_EQ(report.phases.size(), 2u);
  EXPECT_EQ(report.phases[0].start, 3s);
  EXPECT_EQ(report.phases[0].duration, 4s);
  EXPECT_EQ(report.phases[1].start, 7s);
  EXPECT_EQ(report.phases[1].duration, 93s);
}

TEST(ReportTest, DevicesAreReportedByStretches) {
  const Report report =
      read_report(R"({"accelerator": 1, "from": 0, "to": 5, "busy": 0.75})", false, context());
  ASSERT_EQ(report.busy.size(), 1u);
  EXPECT_EQ(report.busy[0].accelerator, 1);
  EXPECT_EQ(report.busy[0].to, 5s);
  EXPECT_EQ(report.busy[0].busy, 0.75);
}

TEST(ReportTest, WhatCannotBeUsedIsNamedByItsLine) {
  struct Case {
    const char* line;
    const char* want;
  };
  constexpr Case kCases[] = {
      {"hello", "line 1: not JSON"},
      {"{\"work\": NaN}", "line 1: not JSON"},
      {"{\"work\": 1e999}", "line 1: not JSON"},
      {"\xff\xfe{}", "line 1: not JSON"},
      {"[1]", "line 1: not an object"},
      {"{}", "line 1: has none of work, metric, phase, accelerator, step"},
      {"{\"wrok\": 3}", "line 1: has none of work, metric, phase, accelerator, step"},
      {"{\"work\": \"3\"}", "line 1: work is not a number"},
      {"{\"work\": -1}", "line 1: work is negative"},
      {"{\"metric\": 3}", "line 1: metric is not an object of names and numbers"},
      {"{\"metric\": {\"a\": null}}", "line 1: metric a is not a number"},
      {"{\"phase\": 3}", "line 1: phase is not a string"},
      {"{\"phase\": \"a\", \"start\": 1}",
       "line 1: a phase needs a start and an end, both in seconds"},
      {"{\"phase\": \"a\", \"start\": 2, \"end\": 1}", "line 1: the phase ends before it starts"},
      {"{\"phase\": \"a\", \"start\": -2, \"end\": 1}",
       "line 1: a phase needs a start and an end, both in seconds"},
      {"{\"phase\": \"a\", \"at\": 1e300}", "line 1: at is not a time in seconds"},
      {"{\"accelerator\": 2, \"from\": 0, \"to\": 1, \"busy\": 1}",
       "line 1: accelerator 2 is not one of the job's 2"},
      {"{\"accelerator\": 0, \"from\": 0, \"to\": 1}",
       "line 1: an accelerator line needs accelerator, from, to and busy, all numbers"},
      {"{\"accelerator\": 0, \"from\": 0, \"to\": 1, \"busy\": 1.5}",
       "line 1: busy is not between 0 and 1"},
      {"{\"step\": \"0\", \"arm\": \"A\", \"seconds\": 1}", "line 1: step is not a whole number"},
      {"{\"step\": 1, \"arm\": \"A\", \"seconds\": 1}",
       "line 1: step 1 is out of order: expected step 0"},
      {"{\"step\": -1, \"arm\": \"A\", \"seconds\": 1}",
       "line 1: step -1 is out of order: expected step 0"},
      {"{\"step\": 0, \"seconds\": 1}", "line 1: arm is not A or B"},
      {"{\"step\": 0, \"arm\": \"C\", \"seconds\": 1}", "line 1: arm is not A or B"},
      {"{\"step\": 0, \"arm\": \"A\"}", "line 1: seconds is not a positive number"},
      {"{\"step\": 0, \"arm\": \"A\", \"seconds\": 0}", "line 1: seconds is not a positive number"},
      {"{\"step\": 0, \"arm\": \"A\", \"seconds\": 1, \"work\": 0}",
       "line 1: the step's work is not a positive number"},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.line);
    const Report report = read_report(c.line, false, context());
    EXPECT_EQ(report.problems, std::vector<std::string>{c.want});
    EXPECT_FALSE(report.work);
    EXPECT_TRUE(report.metrics.empty());
    EXPECT_TRUE(report.phases.empty());
    EXPECT_TRUE(report.busy.empty());
    EXPECT_EQ(report.steps, model::StepReports{});
  }
}

TEST(ReportTest, StepsAreKeptInOrderAndAddUpToTheWork) {
  const std::string steps =
      "{\"step\": 0, \"arm\": \"B\", \"seconds\": 0.5, \"work\": 8}\n"
      "{\"step\": 1, \"arm\": \"A\", \"seconds\": 0.25}\n";
  Report report = read_report(steps, false, context());
  EXPECT_EQ(report.problems, std::vector<std::string>{});
  EXPECT_EQ(report.steps, (model::StepReports{"BA", {0.5, 0.25}, {8, 1}}));
  EXPECT_EQ(report.work, 9);

  report = read_report(steps + "{\"work\": 40}\n", false, context());
  EXPECT_EQ(report.work, 40) << "the job's own word on all of it";

  // A gap: what follows cannot be placed.
  report = read_report(steps +
                           "{\"step\": 3, \"arm\": \"A\", \"seconds\": 1}\n"
                           "{\"step\": 2, \"arm\": \"A\", \"seconds\": 1}\n",
                       false, context());
  EXPECT_EQ(report.problems,
            std::vector<std::string>{"line 3: step 3 is out of order: expected step 2"});
  EXPECT_EQ(report.steps.arms, "BAA");
  EXPECT_EQ(read_report(steps, true, context()).steps, model::StepReports{});
}

TEST(ReportTest, GarbageIsCountedOnlySoFarAndNeverFatal) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "garbage\n";
  text += "{\"work\": 4}\n" + std::string(100'000, '[') + "\n" + std::string(2'000'000, 'x');
  const Report report = read_report(text, false, context());
  EXPECT_EQ(report.problems.size(), kMaxProblems);
  EXPECT_EQ(report.work, 4);
  EXPECT_EQ(read_report(std::string(2'000'000, 'x'), false, context()).problems,
            std::vector<std::string>{"line 1: longer than 1 MiB"});
}

TEST(ReportTest, ACutReportHasNoLastWord) {
  const Report report = read_report("{\"work\": 4}\n", true, context());
  EXPECT_FALSE(report.work);
  EXPECT_EQ(report.problems,
            std::vector<std::string>{
                "the report is longer than 64 MiB: its work and metrics are unknown"});
}

TEST(ReportTest, WorkCanBeFoundInTheOutput) {
  std::vector<std::string> problems;
  EXPECT_EQ(work_in_output("done 3 images\ndone 40 images\nbye", "done (\\d+) images", problems),
            40);
  EXPECT_EQ(work_in_output("done 3\rdone 40\r\n", "done (\\d+)", problems), 40) << "a bar";
  EXPECT_EQ(work_in_output("\xff done 7", ". done (\\d+)", problems), 7) << "not UTF-8";
  EXPECT_EQ(work_in_output("nothing", "done (\\d+) images", problems), std::nullopt);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(work_in_output("done x images", "done (.*) images", problems), std::nullopt);
  EXPECT_EQ(work_in_output("done", "(", problems), std::nullopt);
  EXPECT_EQ(work_in_output(std::string(1 << 20, '7'), "(\\d+)b", problems), std::nullopt);
  EXPECT_EQ(problems[0], "work_pattern matched \"x\", which is not a valid amount of work");
  EXPECT_EQ(problems[1],
            "work_pattern \"(\" is not a regular expression (RE2 syntax): missing ): (");
}

// A matcher that goes back tries 2^n ways through n letters before it gives up; this must return.
TEST(ReportTest, NoPatternCanHangTheSearch) {
  const std::string letters(1 << 20, 'a');
  std::vector<std::string> problems;
  for (const char* pattern : {"(a+)+b", "((?:a+)+)b", "((?:a|aa)+)b", "(?:.*)*(x)$", "(?:a*)*(b)",
                              "((?:a?){50}a{50})b"}) {
    SCOPED_TRACE(pattern);
    EXPECT_EQ(work_in_output(letters + "\n" + letters, pattern, problems), std::nullopt);
    EXPECT_EQ(problems, std::vector<std::string>{});
  }
}

}  // namespace
}  // namespace amdahl::observe
