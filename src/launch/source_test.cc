#include "launch/source.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "os/files.h"
#include "os/host.h"

namespace amdahl::launch {
namespace {

TEST(Source, IsWhatGitFollowsLessWhatTheJobWrites) {
  const std::string folder = testing::TempDir() + "source_" + os::random_hex(12);
  ASSERT_TRUE(os::make_dirs(folder));
  const auto git = [&](const std::string& words) {
    const std::string all =
        "git -C '" + folder + "' -c user.name=a -c user.email=a@b " + words + " >/dev/null";
    ASSERT_EQ(std::system(all.c_str()), 0) << all;
  };
  const auto write = [&](const std::string& name, const std::string& text) {
    ASSERT_TRUE(os::write_file(folder + "/" + name, text));
  };
  model::Spec spec;
  EXPECT_EQ(source_of(spec), "") << "no repo";
  spec.repo = spec.workdir = folder;
  EXPECT_EQ(source_of(spec), "") << "not a repo";
  spec.outputs.push_back({"scores.json", true});
  git("init -q");
  write("job.py", "1\n");
  write("scores.json", "0\n");
  git("add .");
  git("commit -qm one");
  const std::string one = source_of(spec);
  EXPECT_EQ(one.size(), 12u) << one;
  write("scores.json", "1\n");
  write("new.txt", "nobody follows it\n");
  EXPECT_EQ(source_of(spec), one);
  write("job.py", "2\n");
  const std::string edited = source_of(spec);
  EXPECT_TRUE(edited.starts_with(one + "+")) << edited;
  git("commit -qam two");
  const std::string two = source_of(spec);
  EXPECT_NE(two, one);
  EXPECT_NE(two, edited);
  git("commit -q --allow-empty -m three");
  EXPECT_EQ(source_of(spec), two) << "the code is the same";
}

}  // namespace
}  // namespace amdahl::launch
