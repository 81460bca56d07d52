#include "launch/command/answers.h"

#include <gtest/gtest.h>

namespace amdahl::launch::command {
namespace {

using namespace std::chrono_literals;

TEST(PlugInAnswers, AreOnePerName) {
  const auto told = parse_answers(
      R"({"answers": [{"name": "b", "answer": "held", "id": "2"},
                      {"name": "a", "answer": "ended", "id": "1",
                       "charge": {"wall_s": 2.5, "accelerators": 4, "cpus": 8}}]})",
      {"a", "b"});
  ASSERT_TRUE(told) << told.error().text;
  EXPECT_EQ((*told)[0].id, "1");
  EXPECT_EQ((*told)[0].charge->wall, 2500ms);
  EXPECT_EQ((*told)[1].answer, "held");
}

TEST(PlugInAnswers, ErrorsNameWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"[]", "must be an object"},
      {"{}", "/answers must be a list"},
      {R"({"answers": [{"answer": "held"}]})", "/answers/0: /name is missing"},
      {R"({"answers": [{"name": "a", "answer": 3}]})", "/answers/0: /answer must be text"},
      {R"({"answers": []})", "no answer about 'a'"},
      {R"({"answers": [{"name": "z", "answer": "held"}]})", "unexpected answer about 'z'"},
      {R"({"answers": [{"name": "a", "answer": "held"}, {"name": "a", "answer": "held"}]})",
       "two answers about 'a'"},
      {R"({"answers": [{"name": "a", "answer": "ended", "charge": {"wall_s": -1}}]})",
       "/answers/0: /charge: /wall_s must be a number of at least 0"},
  };
  for (const auto& [text, error] : cases) {
    const auto told = parse_answers(text, {"a"});
    ASSERT_FALSE(told) << text;
    EXPECT_EQ(told.error().text, error);
  }
}

TEST(PlugInAnswers, OnlyAcceptedWithAnIdIsAccepted) {
  EXPECT_EQ(submit_answer({"a", "accepted", "7", "", {}}).handover, Handover::kAccepted);
  EXPECT_EQ(submit_answer({"a", "accepted", "7", "", {}}).worker, "command:7:a");
  EXPECT_EQ(submit_answer({"a", "accepted", "", "", {}}).handover, Handover::kUnknown);
  EXPECT_EQ(submit_answer({"a", "refused", "", "full", {}}).handover, Handover::kRefused);
  EXPECT_EQ(submit_answer({"a", "perhaps", "", "", {}}).handover, Handover::kUnknown);
}

TEST(PlugInAnswers, StatesByWhatThePlugInAndTheFolderSay) {
  struct Case {
    std::string answer;
    FolderFacts facts;
    RunState state;
  };
  const FolderFacts none{};
  const FolderFacts waits{.submitted = true};
  const FolderFacts runs{.submitted = true, .started = true};
  const FolderFacts done{.submitted = true, .started = true, .done = true};
  const FolderFacts again{.submitted = true, .started = true, .had_started = true};
  const FolderFacts ended{.submitted = true, .cancelled = true};
  const FolderFacts gone{.submitted = true, .long_absent = true};
  const std::vector<Case> cases{
      {"running", none, RunState::kAbsent},      {"held", waits, RunState::kHeld},
      {"queued", waits, RunState::kQueued},      {"queued", again, RunState::kRequeued},
      {"running", runs, RunState::kRunning},     {"running", done, RunState::kRunning},
      {"ended", done, RunState::kFinished},      {"ended", runs, RunState::kLost},
      {"preempted", runs, RunState::kPreempted}, {"node failed", runs, RunState::kNodeFailed},
      {"timed out", runs, RunState::kTimedOut},  {"out of memory", runs, RunState::kOutOfMemory},
      {"preempted", done, RunState::kPreempted}, {"absent", waits, RunState::kUnknown},
      {"absent", gone, RunState::kAbsent},       {"unknown", gone, RunState::kUnknown},
      {"queued", runs, RunState::kQueued},       {"absent", ended, RunState::kLost},
      {"finished", runs, RunState::kUnknown},    {"COMPLETED", done, RunState::kUnknown},
  };
  for (const Case& c : cases) {
    const Answer answer{"a", c.answer, "7", "", {}};
    EXPECT_EQ(name(decide(answer, "", c.facts).state), name(c.state)) << c.answer;
  }
  EXPECT_EQ(decide(std::nullopt, "timeout", runs).state, RunState::kUnknown);
  EXPECT_EQ(decide(std::nullopt, "timeout", runs).why, "timeout");
}

}  // namespace
}  // namespace amdahl::launch::command
