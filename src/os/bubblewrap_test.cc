#include "os/bubblewrap.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "os/fd.h"
#include "os/program.h"

namespace amdahl::os {
namespace {

namespace fs = std::filesystem;

class JailTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_jail()) GTEST_SKIP() << "bubblewrap does not work here";
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "home/.ssh");
    fs::create_directories(folder_ / "home/.config/amdahl");
    std::ofstream(folder_ / "home/.ssh/id") << "key\n";
    std::ofstream(folder_ / "home/.config/amdahl/config.toml") << "password\n";
    std::ofstream(folder_ / "data") << "data\n";
  }
  ~JailTest() override { fs::remove_all(folder_); }

  // What these lines of Python print in the jail, or how they fail.
  static std::string python(const Jail& jail, const std::string& lines) {
    std::string said;
    const auto done = run_program(
        {.argv = jailed(jail, {"/usr/bin/python3", "-c", lines}, "/")},
        [&](std::string_view bytes) -> Result<> {
          said += bytes;
          return Ok{};
        },
        nullptr);
    return done ? said : done.error().text;
  }
  // Somebody who listens: at a path, or at a name if the first character is '@'.
  static Fd listener(const std::string& at) {
    Fd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    at.copy(address.sun_path, sizeof address.sun_path - 1);
    if (at.front() == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + at.size());
    const bool works = ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                       ::listen(fd.get(), 4) == 0;
    EXPECT_TRUE(works) << at;
    return fd;
  }
  static std::string connect_to(const std::string& address) {
    return fmt::format(
        "import socket\ns = socket.socket(socket.AF_UNIX)\ntry:\n  s.connect({})\n"
        "  print('in')\nexcept OSError as e:\n  print('out')",
        address);
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("jail-{}", ::getpid());
};

// A socket can be connected to where all is read-only, too.
TEST_F(JailTest, ReachesNoSocketOfTheHost) {
  const Jail jail{.readable = {folder_.string()}};
  const std::string path = (folder_ / "service").string();
  const std::string name = fmt::format("amdahl-jail-{}", ::getpid());
  const Fd service = listener(path);
  fs::create_directory_symlink(folder_, folder_ / "link");
  const Fd by_link = listener((folder_ / "link/other").string());
  const Fd abstract = listener("@" + name);
  EXPECT_EQ(python(jail, connect_to(fmt::format("'{}'", path))), "out\n");
  EXPECT_EQ(python(jail, connect_to(fmt::format("'{}/other'", folder_.string()))), "out\n");
  EXPECT_EQ(python(jail, connect_to(fmt::format("'\\0{}'", name))), "out\n");
  EXPECT_EQ(python(jail, "print(open('" + (folder_ / "data").string() + "').read(), end='')"),
            "data\n");
  // One of its own works: workers of a job hand each other files by them.
  EXPECT_EQ(python(jail,
                   "import socket\na = socket.socket(socket.AF_UNIX)\n"
                   "a.bind('/tmp/own')\na.listen()\n"
                   "socket.socket(socket.AF_UNIX).connect('/tmp/own')\nprint('in')"),
            "in\n");
}

TEST_F(JailTest, SeesNoKeysOfTheHome) {
  const std::string home = (folder_ / "home").string();
  const char* before = std::getenv("HOME");
  const std::string kept = before ? before : "";
  ::setenv("HOME", home.c_str(), 1);
  const std::string seen =
      python({.readable = {folder_.string()}}, "import os\nprint([len(os.listdir('" + home +
                                                   "/' + x)) for x in "
                                                   "('.ssh', '.config/amdahl')])");
  before ? ::setenv("HOME", kept.c_str(), 1) : ::unsetenv("HOME");
  EXPECT_EQ(seen, "[0, 0]\n");
}

// By an open folder one could leave.
TEST_F(JailTest, InheritsNoOpenFolder) {
  const Fd open_folder{::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  ASSERT_GE(open_folder.get(), 0);
  EXPECT_EQ(python({.readable = {folder_.string()}},
                   "import os, stat\n"
                   "for fd in os.listdir('/proc/self/fd'):\n"
                   "  try: mode = os.fstat(int(fd)).st_mode\n"
                   "  except OSError: continue\n"
                   "  if stat.S_ISDIR(mode): print(os.readlink('/proc/self/fd/' + fd))"),
            "");
}

}  // namespace
}  // namespace amdahl::os
