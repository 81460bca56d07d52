#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "os/clock.h"
#include "os/fake/fake_clock.h"
#include "os/fault.h"
#include "os/files.h"
#include "os/host.h"
#include "os/left.h"
#include "os/lock.h"
#include "os/private.h"
#include "os/reserve.h"

namespace amdahl::os {
namespace {

using namespace std::chrono_literals;

class InFolder : public testing::Test {
 protected:
  InFolder() : folder_{testing::TempDir() + "os_" + random_hex(12)} {
    std::filesystem::create_directories(folder_);
  }
  ~InFolder() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string folder_;
};

using FilesTest = InFolder;
using LockTest = InFolder;

TEST_F(FilesTest, WhatIsWrittenIsReadAndNothingIsLeftBeside) {
  ASSERT_TRUE(write_file(path("a"), "one"));
  ASSERT_TRUE(write_file(path("a"), std::string("two\0three", 9)));
  EXPECT_EQ(*read_file(path("a")), std::string("two\0three", 9));
  EXPECT_EQ(*read_head(path("a"), 3), "two");
  EXPECT_EQ(read_head(path("a"), 500)->size(), 9u);
  EXPECT_EQ(*read_tail(path("a"), 5), "three");
  EXPECT_EQ(*read_tail(path("a"), 500), std::string("two\0three", 9));
  EXPECT_EQ(list(folder_), std::vector<std::string>{"a"});
}

TEST_F(FilesTest, WhatIsReservedIsUsedAndTheRestIsGivenBack) {
  ASSERT_TRUE(take_space(path("space"), 100));
  EXPECT_EQ(std::filesystem::file_size(path("space")), 100U);
  ASSERT_TRUE(write_in_space(path("space"), path("a"), "a receipt"));
  EXPECT_EQ(*read_file(path("a")), "a receipt");
  EXPECT_FALSE(exists(path("space")));
  ASSERT_TRUE(take_space(path("space"), 4));
  ASSERT_TRUE(write_in_space(path("space"), path("b"), "more than was thought"));
  EXPECT_EQ(*read_file(path("b")), "more than was thought");
  ASSERT_TRUE(take_space(path("space"), 4));
  free_space(path("space"));
  EXPECT_EQ(list(folder_), (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(is_disk_full(folder_));
}

unsigned mode_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777U : 0U;
}

TEST_F(FilesTest, WhatIsNewIsForItsOwnerAndWhatIsThereKeepsItsMode) {
  const mode_t before = ::umask(022);
  ASSERT_TRUE(write_file(path("a"), "one"));
  EXPECT_EQ(mode_of(path("a")), 0600U);
  ::chmod(path("a").c_str(), 0640);
  ASSERT_TRUE(write_file(path("a"), "two"));
  EXPECT_EQ(mode_of(path("a")), 0640U);
  ASSERT_TRUE(write_shared(path("page"), "one"));
  EXPECT_EQ(mode_of(path("page")), 0644U);
  ASSERT_TRUE(write_shared(path("a"), "three"));
  EXPECT_EQ(mode_of(path("a")), 0640U);
  ASSERT_TRUE(make_dirs(path("x/y//z/")));
  ASSERT_TRUE(make_dirs(path("x/y")));
  EXPECT_EQ(mode_of(path("x")), 0700U);
  EXPECT_EQ(mode_of(path("x/y/z")), 0700U);
  ASSERT_TRUE(make_private_file(path("new")));
  EXPECT_EQ(mode_of(path("new")), 0600U);
  for (const mode_t mode : {0600U, 0644U, 0400U, 0755U}) {
    ::chmod(path("page").c_str(), mode);
    ASSERT_TRUE(write_like(path("page"), path("copy"), "one"));
    EXPECT_EQ(mode_of(path("copy")), mode);
  }
  ::umask(before);
}

TEST_F(FilesTest, WhatIsOpenToOthersIsClosed) {
  ASSERT_TRUE(write_file(path("a"), "one"));
  EXPECT_FALSE(is_open_to_others(path("a")));
  ::chmod(path("a").c_str(), 0755);
  EXPECT_TRUE(is_open_to_others(path("a")));
  ASSERT_TRUE(close_to_others(path("a")));
  EXPECT_EQ(mode_of(path("a")), 0700U);
  EXPECT_TRUE(close_to_others(path("nope")));
  EXPECT_FALSE(is_open_to_others(path("nope")));
}

TEST_F(FilesTest, ErrorsNameThePathAndTheCause) {
  const auto missing = read_file(path("nope"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, Error::Kind::kNotFound);
  EXPECT_EQ(missing.error().text, path("nope") + ": no such file");
  EXPECT_EQ(read_file(folder_).error().text, folder_ + ": Is a directory");
  EXPECT_EQ(write_file(path("no/such/folder"), "x").error().text,
            path("no/such/folder") + ": the folder does not exist");
  ASSERT_TRUE(write_file(path("file"), "x"));
  EXPECT_FALSE(make_dirs(path("file/below")));
  EXPECT_TRUE(list(path("nope")).empty());
}

TEST_F(FilesTest, AFullDiskIsAClearErrorThatKeepsTheOldFile) {
  ASSERT_TRUE(make_dirs(path("small")));
  if (::mount("tmpfs", path("small").c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  }
  const std::string file = path("small/receipt.json");
  ASSERT_TRUE(write_file(file, "old"));
  const auto full = write_file(file, std::string(1 << 20, 'x'));
  EXPECT_EQ(full ? "ok" : full.error().text,
            file + ": no space left on the disk: free some and try again");
  EXPECT_EQ(*read_file(file), "old");
  EXPECT_EQ(list(path("small")), std::vector<std::string>{"receipt.json"});
  ::umount(path("small").c_str());
}

TEST_F(FilesTest, ALinkStaysOneAndAPipeIsWrittenTo) {
  ASSERT_TRUE(write_file(path("real"), "old"));
  std::filesystem::create_symlink(path("real"), path("link"));
  ASSERT_TRUE(write_file(path("link"), "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(*read_file(path("real")), "new");

  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int reader = ::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_TRUE(write_file(path("pipe"), "through"));
  std::string got(16, '\0');
  got.resize(static_cast<std::size_t>(::read(reader, got.data(), got.size())));
  ::close(reader);
  EXPECT_EQ(got, "through");
  EXPECT_TRUE(std::filesystem::is_fifo(path("pipe")));
  EXPECT_EQ(list(folder_), (std::vector<std::string>{"link", "pipe", "real"}));

  // A device of our own, as /dev/full is: nobody's is put at stake.
  if (::mknod(path("full").c_str(), S_IFCHR | 0600, makedev(1, 7)) == 0) {
    EXPECT_FALSE(write_file(path("full"), "x"));
    EXPECT_TRUE(std::filesystem::is_character_file(path("full")));
  }
}

TEST_F(FilesTest, WhatAJobLeftBlocksNobodyAndLeadsNowhere) {
  ASSERT_TRUE(write_file(path("plain"), "four"));
  EXPECT_EQ(*read_left(path("plain")), "four");
  EXPECT_EQ(*read_left(path("plain"), 4), "four");
  EXPECT_EQ(read_left(path("plain"), 3).error().text, path("plain") + ": longer than 3 bytes");
  EXPECT_EQ(read_left(path("none")).error().kind, Error::Kind::kNotFound);
  std::filesystem::create_symlink(path("plain"), path("link"));
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  for (const char* name : {"link", "pipe", "."}) {
    EXPECT_EQ(read_left(path(name)).error().text, path(name) + ": not a plain file");
    EXPECT_FALSE(is_plain(path(name)));
  }
  EXPECT_TRUE(is_plain(path("plain")));
  EXPECT_FALSE(write_file(path("pipe"), "x")) << "nobody reads it";
}

TEST_F(FilesTest, DigestsAndGlobs) {
  std::string big(1 << 20, 'b');
  ASSERT_TRUE(write_file(path("b.txt"), big));
  ASSERT_TRUE(write_file(path("a.txt"), "a"));
  EXPECT_EQ(*sha256_of_file(path("b.txt")), sha256_hex(big));
  EXPECT_EQ(glob(path("*.txt")), (std::vector<std::string>{path("a.txt"), path("b.txt")}));
  EXPECT_EQ(glob(path("a.txt")), std::vector<std::string>{path("a.txt")});
  EXPECT_TRUE(glob(path("*.json")).empty());
  EXPECT_EQ(absolute("/a/./b/../c"), "/a/c");
}

TEST_F(LockTest, OneHolderAtATime) {
  EXPECT_FALSE(FileLock::is_held(path("lock")));
  {
    const auto first = FileLock::try_take(path("lock"));
    ASSERT_TRUE(first);
    EXPECT_TRUE(FileLock::is_held(path("lock")));
    EXPECT_FALSE(FileLock::try_take(path("lock")));
  }
  EXPECT_FALSE(FileLock::is_held(path("lock")));
  EXPECT_TRUE(FileLock::try_take(path("lock")));
  EXPECT_FALSE(FileLock::try_take(path("no/such/folder/lock")));
}

TEST_F(LockTest, TheKernelLetsGoWhenTheHolderIsKilled) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    const auto lock = FileLock::try_take(path("lock"));
    if (::write(ready[1], lock ? "y" : "n", 1) != 1) _exit(1);
    while (true) ::pause();
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_TRUE(FileLock::is_held(path("lock")));
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  EXPECT_FALSE(FileLock::is_held(path("lock")));
}

TEST(FaultTest, DiesAtTheCallItWasTold) {
  EXPECT_EXIT(
      {
        ::setenv("AMDAHL_FAULT_AT", "2", 1);
        ::setenv("AMDAHL_FAULT_POINT", "b", 1);
        for (const char* point : {"b", "a", "a"}) fault_point(point);
        ::write(STDERR_FILENO, "alive", 5);
        fault_point("b");
        _exit(0);
      },
      testing::KilledBySignal(SIGKILL), "alive");
}

TEST(ClockTest, TheFakeMovesOnlyWhenTold) {
  FakeClock clock{100s};
  EXPECT_EQ(clock.monotonic(), 0s);
  clock.sleep(3s);
  clock.advance(-1s);
  EXPECT_EQ(clock.monotonic(), 3s);
  EXPECT_EQ(clock.unix_time(), 103s);
  const Nanos before = real_clock().monotonic();
  real_clock().sleep(1ms);
  EXPECT_GE(real_clock().monotonic() - before, 1ms);
}

TEST(HostTest, KnowsWhereItIs) {
  EXPECT_FALSE(host_name().empty());
  EXPECT_EQ(boot_id().size(), 36u);
  EXPECT_FALSE(user_name().empty());
  EXPECT_FALSE(usable_cpus().empty());
  EXPECT_TRUE(self_path().ends_with("os_test")) << self_path();
  EXPECT_EQ(random_hex(10).size(), 10u);
  EXPECT_NE(random_hex(10), random_hex(10));
  ::setenv("AMDAHL_OS_TEST", "", 1);
  EXPECT_EQ(env_or("AMDAHL_OS_TEST", "fallback"), "fallback");
  ::setenv("AMDAHL_OS_TEST", "x", 1);
  EXPECT_EQ(env_or("AMDAHL_OS_TEST", "fallback"), "x");
}

}  // namespace
}  // namespace amdahl::os
