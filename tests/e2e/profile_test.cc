// profile_test.cc: what a person sees of profile: the right cause and its line first, clear ends.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char* kPython = "/usr/bin/python3";
const std::string kExamples = source_path("/examples");

bool has_torch() {
  static const bool has = run({kPython, "-c", "import torch, PIL"}, {}, "/").code == 0;
  return has;
}

std::string line_of(const std::string& file, int number) {
  std::ifstream in(file);
  std::string line;
  for (int i = 0; i < number && std::getline(in, line); ++i) {
  }
  return line;
}

// The causes but those that come from others on the host: whether there are any, and how much they
// take, is not the job's doing.
std::vector<Json> own_causes(const Json& profile) {
  std::vector<Json> causes;
  for (const Json& cause : profile.at("causes")) {
    if (cause.at("bottleneck") != "contention") causes.push_back(cause);
  }
  return causes;
}

const Json* finding_of(const Json& profile, const std::string& rule) {
  for (const Json& finding : profile.at("findings")) {
    if (finding.at("rule") == rule) return &finding;
  }
  return nullptr;
}

// The page of the same profile, as `--show` prints it, says what the JSON does.
void expect_same_as_text(const Sandbox& sandbox, const std::string& family, const Json& profile) {
  const Outcome text = sandbox.amdahl({"profile", family, "--show"}, {{"COLUMNS", "200"}});
  ASSERT_EQ(text.code, 0) << text.err;
  const auto says = [&](const std::string& what) {
    EXPECT_NE(text.out.find(what), std::string::npos) << what << "\nis not in\n" << text.out;
  };
  says("bottleneck: " + profile.at("bottleneck").get<std::string>());
  for (const Json& cause : profile.at("causes")) {
    says(cause.at("name").get<std::string>().substr(0, 30));
    says("try: " + cause.at("try").get<std::string>().substr(0, 40));
  }
  for (const Json& finding : profile.at("findings")) {
    if (&finding - &profile.at("findings").front() >= 8) break;  // The page shows as many.
    says(fs::path(finding.at("file").get<std::string>()).filename().string() + ":" +
         std::to_string(finding.at("line").get<int>()));
  }
}

// What a browser makes of a page; nothing where there is none.
Json in_browser(const Sandbox& sandbox, const std::string& page) {
  const Outcome where = run({"sh", "-c", "command -v chromium && command -v node"}, {}, "/");
  if (where.code != 0) return nullptr;
  const Outcome got = run({"node", source_path("/tests/e2e/page_driver.js"), "chromium", page,
                           sandbox.path("page.png")},
                          {}, sandbox.path());
  return json_of(got);
}

TEST(Profile, OfAnEvaluationTheImportsAreNamedFirst) {
  if (!has_torch()) GTEST_SKIP() << kPython << " has no torch or no PIL";
  Sandbox sandbox;
  const std::string script = kExamples + "/offline_eval/evaluate.py";
  ASSERT_EQ(run({kPython, kExamples + "/offline_eval/make_data.py", sandbox.path("data"), "--count",
                 "24"},
                {}, sandbox.path())
                .code,
            0);
  const Outcome got = sandbox.amdahl({"profile",
                                      "--json",
                                      "--html",
                                      sandbox.path("page.html"),
                                      "--",
                                      kPython,
                                      script,
                                      "--data",
                                      sandbox.path("data"),
                                      "--out",
                                      sandbox.path(),
                                      "--batch",
                                      "1",
                                      "--workers",
                                      "0",
                                      "--threads",
                                      "1",
                                      "--verify",
                                      "--log-every",
                                      "1",
                                      "--fsync",
                                      "--checkpoint-every",
                                      "10"},
                                     {{"OPENBLAS_NUM_THREADS", "1"}});
  ASSERT_EQ(got.code, 0) << got.err;
  const Json profile = json_of(got);
  SCOPED_TRACE(got.out);
  const auto causes = own_causes(profile);
  ASSERT_FALSE(causes.empty());
  EXPECT_EQ(causes.front().at("bottleneck"), "lifecycle");
  EXPECT_EQ(causes.front().at("id"), "lifecycle.imports");
  EXPECT_NE(causes.front().at("try"), "");
  const Json* import = finding_of(profile, "unused-import");
  ASSERT_NE(import, nullptr);
  EXPECT_EQ(import->at("file"), script);
  EXPECT_NE(line_of(script, import->at("line")).find("import "), std::string::npos);
  EXPECT_TRUE(import->at("measured"));
  EXPECT_GT(profile.at("evidence").at("hook.steps"), 40);
  EXPECT_GT(profile.at("evidence").at("hook.overhead_share"), 0);

  const Json page = in_browser(sandbox, sandbox.path("page.html"));
  if (page.is_null()) GTEST_SKIP() << "the page was not looked at: needs chromium and node";
  SCOPED_TRACE(page.dump());
  EXPECT_EQ(page.at("ready"), "yes");
  EXPECT_EQ(page.at("errors"), Json::array());
  EXPECT_GT(page.at("drawn"), 20);
  const auto span = [&](const char* view) {
    return page.at(view).at(1).get<double>() - page.at(view).at(0).get<double>();
  };
  EXPECT_LT(span("zoomed"), span("whole"));
  EXPECT_EQ(page.at("again"), page.at("whole"));
}

