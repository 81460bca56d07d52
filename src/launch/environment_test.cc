#include "launch/environment.h"

#include <gtest/gtest.h>

#include "os/files.h"
#include "os/host.h"

namespace amdahl::launch {
namespace {

TEST(Environment, KeepsNeitherSecretsNorSessions) {
  const Environment now{{"OMP_NUM_THREADS", "4"},
                        {"HF_TOKEN", "hf-1"},
                        {"PROXY", "http://ada:pw12345678@proxy"},
                        {"SSH_AUTH_SOCK", "/tmp/1"},
                        {"SLURM_JOB_ID", "17"}};
  EXPECT_EQ(digest(now), digest({{"OMP_NUM_THREADS", "4"}}));
  EXPECT_NE(digest(now), digest({{"OMP_NUM_THREADS", "8"}}));

  const std::string folder = testing::TempDir() + "environment_" + os::random_hex(12);
  ASSERT_TRUE(os::make_dirs(folder));
  ASSERT_TRUE(keep_environment(folder, now));
  const auto kept = kept_environment(folder, digest(now));
  ASSERT_TRUE(kept) << kept.error().text;
  EXPECT_EQ(*kept, (Environment{{"OMP_NUM_THREADS", "4"}}));

  const Environment later{{"OMP_NUM_THREADS", "8"}, {"HF_TOKEN", "hf-2"}, {"NEW", "1"}};
  EXPECT_EQ(with_live(*kept, later), (Environment{{"OMP_NUM_THREADS", "4"}, {"HF_TOKEN", "hf-2"}}));
  EXPECT_EQ(differences(now, later), (std::vector<std::string>{"NEW", "OMP_NUM_THREADS"}));
}

TEST(Environment, WhatWasAlteredOnDiskIsRefused) {
  const std::string folder = testing::TempDir() + "environment_" + os::random_hex(12);
  ASSERT_TRUE(os::make_dirs(folder));
  const Environment now{{"OMP_NUM_THREADS", "4"}};
  ASSERT_TRUE(keep_environment(folder, now));
  const std::string file = folder + "/environments/" + digest(now) + ".json";
  ASSERT_TRUE(os::write_file(file, R"({"OMP_NUM_THREADS": "8"})"));
  const auto kept = kept_environment(folder, digest(now));
  ASSERT_FALSE(kept);
  EXPECT_NE(kept.error().text.find("was changed after it was written"), std::string::npos);
}

}  // namespace
}  // namespace amdahl::launch
