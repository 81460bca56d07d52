#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "app/compare_pair.h"
#include "app/config.h"
#include "app/fleet.h"
#include "app/job_profile.h"
#include "app/run.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

namespace fs = std::filesystem;

class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() : folder_{fs::temp_directory_path() / ("amdahl-app-" + std::to_string(::getpid()))} {
    fs::create_directories(folder_);
    for (const char* name : {"AMDAHL_STATE", "AMDAHL_CONFIG", "AMDAHL_GATE_POLICY"}) {
      ::unsetenv(name);
    }
  }
  ~ConfigTest() override { fs::remove_all(folder_); }

  std::string write(const std::string& text) const {
    const std::string path = (folder_ / "config.toml").string();
    std::ofstream(path) << text;
    return path;
  }

  fs::path folder_;
};

TEST_F(ConfigTest, FlagBeatsVariableBeatsFile) {
  const std::string path = write("state_dir = \"/from/file\"\n[gate]\npolicy = \"demo\"\n");
  EXPECT_EQ(load_config({.config_file = path})->state_dir, "/from/file");
  ::setenv("AMDAHL_STATE", "/from/variable", 1);
  EXPECT_EQ(load_config({.config_file = path})->state_dir, "/from/variable");
  EXPECT_EQ(load_config({.config_file = path, .state_dir = "/from/flag"})->state_dir, "/from/flag");
  ::unsetenv("AMDAHL_STATE");
  EXPECT_EQ(load_config({.config_file = path})->gate_policy, "demo");
}

TEST_F(ConfigTest, SaysWhatIsWrongAndWhere) {
  struct Case {
    const char* text;
    const char* want;
  };
  const Case cases[] = {
      {"[compare]\ncapp = 3\n", ": line 2: no setting 'compare.capp', did you mean 'compare.cap'?"},
      {"[compare]\ncap = 2.5\n", ": line 2: compare.cap must be a whole number of at least 0"},
      {"[price]\ncpu_hour_usd = -1\n",
       ": line 2: price.cpu_hour_usd must be a number of at least 0"},
      {"launcher = 3\n", ": line 1: launcher must be text in quotes"},
      {"[slurm.families.train]\npartitoin = \"x\"\n",
       ": line 2: no setting 'slurm.partitoin', did you mean 'slurm.partition'?"},
      {"[slurm.families.train]\npoll_s = 3\n", ": line 1: slurm.poll_s is for all families"},
      {"[slurm]\nfamilies = 3\n", ": line 2: slurm.families must be tables: [slurm.families.NAME]"},
      {"[slurm.families]\ngres = \"\"\n",
       ": line 2: write [slurm.families.NAME] before its settings"},
      {"slots = []\n", ": line 1: slots must be a count above 0 or a list of CPU numbers"},
      {"slots = [9999]\n", "slots names CPU 9999, which this process may not use"},
  };
  for (const Case& c : cases) {
    const auto got = load_config({.config_file = write(c.text)});
    ASSERT_FALSE(got) << c.text;
    EXPECT_NE(got.error().text.find(c.want), std::string::npos) << got.error().text;
  }
  EXPECT_FALSE(load_config({.config_file = "/no/such/file.toml"}));
}

TEST_F(ConfigTest, AFamilyMayHaveSlurmSettingsOfItsOwn) {
  const auto config =
      load_config({.config_file = write("[slurm]\nmodules = [\"cuda\"]\n"
                                        "gres = \"gpu:a100\"\n"
                                        "[slurm.families.\"eval.v2\"]\n"
                                        "partition = \"spare\"\nmodules = []\n"
                                        "[slurm.families.train]\ngres = \"gpu:h100\"\n"
                                        "[slurm.families.plain]\n")});
  ASSERT_TRUE(config) << config.error().text;
  ASSERT_EQ(config->slurm_families.size(), 3U);
  const launch::slurm::Settings& eval = config->slurm_families.at("eval.v2");
  EXPECT_EQ(eval.partition, "spare");
  EXPECT_EQ(eval.gres, "gpu:a100") << "as all";
  EXPECT_TRUE(eval.modules.empty());
  EXPECT_EQ(config->slurm_families.at("train").gres, "gpu:h100");
  EXPECT_EQ(config->slurm_families.at("train").modules, std::vector<std::string>{"cuda"});
  EXPECT_EQ(config->slurm.partition, "");
  EXPECT_EQ(setting_named(*config, "slurm.families.eval.v2.partition")->value, "\"spare\"");
  EXPECT_EQ(setting_named(*config, "slurm.gres")->value, "\"gpu:a100\"");
}

