// dream_test.cc: ideas from documents and from wins elsewhere, through the real program.
#include <algorithm>

#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

constexpr const char* kConfigStart =
    "[campaign]\nk = 4\n[loop]\nlease_s = 3.0\n[compare]\ncap = 40\nmin_gain = ";

// With 0.9 the playbook proposes nothing, and a cycle tests what the test proposes alone.
void set_min_gain(const Sandbox& sandbox, const std::string& gain) {
  sandbox.write("config.toml", kConfigStart + gain + "\n");
}

std::string spec(const std::string& family, const std::string& command, const std::string& rest) {
  return "family = \"" + family + "\"\ncommand = " + command +
         "\nworkdir = \".\"\naccelerators = 1\ntime_limit_s = 20\ninputs = [\"input\"]\n"
         "[work]\nunit = \"step\"\n[[outputs]]\npath = \"{out}/result\"\n" +
         rest;
}

// Jobs that wait for input as long as they have few workers; one whose processes crowd one CPU;
// and one that does neither. A PREFETCH of 4 doubles the wait of the first.
void add_jobs(const Sandbox& sandbox) {
  sandbox.write("input", "what they read\n");
  sandbox.write("feed.sh",
                "#!/bin/sh\n"
                "workers=${FEED_WORKERS:-1}\n"
                "if [ \"$1\" = --workers ]; then workers=$2; fi\n"
                "nap=$(awk \"BEGIN {print 0.4 / $workers}\")\n"
                "if [ \"$OMP_WAIT_POLICY\" = passive ]; then nap=0.01; fi\n"
                "if [ \"$PREFETCH\" = 4 ]; then nap=0.8; fi\n"
                "start=$(date +%s.%N)\nsleep \"$nap\"\nend=$(date +%s.%N)\n"
                "echo \"{\\\"phase\\\":\\\"wait_input\\\",\\\"start\\\":$start,\\\"end\\\":$end}\" "
                ">> \"$AMDAHL_REPORT\"\n"
                "echo '{\"work\": 1}' >> \"$AMDAHL_REPORT\"\n"
                "echo fine > \"$AMDAHL_OUT/result\"\n",
                true);
  sandbox.write("crowd.sh",
                "#!/bin/sh\n"
                "spin() { i=0; while [ $i -lt ${1:-100000} ]; do i=$((i+1)); done; }\n"
                "if [ \"$1\" = alone ]; then spin; else\n"
                "for n in 1 2 3 4 5 6; do spin & done; wait; fi\n"
                "echo '{\"work\": 1}' >> \"$AMDAHL_REPORT\"\n"
                "echo fine > \"$AMDAHL_OUT/result\"\n",
                true);
  sandbox.write("feed.toml", spec("feed", "[\"./feed.sh\"]",
                                  "[knobs.loader_workers]\nenv = \"FEED_WORKERS\"\nvalue = 1\n"
                                  "[knobs.prefetch_factor]\nenv = \"PREFETCH\"\nvalue = 1\n"));
  sandbox.write("meal.toml", spec("meal", "[\"./feed.sh\", \"--workers\", \"1\"]",
                                  "[knobs.loader_workers]\narg = \"--workers\"\n"));
  sandbox.write("crowd.toml", spec("crowd", "[\"./crowd.sh\"]", ""));
  sandbox.write("alone.toml", spec("alone", "[\"./crowd.sh\", \"alone\"]",
                                   "[knobs.loader_workers]\nenv = \"ALONE_WORKERS\"\nvalue = 1\n"));
}

