// Runs what fuzzing kept through every target, whole, cut short and damaged, with any compiler.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "targets.h"

namespace amdahl::fuzz {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> inputs_of(const Target& target) {
  std::vector<fs::path> files;
  const fs::path folder = fs::path(AMDAHL_SOURCE_DIR "/tests/fuzz/corpus") / target.name;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

class Replay : public testing::TestWithParam<Target> {};

// Each target asserts in itself; reaching the end is the test.
TEST_P(Replay, WhatWasKept) {
  const auto files = inputs_of(GetParam());
  ASSERT_FALSE(files.empty()) << "tests/fuzz/corpus/" << GetParam().name << " has no inputs";
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.string());
    const std::string bytes = read_file(file);
    ASSERT_EQ(bytes.size(), fs::file_size(file)) << "it could not be read whole";
    GetParam().run(bytes);
    const std::size_t step = std::max<std::size_t>(1, bytes.size() / 64);
    for (std::size_t size = 0; size < bytes.size(); size += step) {
      GetParam().run(std::string_view(bytes).substr(0, size));
      std::string damaged = bytes;
      damaged[size] = static_cast<char>(damaged[size] ^ (1 << size % 7));
      GetParam().run(damaged);
      damaged.erase(size / 2, size / 3);
      GetParam().run(damaged);
    }
  }
}

// An empty file that is mapped has no bytes, not even an address.
TEST_P(Replay, NothingAtAll) {
  GetParam().run({});
  GetParam().run("");
}

INSTANTIATE_TEST_SUITE_P(Targets, Replay, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& each) {
                           std::string name(each.param.name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Corpus, EveryFolderIsOfATarget) {
  ASSERT_TRUE(fs::is_directory(AMDAHL_SOURCE_DIR "/tests/fuzz/corpus"));
  for (const auto& entry : fs::directory_iterator(AMDAHL_SOURCE_DIR "/tests/fuzz/corpus")) {
    EXPECT_NE(find_target(entry.path().filename().string()), nullptr) << entry.path();
  }
}

}  // namespace
}  // namespace amdahl::fuzz
