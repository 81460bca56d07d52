// What the injected library writes down of real programs under the supervisor.
#include <map>
#include <sstream>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "observe/testing.h"
#include "os/files.h"

namespace amdahl::observe {
namespace {

class InjectTest : public InFolder {
 protected:
  RunOrder watched(const std::string& program) const {
    RunOrder made = order({program});
    made.with_hook = true;
    return made;
  }

  // All events of all processes, by name.
  std::multimap<std::string, Json> events() const {
    std::multimap<std::string, Json> found;
    for (const std::string& name : os::list(path("out"))) {
      if (!name.starts_with("inject-")) continue;
      const auto text = os::read_file(path("out/" + name));
      const auto json = parse_json(*text);
      EXPECT_TRUE(json) << name << ": " << *text;
      if (!json) continue;
      for (const Json& event : json->at("traceEvents")) {
        found.emplace(event.at("name").get<std::string>(), event);
      }
    }
    return found;
  }
};

double start_of(const Json& event) { return event.at("ts").get<double>(); }
double end_of(const Json& event) { return start_of(event) + event.at("dur").get<double>(); }

TEST_F(InjectTest, ADevicesCommandsAreSeenFromBothSides) {
  const auto receipt = run(watched(DEVICE_JOB));
  ASSERT_EQ(receipt.code, 0) << receipt.stderr_tail;
  const auto seen = events();
  ASSERT_EQ(seen.count("spin"), 3U);
  EXPECT_EQ(seen.count("clEnqueueNDRangeKernel"), 3U);
  EXPECT_EQ(seen.count("Memcpy HtoD"), 1U);
  EXPECT_EQ(seen.count("Memcpy DtoH"), 1U);
  EXPECT_EQ(seen.count("clEnqueueReadBuffer (blocking)"), 1U);
  EXPECT_EQ(seen.count("clFinish"), 1U);
  EXPECT_EQ(seen.count("clBuildProgram"), 1U);

  std::map<std::int64_t, Json> calls;
  const auto [from, to] = seen.equal_range("clEnqueueNDRangeKernel");
  for (auto at = from; at != to; ++at) calls[at->second["args"]["correlation"]] = at->second;
  double busy = 0;
  const double waited_until = end_of(seen.find("clFinish")->second);
  const auto [first, last] = seen.equal_range("spin");
  for (auto at = first; at != last; ++at) {
    const Json& kernel = at->second;
    ASSERT_TRUE(calls.contains(kernel["args"]["correlation"]));
    EXPECT_GE(start_of(kernel), start_of(calls[kernel["args"]["correlation"]]));
    EXPECT_LE(end_of(kernel), waited_until);
    busy += kernel["dur"].get<double>() * 1e-6;
  }
  // The job's own clock around the three of them.
  double measured = 0;
  std::istringstream(receipt.stdout_tail.substr(receipt.stdout_tail.find(' '))) >> measured;
  EXPECT_GT(busy, 0.1 * measured);
  EXPECT_LE(busy, 1.02 * measured);
}

TEST_F(InjectTest, RangesThatAJobMarksAreNested) {
  const auto receipt = run(watched(RANGE_JOB));
  ASSERT_EQ(receipt.code, 0) << receipt.stderr_tail;
  const auto seen = events();
  ASSERT_EQ(seen.size(), 4U);
  const Json& outer = seen.find("outer \"quoted\"")->second;
  const Json& inner = seen.find("inner")->second;
  const Json& across = seen.find("across")->second;
  EXPECT_EQ(outer["cat"], "user_annotation");
  EXPECT_GE(start_of(inner), start_of(outer));
  EXPECT_LE(end_of(inner), end_of(outer));
  EXPECT_GE(inner["dur"].get<double>(), 20'000);
  EXPECT_GE(across["dur"].get<double>(), 40'000);
  EXPECT_NE(seen.find("in the child")->second["pid"], outer["pid"]);
}

TEST_F(InjectTest, AProgramWithoutEitherLeavesNothing) {
  const auto receipt = run(watched("/bin/true"));
  EXPECT_EQ(receipt.code, 0);
  EXPECT_TRUE(events().empty());
}

}  // namespace
}  // namespace amdahl::observe