void adopt(const Sandbox& sandbox, const std::string& family) {
  const Outcome outcome = sandbox.amdahl({"adopt", "--spec", family + ".toml"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
}

void adopt_and_profile(const Sandbox& sandbox, const std::string& family) {
  adopt(sandbox, family);
  const Outcome outcome = sandbox.amdahl({"profile", family});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
}

Json dream(const Sandbox& sandbox, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"dream", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const Outcome outcome = sandbox.amdahl(words);
  return json_of(outcome);
}

// The one injected for the family whose change is this; null if there is none.
Json idea_of(const Json& dreamt, const std::string& family, const Json& change) {
  for (const Json& idea : dreamt.at("injected")) {
    if (idea.at("family") == family && idea.at("change") == change) return idea;
  }
  return {};
}

bool is_left_out(const Json& dreamt, const std::string& family, const std::string& what,
                 const std::string& because) {
  return std::ranges::any_of(dreamt.at("left_out"), [&](const Json& row) {
    return row.at("family") == family && row.at("what") == what && row.at("because") == because;
  });
}

constexpr const char* kNotes =
    "# Tuning\n"
    "\n"
    "Set OMP_NUM_THREADS=1 when data loaders oversubscribe.\n"
    "\n"
    "We had jobs that waited for data.\n"
    "There num_workers=4 / more loader workers cured input starvation.\n"
    "\n"
    "Never set num_workers=16: loaders starve each other.\n";

TEST(Dream, DocumentsBecomeHypothesesWithTheirOrigin) {
  Sandbox sandbox;
  add_jobs(sandbox);
  set_min_gain(sandbox, "0.01");
  adopt_and_profile(sandbox, "feed");
  adopt_and_profile(sandbox, "crowd");
  sandbox.write("docs/tuning.md", kNotes);
  const Json first = dream(sandbox, {"--docs", "docs"});
  EXPECT_EQ(first.at("documents"), 1);

  const Json workers = idea_of(first, "feed", {{"env", {{"FEED_WORKERS", "4"}}}});
  ASSERT_TRUE(workers.is_object()) << first.dump(2);
  EXPECT_EQ(workers.at("origin").at("kind"), "dream");
  EXPECT_EQ(workers.at("origin").at("ref"), sandbox.path("docs/tuning.md") + ":6");
  EXPECT_EQ(workers.at("bottleneck"), "input");
  EXPECT_NE(workers.at("mechanism").get<std::string>().find("cured input starvation."),
            std::string::npos)
      << workers.at("mechanism");

  const Json threads = idea_of(first, "crowd", {{"env", {{"OMP_NUM_THREADS", "1"}}}});
  ASSERT_TRUE(threads.is_object()) << first.dump(2);
  EXPECT_EQ(threads.at("origin").at("ref"), sandbox.path("docs/tuning.md") + ":3");
  EXPECT_EQ(threads.at("bottleneck"), "contention");

  EXPECT_TRUE(is_left_out(first, "feed", "loader_workers=16", "the text advises against it"))
      << first.dump(2);
  const Outcome shown = sandbox.amdahl({"ledger", "show", workers.at("id").get<std::string>()});
  EXPECT_NE(shown.out.find("docs/tuning.md:6"), std::string::npos) << shown.out;

  const Json second = dream(sandbox, {"--docs", "docs"});
  EXPECT_TRUE(second.at("injected").empty())
      << "what it dreamt before is known: " << second.dump(2);
  EXPECT_GE(second.at("known").value("live", 0), 2);
  EXPECT_EQ(sandbox.amdahl({"ledger", "verify"}).code, 0);
}

TEST(Dream, SaysWhatItSearchedAndWhatIsMissing) {
  Sandbox sandbox;
  add_jobs(sandbox);
  set_min_gain(sandbox, "0.01");
  const Outcome early = sandbox.amdahl({"dream"});
  EXPECT_EQ(early.code, 1);
  adopt(sandbox, "feed");
  const Json bare = json_of(sandbox.amdahl({"dream", "--json"}));
  EXPECT_EQ(bare.at("docs"), "");
  EXPECT_EQ(bare.at("documents"), 0);
  EXPECT_EQ(bare.at("unprofiled"), Json::array({"feed"}));
  const Outcome shown = sandbox.amdahl({"dream"});
  for (const char* next : {"--docs DIR", "amdahl profile feed"}) {
    EXPECT_NE(shown.out.find(next), std::string::npos) << shown.out;
  }
  const Outcome nowhere = sandbox.amdahl({"dream", "--docs", "nowhere"});
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_NE(nowhere.err.find("--docs: there is no folder " + sandbox.path("nowhere")),
            std::string::npos)
      << nowhere.err;
  EXPECT_EQ(sandbox.amdahl({"dream", "--family", "fed"}).code, 1);
  ASSERT_EQ(sandbox.amdahl({"profile", "feed"}).code, 0);
  sandbox.write("docs/tuning.md", kNotes);
  sandbox.write("docs/picture.png", "not a text");
  const Outcome told = sandbox.amdahl({"dream", "--docs", "docs"});
  EXPECT_EQ(told.code, 0) << told.err;
  for (const char* part :
       {"1 document in ", "1 file passed over", "FEED_WORKERS=4", "tuning.md:6",
        "not for feed: loader_workers=16 (tuning.md:8): the text advises against it"}) {
    EXPECT_NE(told.out.find(part), std::string::npos) << part << "\n" << told.out;
  }
}

TEST(Dream, ARefutedIdeaIsNotDreamtInAnotherSpelling) {
  Sandbox sandbox;
  add_jobs(sandbox);
  set_min_gain(sandbox, "0.9");
  adopt(sandbox, "feed");
  ASSERT_EQ(sandbox.amdahl({"propose", "feed", "--env", "PREFETCH=4", "--gain", "50"}).code, 0);
  const Outcome cycle = sandbox.amdahl({"cycle", "--watch", "--quiet"});
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  set_min_gain(sandbox, "0.01");
  sandbox.write("docs/a.md",
                "Against data starvation set the prefetch factor to 04.\n\n"
                "Or `prefetch_factor = 4`, or PREFETCH=4.0, which input pipelines like.\n");
  const Json dreamt = dream(sandbox, {"--docs", "docs"});
  EXPECT_EQ(dreamt.at("known").value("harmful", 0), 1) << dreamt.dump(2);
  EXPECT_TRUE(dreamt.at("injected").empty()) << dreamt.dump(2);
  const Outcome told = sandbox.amdahl({"dream", "--docs", "docs"});
  EXPECT_NE(told.out.find("1 idea came up again and is not retried: 1 harmful"), std::string::npos)
      << told.out;
  sandbox.write("docs/b.md", "Against data starvation set the prefetch factor to 8.\n");
  EXPECT_TRUE(idea_of(dream(sandbox, {"--docs", "docs"}), "feed", {{"env", {{"PREFETCH", "8"}}}})
                  .is_object())
      << "another value is another idea";
}

// Proposes, tests and promotes; its id.
std::string win(const Sandbox& sandbox, const std::string& family, const std::string& env) {
  const Outcome proposed =
      sandbox.amdahl({"propose", family, "--env", env, "--gain", "60", "--as", "ada"});
  EXPECT_EQ(proposed.code, 0) << proposed.err;
  const Outcome cycle = sandbox.amdahl({"cycle", "--watch", "--quiet", "--gate-policy", "demo"});
  EXPECT_EQ(cycle.code, 0) << cycle.err;
  const Json list = json_of(sandbox.amdahl({"ledger", "list", "--json"}));
  for (const Json& row : list.at("hypotheses")) {
    if (row.at("state") == "promoted" && row.at("hypothesis").at("title") == env) {
      return row.at("hypothesis").at("id");
    }
  }
  ADD_FAILURE() << env << " was not promoted: " << cycle.err << list.dump(2);
  return "";
}

TEST(Dream, AWinOfAnotherFamilyIsMovedOverByItsKnob) {
  Sandbox sandbox;
  add_jobs(sandbox);
  set_min_gain(sandbox, "0.9");
  adopt(sandbox, "feed");
  const std::string id = win(sandbox, "feed", "FEED_WORKERS=10");
  adopt_and_profile(sandbox, "meal");
  adopt_and_profile(sandbox, "alone");
  set_min_gain(sandbox, "0.01");

  const Json dreamt = dream(sandbox);
  EXPECT_EQ(dreamt.at("wins"), 1);
  const Json moved = idea_of(dreamt, "meal", {{"args", {{"--workers", "10"}}}});
  ASSERT_TRUE(moved.is_object()) << dreamt.dump(2);
  EXPECT_EQ(moved.at("origin").at("ref"), "win " + id + " of feed");
  EXPECT_EQ(moved.at("bottleneck"), "input");
  EXPECT_EQ(std::ranges::count_if(dreamt.at("injected"),
                                  [](const Json& idea) { return idea.at("family") != "feed"; }),
            1)
      << "nothing for the family without that bottleneck";
  // Where it won, its neighbours are worth a look.
  EXPECT_TRUE(idea_of(dreamt, "feed", {{"env", {{"FEED_WORKERS", "20"}}}}).is_object())
      << dreamt.dump(2);
  EXPECT_TRUE(is_left_out(dreamt, "alone", "FEED_WORKERS=10",
                          "it fixed data starvation, which costs alone nothing"))
      << dreamt.dump(2);
  EXPECT_TRUE(dream(sandbox).at("injected").empty());

  ASSERT_EQ(sandbox.amdahl({"gate", "rollback", id, "--reason", "pager", "--as", "ada"}).code, 0);
  EXPECT_EQ(dream(sandbox).at("wins"), 0) << "what was taken back is no win";
}

TEST(Dream, AWinByAVariableIsMovedOverAsItIs) {
  Sandbox sandbox;
  add_jobs(sandbox);
  set_min_gain(sandbox, "0.9");
  adopt(sandbox, "feed");
  const std::string id = win(sandbox, "feed", "OMP_WAIT_POLICY=passive");
  adopt_and_profile(sandbox, "meal");
  set_min_gain(sandbox, "0.01");
  const Json dreamt = dream(sandbox, {"--family", "meal"});
  const Json moved = idea_of(dreamt, "meal", {{"env", {{"OMP_WAIT_POLICY", "passive"}}}});
  ASSERT_TRUE(moved.is_object()) << dreamt.dump(2);
  EXPECT_EQ(moved.at("origin").at("ref"), "win " + id + " of feed");

  // And it can be tested like any other.
  set_min_gain(sandbox, "0.9");
  const Outcome cycle = sandbox.amdahl({"cycle", "--watch", "--quiet", "--gate-policy", "demo"});
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  const Json row =
      json_of(sandbox.amdahl({"ledger", "show", moved.at("id").get<std::string>(), "--json"}));
  EXPECT_EQ(row.at("state"), "promoted") << row.dump(2);
}

}  // namespace
}  // namespace amdahl::e2e
