// Files that are cut, damaged or lie, through everything that `amdahl profile FILE` does with them.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/profile.h"
#include "app/trace_profile.h"
#include "os/host.h"

namespace amdahl::api {
namespace {

std::string event(const char* category, const char* name, const char* times, const char* args) {
  return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":1,{},"args":{{{}}}}})",
                     category, name, times, args);
}

std::string file_of(const std::vector<std::string>& events) {
  return fmt::format(R"({{"schemaVersion":1,"traceEvents":[{}]}})", fmt::join(events, ","));
}

// A step with input, a launch and a kernel.
std::vector<std::string> sound() {
  return {
      event("user_annotation", "ProfilerStep#1", R"("ts":0,"dur":1000)", ""),
      event("user_annotation", "enumerate(DataLoader)#_X.__next__", R"("ts":1,"dur":400)", ""),
      event("cuda_runtime", "cudaLaunchKernel", R"("ts":500,"dur":10)", R"("correlation":7)"),
      event("kernel", "gemm", R"("ts":520,"dur":300)", R"("correlation":7,"device":0,"stream":7)")};
}

class HostileTrace : public testing::Test {
 protected:
  HostileTrace() : folder_{testing::TempDir() + "hostile-trace-" + os::random_hex(12)} {
    std::filesystem::create_directories(folder_);
  }
  ~HostileTrace() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  // The page, the JSON and the browser's page are all made; sums hold whatever the file said.
  Result<app::TraceAnswer> answer_to(const std::string& bytes) const {
    const std::string path = folder_ + "/trace.json";
    // Not as files are written that must last: thousands of times that would wait for the disk.
    std::ofstream(path, std::ios::binary) << bytes;
    app::TraceRequest request;
    request.files.files = {path};
    request.html = true;
    auto answer = app::profile_traces(request);
    if (!answer) {
      EXPECT_TRUE(answer.error().text.starts_with(path)) << answer.error().text;
      return answer;
    }
    const Json json = traces(*answer);
    EXPECT_FALSE(json.dump().empty());
    for (const Json& device : json.at("devices")) {
      EXPECT_GE(device.at("idle_ns").get<std::int64_t>(), 0);
      EXPECT_GE(device.at("busy_ns").get<std::int64_t>(), 0);
    }
    return answer;
  }

  std::string folder_;
};

TEST_F(HostileTrace, CutAtEveryByteIsAnErrorOrSaysThatItIsCut) {
  const std::string whole = file_of(sound());
  int read = 0;
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    SCOPED_TRACE(whole.substr(0, bytes));
    const auto answer = answer_to(whole.substr(0, bytes));
    if (!answer) continue;
    ++read;
    const auto& missing = answer->report.profile.missing;
    const bool is_told = std::ranges::any_of(missing, [](const std::string& text) {
      return text.find("cut short") != std::string::npos ||
             text.find("truncated") != std::string::npos;
    });
    EXPECT_TRUE(is_told) << fmt::format("{}", fmt::join(missing, "\n"));
  }
  EXPECT_GT(read, 100) << "what is whole of a cut file is used";
  ASSERT_TRUE(answer_to(whole));
}

TEST_F(HostileTrace, OneDamagedByteIsNoCrash) {
  const std::string whole = file_of(sound());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\0', '"', '{', '\xff', '9'}) {
      std::string damaged = whole;
      damaged[at] = byte;
      (void)answer_to(damaged);
    }
  }
}

TEST_F(HostileTrace, LiesAreCountedOrRefused) {
  const auto with = [](const std::string& lie) {
    std::vector<std::string> events = sound();
    events.push_back(lie);
    return file_of(events);
  };
  const struct {
    const char* what;
    std::string file;
  } cases[] = {
      {"a negative duration", with(event("kernel", "k", R"("ts":1,"dur":-5)", R"("device":0)"))},
      {"no number", with(event("kernel", "k", R"("ts":NaN,"dur":5)", R"("device":0)"))},
      {"times out of range", with(event("cpu_op", "k", R"("ts":1e300,"dur":5)", ""))},
      {"an event of a century",
       with(event("kernel", "k", R"("ts":1,"dur":3e15)", R"("device":0)"))},
      {"keys twice", with(event("kernel", "k", R"("ts":1,"ts":900,"dur":5,"dur":6)", ""))},
      {"a correlation twice",
       with(event("kernel", "k", R"("ts":900,"dur":5)", R"("correlation":7,"device":0)"))},
      {"a launch after its kernel", with(event("cuda_runtime", "cudaLaunchKernel",
                                               R"("ts":990,"dur":5)", R"("correlation":7)"))},
      {"deep nesting", with(R"({"ph":"X","name":"d","ts":1,"dur":1,"args":)" +
                            std::string(50'000, '[') + std::string(50'000, ']') + "}")},
      {"a long name",
       with(event("cpu_op", std::string(1'000'000, 'n').c_str(), R"("ts":1,"dur":2)", ""))},
      {"control characters", with(event("kernel", R"(\u001b[2J</script>)", R"("ts":830,"dur":9)",
                                        R"("device":0,"stream":7)"))},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    const auto answer = answer_to(c.file);
    ASSERT_TRUE(answer) << answer.error().text;
    EXPECT_EQ(answer->page.find("[2J</script>"), std::string::npos);
    ASSERT_FALSE(answer->report.devices.empty()) << "the rest of the file is as good as ever";
  }
}

TEST_F(HostileTrace, WhatIsNoTraceSaysWhatItWasTakenFor) {
  for (const std::string bytes : {"", "{", "[]", "null", "{}", "\x1f\x8b", "PK\x03\x04"}) {
    const auto answer = answer_to(bytes);
    EXPECT_FALSE(answer) << bytes;
  }
}

}  // namespace
}  // namespace amdahl::api
