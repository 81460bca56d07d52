#include "app/library.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

constexpr std::uintmax_t kLargestDocument = 4 << 20;

bool is_text(const std::filesystem::path& path) {
  constexpr auto kEndings = std::to_array<std::string_view>(
      {".md", ".markdown", ".txt", ".rst", ".adoc", ".org", ".html", ".htm", ""});
  const std::string ending = lower(path.extension().string());
  return std::ranges::find(kEndings, ending) != kEndings.end();
}

bool is_html(const std::string& path) {
  const std::string low = lower(path);
  return low.ends_with(".html") || low.ends_with(".htm");
}

// Raised when the tables, or what is found in the same text, change: then all is read anew.
constexpr int kIndexVersion = 2;
constexpr int kBusyMs = 5000;

constexpr const char* kTables =
    "CREATE TABLE document (path TEXT PRIMARY KEY, size INTEGER, stamp INTEGER, is_text INTEGER);"
    "CREATE VIRTUAL TABLE passage USING fts5(document UNINDEXED, line UNINDEXED, heading, body);"
    "CREATE TABLE lead (document TEXT, line INTEGER, heading TEXT, body TEXT, bottleneck TEXT,"
    " technique TEXT, quote TEXT, score REAL);"
    "CREATE INDEX lead_document ON lead (document);"
    "CREATE TABLE repository (path TEXT PRIMARY KEY, head TEXT);"
    "CREATE TABLE change_set (repository TEXT, id TEXT, message TEXT, diff TEXT, bottleneck TEXT,"
    " technique TEXT, quote TEXT, score REAL, PRIMARY KEY (repository, id));";

// Below the root, or the root itself.
bool is_within(std::string_view path, const std::string& root) {
  return path == root || (path.starts_with(root) && path.size() > root.size() &&
                          (root.ends_with('/') || path[root.size()] == '/'));
}

// "# Loaders" in Markdown, "Loaders" above a line of "=====" in the others.
std::string_view heading_of(std::string_view line, std::string_view next) {
  const std::size_t marks = line.find_first_not_of('#');
  if (marks != 0 && marks != std::string_view::npos && line[marks] == ' ') {
    return trim(line.substr(marks));
  }
  const bool underlined = next.size() >= 3 && std::string_view("=-~^").find(next[0]) != next.npos &&
                          next.find_first_not_of(next[0]) == std::string_view::npos;
  return underlined ? trim(line) : std::string_view{};
}

std::string any_of(const std::vector<std::string>& phrases) {
  std::string query;
  for (const std::string& phrase : phrases) {
    query += fmt::format("{}\"{}\" *", query.empty() ? "" : " OR ", phrase);
  }
  return query;
}

}  // namespace

Result<Library> Library::make(const std::string& index) {
  Library library(TRY(db::Connection::open(index, db::Mode::kCreate, kBusyMs)));
  std::int64_t found = 0;
  {
    auto version = TRY(library.index_.query("read the index", "PRAGMA user_version"));
    if (TRY(version.step())) found = version.integer(0);
  }
  if (found == kIndexVersion) return library;
  if (found != 0) return bad_input("another version of the index");
  TRY(library.index_.exec("make the index of documents",
                          fmt::format("BEGIN IMMEDIATE; {} PRAGMA user_version = {}; COMMIT;",
                                      kTables, kIndexVersion)));
  return library;
}

Result<Library> Library::open(const std::string& path, const std::string& index) {
  if (path.empty()) return make(":memory:");
  {
    const auto usable = make(index);
    std::error_code ignored;
    if (!usable && usable.error().kind == Error::Kind::kBadInput) {
      for (const char* ending : {"", "-wal", "-shm", "-journal"}) {
        std::filesystem::remove(index + ending, ignored);
      }
    }
  }
  Library library = TRY(make(index));
  library.root_ = os::absolute(path);
  TRY(library.index_.exec("fill the index", "BEGIN IMMEDIATE"));
  TRY(library.read(library.root_));
  TRY(library.forget_missing());
  TRY(library.index_.exec("fill the index", "COMMIT"));
  return library;
}

