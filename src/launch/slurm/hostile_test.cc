#include <filesystem>

#include "launch/local/testing.h"
#include "launch/slurm/rows.h"
#include "launch/slurm/slurm.h"

namespace amdahl::launch::slurm {
namespace {

namespace fs = std::filesystem;

// Slurm's programs as an attacker would have them answer; each call leaves its words in `calls`.
class SlurmHostile : public local::LocalTest {
 protected:
  SlurmHostile() {
    fs::create_directories(path("bin"));
    for (const char* program : {"sbatch", "squeue", "sacct", "scontrol", "scancel", "sinfo"}) {
      const std::string file = path(std::string("bin/") + program);
      const std::string script = std::string("#!/bin/sh\n{ printf %s ") + program +
                                 "; for w in \"$@\"; do printf '\\037%s' \"$w\"; done; " +
                                 "printf '\\036'; } >> '" + path("calls") + "'\ncat '" +
                                 path(program) + "' 2>/dev/null\nexit 0\n";
      EXPECT_TRUE(os::write_file(file, script));
      fs::permissions(file, fs::perms::owner_all);
    }
    path_before_ = os::env_or("PATH", "");
    ::setenv("PATH", (path("bin") + ":" + path_before_).c_str(), 1);
  }
  ~SlurmHostile() override { ::setenv("PATH", path_before_.c_str(), 1); }

  void answers(const char* program, std::string text) {
    std::ranges::replace(text, '|', kSeparator);
    EXPECT_TRUE(os::write_file(path(program), text));
  }

  // The words of every call of a program.
  std::vector<std::vector<std::string>> calls_of(std::string_view program) {
    std::vector<std::vector<std::string>> found;
    const std::string text = *os::read_file(path("calls"));
    for (const auto call : split(text, '\x1e')) {
      const auto words = split(call, '\x1f');
      if (words.front() == program) found.emplace_back(words.begin() + 1, words.end());
    }
    return found;
  }

  std::string path_before_;
};

TEST_F(SlurmHostile, WhatSlurmAnswersReachesNoShellAndNoOtherJob) {
  PairRequest made = request("true", "true");
  made.reservation = "r-1'; touch pwned #\n$(touch pwned)";
  made.ticket = "0123";
  made.a.argv = made.b.argv = {"echo", "$(touch pwned)", "`touch pwned`", "; touch pwned\n"};
  answers("sbatch", "7;$(touch pwned)\n");
  Site site{path("state")};
  site.slurm.poll = site.slurm.settle = Nanos{};
  site.slurm.partition = "main; touch pwned";
  site.slurm.options = {"--comment=$(touch pwned)\n"};
  const auto launcher = slurm::make(site);
  const RunRef run{made.reservation, made.ticket};
  const auto answer = launcher->submit(std::span(&made, 1)).front();
  ASSERT_EQ(answer.handover, Handover::kAccepted) << answer.reason;
  const std::string name = job_name(run);
  EXPECT_EQ(name.find_first_of("'\";\n$`( )|\x1f"), name.npos);
  answers("squeue", "7|PENDING|JobHeldUser|N/A|N/A||n1$(touch pwned)|" + name + "|\n" +
                        "8; touch pwned|PENDING|JobHeldUser|N/A|N/A||n1|" + name + "|\n" +
                        "-1 --all|RUNNING|$(touch pwned)|0|0||`touch pwned`|" + name + "|\n" +
                        "9|RUNNING|None|0|0||n1|someone's\n9|RUNNING|None|0|0||n1|other|\n");
  answers("sinfo", "n1$(touch pwned)|idle|0/8/0/8|gpu:4$(touch pwned)|gpu:0|\n'\n\";|||\n");
  EXPECT_TRUE(launcher->release(std::span(&run, 1)));
  EXPECT_TRUE(launcher->capacity(made));
  EXPECT_TRUE(launcher->cancel(run));
  EXPECT_TRUE(launcher->kill(run));
  const auto submitted = calls_of("sbatch");
  ASSERT_EQ(submitted.size(), 1U);
  EXPECT_NE(std::ranges::find(submitted[0], "--partition=main; touch pwned"), submitted[0].end())
      << "as it was given, in one word";
  for (const char* program : {"scontrol", "scancel"}) {
    for (const auto& words : calls_of(program)) {
      for (const std::string& word : words) {
        const bool ours = word == "release" || word == "7" || word.starts_with("--");
        EXPECT_TRUE(ours) << program << " " << word;
      }
    }
  }
  EXPECT_EQ(calls_of("scontrol").size(), 1U);
  EXPECT_FALSE(calls_of("scancel").empty());
  for (const auto& entry : fs::recursive_directory_iterator(path(""))) {
    EXPECT_NE(entry.path().filename(), "pwned");
  }
  EXPECT_FALSE(os::exists("pwned"));
}

}  // namespace
}  // namespace amdahl::launch::slurm
