#include "scripted_model.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace amdahl::e2e {
namespace {

namespace fs = std::filesystem;

constexpr const char* kQueue = R"(import threading


class Queue:
    def __init__(self):
        self.pause = threading.Event()

    def take(self, batch):
        self.pause.wait(0.05)
        return sum(batch)
)";
constexpr const char* kJob = R"(import os

from queues import Queue

queue = Queue()
total = 0
for at in range(12):
    total += queue.take(range(at, at + 1000))
with open(os.path.join(os.environ["AMDAHL_OUT"], "result"), "w") as out:
    out.write("%d\n" % total)
print("worked on %d batches" % 12)
)";
constexpr const char* kResult = R"(os.path.join(os.environ["AMDAHL_OUT"], "result"))";
constexpr const char* kCheck = R"(from queues import Queue

assert Queue().take([1, 2]) == 3
)";
constexpr const char* kConfig =
    "[campaign]\nk = 20\n[compare]\ncap = 24\nmin_gain = 0.3\n[loop]\nlease_s = 3.0\n"
    "per_family = 1\n";

std::string python() {
  return run({"python3", "-c", "import sys; print(sys.executable, end='')"}, {}, "/").out;
}

// The job prints the notes, to both of its logs, and its code has them in comments.
void make_repo(const Sandbox& house, const std::vector<std::string>& notes, bool beside) {
  std::string job = kJob;
  if (beside) job.replace(job.find(kResult), std::string_view(kResult).size(), "\"result\"");
  std::string comments;
  std::string prints = notes.empty() ? "" : "import sys\n";
  for (const std::string& note : notes) {
    comments += "# " + note + "\n";
    prints +=
        "print(" + Json(note).dump() + ")\nprint(" + Json(note).dump() + ", file=sys.stderr)\n";
  }
  house.write("repo/jobs/work.py", job + prints + comments);
  house.write("repo/jobs/queues.py", comments + kQueue);
  house.write("repo/jobs/check.py", kCheck);
  house.write("repo/jobs/secret.py", "x = 1\n");
  house.write("repo/jobs/build.sh", "true\n");
  house.write("repo/tests/test_queue.py", "assert 1\n");
  house.write("repo/setup.py", "a = 1\n");
  house.write("repo/.gitignore", "result\n");
  const std::string git = "git -c user.email=ada@example.org -c user.name=Ada ";
  ASSERT_EQ(run({"sh", "-c", "git init -q . && git add . && " + git + "commit -q -m 'the job'"}, {},
                house.path("repo"))
                .code,
            0);
}

void copy_state(const Sandbox& house, const std::string& from, const std::string& to) {
  fs::remove_all(house.path(to));
  fs::copy(house.path(from), house.path(to),
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
}

// As Claude Code prints it.
std::string result(const Json& answer) {
  return Json{{"type", "result"},
              {"subtype", "success"},
              {"is_error", false},
              {"result", answer.dump()},
              {"structured_output", answer},
              {"total_cost_usd", 0.005},
              {"usage", {{"input_tokens", 2000}, {"output_tokens", 100}}}}
      .dump();
}

}  // namespace

std::unique_ptr<Sandbox> ScriptedModel::house_;

void ScriptedModel::SetUpTestSuite() { prepare({}); }