TEST_F(ConfigTest, TheTemplateIsReadBack) {
  const std::string path = write(config_template("/some/where"));
  const auto config = load_config({.config_file = path});
  ASSERT_TRUE(config) << config.error().text;
  EXPECT_EQ(config->state_dir, "/some/where");
  EXPECT_EQ(config->cap, Config{}.cap);
}

TEST(FamilyOf, IsTheScriptNotItsInterpreter) {
  struct Case {
    std::vector<std::string> argv;
    const char* want;
  };
  const Case cases[] = {
      {{"python3", "train.py", "--lr", "1"}, "train"},
      {{"/usr/bin/python3", "/x/Offline_Eval.py"}, "offline-eval"},
      {{"./run-it"}, "run-it"},
      {{"sh", "-c", "echo hi there"}, "sh"},
      {{"torchrun", "pretrain.py"}, "pretrain"},
      {{"torchrun", "--nproc_per_node", "2", "pretrain.py", "a.py"}, "pretrain"},
      {{"env", "PYTHONPATH=/a/b/src", "A=1", "python3", "train.py"}, "train"},
      {{"python3", "-m", "mytrain.cli", "x"}, "mytrain.cli"},
      {{"python3", "-u", "-m", "torch.distributed.run", "train.py"}, "train"},
      {{"python3", "-c", "exec(open('ok.py').read())"}, "python3"},
      {{"nice", "-n", "5", "./run-it", "7", "x.py"}, "run-it"},
      {{"./tool", "train.py"}, "tool"},
      {{}, "job"},
  };
  for (const Case& c : cases) EXPECT_EQ(family_of(c.argv), c.want);
}

TEST(DraftSpec, RefusesAFailedJobAndABadName) {
  model::Usage usage;
  usage.job = "j-1";
  usage.family = "eval";
  usage.command = {"true"};
  usage.workdir = "/tmp";
  EXPECT_TRUE(draft_spec(usage, ""));
  EXPECT_EQ(draft_spec(usage, "My Job").error().text,
            "'My Job' cannot be a family's name: use a-z, 0-9, '.', '_' and '-'");
  usage.failed = true;
  usage.ending = "exit 1";
  EXPECT_EQ(draft_spec(usage, "").error().text,
            "job j-1 failed (exit 1); adopt one that ended well");
}

TEST(DraftSpec, TheWorkTreeOfTheScriptIsTheRepo) {
  const std::string root =
      os::absolute(::testing::TempDir() + "/draft-" + std::to_string(::getpid()));
  std::filesystem::create_directories(root + "/repo/.git");
  std::filesystem::create_directories(root + "/repo/jobs");
  ASSERT_TRUE(os::write_file(root + "/repo/jobs/train.py", "print(1)\n"));
  const auto drafted = [&](const std::string& workdir, const std::string& script) {
    model::Usage usage;
    usage.family = "train";
    usage.command = {"python3", script};
    usage.workdir = root + workdir;
    return *draft_spec(usage, "");
  };
  EXPECT_EQ(drafted("/repo", "jobs/train.py").spec.repo, work_tree_of(root + "/repo"));
  EXPECT_EQ(drafted("/repo/jobs", "train.py").spec.repo, work_tree_of(root + "/repo/jobs"));
  EXPECT_EQ(drafted("/repo", "no.py").spec.repo, "");
  const std::string script = root + "/repo/jobs/train.py";
  EXPECT_EQ(drafted("", script).spec.repo, work_tree_of(root + "/repo"));
  // A patched tree would not be what runs.
  const Draft draft = drafted("", "repo/jobs/train.py");
  EXPECT_EQ(draft.spec.repo, "");
  EXPECT_EQ(draft.notes.at(0), "patches cannot be tried on it: run it inside " +
                                   work_tree_of(root + "/repo") +
                                   ", or name its script by the full path");
  std::filesystem::remove_all(root);
}

