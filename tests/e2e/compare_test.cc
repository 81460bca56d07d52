#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

using Words = std::vector<std::string>;

// Two small programs with a planted difference: `job.sh EFFECT` prints a cost of 100000 less
// EFFECT, and noise of about 2 % that depends on the run's number alone, whichever arm it is. What
// the machine does meanwhile changes nothing, so a seed of the coin decides the whole course.
void add_job(const Sandbox& sandbox) {
  sandbox.write("job.sh", R"sh(#!/bin/sh
n=$(cat count 2>/dev/null || echo 0); n=$((n + 1)); echo $n > count
x=$(( n * 6364136223846793005 + ${NOISE:-1} * 1442695040888963407 ))
x=$(( (x ^ (x >> 29)) * 3202034522624059733 ))
x=$(( (x ^ (x >> 32)) & 2147483647 ))
z=$(( x % 101 + x / 101 % 101 + x / 10201 % 101 - 150 ))
echo "cost $((100000 + z * 40 - $1))"
[ "$n" = "${KILL_AT:-0}" ] && kill -${KILL_WITH:-INT} $PPID && sleep 5
exit 0
)sh",
                true);
}

const std::string kCost = "cost ([0-9]+)";

Outcome compare(const Sandbox& sandbox, const Words& flags, const std::string& effect,
                const std::map<std::string, std::string>& env = {}) {
  Words words{"compare", "--metric", kCost};
  words.insert(words.end(), flags.begin(), flags.end());
  const Words arms{"--", "./job.sh", "0", ":::", "./job.sh", effect};
  words.insert(words.end(), arms.begin(), arms.end());
  return sandbox.amdahl(words, env);
}

std::string only_folder(const Sandbox& sandbox) {
  const std::vector<std::string> names = sandbox.list("state/compare");
  EXPECT_EQ(names.size(), 1U);
  return names.empty() ? "" : "state/compare/" + names.front();
}

TEST(Compare, APlantedSavingIsFoundWithItsInterval) {
  Sandbox sandbox;
  add_job(sandbox);
  const Outcome outcome = compare(sandbox, {"--json", "--seed", "1"}, "8000");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json doc = json_of(outcome);
  EXPECT_EQ(doc.at("answer"), "better");
  EXPECT_LT(doc.at("interval").at(0), 0.08);
  EXPECT_GT(doc.at("interval").at(1), 0.08);
  EXPECT_GT(doc.at("interval").at(0), 0) << "better, and the interval says so too";
  EXPECT_GE(doc.at("pairs").at("counted"), 5);
  EXPECT_LE(doc.at("pairs").at("counted"), 15);
  EXPECT_EQ(doc.at("pairs").at("void"), 0);
  EXPECT_EQ(doc.at("rows").size(), doc.at("pairs").at("counted"));
  EXPECT_EQ(doc.at("noise").at("same_pairs"), 6) << "runs are short, so the noise was measured";
  EXPECT_GT(doc.at("noise").at("sigma"), 0.01);
  EXPECT_LT(doc.at("noise").at("sigma"), 0.06);
  EXPECT_EQ(doc.at("comparison").at("answer"), "better");
  EXPECT_FALSE(doc.at("interrupted").get<bool>());
}

TEST(Compare, ASlowerVariantIsCalledSlowerAndNotJustNoBetter) {
  Sandbox sandbox;
  add_job(sandbox);
  const Outcome outcome = compare(sandbox, {"--quiet", "--seed", "1"}, "-8000");
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("B is worse: costs ")) << outcome.out;
  EXPECT_EQ(count_lines(outcome.out, ""), 1) << "the verdict alone\n" << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

TEST(Compare, AChangeThatDoesNothingIsNeverCalledBetter) {
  for (int seed = 1; seed <= 8; ++seed) {
    Sandbox sandbox;
    add_job(sandbox);
    const std::string text = std::to_string(seed);
    const Outcome outcome =
        compare(sandbox, {"--json", "--seed", text, "--same", "0", "--noise", "2", "--claim", "6"},
                "0", {{"NOISE", text}});
    EXPECT_NE(json_of(outcome, 1).at("answer"), "better") << "seed " << seed;
  }
}

