#include "app/agent_settings.h"

#include <gtest/gtest.h>

namespace amdahl::app {
namespace {

using Words = std::vector<std::string>;

model::Spec spec_of(Words command) {
  model::Spec spec;
  spec.command = std::move(command);
  spec.workdir = "/home/ada/repo/jobs";
  spec.repo = "/home/ada/repo";
  spec.accelerators = 2;
  return spec;
}

std::string refusal(const model::Spec& spec, const model::Change& change) {
  const auto checked = check_agents_settings(spec, change);
  return checked ? "" : checked.error().text;
}

TEST(AgentSettings, ProgramsAreNotReplacedByFlags) {
  struct Case {
    Words command;
    const char* flag;
    bool taken;
  };
  for (const Case& c : std::vector<Case>{
           {{"python3", "-c", "work()", "--lr", "1"}, "-c", false},
           {{"python3", "-c", "work()", "--lr", "1"}, "--lr", true},
           {{"/usr/bin/python3.11", "-u", "-m", "jobs.work"}, "-m", false},
           {{"python3", "-X", "dev", "work.py", "-c", "a.yaml"}, "-X", false},
           {{"python3", "work.py", "-c", "a.yaml"}, "-c", true},
           {{"python3", "-W", "ignore", "work.py", "-m", "1"}, "-m", true},
           {{"bash", "-lc", "python3 work.py"}, "-lc", false},
           {{"bash", "-e", "-o", "pipefail", "-c", "python3 work.py"}, "-c", false},
           {{"python3", "-E", "-c", "work()"}, "-c", false},
           {{"sh", "run.sh", "-e", "2"}, "-e", true},
           {{"perl", "-e", "print 1"}, "-e", false},
           {{"env", "PYTHONPATH=lib", "python3", "work.py"}, "PYTHONPATH", false},
           {{"env", "-u", "X", "A=1", "python3", "-m", "work"}, "-m", false},
           {{"env", "A=1", "python3", "work.py", "B=2"}, "B", true},
           {{"torchrun", "--nproc_per_node", "2", "work.py"}, "--nproc_per_node", true},
           {{"./solver", "-c", "fast.conf"}, "-c", true}}) {
    model::Change change;
    change.args[c.flag] = "4";
    const std::string told = refusal(spec_of(c.command), change);
    EXPECT_EQ(told.empty(), c.taken) << c.command.front() << " " << c.flag << ": " << told;
  }
  // A spec that has it as a knob means it.
  model::Spec spec = spec_of({"python3", "-X", "dev", "work.py"});
  spec.knobs["mode"].arg = "-X";
  model::Change change;
  change.args["-X"] = "dev";
  EXPECT_EQ(refusal(spec, change), "");
}

TEST(AgentSettings, VariablesLoadNothing) {
  for (const char* name :
       {"LD_PRELOAD", "PYTHONSTARTUP", "BASH_ENV", "BASH_FUNC_ls%%", "SHELLOPTS", "PS4", "1X", "",
        "OMP_TOOL_LIBRARIES", "NCCL_NET_PLUGIN", "JAVA_TOOL_OPTIONS", "HTTPS_PROXY", "https_proxy",
        "R_PROFILE_USER", "XDG_CONFIG_HOME", "CUDA_INJECTION64_PATH"}) {
    model::Change change;
    change.env[name] = "1";
    EXPECT_NE(refusal(spec_of({"./job"}), change), "") << name;
  }
  for (const char* name : {"OMP_NUM_THREADS", "NCCL_ALGO", "PYTORCH_CUDA_ALLOC_CONF", "BATCH"}) {
    model::Change change;
    change.env[name] = "1";
    EXPECT_EQ(refusal(spec_of({"./job"}), change), "") << name;
  }
}

TEST(AgentSettings, ValuesLeadToNothingThatTheSpecDoesNotName) {
  model::Spec spec = spec_of({"./job", "--data=/data/a", "--url", "tcp://head:1"});
  spec.knobs["cache"].on = "{state}/decoded";
  struct Case {
    const char* value;
    bool taken;
  };
  for (const Case& c : {
           Case{"/etc/passwd", false},
           Case{"/data", false},
           Case{"/data/a", true},
           Case{"/home/ada/repo/conf/fast.yaml", true},
           Case{"/home/ada/repo/../x", false},
           Case{"../conf/fast.yaml", true},
           Case{"../../x", false},
           Case{"~/x", false},
           Case{"fast,/root/x", false},
           Case{"a:/root/x", false},
           Case{"http://203.0.113.7/", false},
           Case{"tcp://head:1", true},
           Case{"{state}/decoded", true},
           Case{"{out}/x", true},
           Case{"max_split_size_mb:128,garbage_collection_threshold:0.8", true},
           Case{"1/2", true},
           Case{"1..5", true},
           Case{"{env:KEY}", false},
       }) {
    for (const bool is_flag : {false, true}) {
      model::Change change;
      (is_flag ? change.args["--x"] : change.env["X"]) = c.value;
      const std::string told = refusal(spec, change);
      EXPECT_EQ(told.empty(), c.taken) << c.value << ": " << told;
    }
  }
  model::Change joined;
  joined.args["--out=/root/x"] = "";
  EXPECT_NE(refusal(spec, joined), "");
}

TEST(AgentSettings, NoMoreAcceleratorsThanTheJobHas) {
  model::Change change;
  change.accelerators = 2;
  EXPECT_EQ(refusal(spec_of({"./job"}), change), "");
  change.accelerators = 100000;
  EXPECT_EQ(refusal(spec_of({"./job"}), change),
            "the job has 2 accelerators, and a model may not ask for 100000");
}

}  // namespace
}  // namespace amdahl::app
