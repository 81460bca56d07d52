#include "fleet/hostlist.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace amdahl::fleet {
namespace {

std::string expanded(std::string_view list, std::size_t most = 1000) {
  const auto hosts = expand_hosts(list, most);
  return hosts ? join(*hosts, " ") : "error: " + hosts.error().text;
}

TEST(Hostlist, ExpandsWhatSlurmWrites) {
  const struct {
    std::string_view list;
    std::string_view want;
  } cases[] = {
      {"gpu001", "gpu001"},
      {"gpu[001-003,7],login1", "gpu001 gpu002 gpu003 gpu7 login1"},
      {"gpu[008-011]", "gpu008 gpu009 gpu010 gpu011"},
      {"r[1-2]n[0-1]", "r1n0 r1n1 r2n0 r2n1"},
      {"c1-[2,4]", "c1-2 c1-4"},
      {"n[0-6:3]", "n0 n3 n6"},
      {"n[0-6/2]x", "n0x n2x n4x n6x"},
      {"n[a[1-2],b]", "na1 na2 nb"},
      {"a, b", "a b"},
      {"", ""},
      {"None assigned", ""},
      {"(null)", ""},
      {"n[1-2", "error: hosts 'n[1-2': has a '[' without a ']'"},
      {"n1-2]", "error: hosts 'n1-2]': has a ']' without a '['"},
      {"n[9-1]", "error: hosts 'n[9-1]': '9-1' is not a range"},
      {"n[0-999999999]", "error: hosts 'n[0-999999999]': names more than 1000 hosts"},
      {"n[0-99][0-99]", "error: hosts 'n[0-99][0-99]': names more than 1000 hosts"},
      {"[[[[[[[[[[1]]]]]]]]]]", "error: hosts '[[[[[[[[[[1]]]]]]]]]]': nests brackets too deep"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.list);
    EXPECT_EQ(expanded(c.list), c.want);
  }
}

TEST(Hostlist, IndicesOfGres) {
  EXPECT_EQ(expand_indices("0-3,7"), (std::vector{0, 1, 2, 3, 7}));
  EXPECT_EQ(expand_indices("2"), std::vector{2});
  EXPECT_TRUE(expand_indices("N/A").empty());
  EXPECT_TRUE(expand_indices("").empty());
  EXPECT_TRUE(expand_indices("0-999999").empty());
}

TEST(Hostlist, ShortNames) {
  EXPECT_EQ(short_host("gpu1.cluster.example:9400"), "gpu1");
  EXPECT_EQ(short_host("gpu1"), "gpu1");
  EXPECT_EQ(short_host("10.0.0.7:9400"), "10.0.0.7");
  EXPECT_EQ(short_host("fe80::1"), "fe80::1");
  EXPECT_EQ(short_host("[fe80::1]:9400"), "[fe80::1]");
  EXPECT_EQ(short_host("[gpu1"), "[gpu1");
}

}  // namespace
}  // namespace amdahl::fleet