TEST(Compare, TheSameSeedTossesTheSameCoins) {
  std::vector<Json> rows;
  for (int i = 0; i < 2; ++i) {
    Sandbox sandbox;
    add_job(sandbox);
    rows.push_back(json_of(compare(sandbox, {"--json", "--seed", "x"}, "8000")).at("rows"));
  }
  EXPECT_EQ(rows[0], rows[1]);
}

TEST(Compare, RealTimesTellASlowCommandFromAFastOne) {
  Sandbox sandbox;
  const Outcome faster = sandbox.amdahl({"compare", "--", "sleep", "0.12", ":::", "sleep", "0.03"});
  EXPECT_EQ(faster.code, 0) << faster.err;
  EXPECT_TRUE(faster.out.starts_with("B is faster: saves ")) << faster.out;
  EXPECT_NE(faster.out.find("95 % confidence each side"), std::string::npos)
      << "an interval and a count";
  const Outcome few =
      sandbox.amdahl({"compare", "--pairs", "2", "--", "sleep", "0.05", ":::", "sleep", "0.04"});
  EXPECT_EQ(few.code, 1);
  EXPECT_TRUE(few.out.starts_with("Cannot tell yet: ")) << few.out;
  EXPECT_NE(few.out.find("To decide "), std::string::npos) << few.out;
}