void ScriptedModel::prepare(const std::vector<std::string>& notes, bool beside) {
  house_ = std::make_unique<Sandbox>();
  const std::string interpreter = python();
  if (interpreter.empty()) return;
  make_repo(*house_, notes, beside);
  house_->write("job.toml",
                "family = \"work\"\ncommand = [\"" + interpreter +
                    "\", \"work.py\"]\nworkdir = \"repo/jobs\"\nrepo = \"repo\"\n"
                    "build = [\"sh\", \"jobs/build.sh\"]\ncheck = [\"" +
                    interpreter +
                    "\", \"jobs/check.py\"]\npaths = [\"jobs\"]\ndeny = [\"jobs/secret.py\"]\n"
                    "accelerators = 1\ntime_limit_s = 60\ninputs = [\"work.py\"]\n"
                    "[env]\nOMP_WAIT_POLICY = \"passive\"\n"
                    "[work]\nunit = \"batches\"\npattern = 'worked on (\\d+) batches'\n"
                    "[[outputs]]\npath = \"" +
                    (beside ? "" : "{out}/") + "result\"\n");
  house_->write("config.toml", kConfig);
  ASSERT_EQ(house_->amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  const Outcome done = house_->amdahl({"cycle", "--watch", "--gate-policy", "demo"});
  ASSERT_EQ(done.code, 0) << done.err;
  ASSERT_TRUE(events("ask.reserved").empty()) << "nobody is asked unless a model is named";
  ASSERT_FALSE(house_->has("state/asks"));
  copy_state(*house_, "state", "prepared");
}

void ScriptedModel::TearDownTestSuite() { house_.reset(); }

void ScriptedModel::SetUp() {
  if (python().empty()) GTEST_SKIP() << "python3 is not installed: apt install python3";
  ASSERT_TRUE(house_->has("prepared"));
  copy_state(*house_, "prepared", "state");
}

std::string ScriptedModel::instead(const std::vector<std::string>& lines) {
  std::string diff =
      "--- a/jobs/queues.py\n+++ b/jobs/queues.py\n@@ -6,5 +6," + std::to_string(3 + lines.size()) +
      " @@\n         self.pause = threading.Event()\n \n     def take(self, batch):\n"
      "-        self.pause.wait(0.05)\n-        return sum(batch)\n";
  for (const std::string& line : lines) diff += "+        " + line + "\n";
  return diff;
}

std::string ScriptedModel::edit(const std::string& file, const std::string& from,
                                const std::string& to) {
  return "--- a/" + file + "\n+++ b/" + file + "\n@@ -1 +1 @@\n-" + from + "\n+" + to + "\n";
}

Json ScriptedModel::idea(const std::string& title, const std::string& patch, double saving) {
  return {{"title", title},
          {"cause", "compute"},
          {"mechanism", "what it waits for is there already"},
          {"expected_saving", saving},
          {"change",
           {{"env", Json::array()},
            {"args", Json::array()},
            {"config", Json::array()},
            {"inject", Json::array()},
            {"accelerators", nullptr},
            {"patch", patch},
            {"needs_build", false}}}};
}

void ScriptedModel::play(const std::vector<Json>& ideas, const std::string& first,
                         const Json& attack) const {
  const Json none{{"vote", "abstain"}, {"check", ""}, {"because", ""}, {"numbers", Json::array()}};
  house_->write("client/result.json", result({{"hypotheses", ideas}, {"nothing_because", ""}}));
  house_->write("client/attack.json", result(attack.is_null() ? none : attack));
  house_->write("client/dream.json", result({{"ideas", Json::array()}}));
  house_->write("client/claude",
                "#!/bin/sh\necho asked >> \"$HOME/asked\"\n" + first +
                    "\ntask=$(head -1)\ncase $task in *'is claimed to make this job cheaper'*) "
                    "answer=attack ;; *memory.documents*) answer=dream ;; *) answer=result ;; "
                    "esac\ncat \"$(dirname \"$0\")/$answer.json\"\n",
                true);
}

void ScriptedModel::play_dream(const std::vector<Json>& ideas) const {
  house_->write("client/dream.json", result({{"ideas", ideas}}));
}

void ScriptedModel::configure(const std::string& more) const {
  house_->write("config.toml", std::string(kConfig) +
                                   "[agent]\nfrontier = \"claude\"\nkey_env = \"\"\n"
                                   "frontier_program = \"" +
                                   house_->path("client/claude") + "\"\n" + more);
}

Outcome ScriptedModel::cycle(const std::map<std::string, std::string>& env,
                             const std::vector<std::string>& more) const {
  std::vector<std::string> words{"cycle", "--watch", "--gate-policy", "demo"};
  words.insert(words.end(), more.begin(), more.end());
  return house_->amdahl(words, env);
}

std::vector<Json> ScriptedModel::events(const std::string& kind) {
  EXPECT_EQ(house_->amdahl({"ledger", "export", "--output", "ledger.jsonl"}).code, 0);
  std::vector<Json> found;
  std::ifstream in(house_->path("ledger.jsonl"));
  for (std::string line; std::getline(in, line);) {
    const Json event = Json::parse(line, nullptr, false);
    if (event.value("kind", "") == kind) found.push_back(event);
  }
  return found;
}

int ScriptedModel::times_asked() {
  int asked = 0;
  for (const auto& entry : fs::recursive_directory_iterator(house_->path("state/asks"))) {
    if (entry.path().filename() != "asked") continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) ++asked;
  }
  return asked;
}

Json ScriptedModel::hypothesis(const std::string& title) {
  const Json list = json_of(house_->amdahl({"ledger", "list", "--json"}));
  for (const Json& row : list.at("hypotheses")) {
    if (row.at("hypothesis").at("title") == title) return row;
  }
  return Json();
}

int ScriptedModel::pairs_of(const std::string& hypothesis) {
  const std::string experiment = "x-" + hypothesis.substr(2);
  int ran = 0;
  for (const char* kind : {"run.collected", "run.voided"}) {
    for (const Json& event : events(kind)) {
      if (event.at("subject").get<std::string>().find(experiment) == std::string::npos) continue;
      const Json fact = event.at("payload").value("fact", Json());
      if (!fact.is_object()) continue;
      ran += fact.at("a").value("cost", 0.0) > 0 || fact.at("b").value("cost", 0.0) > 0 ? 1 : 0;
    }
  }
  return ran;
}

bool ScriptedModel::can_sandbox() {
  return run({"bwrap", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "true"}, {}, "/")
             .code == 0;
}

}  // namespace amdahl::e2e