Result<std::vector<dream::Passage>> Library::find(const dream::Query& query) {
  std::vector<dream::Passage> found;
  if (query.names.empty() || query.words.empty()) return found;
  const std::string names = any_of(query.names);
  auto rows =
      TRY(index_.query("search the documents",
                       "SELECT document, line, heading, body FROM passage WHERE passage "
                       "MATCH ? AND (document = ? OR substr(document, 1, length(?)) = ?) "
                       "ORDER BY rank, document, line LIMIT ?",
                       fmt::format("body : ({0}) AND ({0} OR {1})", names, any_of(query.words)),
                       root_, root_ + "/", root_ + "/", kPassagesPerSearch));
  while (TRY(rows.step())) {
    found.push_back({std::string(rows.text(0)), static_cast<int>(rows.integer(1)),
                     std::string(rows.text(2)), std::string(rows.text(3))});
  }
  return found;
}

Result<std::vector<FoundLead>> Library::leads() {
  std::vector<FoundLead> found;
  duplicates_ = 0;
  auto rows = TRY(index_.query(
      "find leads",
      "SELECT document, document || ':' || line, heading, body, '', bottleneck, technique, quote, "
      "score FROM lead UNION ALL SELECT repository, repository || '@' || substr(id, 1, 12), "
      "message, message, diff, bottleneck, technique, quote, score FROM change_set "
      "WHERE bottleneck <> '' ORDER BY 9 DESC, 2"));
  while (TRY(rows.step())) {
    if (!is_within(rows.text(0), root_)) continue;
    const auto text = [&](int column) { return std::string(rows.text(column)); };
    FoundLead lead{{model::bottleneck_named(rows.text(5)), text(6), text(7), rows.real(8)},
                   text(1),
                   text(2).substr(0, text(2).find('\n')),
                   text(3),
                   text(4)};
    const bool known = std::ranges::any_of(found, [&](const FoundLead& other) {
      return other.lead.bottleneck == lead.lead.bottleneck &&
             dream::likeness(other.text, lead.text) >= dream::kNearDuplicate;
    });
    if (known) {
      ++duplicates_;
    } else if (found.size() < kPassagesPerSearch) {
      found.push_back(std::move(lead));
    }
  }
  return found;
}

Result<> Library::forget(const std::string& path) {
  for (const char* sql :
       {"DELETE FROM passage WHERE document = ?", "DELETE FROM lead WHERE document = ?",
        "DELETE FROM document WHERE path = ?"}) {
    TRY(index_.run("forget a document", sql, path));
  }
  return Ok{};
}

// Documents and repositories that were there the last time.
Result<> Library::forget_missing() {
  std::vector<std::string> gone;
  std::vector<std::string> left;  // Repositories.
  std::error_code error;
  auto rows = TRY(index_.query("list documents", "SELECT path FROM document"));
  while (TRY(rows.step())) {
    const std::string path(rows.text(0));
    if (is_within(path, root_) && !std::filesystem::exists(path, error)) gone.push_back(path);
  }
  auto repositories = TRY(index_.query("list repositories", "SELECT path FROM repository"));
  while (TRY(repositories.step())) {
    const std::string path(repositories.text(0));
    if (is_within(path, root_) && !std::filesystem::exists(path, error)) left.push_back(path);
  }
  for (const std::string& path : gone) TRY(forget(path));
  for (const std::string& path : left) {
    TRY(index_.run("forget a repository", "DELETE FROM repository WHERE path = ?", path));
    TRY(index_.run("forget a repository", "DELETE FROM change_set WHERE repository = ?", path));
  }
  return Ok{};
}

Result<> Library::read(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return read_folder(path);
  if (std::filesystem::is_regular_file(path, ignored)) return add(path);
  return Error{Error::Kind::kNotFound, fmt::format("there is no folder {}", path)};
}

