#include "os/program.h"

#include <gtest/gtest.h>

namespace amdahl::os {
namespace {

struct Ran {
  std::string out;
  std::string error;
};

Ran ran(const Program& program, const std::function<bool()>& stop = nullptr) {
  Ran ran;
  const auto done = run_program(
      program,
      [&](std::string_view bytes) -> Result<> {
        ran.out += bytes;
        return Ok{};
      },
      stop);
  if (!done) ran.error = done.error().text;
  return ran;
}

TEST(Program, HandsOnWhatItPrints) {
  const Ran all = ran(
      {.argv = {"sh", "-c", "echo $WORD; seq 1 50000; echo no >&2"}, .env = {{"WORD", "hello"}}});
  EXPECT_EQ(all.error, "");
  EXPECT_TRUE(all.out.starts_with("hello\n1\n2\n"));
  EXPECT_TRUE(all.out.ends_with("\n50000\n"));
}

TEST(Program, SaysHowItFailed) {
  EXPECT_EQ(ran({.argv = {"sh", "-c", "echo it broke >&2; exit 3"}}).error, "sh: exit 3: it broke");
  EXPECT_EQ(ran({.argv = {"sh", "-c", "kill -9 $$"}}).error, "sh: signal 9");
  EXPECT_EQ(ran({.argv = {"no-such-program"}}).error,
            "cannot start no-such-program: No such file or directory");
  EXPECT_EQ(ran({.argv = {"sleep", "60"}, .limit = std::chrono::milliseconds(50)}).error,
            "sleep: timeout after 50 ms");
  EXPECT_EQ(ran({.argv = {"sleep", "60"}}, [] { return true; }).error, "sleep: interrupted");
}

TEST(Program, EndsWhenNobodyListens) {
  const auto done = run_program(
      {.argv = {"yes"}}, [](std::string_view) -> Result<> { return bad_input("enough"); }, nullptr);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text, "enough");
}

}  // namespace
}  // namespace amdahl::os
