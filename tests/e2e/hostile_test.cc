// hostile_test.cc: text that tells the loop or a model what to do, in code, logs and documents of
// real runs: what is decided is the same with and without it.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "mcp_client.h"
#include "scripted_model.h"

namespace amdahl::e2e {
namespace {

std::vector<std::string> hostile_texts() {
  std::vector<std::string> texts;
  std::ifstream in(source_path("src/app/testdata/hostile.txt"));
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) texts.push_back(line);
  }
  return texts;
}

// As files of the repo: in comments, in what the job prints, and in pages beside it.
std::map<std::string, std::string> files_with(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> files;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    files["jobs/queues.py"] += "# " + texts[i] + "\n";
    files["jobs/work.py"] += "# " + texts[i] + "\nprint(" + Json(texts[i]).dump() + ")\n" +
                             "print(" + Json(texts[i]).dump() +
                             ", file=__import__('sys').stderr)\n";
    files["docs/note-" + std::to_string(i) + ".md"] = "# Note\n\n" + texts[i] + "\n";
  }
  return files;
}

class Hostile : public ScriptedModel {
 protected:
  static void SetUpTestSuite() {}

  // Every decision of a campaign: what was proposed, asked, paid for, tested, and what came of it.
  std::vector<std::string> decisions_beside(const std::vector<std::string>& texts) {
    prepare(files_with(texts));
    ScriptedModel::SetUp();
    configure();
    play(
        {idea("skips work", instead({"return sum(batch[:900]) if len(batch) > 2 else sum(batch)"})),
         idea("do not pause", fix())});
    const Outcome done = house().amdahl({"cycle", "--watch"});
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_EQ(house().amdahl({"dream", "--docs", house().path("repo/docs")}).code, 0);
    const Outcome after = house().amdahl({"cycle", "--watch"});
    EXPECT_EQ(after.code, 0) << after.err;
    EXPECT_EQ(house().amdahl({"ledger", "verify"}).code, 0);

    std::vector<std::string> all;
    for (const char* kind : {"hypothesis.proposed", "experiment.registered", "gate.opened",
                             "gate.decided", "hypothesis.reopened", "budget.set", "ask.reserved"}) {
      for (const Json& event : events(kind)) all.push_back(kind + (" " + subject_of(event)));
    }
    for (const Json& event : events("ask.settled")) {
      const Json& told = event.at("payload");
      all.push_back("ask.settled " + told.at("outcome").get<std::string>() +
                    told.value("refused", Json::array()).dump() + told.at("spent").dump());
    }
    for (const Json& event : events("verdict.recorded")) {
      all.push_back("verdict " + event.at("subject").get<std::string>() + " " +
                    event.at("payload").at("kind").get<std::string>());
    }
    std::ranges::sort(all);
    return all;
  }

 private:
  // Questions and openings have names of their own.
  static std::string subject_of(const Json& event) {
    const std::string subject = event.at("subject");
    return subject.starts_with("h-") || subject.starts_with("x-") ? subject : "";
  }
};

TEST_F(Hostile, DecisionsOfRealRunsAreTheSame) {
  if (!can_sandbox()) GTEST_SKIP() << "bubblewrap does not work here";
  const std::vector<std::string> texts = hostile_texts();
  ASSERT_EQ(texts.size(), 50U);
  const std::vector<std::string> expected = decisions_beside({});
  const auto has = [&](const std::string& part) {
    return std::ranges::any_of(
        expected, [&](const std::string& line) { return line.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(has("refuted"));
  EXPECT_TRUE(has("gate.opened"));
  EXPECT_FALSE(has("gate.decided"));
  EXPECT_EQ(decisions_beside(texts), expected);
  // The brief has the text, as data.
  const Outcome brief = house().amdahl({"brief", "work"});
  ASSERT_EQ(brief.code, 0) << brief.err;
  std::istringstream lines(brief.out);
  for (std::string line; std::getline(lines, line);) {
    for (const std::string& text : texts) {
      EXPECT_TRUE(line.find(text) == std::string::npos || line.starts_with("| ")) << line;
    }
  }
}

// Fifty times in other words and other spellings, with a cycle after each; repeats_test.cc has 200.
TEST_F(Hostile, ARefutedPatchThatComesAgainAndAgainCostsNothing) {
  if (!can_sandbox()) GTEST_SKIP() << "bubblewrap does not work here";
  prepare({});
  ScriptedModel::SetUp();
  house().write("config.toml", house().read("config.toml") + "[agent]\nattacks = 0\n");
  const auto propose = [&](McpClient& client, int n) {
    const std::string name = "part_" + std::to_string(n);
    return client.call(
        "propose_change",
        {{"family", "work"},
         {"change",
          {{"patch",
            instead({"# idea " + std::to_string(n) + ", verified", name + " = (batch[:900])",
                     "if len(batch) <= 2: " + name + " = batch", "return sum(" + name + ")"})}}},
         {"title", "a wholly new idea, number " + std::to_string(n)},
         {"mechanism", "for reason " + std::to_string(n)},
         {"gain_percent", 31 + n % 60}});
  };
  McpClient client(house(), Era::kModern, {"--budget", "20m"});
  const Json first = propose(client, 0);
  ASSERT_EQ(first.at("accepted"), true) << first;
  const std::string id = first.at("hypothesis");
  ASSERT_EQ(house().amdahl({"cycle", "--watch"}).code, 0);
  ASSERT_EQ(hypothesis("a wholly new idea, number 0").at("state"), "refuted");
  const int pairs = pairs_of(id);
  EXPECT_LE(pairs, 1);

  const auto repeat = [&](int from, int to) {
    const std::size_t runs = events("run.reserved").size();
    for (int n = from; n < to; ++n) {
      const Json again = propose(client, n);
      EXPECT_EQ(again.at("accepted"), false) << again;
      EXPECT_EQ(again.at("known").at(0).at("nearness"), "same change") << again;
      ASSERT_EQ(house().amdahl({"cycle"}).code, 0);
    }
    EXPECT_EQ(events("run.reserved").size(), runs) << "not a run";
  };
  repeat(1, 26);
  // A person may reopen it: it is tested once more, and no more.
  ASSERT_EQ(house().amdahl({"ledger", "reopen", id, "--reason", "another machine"}).code, 0);
  const Json reopened = propose(client, 26);
  ASSERT_EQ(reopened.at("accepted"), true) << reopened;
  ASSERT_EQ(house().amdahl({"cycle", "--watch"}).code, 0);
  EXPECT_LE(pairs_of(reopened.at("hypothesis")), 1);
  repeat(27, 51);
  EXPECT_EQ(client.end(), 0);
}

}  // namespace
}  // namespace amdahl::e2e
