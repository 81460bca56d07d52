// scripted_model.h: a job in a repo and a model that is played by a script, after all rules had
// their turn.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {

// The job takes batches from a queue that pauses before each, though nothing is to be waited for.
// No rule of ours knows this queue. The state in which the rules have nothing left to test is made
// once for all tests of a suite.
class ScriptedModel : public testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;
  // The notes are in the job's code and in what it prints. `beside`: it writes its result beside
  // its code.
  static void prepare(const std::vector<std::string>& notes, bool beside = false);

  static const Sandbox& house() { return *house_; }

  // A diff that puts these lines, of Python, in the place of the body of Queue.take().
  static std::string instead(const std::vector<std::string>& lines);
  // The honest one: no pause.
  static std::string fix() { return instead({"return sum(batch)"}); }
  // Of a file of one line.
  static std::string edit(const std::string& file, const std::string& from, const std::string& to);

  static Json idea(const std::string& title, const std::string& patch, double saving = 0.5);

  // The scripted client prints an answer with these ideas; asked to attack, `attack`, or an
  // abstention. `first`: lines of shell before that.
  void play(const std::vector<Json>& ideas, const std::string& first = "",
            const Json& attack = Json()) const;
  // Its answer to who asks it to dream; else it dreams of nothing.
  void play_dream(const std::vector<Json>& ideas) const;
  // Uses the client; `more` lines follow those of [agent].
  void configure(const std::string& more = "") const;
  Outcome cycle(const std::map<std::string, std::string>& env = {},
                const std::vector<std::string>& more = {}) const;

  static std::vector<Json> events(const std::string& kind);
  static int times_asked();
  // The row of `ledger list` with this title; null if there is none.
  static Json hypothesis(const std::string& title);
  // Pairs of its experiment of which an arm ran.
  static int pairs_of(const std::string& hypothesis);
  static bool can_sandbox();

  static std::unique_ptr<Sandbox> house_;
};

}  // namespace amdahl::e2e
