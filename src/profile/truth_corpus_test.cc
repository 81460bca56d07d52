// What must hold of a report on any trace, on every trace of the corpus.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "profile/truth_testing.h"
#include "trace/testing.h"

namespace amdahl::profile {
namespace {

std::vector<std::string> corpus_traces() {
  std::vector<std::string> found;
  const std::string folder = trace::corpus() + "traces";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().string();
    // The straggler tool's files are a format of its own.
    if (path.find("/straggler/") != path.npos) continue;
    if (path.ends_with(".json.gz") || path.ends_with(".sqlite")) found.push_back(path);
  }
  std::ranges::sort(found);
  return found;
}

TEST(TruthCorpus, HoldsOnEveryTrace) {
  if (trace::corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  int read = 0;
  for (const std::string& path : corpus_traces()) {
    SCOPED_TRACE(path);
    const auto reader = trace::reader_named(path.ends_with(".sqlite") ? "nsys" : "kineto");
    const auto loaded = trace::load(*reader, path, trace::bytes_of(path));
    if (!loaded) continue;  // Execution graphs and the like, which other tests refuse.
    ++read;
    const Prepared prepared(*loaded);
    const TraceReport got = report(prepared);
    expect_charges_hold(prepared, got);
    expect_sums_and_ceilings_hold(prepared, got);
  }
  EXPECT_GE(read, 30);
}

}  // namespace
}  // namespace amdahl::profile
