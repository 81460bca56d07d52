#include "app/library.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "hypothesize/playbook.h"

namespace amdahl::app {
namespace {

namespace fs = std::filesystem;

class LibraryTest : public ::testing::Test {
 protected:
  LibraryTest()
      : folder_{fs::temp_directory_path() / ("amdahl-library-" + std::to_string(::getpid()))} {
    fs::create_directories(folder_);
  }
  ~LibraryTest() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  // What is found for a family that starves; "name:line heading", sorted by rank.
  static std::vector<std::string> found(Library& library) {
    model::Profile profile;
    profile.bottleneck = model::Bottleneck::kInput;
    const auto playbook = hypothesize::embedded_playbook();
    const auto passages = library.find(dream::query_for(profile, {}, *playbook));
    EXPECT_TRUE(passages) << passages.error().text;
    std::vector<std::string> result;
    for (const dream::Passage& passage : *passages) {
      const std::string heading = passage.heading.empty() ? "" : " " + passage.heading;
      const std::string name = fs::path(passage.document).filename().string();
      result.push_back(name + ":" + std::to_string(passage.line) + heading);
    }
    return result;
  }

  fs::path folder_;
};

TEST_F(LibraryTest, FindsPassagesThatNameASettingAndFirstThoseThatFit) {
  write("a.md",
        "# Colours\n\nWorkers painted the OMP_FOO bridge red.\n\n## Loaders\n\n"
        "Starving is bad.\n\nSet OMP_NUM_THREADS=1 when data loaders oversubscribe.\n");
  write("deep/b.txt", "Nothing here.\n\n\nnum_workers=4 cured\ninput starvation.\n");
  Result<Library> opened = Library::open(folder_.string());
  ASSERT_TRUE(opened) << opened.error().text;
  Library library = *std::move(opened);
  EXPECT_EQ(library.documents(), 2);
  const std::vector<std::string> hits = found(library);
  ASSERT_EQ(hits.size(), 4U) << "and not the one that names nothing to set";
  EXPECT_EQ(hits[0], "b.txt:4");
  EXPECT_EQ(hits[1], "a.md:9 Loaders");
}

TEST_F(LibraryTest, AnIntroductionBelongsToWhatFollows) {
  write("a.rst", "Tuning\n======\n\nWhen loaders oversubscribe:\n\n    export OMP_NUM_THREADS=1\n");
  Result<Library> opened = Library::open((folder_ / "a.rst").string());
  ASSERT_TRUE(opened) << opened.error().text;
  Library library = *std::move(opened);
  EXPECT_EQ(found(library), std::vector<std::string>{"a.rst:4 Tuning"});
}

TEST_F(LibraryTest, WhatIsNoTextIsCounted) {
  write("picture.png", "OMP_NUM_THREADS=1");
  write("README", "OMP_NUM_THREADS=1");
  write("blob", std::string("a\0b", 3));
  write(".git/notes.md", "OMP_NUM_THREADS=1");
  write("large.txt", std::string((4 << 20) + 1, 'a'));
  fs::create_symlink("/nowhere/at/all", folder_ / "gone.md");
  write("broken.md", "num_workers=4 \xff\xfe cured it\n");
  Result<Library> opened = Library::open(folder_.string());
  ASSERT_TRUE(opened) << opened.error().text;
  Library library = *std::move(opened);
  EXPECT_EQ(library.documents(), 2);
  EXPECT_EQ(library.passed_over(), 4);
  ASSERT_EQ(library.unread().size(), 2U);
  EXPECT_NE(library.unread()[0].find("gone.md"), std::string::npos) << library.unread()[0];
  EXPECT_EQ(library.unread()[1], (folder_ / "large.txt").string() + ": larger than 4 MiB");
}

TEST_F(LibraryTest, AMissingFolderIsAnError) {
  const std::string missing = (folder_ / "nowhere").string();
  const Result<Library> library = Library::open(missing);
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().kind, Error::Kind::kNotFound);
  EXPECT_EQ(library.error().text, "there is no folder " + missing);
  Result<Library> opened = Library::open("");
  ASSERT_TRUE(opened);
  Library none = *std::move(opened);
  EXPECT_TRUE(found(none).empty());
}

}  // namespace
}  // namespace amdahl::app
