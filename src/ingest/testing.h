// testing.h: fleets made of texts, read by the production driver, for tests.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ingest/ingest.h"
#include "os/fake/fake_clock.h"
#include "os/host.h"

namespace amdahl::ingest {

struct TextInput {
  std::string name;
  std::string text;
  std::string kind{};     // As after --source; empty: detect.
  std::string host{};     // As --host.
  std::string mapping{};  // Text of the --map file.
  std::string zone{};     // As --time-zone.
};

inline TextInput text_input(std::string name, std::string text) {
  return {.name = std::move(name), .text = std::move(text)};
}

// A file of the reference week; empty without AMDAHL_CORPUS.
inline std::string week_file(const std::string& name) {
  const char* root = std::getenv("AMDAHL_CORPUS");
  return root ? std::string(root) + "/fleet/philly_synth_week/" + name : std::string();
}

// A folder deleted with this object.
class TestFolder {
 public:
  TestFolder() : path_{testing::TempDir() + "ingest-" + os::random_hex(12)} {
    std::filesystem::create_directories(path_);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

 private:
  std::string path_;
};

// Files are read in path order: each gets a folder named after its index.
inline std::vector<Origin> write_texts(const TestFolder& folder,
                                       const std::vector<TextInput>& inputs) {
  std::vector<Origin> origins;
  for (const TextInput& input : inputs) {
    const std::string at = fmt::format("{:03}/", origins.size());
    Origin& origin = origins.emplace_back();
    origin.where = folder.write(at + input.name, input.text);
    origin.kind = input.kind;
    origin.host = input.host;
    origin.time_zone = input.zone;
    if (!input.mapping.empty()) origin.map = folder.write(at + "map.toml", input.mapping);
  }
  return origins;
}

// Empty if the test has failed.
inline Ingested read_texts(const std::vector<TextInput>& inputs, Options options = {},
                           Nanos now = std::chrono::seconds(1'800'000'000)) {
  const TestFolder folder;
  options.origins = write_texts(folder, inputs);
  os::FakeClock clock(now);
  auto read = read_fleet(options, clock);
  if (read) return *std::move(read);
  ADD_FAILURE() << read.error().text;
  return {};
}

}  // namespace amdahl::ingest