// Its path from the build, as CMake wrote it.
std::string spec_of(const std::string& job) { return example_path("/") + job + "/job.toml"; }

bool is_built(const std::string& program) { return fs::exists(example_path("/") + program); }

Json family_profile(const Sandbox& sandbox, const std::string& job, const std::string& family) {
  const Outcome adopted = sandbox.amdahl({"adopt", "--spec", spec_of(job)});
  EXPECT_EQ(adopted.code, 0) << adopted.err;
  const Outcome got = sandbox.amdahl({"profile", family, "--json"});
  return json_of(got);
}

TEST(Profile, OfADeviceQueueTheChecksThatWaitForItAreNamedFirst) {
  if (!is_built("device_queue/device_queue")) GTEST_SKIP() << "the example was not built";
  Sandbox sandbox;
  const Json profile = family_profile(sandbox, "device_queue", "device-queue");
  ASSERT_FALSE(profile.is_null());
  SCOPED_TRACE(profile.dump(1));
  const auto causes = own_causes(profile);
  ASSERT_FALSE(causes.empty());
  EXPECT_EQ(causes.front().at("bottleneck"), "sync");
  const Json* line = nullptr;
  for (const Json& finding : profile.at("findings")) {
    if (line == nullptr && finding.at("cause") == "sync_share") line = &finding;
  }
  ASSERT_NE(line, nullptr) << "no line behind the waiting";
  const std::string file = line->at("file");
  EXPECT_TRUE(file.starts_with(kExamples + "/device_queue/")) << file;
  EXPECT_NE(line->at("try"), "");
  expect_same_as_text(sandbox, "device-queue", profile);
}

TEST(Profile, OfATunedJobNothingIsNamed) {
  if (!is_built("tuned/tuned_batch")) GTEST_SKIP() << "the example was not built";
  Sandbox sandbox;
  const Json profile = family_profile(sandbox, "tuned", "tuned-batch");
  ASSERT_FALSE(profile.is_null());
  SCOPED_TRACE(profile.dump(1));
  EXPECT_EQ(profile.at("findings"), Json::array());
  for (const Json& cause : own_causes(profile)) {
    // What others took from it may be unexplained as well.
    if (cause.at("bottleneck") == "unknown") continue;
    EXPECT_LT(cause.at("share"), 0.05) << cause.dump();
  }
  // Typed instead of adopted: that the machine has more CPUs than it uses is not its fault.
  const Outcome typed =
      sandbox.amdahl({"profile", "--json", "--", example_path("/tuned/tuned_batch"), "--items",
                      "6000", "--out", sandbox.path()});
  ASSERT_EQ(typed.code, 0) << typed.err;
  EXPECT_EQ(json_of(typed).at("findings"), Json::array()) << typed.out;
  EXPECT_EQ(typed.out.find("more accelerators than it uses"), std::string::npos) << typed.out;
}

// A job that waits for its input: each batch takes longer than all else together.
std::string slow_loader(const std::string& at_the_end) {
  return "import os, signal, sys, time\n"
         "import torch\n"
         "from torch.utils.data import DataLoader, Dataset\n"
         "\n"
         "class Slow(Dataset):\n"
         "    def __len__(self): return 400\n"
         "    def __getitem__(self, i):\n"
         "        time.sleep(0.05)\n"
         "        return torch.zeros(4)\n"
         "\n"
         "model = torch.nn.Linear(4, 4)\n"
         "for i, batch in enumerate(DataLoader(Slow(), batch_size=2, num_workers=0)):\n"
         "    model(batch)\n"
         "    if i == 30: open('ready', 'w')\n"
         "    if i == 80:\n"
         "        " +
         at_the_end + "\n";
}

