#include "fleet/local_times.h"

#include <gtest/gtest.h>

namespace amdahl::fleet {
namespace {

TEST(LocalTimes, AreThoseWithoutAZone) {
  const struct {
    const char* head;
    bool want;
  } cases[] = {
      {"JobID|Start|End\n1|2026-01-01T00:00:00|2026-01-01T01:00:00\n", true},
      {"1|2026-01-01T00:00:00|Unknown\n2|2026-01-01T00:00:00|Unknown\n", true},
      {"JobID|Start|End\n1|1767225600|1767229200\n", false},
      {"v=0.1.0,JobID=1,Start=2025-05-02T14:09:52+02:00\n", false},
      {"t,v\n2026-01-01T00:00:00Z,1\n2026-01-01T00:01:00.5Z,1\n", false},
      {"t,v\n2026-01-01 00:00:00 UTC,1\n2026-01-01 00:01:00+00,1\n", false},
      {"timestamp, index\n2024/03/01 00:00:00.000, 0\n2024/03/01 00:00:01.000, 0\n", true},
      {"#Date Time gpu\n20240301  12:00:00 0\n20240301  12:00:01 0\n", true},
      {"timestamp,gpu,util\n1700000000,0,5\n1700000060,0,5\n", false},
      // A date in a name is no time of the job.
      {"JobID|Start|JobName\n1|1767225600|a\n2|1767225600|a\n3|1767225600|a\n4|1767225600|a\n"
       "5|1767225600|run 2026-01-01 00:00\n6|1767225600|b\n7|1767225600|b\n",
       false},
      {R"({"jobs":[{"start":"2026-01-01T00:00:00",
"end":"2026-01-01T00:00:00",
"a":1,
"b":2}]})",
       true},
      // What follows the comma is the next cell, not a fraction with an offset.
      {"id,start,end\n1,2026-01-01T00:00:00,2026-01-01T01:00:00\n", true},
      {"t,v\n2026-01-01T00:00:00,250+02:00,1\n2026-01-01T00:00:01,250+02:00,1\n", false},
      {"JobId=7 JobName=x\n  UserId=a\n  Account=b\n  Nice=0\n  StartTime=2026-01-01T00:00:00\n"
       "  Partition=c\n  NodeList=n1\n",
       true},
      {"", false},
  };
  for (const auto& c : cases) EXPECT_EQ(has_local_times(c.head), c.want) << c.head;
}

}  // namespace
}  // namespace amdahl::fleet
