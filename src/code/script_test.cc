#include "code/script.h"

#include <gtest/gtest.h>

namespace amdahl::code {
namespace {

TEST(Script, LinesThatNameAProgram) {
  constexpr const char* kScript = R"(#!/bin/bash
# basename is called for each
for i in $(seq 1 1500); do
  name=$(basename "/a/b/$i.txt")  # basename
  basename=$name; echo "$basename ${basename}" basename.txt my-basename
  /usr/bin/basename x;basename y
done
)";
  EXPECT_EQ(lines_naming(kScript, "basename"), (std::vector<int>{4, 6}));
  EXPECT_EQ(lines_naming(kScript, "seq"), std::vector<int>{3});
  EXPECT_TRUE(lines_naming(kScript, "sed").empty());
  EXPECT_TRUE(lines_naming(kScript, "").empty());
}

TEST(Script, TheKernelCutsLongNames) {
  EXPECT_EQ(lines_naming("x\nmy-long-program-of-mine a\n", "my-long-program"), std::vector<int>{2});
}

TEST(Script, AShellIsToldByNameOrFirstLine) {
  EXPECT_TRUE(is_script("run.sh", ""));
  EXPECT_TRUE(is_script("run", "#!/usr/bin/env bash\nls\n"));
  EXPECT_TRUE(is_script("run", "#!/bin/sh"));
  EXPECT_FALSE(is_script("run", "#!/usr/bin/python3\n"));
  EXPECT_FALSE(is_script("run", ""));
}

TEST(Script, TheOnlyCommandOfAScriptIsFound) {
  struct Case {
    const char* script;
    std::vector<std::string> want;  // Empty: the script is more than one command.
  };
  const Case cases[] = {
      {"#!/bin/bash\n#SBATCH -p gpu\nset -e\n\npython3 train.py --lr 0.1  # fast\n",
       {"python3", "train.py", "--lr", "0.1"}},
      {"srun python3 train.py \\\n  --name 'a b' \"c\"\n",
       {"python3", "train.py", "--name", "a b", "c"}},
      {"exec ./run ''\n", {"./run", ""}},
      {"module load cuda\npython3 train.py\n", {}},
      {"python3 prepare.py\npython3 train.py\n", {}},
      {"python3 train.py > log\n", {}},
      {"python3 train.py $SLURM_JOB_ID\n", {}},
      {"python3 train.py data/*.bin\n", {}},
      {"cd /data\n", {}},
      {"cd \"$SLURM_SUBMIT_DIR\"\npython3 train.py\n", {"python3", "train.py"}},
      {"cd $HOME/data\npython3 train.py\n", {}},
      {"python3 train.py\ncd /data\n", {}},
      {"cd a\ncd b\npython3 train.py\n", {}},
      {"echo \"job $SLURM_JOB_ID on $(hostname)\"\nnvidia-smi\npython3 train.py\ndate\n",
       {"python3", "train.py"}},
      {"echo x > config\npython3 train.py\n", {}},
      {"echo $(rm input)\npython3 train.py\n", {}},
      {"srun\n", {}},
      {"srun -n 4 python3 train.py\n", {}},
      {"python3 -c 'print(1)'\n", {"python3", "-c", "print(1)"}},
      {"python3 \"train.py\n", {}},
      {"#!/bin/sh\n", {}},
      {"", {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.script);
    const auto found = only_command(c.script);
    ASSERT_EQ(found.has_value(), !c.want.empty());
    EXPECT_EQ(found ? found->words : c.want, c.want);
  }
  EXPECT_EQ(only_command("cd '/data/of ada'\n./run\n")->folder, "/data/of ada");
  std::string line;
  EXPECT_FALSE(only_command("#!/bin/sh\n./prepare\nmodule load cuda  # 12\n./run\n", &line));
  EXPECT_EQ(line, "module load cuda");
  const auto found = only_command("export A=1 B='2 3'\nC=4\nD=5 ./run x=6\n");
  ASSERT_TRUE(found);
  const std::map<std::string, std::string> want{{"A", "1"}, {"B", "2 3"}, {"C", "4"}, {"D", "5"}};
  EXPECT_EQ(found->env, want);
  EXPECT_EQ(found->words, (std::vector<std::string>{"./run", "x=6"}));
}

}  // namespace
}  // namespace amdahl::code