TEST(Profile, AJobThatIsKilledInTheMiddleGivesWhatIsWhole) {
  if (!has_torch()) GTEST_SKIP() << kPython << " has no torch";
  Sandbox sandbox;
  sandbox.write("job.py", slow_loader("os.kill(os.getpid(), signal.SIGKILL)"));
  const Outcome got = sandbox.amdahl({"profile", "--json", "--", kPython, "job.py"});
  EXPECT_NE(
      got.err.find("the job failed: killed by SIGKILL; the profile covers the run up to there"),
      std::string::npos)
      << got.err;
  const Json profile = json_of(got, 128 + SIGKILL);
  SCOPED_TRACE(got.out);
  EXPECT_EQ(profile.at("ending"), "killed by SIGKILL");
  auto causes = own_causes(profile);
  for (const Json& cause : causes) {
    // It needs torch, and has no modules of its own.
    EXPECT_FALSE(cause.at("name").get<std::string>().starts_with("imports")) << cause.dump();
    EXPECT_LE(cause.at("expected"), cause.at("ceiling")) << cause.dump();
  }
  // How long it takes to start is up to the host.
  std::erase_if(causes, [](const Json& cause) { return cause.at("bottleneck") == "lifecycle"; });
  ASSERT_FALSE(causes.empty());
  EXPECT_EQ(causes.front().at("bottleneck"), "input");
  const Json* loader = finding_of(profile, "loader-workers");
  ASSERT_NE(loader, nullptr);
  EXPECT_EQ(loader->at("line"), 12);
  EXPECT_NE(profile.at("missing").dump().find("killed by SIGKILL"), std::string::npos);
}

TEST(Profile, TheJobReadsOurInputWhetherOrNotItIsHeard) {
  Sandbox sandbox;
  sandbox.write("numbers", "1\n2\n3\n");
  const std::string script =
      "exec " + program() + " profile $0 -- sh -c 'cat > heard; sleep 0.3' < numbers";
  for (const char* option : {"--no-color", "--quiet", "--json"}) {
    sandbox.write("heard", "");
    const Outcome got = run({"sh", "-c", script, option}, {{"AMDAHL_STATE", sandbox.path("state")}},
                            sandbox.path());
    EXPECT_EQ(got.code, 0) << option << got.err;
    EXPECT_EQ(sandbox.read("heard"), "1\n2\n3\n") << option;
  }
}

TEST(Profile, ExitCodesAndErrorsAreAsDocumented) {
  Sandbox sandbox;
  sandbox.write("folder/x", "");
  sandbox.write("job.toml", "family = \"nap\"\ncommand = [\"true\"]\nworkdir = \".\"\n");
  ASSERT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  const struct {
    Words words;
    int code;
    std::string says;
  } cases[] = {
      {{"profile", "--", "sh", "-c", "exit 42"}, 42, "the job failed: exit 42; the profile covers"},
      {{"profile", "--quiet", "--", "sh", "-c", "echo oh >&2; echo no >&2; exit 1"},
       1,
       "last line of its stderr: no\n"},
      {{"profile", "--", "./no-such-program"}, 127, "amdahl: no such program: ./no-such-program"},
      {{"profile", "--", "no-such-program"}, 127, "amdahl: no such program: no-such-program"},
      {{"profile", "none.json"}, 1, "none.json: cannot be read: No such file"},
      {{"profile", "folder/"}, 1, "folder/ is a folder; type: amdahl profile folder/*"},
      {{"profile", "nobody"}, 1, "no family 'nobody'"},
      {{"profile", "npa"}, 1, "did you mean 'nap'?"},
      {{"profile", "nap", "--show"}, 1, "nap has no profile yet; type: amdahl profile nap"},
      {{"profile", "job.toml", "--format", "kinetto"}, 2, "did you mean 'kineto'?"},
      {{"profile", "--nsys", "--ncu", "--", "true"}, 2, "cannot be combined"},
      {{"profile", "--"}, 2, "profile needs a family or files of a profiler"},
      {{"profile", "--html", sandbox.path("no/such/x.html"), "--", "true"},
       1,
       "--html: there is no folder"},
      {{"profile", "nap", "--html", "x.html"}, 2, "--html is for files of a profiler"},
  };
  for (const auto& c : cases) {
    const Outcome got = sandbox.amdahl(c.words);
    EXPECT_EQ(got.code, c.code) << c.says << "\n" << got.err;
    EXPECT_NE(got.err.find(c.says), std::string::npos) << c.says << "\nis not in\n" << got.err;
  }
}

