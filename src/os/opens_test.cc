#include "os/opens.h"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "os/files.h"

namespace amdahl::os {
namespace {

TEST(OpenedFiles, AreThoseThatAnyProcessOpensBelowTheFolder) {
  const std::string folder = testing::TempDir() + "opened-files";
  std::filesystem::remove_all(folder);
  for (const char* name : {"/data/train", "/.git/objects", "/state", "/deep/er/still"}) {
    ASSERT_TRUE(make_dirs(folder + name));
  }
  for (const char* name : {"/data/train/a.bin", "/data/train/b.bin", "/.git/objects/c", "/state/db",
                           "/deep/er/still/d", "/e"}) {
    ASSERT_TRUE(write_file(folder + name, name));
  }
  OpenedFiles opened(folder, folder + "/state");
  const std::string command =
      "cd " + folder +
      " && cat data/train/a.bin .git/objects/c state/db deep/er/still/d >/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const std::set<std::string> want = {"data/train/a.bin", "deep/er/still/d"};
  EXPECT_EQ(opened.stop(), want);
  ASSERT_EQ(std::system(("cat " + folder + "/e >/dev/null").c_str()), 0);
  EXPECT_EQ(opened.stop(), want);
  std::filesystem::remove_all(folder);
}

TEST(OpenedFiles, OfAFolderThatIsNotThereAreNone) {
  OpenedFiles opened(testing::TempDir() + "no-such-folder");
  EXPECT_TRUE(opened.stop().empty());
}

}  // namespace
}  // namespace amdahl::os
