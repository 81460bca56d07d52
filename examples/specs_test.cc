// The specs of the example jobs: what CMake wrote must be what the program reads.

#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "model/plan.h"
#include "model/spec.h"

namespace amdahl {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Case {
  std::string folder;
  std::string family;
  int accelerators = 1;
  // Some flags that the loop is meant to set, and the command line that it comes to.
  std::map<std::string, std::optional<std::string>> flags;
  std::string want;
};

TEST(ExampleSpecs, AreReadAndTakeTheChangesTheyAreMadeFor) {
  const std::string out = " --out {out}";
  const Case cases[] = {
      {"offline_eval",
       "offline-eval",
       2,
       {{"--batch", "32"}, {"--verify", std::nullopt}, {"--cache", "{state}/decoded"}},
       out + " --batch 32 --workers 2 --threads 2 --log-every 1 --fsync --range-check-every 1" +
           " --checkpoint-every 10 --cache {state}/decoded"},
      {"device_queue",
       "device-queue",
       1,
       {{"--kernel-cache", "{state}/kernels"}, {"--overlap-copies", ""}},
       out + " --batch 32 --metric-every 1 --range-check-every 1 --queue-depth 1" +
           " --kernel-cache {state}/kernels --overlap-copies"},
      {"step_loop",
       "step-loop",
       1,
       {{"--inference-mode", ""}, {"--range-check-every", "20"}},
       out + " --batch 8 --range-check-every 20 --inference-mode"},
      {"tuned", "tuned-batch", 1, {}, out + " --batch 512 --threads 1"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.folder);
    const std::string folder = std::string(AMDAHL_EXAMPLES) + "/" + c.folder;
    const std::string text = text_of(folder + "/job.toml");
    if (text.empty() && c.folder != "offline_eval") {
      continue;  // Not built here, for want of a library.
    }
    const auto spec = model::parse_spec(text, "job.toml", folder);
    ASSERT_TRUE(spec) << spec.error().text;
    EXPECT_EQ(spec->family, c.family);
    EXPECT_EQ(spec->accelerators, c.accelerators);
    model::Change change;
    change.args = c.flags;
    const auto plan = model::make_plan(*spec, change);
    ASSERT_TRUE(plan) << plan.error().text;
    std::string line;
    for (const std::string& word : plan->argv) {
      line += " " + word;
    }
    EXPECT_TRUE(line.ends_with(c.want)) << line;
  }
}

}  // namespace
}  // namespace amdahl