// `amdahl profile …` in the background, so that it can be interrupted.
class Background {
 public:
  Background(const Sandbox& sandbox, const Words& words) {
    child_ = ::fork();
    if (child_ != 0) return;
    ::setpgid(0, 0);
    ::setenv("AMDAHL_STATE", sandbox.path("state").c_str(), 1);
    ::setenv("XDG_CONFIG_HOME", sandbox.path("no-config").c_str(), 1);
    const int out = ::open(sandbox.path("said").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(out, 1);
    ::dup2(out, 2);
    std::vector<char*> argv{const_cast<char*>(program().c_str())};
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    if (::chdir(sandbox.path().c_str()) == 0) ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  pid_t pid() const { return child_; }
  // 128 + the number if a signal ended it.
  int wait() const {
    int status = 0;
    ::waitpid(child_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t child_ = -1;
};

bool appears(const Sandbox& sandbox, const std::string& name) {
  for (int i = 0; i < 3000 && !sandbox.has(name); ++i) ::usleep(10'000);
  return sandbox.has(name);
}

// Whether none of the numbers in the file is that of a living process, at the latest soon.
bool all_gone(const Sandbox& sandbox, const std::string& name) {
  std::ifstream in(sandbox.path(name));
  for (int pid = 0; in >> pid;) {
    for (int i = 0;; ++i) {
      std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
      std::string text;
      std::getline(stat, text);
      const auto end = text.rfind(") ");
      if (end == std::string::npos || text[end + 2] == 'Z' || text[end + 2] == 'X') break;
      if (i == 3000) return false;
      ::usleep(10'000);
    }
  }
  return true;
}

// One child, and one in a session of its own that its parent has left.
constexpr const char* kFamilyOfThree =
    "sleep 1000 & echo $! >> pids; (setsid sleep 1000 & echo $! >> pids);"
    "echo $$ >> pids; touch ready; wait";

// As a scheduler ends a job that takes too long.
TEST(Profile, AJobThatIsToldToEndIsShownWithItsOperators) {
  if (!has_torch()) GTEST_SKIP() << kPython << " has no torch or Pillow here";
  Sandbox sandbox;
  sandbox.write("job.py", R"(import pathlib, torch
model = torch.nn.Linear(8, 8)
for i in range(10**9):
    model(torch.zeros(1, 8))
    if i == 40: pathlib.Path("ready").touch()
)");
  const Background profile(sandbox, {"profile", "--", kPython, "job.py"});
  ASSERT_TRUE(appears(sandbox, "ready"));
  ::kill(profile.pid(), SIGTERM);
  EXPECT_EQ(profile.wait(), 128 + SIGTERM) << sandbox.read("said");
  const std::string said = sandbox.read("said");
  EXPECT_NE(said.find("cut short"), std::string::npos) << said;
  EXPECT_EQ(said.find("operators"), std::string::npos) << "nothing is said to be missing: " << said;
  const std::string folder = "state/profiles/" + sandbox.list("state/profiles").front();
  const Json hook = Json::parse(sandbox.read(folder + "/hook.json"));
  EXPECT_FALSE(hook.at("window").at("ops").empty());
  EXPECT_EQ(hook.at("signal"), SIGTERM);
}

TEST(Profile, AnInterruptLeavesNothingHalfDoneAndNobodyBehind) {
  Sandbox sandbox;
  const Background profile(
      sandbox, {"profile", "--html", sandbox.path("page.html"), "--", "sh", "-c", kFamilyOfThree});
  ASSERT_TRUE(appears(sandbox, "ready"));
  ::kill(profile.pid(), SIGINT);
  EXPECT_EQ(profile.wait(), 128 + SIGINT) << sandbox.read("said");
  EXPECT_NE(sandbox.read("said").find("cancelled by SIGINT"), std::string::npos)
      << sandbox.read("said");
  EXPECT_TRUE(all_gone(sandbox, "pids"));
  EXPECT_TRUE(sandbox.read("page.html").ends_with("</html>\n")) << "of what was seen until then";
  const auto runs = sandbox.list("state/profiles");
  ASSERT_EQ(runs.size(), 1u);
  const std::string folder = "state/profiles/" + runs.front();
  EXPECT_EQ(Json::parse(sandbox.read(folder + "/receipt.json")).at("ending"), "cancelled");
  for (const auto& entry : fs::recursive_directory_iterator(sandbox.path("state"))) {
    const std::string name = entry.path().filename().string();
    EXPECT_FALSE(name.ends_with(".part") || name.ends_with(".tmp") || name.ends_with(".new"))
        << entry.path();
  }
}

TEST(Profile, AKilledProfilerTakesTheJobWithIt) {
  Sandbox sandbox;
  const Background profile(sandbox, {"profile", "--", "sh", "-c", kFamilyOfThree});
  ASSERT_TRUE(appears(sandbox, "ready"));
  ::kill(-profile.pid(), SIGKILL);  // Its whole group, as a terminal or a batch system would.
  EXPECT_EQ(profile.wait(), 128 + SIGKILL);
  EXPECT_TRUE(all_gone(sandbox, "pids"));
}

}  // namespace
}  // namespace amdahl::e2e
