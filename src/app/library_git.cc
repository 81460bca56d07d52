#include <array>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "app/git.h"
#include "app/library.h"
#include "base/text.h"

namespace amdahl::app {
namespace {

constexpr int kMostCommits = 2000;  // Of one repository, the newest.
constexpr std::size_t kLargestCommit = 200'000;
constexpr std::size_t kSha1Digits = 40;
constexpr std::size_t kSha256Digits = 64;
constexpr char kCommitMark = '\x1e';
constexpr char kFieldMark = '\x1f';

// "HASH<field>MESSAGE<field>DIFF" as `git log` was asked for it.
dream::Commit commit_of(const std::string& repository, std::string_view record) {
  const std::size_t first = record.find(kFieldMark);
  const std::size_t second =
      first == record.npos ? record.npos : record.find(kFieldMark, first + 1);
  if (second == record.npos) return {};
  const std::string id(trim(record.substr(0, first)));
  // A message can hold the marks, too; an id becomes the name of a file.
  const bool is_id = (id.size() == kSha1Digits || id.size() == kSha256Digits) &&
                     id.find_first_not_of("0123456789abcdef") == id.npos;
  if (!is_id) return {};
  return {repository, id, std::string(trim(record.substr(first + 1, second - first - 1))),
          std::string(record.substr(second + 1))};
}

}  // namespace

// From the last commit that is known on; all of them if history was rewritten.
Result<> Library::add_commits(const std::string& repository) {
  const auto head = said_by(git_in(repository, {"rev-parse", "--verify", "HEAD"}));
  if (!head) {
    unread_.push_back(fmt::format("{}: {}", repository, head.error().text));
    return Ok{};
  }
  ++repositories_;
  const std::string now(trim(*head));
  std::string range = now;
  auto known = TRY(
      index_.query("find a repository", "SELECT head FROM repository WHERE path = ?", repository));
  if (TRY(known.step())) {
    const std::string before(known.text(0));
    const auto within = said_by(git_in(repository, {"merge-base", "--is-ancestor", before, now}));
    if (within) range = before + ".." + now;
  }
  std::string record;
  const auto take = [&]() -> Result<> {
    const dream::Commit commit = commit_of(repository, record);
    record.clear();
    return commit.id.empty() ? Result<>(Ok{}) : add_commit(commit);
  };
  const auto read_piece = [&](std::string_view bytes) -> Result<> {
    for (const char c : bytes) {
      if (c == kCommitMark) {
        TRY(take());
      } else if (record.size() < kLargestCommit) {
        record += c;
      }
    }
    return Ok{};
  };
  const auto done = os::run_program(
      git_in(repository, {"log", "--no-merges", "--no-color", "--no-ext-diff", "--no-textconv",
                          "--no-show-signature", "-n", std::to_string(kMostCommits),
                          "--format=%x1e%H%x1f%B%x1f", "-p", "-U3", range}),
      read_piece, [] { return false; });
  if (!done) {
    unread_.push_back(fmt::format("{}: {}", repository, done.error().text));
    return Ok{};
  }
  TRY(take());
  TRY(index_.run("remember a repository", "INSERT OR REPLACE INTO repository VALUES (?, ?)",
                 repository, now));
  auto counted = TRY(index_.query(
      "count commits", "SELECT count(*) FROM change_set WHERE repository = ?", repository));
  if (TRY(counted.step())) commits_ += static_cast<int>(counted.integer(0));
  return Ok{};
}

Result<> Library::add_commit(const dream::Commit& commit) {
  ++new_commits_;
  const auto lead = dream::lead_in(commit);
  // Of the others only that they were seen.
  TRY(index_.run("index a commit",
                 "INSERT OR REPLACE INTO change_set VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                 commit.repository, commit.id, lead ? commit.message : "", lead ? commit.diff : "",
                 lead ? std::string(model::name(lead->bottleneck)) : "",
                 lead ? lead->technique : "", lead ? lead->quote : "", lead ? lead->score : 0.0));
  return Ok{};
}

}  // namespace amdahl::app