// In the order of names, so that two dreams over the same folder are the same.
Result<> Library::read_folder(const std::string& folder) {
  std::set<std::string> documents;
  std::set<std::string> repositories;
  std::error_code failure;
  std::filesystem::recursive_directory_iterator entry(
      folder, std::filesystem::directory_options::skip_permission_denied, failure);
  if (failure) {
    return Error{Error::Kind::kExternal, fmt::format("{}: {}", folder, failure.message())};
  }
  for (; entry != std::filesystem::recursive_directory_iterator(); entry.increment(failure)) {
    std::error_code vanished;
    const bool hidden = entry->path().filename().string().starts_with('.');
    // A folder, or in a worktree a file that says where it is.
    const bool is_git = entry->path().filename() == ".git" &&
                        (entry->is_regular_file(vanished) ||
                         std::filesystem::exists(entry->path() / "HEAD", vanished));
    if (is_git) repositories.insert(entry->path().parent_path().string());
    if (hidden && entry->is_directory(vanished)) entry.disable_recursion_pending();
    // A link to nothing is no regular file: reading it says so.
    const bool file = entry->is_regular_file(vanished) ||
                      (entry->is_symlink(vanished) && !entry->exists(vanished));
    if (hidden || !file) continue;
    if (is_text(entry->path())) {
      documents.insert(entry->path().string());
    } else {
      ++other_;
    }
  }
  for (const std::string& path : documents) TRY(add(path));
  for (const std::string& path : repositories) TRY(add_commits(path));
  return Ok{};
}

Result<> Library::add(const std::string& path) {
  std::error_code vanished;
  const std::uintmax_t size = std::filesystem::file_size(path, vanished);
  if (!vanished && size > kLargestDocument) {
    unread_.push_back(fmt::format("{}: larger than {} MiB", path, kLargestDocument >> 20));
    return Ok{};
  }
  const auto written = std::filesystem::last_write_time(path, vanished).time_since_epoch().count();
  auto known = TRY(index_.query(
      "find a document", "SELECT is_text FROM document WHERE path = ? AND size = ? AND stamp = ?",
      path, static_cast<std::int64_t>(size), static_cast<std::int64_t>(written)));
  if (!vanished && TRY(known.step())) {
    ++(known.integer(0) != 0 ? documents_ : other_);
    unchanged_ += known.integer(0) != 0 ? 1 : 0;
    return Ok{};
  }
  const Result<std::string> text = os::read_file(path);
  if (!text) {
    unread_.push_back(text.error().text);
    return Ok{};
  }
  TRY(forget(path));
  const bool is_text = text->find('\0') == std::string::npos;
  TRY(index_.run("remember a document", "INSERT INTO document VALUES (?, ?, ?, ?)", path,
                 static_cast<std::int64_t>(size), static_cast<std::int64_t>(written),
                 is_text ? 1 : 0));
  ++(is_text ? documents_ : other_);
  if (!is_text) return Ok{};
  return add_text(path, is_html(path) ? dream::text_of_html(*text) : *text);
}

// A paragraph is a passage: what it names belongs together. One that ends in a colon goes on.
Result<> Library::add_text(const std::string& path, const std::string& text) {
  const std::vector<std::string_view> lines = split(text, '\n');
  dream::Passage passage{path, 1, "", ""};
  const auto finish = [&]() -> Result<> {
    if (!trim(passage.text).empty()) TRY(insert(passage));
    passage.text.clear();
    return Ok{};
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view next = i + 1 < lines.size() ? trim(lines[i + 1]) : std::string_view{};
    const std::string_view heading = heading_of(trim(lines[i]), next);
    const bool goes_on = trim(passage.text).ends_with(':') && heading.empty();
    if (trim(lines[i]).empty() && !goes_on) TRY(finish());
    if (!heading.empty()) {
      TRY(finish());
      passage.heading = heading;
    }
    if (trim(passage.text).empty()) {
      passage.text.clear();
      passage.line = static_cast<int>(i) + 1;
    }
    passage.text += std::string(lines[i]) + "\n";
    if (!heading.empty()) TRY(finish());
  }
  return finish();
}

Result<> Library::insert(const dream::Passage& passage) {
  TRY(index_.run("index a passage", "INSERT INTO passage VALUES (?, ?, ?, ?)", passage.document,
                 passage.line, passage.heading, passage.text));
  const auto lead = dream::lead_in(passage);
  if (!lead) return Ok{};
  TRY(index_.run("index a lead", "INSERT INTO lead VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                 passage.document, passage.line, passage.heading, passage.text,
                 std::string(model::name(lead->bottleneck)), lead->technique, lead->quote,
                 lead->score));
  return Ok{};
}

}  // namespace amdahl::app
