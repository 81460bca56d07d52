#include "fleet/device_names.h"

#include <gtest/gtest.h>

namespace amdahl::fleet {
namespace {

TEST(DeviceNames, AUuidMeansTheSameEverywhereAnAddressOneOfItsHost) {
  DeviceNames names;
  EXPECT_EQ(names.find("h1", "GPU-a"), nullptr);
  EXPECT_TRUE(
      names.learn({.host = "h1", .accelerator = "3", .uuid = "GPU-a", .bus = "00000000:18:00.0"}));
  for (const char* host : {"h1", "h2", ""}) {
    ASSERT_NE(names.find(host, "GPU-a"), nullptr);
    EXPECT_EQ(names.find(host, "GPU-a")->host, "h1");
    EXPECT_EQ(names.find(host, "GPU-a")->accelerator, "3");
  }
  ASSERT_NE(names.find("h1", "0000:18:00.0"), nullptr);
  EXPECT_EQ(names.find("h1", "18:00.0")->accelerator, "3");
  EXPECT_EQ(names.find("h2", "00000000:18:00.0"), nullptr);
  EXPECT_EQ(names.find("h1", "0001:18:00.0"), nullptr) << "another domain";
}

TEST(DeviceNames, OfTwoThatContradictTheFirstStays) {
  DeviceNames names;
  EXPECT_TRUE(names.learn({.accelerator = "0", .uuid = "GPU-a"}));
  EXPECT_EQ(names.find("h1", "GPU-a")->host, "");
  EXPECT_TRUE(names.learn({.host = "h1", .accelerator = "0", .uuid = "GPU-a"}));
  EXPECT_EQ(names.find("", "GPU-a")->host, "h1") << "completed";
  EXPECT_EQ(names.find("", "GPU-a")->likely, "");
  const std::size_t version = names.version();
  EXPECT_TRUE(names.learn({.host = "h1", .accelerator = "0", .uuid = "GPU-a"}));
  EXPECT_EQ(names.version(), version);
  EXPECT_FALSE(names.learn({.host = "h1", .accelerator = "1", .uuid = "GPU-a"}));
  EXPECT_FALSE(names.learn({.host = "h2", .accelerator = "0", .uuid = "GPU-a"}));
  EXPECT_EQ(names.find("", "GPU-a")->accelerator, "0");
}

}  // namespace
}  // namespace amdahl::fleet