TEST(DraftSpec, WhatTheCommandSetsIsEnvironmentThatAChangeCanSet) {
  struct Case {
    std::vector<std::string> command;
    std::vector<std::string> want;
    std::map<std::string, std::string> env;
  };
  const Case cases[] = {
      {{"env", "OMP_NUM_THREADS=8", "A=b=c", "./train", "x=1"},
       {"./train", "x=1"},
       {{"OMP_NUM_THREADS", "8"}, {"A", "b=c"}}},
      {{"/usr/bin/env", "python3", "t.py"}, {"python3", "t.py"}, {}},
      {{"env", "-i", "A=1", "run"}, {"env", "-i", "A=1", "run"}, {}},
      {{"env", "A=1"}, {"env", "A=1"}, {}},
      {{"run", "A=1"}, {"run", "A=1"}, {}},
  };
  for (const Case& c : cases) {
    model::Usage usage;
    usage.family = "train";
    usage.command = c.command;
    const model::Spec spec = draft_spec(usage, "")->spec;
    EXPECT_EQ(spec.command, c.want);
    EXPECT_EQ(spec.env, c.env);
  }
}

TEST(DraftSpec, KnobsComeFromTheCommandAndFromTheProgramsOwnParser) {
  const std::string root =
      os::absolute(::testing::TempDir() + "/draft-knobs-" + std::to_string(::getpid()));
  std::filesystem::create_directories(root);
  ASSERT_TRUE(os::write_file(root + "/train.py", R"(
parser.add_argument("-b", "--batch-size", default=8)
parser.add_argument("--log_interval", default=10)
parser.add_argument("--data.num-workers", default=0)
parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
loss.backward()
)"));
  model::Usage usage;
  usage.family = "train";
  usage.command = {"python3", "train.py", "--batch-size=16", "optim.num_threads=2"};
  usage.workdir = root;
  model::Spec spec = draft_spec(usage, "")->spec;
  give_effects(spec);
  ASSERT_EQ(spec.knobs.size(), 5U);
  EXPECT_EQ(spec.knobs.at("batch_size").value, "16");
  EXPECT_EQ(spec.knobs.at("batch_size").aliases, std::vector<std::string>{"-b"});
  EXPECT_EQ(spec.knobs.at("batch_size").effect, "semantic");
  EXPECT_EQ(spec.knobs.at("log_every").effect, "semantic");
  EXPECT_EQ(spec.knobs.at("loader_workers").arg, "--data.num-workers");
  EXPECT_EQ(spec.knobs.at("loader_workers").effect, "exact");
  EXPECT_EQ(spec.knobs.at("threads").arg, "optim.num_threads");
  EXPECT_EQ(spec.knobs.at("precision").choices, (std::vector<std::string>{"float32", "bfloat16"}));
  EXPECT_EQ(spec.knobs.at("precision").effect, "tolerant");
  ASSERT_TRUE(os::write_file(root + "/train.py", "torch.inference_mode()\n"));
  give_effects(spec);
  EXPECT_EQ(spec.knobs.at("batch_size").effect, "tolerant");
  std::filesystem::remove_all(root);
}

TEST(ParseTry, WantsTwoCommands) {
  EXPECT_TRUE(parse_compare({"true", ":::", "false"}));
  EXPECT_EQ(parse_compare({"true"}).error().text,
            "':::' must stand between the two commands; type: amdahl compare -- A ::: B");
  EXPECT_EQ(parse_compare({"true", ":::"}).error().text,
            "arm B has no command; type: amdahl compare -- A ::: B");
}

}  // namespace
}  // namespace amdahl::app
