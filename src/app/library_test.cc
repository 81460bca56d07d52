#include "app/library.h"

#include <cstdlib>
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

TEST_F(LibraryTest, TheIndexIsKeptAndBroughtUpToDate) {
  const std::string index = (folder_ / "index.db").string();
  const std::string docs = (folder_ / "docs").string();
  write("docs/a.md", "Use pin_memory=True; steps are 12 % faster.\n");
  write("docs/b.html", "<h1>Loaders</h1><p>Prefetching two batches hides the <b>copy</b>.</p>");
  write("docs/c.md", "Use pin_memory=True; steps are 12 % faster!\n");
  const auto open = [&] {
    Result<Library> opened = Library::open(docs, index);
    EXPECT_TRUE(opened) << opened.error().text;
    return *std::move(opened);
  };
  {
    Library library = open();
    EXPECT_EQ(library.documents(), 3);
    EXPECT_EQ(library.unchanged(), 0);
    const auto leads = library.leads();
    ASSERT_TRUE(leads);
    ASSERT_EQ(leads->size(), 2U);  // One is nearly the same as another.
    EXPECT_EQ(library.duplicates(), 1);
    for (const FoundLead& lead : *leads) {
      EXPECT_EQ(lead.lead.bottleneck, model::Bottleneck::kInput) << lead.origin;
    }
  }
  fs::remove(folder_ / "docs/c.md");
  write("docs/b.html", "<h1>Loaders</h1><p>The weather was fine all day.</p>");
  {
    Library library = open();
    EXPECT_EQ(library.documents(), 2);
    EXPECT_EQ(library.unchanged(), 1);
    ASSERT_EQ(library.leads()->size(), 1U);
    EXPECT_EQ(library.leads()->at(0).origin, docs + "/a.md:1");
  }
  // An index that cannot be read is made anew.
  write("index.db", "this is no database, and long enough to be taken for one if it were");
  EXPECT_EQ(open().unchanged(), 0);
  EXPECT_EQ(open().unchanged(), 2);
}

TEST_F(LibraryTest, CommitsOfARepositoryAreReadOnce) {
  const auto git = [&](const std::string& words) {
    const std::string command = "cd '" + (folder_ / "docs/repo").string() +
                                "' && git -c user.name=Ada -c user.email=a@b.c " + words +
                                " >/dev/null 2>&1";
    return std::system(command.c_str()) == 0;
  };
  write("docs/repo/train.py", "for x in data:\n    total += loss(x).item()\n");
  if (!git("init -q .")) GTEST_SKIP() << "git is not installed: apt install git";
  ASSERT_TRUE(git("add . ") && git("commit -qm 'The job'"));
  write("docs/repo/train.py", "for x in data:\n    total += loss(x)\n");
  ASSERT_TRUE(git("commit -qam 'Do not read the loss back at each step: 20 % faster'"));
  const std::string index = (folder_ / "index.db").string();
  const auto open = [&] {
    Result<Library> opened = Library::open((folder_ / "docs").string(), index);
    EXPECT_TRUE(opened) << opened.error().text;
    return *std::move(opened);
  };
  {
    Library library = open();
    EXPECT_EQ(library.repositories(), 1);
    EXPECT_EQ(library.new_commits(), 2);
    const auto leads = library.leads();
    ASSERT_TRUE(leads) << leads.error().text;
    ASSERT_EQ(leads->size(), 1U);
    EXPECT_EQ(leads->at(0).lead.bottleneck, model::Bottleneck::kSync);
    EXPECT_NE(leads->at(0).diff.find("-    total += loss(x).item()"), std::string::npos);
  }
  EXPECT_EQ(open().new_commits(), 0);
  write("docs/repo/notes.txt", "nothing\n");
  ASSERT_TRUE(git("add .") && git("commit -qm 'Notes'"));
  Library library = open();
  EXPECT_EQ(library.new_commits(), 1);
  EXPECT_EQ(library.commits(), 3);
  // History that was rewritten is read again.
  ASSERT_TRUE(git("commit --amend -qm 'Other notes'"));
  EXPECT_EQ(open().new_commits(), 3);
}

// A message may hold the marks between commits: what follows them is no commit of its own, whose id
// could name a file elsewhere.
TEST_F(LibraryTest, AMessageForgesNoCommit) {
  write("docs/repo/train.py", "for x in data:\n    total += loss(x).item()\n");
  write("message", "Notes\n\n\x1e../../evil\x1fUse pin_memory: steps are 12 % faster\x1f");
  const std::string command = "cd '" + (folder_ / "docs/repo").string() +
                              "' && git init -q . && git add . && git -c user.name=Ada -c "
                              "user.email=a@b.c commit -q --cleanup=verbatim -F ../../message";
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "git is not installed: apt install git";
  Result<Library> opened = Library::open((folder_ / "docs").string());
  ASSERT_TRUE(opened) << opened.error().text;
  Library library = *std::move(opened);
  EXPECT_EQ(library.repositories(), 1);
  EXPECT_EQ(library.new_commits(), 0);
  const auto leads = library.leads();
  ASSERT_TRUE(leads) << leads.error().text;
  EXPECT_TRUE(leads->empty());
}

}  // namespace
}  // namespace amdahl::app