TEST(Compare, ReadsTwoSpecs) {
  Sandbox sandbox;
  sandbox.add_nap_job();
  std::string fast = sandbox.read("job.toml");
  fast.insert(fast.find("RUN_LOG"), "NAP = \"0.01\"\n");
  sandbox.write("fast.toml", fast);
  const Outcome outcome =
      sandbox.amdahl({"compare", "--json", "--", "job.toml", ":::", "fast.toml"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json doc = json_of(outcome);
  EXPECT_EQ(doc.at("comparison").at("answer"), "better");
  EXPECT_EQ(doc.at("metric").at("name"), "accelerator-seconds per nap");
  EXPECT_FALSE(doc.at("outputs_differ").get<bool>());
}

TEST(Compare, TellsAPersonWhatTheyNeed) {
  Sandbox sandbox;
  add_job(sandbox);
  const Outcome outcome =
      compare(sandbox, {"--seed", "1", "--width", "100"}, "8000", {{"LC_ALL", "C.UTF-8"}});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("B is better: saves ")) << outcome.out;
  for (const char* part : {"\nNoise ", "\nA against A ", "\nDetects ", "\nMatters ", "\nEvidence ",
                           "\nKept in ", "median of the pairs", "●", "◆", "┤"}) {
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  }
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << "no colours outside a terminal";
  EXPECT_NE(outcome.err.find("first 6 pairs of A against A"), std::string::npos) << outcome.err;
  const Outcome plain = sandbox.amdahl({"compare", "--resume", "last"}, {{"LC_ALL", "C"}});
  EXPECT_TRUE(
      std::ranges::all_of(plain.out, [](char c) { return static_cast<signed char>(c) > 0; }))
      << "no UTF-8 where the locale has none\n"
      << plain.out;
}

// Python's parsers, strict as XML and lenient as HTML, must both see one whole page.
TEST(Compare, ThePageIsWellFormedAndComplete) {
  Sandbox sandbox;
  add_job(sandbox);
  ASSERT_EQ(compare(sandbox, {"--html", "page.html", "--seed", "1"}, "8000").code, 0);
  sandbox.write("check.py", R"py(
import sys, xml.etree.ElementTree as tree
from html.parser import HTMLParser
text = open('page.html', encoding='utf-8').read()
root = tree.fromstring(text)
names = [e.tag.split('}')[1] for e in root.iter()]
class Tags(HTMLParser):
    open, seen = [], 0
    def handle_starttag(self, tag, attributes):
        Tags.seen += 1
        assert not any(name.startswith('on') or name in ('src', 'href') for name, _ in attributes)
        if tag != 'meta': Tags.open.append(tag)
    def handle_startendtag(self, tag, attributes): Tags.seen += 1
    def handle_endtag(self, tag):
        assert Tags.open.pop() == tag
Tags().feed(text)
assert not Tags.open and Tags.seen == len(names), (Tags.open, Tags.seen, len(names))
title = root.find('.//{http://www.w3.org/1999/xhtml}h1').text
print(names.count('svg'), names.count('script'), title)
)py");
  const Outcome checked = run({"/usr/bin/python3", "check.py"}, {}, sandbox.path());
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_TRUE(checked.out.starts_with("2 0 B is better: saves ")) << checked.out;
}

TEST(Compare, NothingIsLostWhenItIsInterrupted) {
  Sandbox sandbox;
  add_job(sandbox);
  // Warm-up 2, A against A 12: run 19 is the first of the third pair.
  const Outcome cut =
      compare(sandbox, {"--seed", "1"}, "8000", {{"KILL_AT", "19"}, {"LC_ALL", "C.UTF-8"}});
  EXPECT_EQ(cut.code, 130) << cut.out << cut.err;
  EXPECT_TRUE(cut.out.starts_with("Cannot tell yet: ")) << cut.out;
  const std::string folder = only_folder(sandbox);
  EXPECT_NE(cut.out.find("amdahl compare --resume " + sandbox.path(folder)), std::string::npos)
      << cut.out;
  EXPECT_EQ(sandbox.list(folder + "/pairs"), (Words{"1", "2", "3"}));
  EXPECT_EQ(Json::parse(sandbox.read(folder + "/pairs/3/pair.json")).at("void_reason"),
            "interrupted");

  const Outcome rest = sandbox.amdahl({"compare", "--resume", folder, "--json"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  const Json doc = json_of(rest);
  EXPECT_EQ(doc.at("answer"), "better");
  EXPECT_EQ(doc.at("pairs").at("void"), 1);
  EXPECT_EQ(doc.at("noise").at("same_pairs"), 6) << "A against A is not run again";
  EXPECT_EQ(doc.at("rows").at(0).at("index"), 1);
  EXPECT_EQ(doc.at("rows").at(3).at("index"), 4) << "a coin is not tossed twice";
  EXPECT_FALSE(doc.at("interrupted").get<bool>());
  for (const std::string remark : doc.at("remarks")) {
    EXPECT_EQ(remark.find("failed"), std::string::npos) << "^C is no failure of an arm: " << remark;
  }
  // What has its answer is told again and runs nothing.
  const std::string runs = sandbox.read("count");
  EXPECT_EQ(sandbox.amdahl({"compare", "--resume", "last", "--quiet"}).code, 0);
  EXPECT_EQ(sandbox.read("count"), runs);
}

TEST(Compare, AKilledOneGoesOnToo) {
  Sandbox sandbox;
  add_job(sandbox);
  const Outcome cut =
      compare(sandbox, {"--seed", "1"}, "8000", {{"KILL_AT", "18"}, {"KILL_WITH", "KILL"}});
  EXPECT_EQ(cut.code, 128 + 9);
  const std::string folder = only_folder(sandbox);
  EXPECT_FALSE(sandbox.has(folder + "/pairs/2/pair.json"));
  const Outcome rest = sandbox.amdahl({"compare", "--resume", "last", "--json"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  const Json rows = json_of(rest).at("rows");
  EXPECT_EQ(rows.at(0).at("index"), 1);
  EXPECT_EQ(rows.at(1).at("index"), 3) << "the index under way is spent";
}

TEST(Compare, MorePairsMayBeAskedForLater) {
  Sandbox sandbox;
  add_job(sandbox);
  const Outcome few = compare(sandbox, {"--pairs", "3", "--seed", "1"}, "8000");
  EXPECT_EQ(few.code, 1);
  const Outcome more = sandbox.amdahl({"compare", "--resume", "last", "--pairs", "30", "--json"});
  ASSERT_EQ(more.code, 0) << more.err;
  EXPECT_EQ(json_of(more).at("answer"), "better");
  const Outcome sharper =
      sandbox.amdahl({"compare", "--resume", "last", "--precision", "2", "--json"});
  ASSERT_EQ(sharper.code, 0) << sharper.err;
  const Json doc = json_of(sharper);
  EXPECT_LE(doc.at("interval").at(1).get<double>() - doc.at("interval").at(0).get<double>(), 0.04);
  EXPECT_GT(doc.at("pairs").at("counted"), json_of(more).at("pairs").at("counted"));
}

TEST(Compare, BothAtOnceOnSeparateCpus) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  ::sched_getaffinity(0, sizeof(mask), &mask);
  if (CPU_COUNT(&mask) < 2) GTEST_SKIP() << "two CPUs are needed";
  Sandbox sandbox;
  const Outcome outcome = sandbox.amdahl({"compare", "--concurrent", "--json", "--same", "0", "--",
                                          "sleep", "0.3", ":::", "sleep", "0.1"});
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const Json doc = json_of(outcome);
  EXPECT_EQ(doc.at("answer"), "better");
  EXPECT_EQ(doc.at("pairs").at("void"), 0);
  for (const Json& row : doc.at("rows")) EXPECT_EQ(row.at("first"), "both");
}

TEST(Compare, OtherNumbersCanBeCompared) {
  Sandbox sandbox;
  sandbox.write("busy.sh", "#!/bin/sh\ni=0; while [ $i -lt $1 ]; do i=$((i+1)); done\n", true);
  const Outcome cpu = sandbox.amdahl({"compare", "--metric", "cpu", "--quiet", "--", "./busy.sh",
                                      "200000", ":::", "./busy.sh", "40000"});
  EXPECT_TRUE(cpu.out.starts_with("B needs less CPU time: saves ")) << cpu.out << cpu.err;
  // By its own report, more being better.
  sandbox.write("rate.sh",
                "#!/bin/sh\necho \"{\\\"metric\\\": {\\\"rate\\\": $1}}\" >> $AMDAHL_REPORT\n",
                true);
  const Outcome rate = sandbox.amdahl({"compare", "--metric", "rate", "--higher", "--quiet", "--",
                                       "./rate.sh", "100", ":::", "./rate.sh", "125"});
  EXPECT_EQ(rate.code, 0) << rate.err;
  EXPECT_TRUE(rate.out.starts_with("B is better: gains 25 % (")) << rate.out;
  // Per unit of work: twice the cost for three times the work.
  sandbox.write("work.sh", "#!/bin/sh\nsleep $1\necho \"did $2 items\"\n", true);
  const Outcome work = sandbox.amdahl({"compare", "--work", "did ([0-9]+) items", "--json", "--",
                                       "./work.sh", "0.05", "10", ":::", "./work.sh", "0.1", "60"});
  ASSERT_EQ(work.code, 0) << work.err;
  const Json doc = json_of(work);
  EXPECT_EQ(doc.at("metric").at("name"), "wall time per unit of work");
  EXPECT_EQ(doc.at("outputs_differ"), true) << doc.at("remarks");
}

TEST(Compare, EveryMistakeIsNamed) {
  Sandbox sandbox;
  sandbox.write("fails.sh", "#!/bin/sh\necho first >&2\necho 'no such model: big' >&2\nexit 3\n",
                true);
  sandbox.write("half.sh", "#!/bin/sh\necho '{\"work\": 5}' >> $AMDAHL_REPORT\n", true);
  struct Case {
    Words words;
    int code;
    std::string error;
  };
  const Case kCases[] = {
      {{"--", "true", "true"},
       2,
       "amdahl: ':::' must stand between the two commands; type: amdahl compare -- A ::: B\n"},
      {{"--", "true", ":::"}, 2, "amdahl: arm B has no command; type: amdahl compare -- A ::: B\n"},
      {{"--", "true", ":::", "no-such-program"}, 3, "amdahl: B cannot be started: "},
      {{"--", "./fails.sh", ":::", "true"},
       3,
       "amdahl: A fails: exit 3; last line of its stderr: no such model: big; what it wrote is "
       "in "},
      {{"--warm-up", "0", "--same", "0", "--", "true", ":::", "./fails.sh"},
       3,
       "amdahl: the first 3 pairs cannot be used: B: exit 3 (no such model: big); all they wrote "
       "is "
       "in "},
      {{"--", "true", ":::", "./half.sh"},
       3,
       "amdahl: the first 3 pairs cannot be used: A reports no work; all they wrote is in "},
      {{"--metric", "speed ([0-9]+)", "--", "true", ":::", "true"},
       3,
       "amdahl: A prints nothing that matches 'speed ([0-9]+)'; what it wrote is in "},
      {{"--metric", "rate", "--", "true", ":::", "true"},
       3,
       "amdahl: A does not report 'rate' to $AMDAHL_REPORT; it reports nothing; what it wrote is "
       "in "},
      {{"--metric", "speed ([0-9+", "--", "true", ":::", "true"},
       2,
       "amdahl: --metric 'speed ([0-9+' is not a regular expression"},
      {{"--higher", "--", "true", ":::", "true"},
       2,
       "amdahl: --higher is for a number that the job reports or prints; name it: --metric NAME\n"},
      {{"--pairs", "-1", "--", "true", ":::", "true"}, 2, "amdahl: --pairs must be at least 1\n"},
      {{"--confidence", "100", "--", "true", ":::", "true"},
       2,
       "amdahl: --confidence must be from 50 to below 100\n"},
      {{"--resume", "nothing"},
       1,
       "amdahl: there is no comparison 'nothing'; those that were made "},
      {{"--html", "/no/such/folder/x.html", "--same", "0", "--pairs", "1", "--", "true",
        ":::", "true"},
       1,
       "amdahl: --html: there is no folder /no/such/folder; make it first\n"},
  };
  for (const Case& c : kCases) {
    Words words{"compare", "--quiet"};
    words.insert(words.end(), c.words.begin(), c.words.end());
    const Outcome got = sandbox.amdahl(words);
    EXPECT_EQ(got.code, c.code) << c.error << "\n" << got.err;
    EXPECT_TRUE(got.err.starts_with(c.error)) << got.err << "\nwant: " << c.error;
    EXPECT_EQ(count_lines(got.err, ""), 1) << got.err;
  }
}

TEST(Compare, SecretsAreNotKeptAndAskedForAgain) {
  Sandbox sandbox;
  add_job(sandbox);
  sandbox.write("job2.sh", "#!/bin/sh\nexec ./job.sh $1\n", true);
  const Words arms{"--",  "./job2.sh", "0",    "--password", "hunter2-hunter2",
                   ":::", "./job2.sh", "8000", "--password", "hunter2-hunter2"};
  Words words{"compare", "--metric", kCost, "--pairs", "2", "--seed", "1"};
  words.insert(words.end(), arms.begin(), arms.end());
  ASSERT_EQ(sandbox.amdahl(words).code, 1);
  const std::string folder = only_folder(sandbox);
  EXPECT_EQ(run({"grep", "-r", "hunter2", sandbox.path(folder)}, {}, sandbox.path()).code, 1);
  const Outcome without = sandbox.amdahl({"compare", "--resume", "last", "--pairs", "20"});
  EXPECT_EQ(without.code, 2);
  EXPECT_NE(without.err.find("held secrets, which are not kept; type them again after: amdahl "
                             "compare --resume "),
            std::string::npos)
      << without.err;
  Words again{"compare", "--resume", "last", "--pairs", "20", "--quiet"};
  again.insert(again.end(), arms.begin(), arms.end());
  const Outcome with = sandbox.amdahl(again);
  EXPECT_EQ(with.code, 0) << with.err;
  EXPECT_EQ(run({"grep", "-r", "hunter2", sandbox.path(folder)}, {}, sandbox.path()).code, 1);
  again.back() = "another";
  const Outcome other = sandbox.amdahl(again);
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("are not those of "), std::string::npos) << other.err;
}

}  // namespace
}  // namespace amdahl::e2e
