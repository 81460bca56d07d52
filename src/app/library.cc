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
  constexpr auto kEndings =
      std::to_array<std::string_view>({".md", ".markdown", ".txt", ".rst", ".adoc", ".org", ""});
  const std::string ending = lower(path.extension().string());
  return std::ranges::find(kEndings, ending) != kEndings.end();
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

Result<Library> Library::open(const std::string& path) {
  Library library(TRY(db::Connection::open(":memory:", db::Mode::kCreate, 1000)));
  TRY(library.index_.exec("make the index of documents",
                          "CREATE VIRTUAL TABLE passage USING fts5(document UNINDEXED, "
                          "line UNINDEXED, heading, body)"));
  if (path.empty()) return library;
  TRY(library.index_.exec("fill the index", "BEGIN"));
  TRY(library.read(os::absolute(path)));
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
                       "MATCH ? ORDER BY rank, document, line LIMIT ?",
                       fmt::format("body : ({0}) AND ({0} OR {1})", names, any_of(query.words)),
                       kPassagesPerSearch));
  while (TRY(rows.step())) {
    found.push_back({std::string(rows.text(0)), static_cast<int>(rows.integer(1)),
                     std::string(rows.text(2)), std::string(rows.text(3))});
  }
  return found;
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
  std::error_code failure;
  std::filesystem::recursive_directory_iterator entry(
      folder, std::filesystem::directory_options::skip_permission_denied, failure);
  if (failure) {
    return Error{Error::Kind::kExternal, fmt::format("{}: {}", folder, failure.message())};
  }
  for (; entry != std::filesystem::recursive_directory_iterator(); entry.increment(failure)) {
    std::error_code vanished;
    const bool hidden = entry->path().filename().string().starts_with('.');
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
  return Ok{};
}

Result<> Library::add(const std::string& path) {
  std::error_code vanished;
  const std::uintmax_t size = std::filesystem::file_size(path, vanished);
  if (!vanished && size > kLargestDocument) {
    unread_.push_back(fmt::format("{}: larger than {} MiB", path, kLargestDocument >> 20));
    return Ok{};
  }
  const Result<std::string> text = os::read_file(path);
  if (!text) {
    unread_.push_back(text.error().text);
    return Ok{};
  }
  if (text->find('\0') != std::string::npos) {
    ++other_;
    return Ok{};
  }
  ++documents_;
  return add_text(path, *text);
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
  return Ok{};
}

}  // namespace amdahl::app
