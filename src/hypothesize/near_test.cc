#include "hypothesize/near.h"

#include <gtest/gtest.h>

namespace amdahl::hypothesize {
namespace {

model::Hypothesis with_env(const std::string& name, const std::string& value) {
  model::Hypothesis h;
  h.change.env[name] = value;
  return h;
}

model::Hypothesis with_patch(const std::string& removed, const std::string& added) {
  model::Hypothesis h;
  h.change.patch =
      "--- a/job.py\n+++ b/job.py\n@@ -3,1 +3,1 @@\n-" + removed + "\n+" + added + "\n";
  return h;
}

model::Hypothesis saying(const std::string& title, const std::string& mechanism) {
  model::Hypothesis h = with_env(title, "1");
  h.title = title;
  h.mechanism = mechanism;
  return h;
}

TEST(Near, NamesWhatTwoIdeasShare) {
  const auto fix = [](const std::string& value) {
    model::Hypothesis h;
    h.change.inject["loader-workers"] = value;
    return h;
  };
  EXPECT_EQ(near(with_env("A", "1"), with_env("A", "1")), Nearness::kSameChange);
  EXPECT_EQ(near(with_env("A", "1"), with_env("A", "2")), Nearness::kSameSetting);
  EXPECT_EQ(near(with_env("A", "1"), with_env("B", "1")), Nearness::kNone);
  EXPECT_EQ(near(fix("4"), fix("8")), Nearness::kSameSetting);
  EXPECT_EQ(near(with_patch("    total += x.item()", "    total += x"),
                 with_patch("    total += x.item()", "    sums.append(x)")),
            Nearness::kSameLines);
  EXPECT_EQ(near(with_patch("    total += x.item()", "    total += x"),
                 with_patch("total += x.item()", "total += x")),
            Nearness::kSameChange);
  EXPECT_EQ(near(with_patch("first_line()", "nothing()"), with_patch("other_line()", "more()")),
            Nearness::kNone);
  EXPECT_EQ(near(with_patch("first_line()", "nothing()"), with_env("A", "1")), Nearness::kNone);
}

TEST(Near, ComparesMechanismsByTheirTellingWords) {
  const std::string long_text = "workers decode images while the accelerator computes";
  EXPECT_EQ(near(saying("more loader workers", long_text),
                 saying("more workers", "loader workers decode images while accelerator computes")),
            Nearness::kSameMechanism);
  EXPECT_EQ(near(saying("more loader workers", long_text),
                 saying("no spinning", "threads that sleep leave the cores to others")),
            Nearness::kNone);
  // Too few words tell nothing.
  EXPECT_EQ(near(saying("faster job", ""), saying("Faster job", "")), Nearness::kNone);
}

TEST(Near, OfOnePlaybookEntryAreNear) {
  model::Hypothesis a = with_env("A", "1");
  model::Hypothesis b = with_env("B", "1");
  a.origin = b.origin = {"playbook", "fewer-threads"};
  EXPECT_EQ(near(a, b), Nearness::kSameMechanism);
}

}  // namespace
}  // namespace amdahl::hypothesize
