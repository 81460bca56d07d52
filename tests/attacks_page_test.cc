// attacks_page_test.cc: every test that docs/design/0005-attacks.md names is there.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace amdahl {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::set<std::string> found_in(const std::string& text, const std::regex& shape) {
  std::set<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), shape), end; it != end; ++it) {
    names.insert((*it)[1].str() + "." + (*it)[2].str());
  }
  return names;
}

TEST(AttacksPage, NamesTestsThatAreThere) {
  const fs::path root = AMDAHL_SOURCE_DIR;
  const std::regex test(R"(TEST(?:_F|_P)?\((\w+),\s*(\w+)\))");
  std::set<std::string> there;
  for (const char* folder : {"src", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!entry.path().filename().string().ends_with("_test.cc")) continue;
      there.merge(found_in(text_of(entry.path()), test));
    }
  }
  const std::set<std::string> named =
      found_in(text_of(root / "docs/design/0005-attacks.md"), std::regex(R"(`(\w+)\.([A-Z]\w+)`)"));
  EXPECT_GE(named.size(), 30U);
  for (const std::string& name : named) EXPECT_TRUE(there.contains(name)) << name;
}

}  // namespace
}  // namespace amdahl
