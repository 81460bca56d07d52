#include "ingest/mark.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json.h"
#include "fleet/journal/journal.h"
#include "os/files.h"

namespace amdahl::ingest {
namespace {

constexpr std::uint64_t kSigned = 4096;  // Bytes at each end.

Result<std::string> digest_at(os::Stream& file, std::uint64_t from, std::uint64_t to) {
  TRY(file.seek(from));
  std::string bytes(to - from, '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const std::size_t n = TRY(file.read(std::span(bytes).subspan(have)));
    if (n == 0) break;
    have += n;
  }
  bytes.resize(have);
  return sha256_hex(bytes);
}

}  // namespace

std::string how_to_read(const Input& input, const ReadOptions& options) {
  const fleet::ReaderOptions& reader = options.reader;
  return fmt::format("{} {} {} {} {} {} {}", input.source.name, name(input.packing), reader.host,
                     reader.fields, reader.time_zone, sha256_hex(reader.zone_rules),
                     sha256_hex(reader.mapping));
}

std::string mark_folder(const std::string& below, const Input& input, const ReadOptions& options) {
  const std::string who = os::absolute(input.path) + "\n" + how_to_read(input, options);
  return fmt::format("{}/file-{}", below, sha256_hex(who).substr(0, 20));
}

Mark load_mark(const std::string& folder) {
  const auto text = os::read_file(folder + "/mark.json");
  if (!text) return {};
  const auto json = parse_json(*text);
  if (!json) return {};
  try {
    Mark mark;
    mark.schema = json->at("schema");
    if (mark.schema != kMarkSchema) return {};
    json->at("path").get_to(mark.path);
    json->at("how").get_to(mark.how);
    json->at("device").get_to(mark.file.device);
    json->at("inode").get_to(mark.file.inode);
    mark.file.size = json->value("file_size", std::uint64_t{0});
    mark.file.changed = Nanos(json->at("changed_ns").get<std::int64_t>());
    json->at("size").get_to(mark.size);
    json->at("lines").get_to(mark.lines);
    json->at("head_sha256").get_to(mark.head);
    json->at("tail_sha256").get_to(mark.tail);
    json->at("grows").get_to(mark.grows);
    json->at("journals").get_to(mark.journals);
    for (const std::string& journal : mark.journals) {
      if (journal.find('/') != journal.npos || !os::exists(folder + "/" + journal)) return {};
    }
    return mark;
  } catch (const Json::exception&) {
    return {};  // Not ours, or damaged: the file is read again.
  }
}

Result<> save_mark(const std::string& folder, const Mark& mark) {
  const Json json = {{"schema", mark.schema},
                     {"path", mark.path},
                     {"how", mark.how},
                     {"device", mark.file.device},
                     {"inode", mark.file.inode},
                     {"changed_ns", mark.file.changed.count()},
                     {"file_size", mark.file.size},
                     {"size", mark.size},
                     {"lines", mark.lines},
                     {"head_sha256", mark.head},
                     {"tail_sha256", mark.tail},
                     {"grows", mark.grows},
                     {"journals", mark.journals}};
  return os::write_file(folder + "/mark.json", pretty_json(json));
}

bool has_journals(const std::string& folder, const Mark& mark) {
  return std::ranges::all_of(mark.journals, [&](const std::string& journal) {
    return is_whole_journal(folder + "/" + journal);
  });
}

bool is_whole_journal(const std::string& path) {
  auto opened = os::Stream::open(path);
  if (!opened) return false;
  os::Stream file = *std::move(opened);
  const auto at = [&](std::uint64_t offset, std::size_t bytes) {
    std::string text(bytes, '\0');
    if (!file.seek(offset)) return std::string();
    const auto n = file.read(text);
    text.resize(n ? *n : 0);
    return text;
  };
  return fleet::journal::is_whole(file.facts().size, at);
}

void show_use(const std::string& folder, const Mark& mark, Nanos now) {
  const auto file = os::Stream::open(folder + "/mark.json");
  if (file && now - file->facts().changed < std::chrono::hours(24)) return;
  if (!save_mark(folder, mark)) return;  // Then it expires too early and is read again.
}

std::string next_journal(const std::string& folder) {
  int last = 0;
  for (const std::string& name : os::list(folder)) last = std::max(last, std::atoi(name.c_str()));
  return fmt::format("{:06}.journal", last + 1);
}

void remove_others(const std::string& folder, const Mark& mark) {
  for (const std::string& name : os::list(folder)) {
    if (!name.ends_with(".journal") && !name.ends_with(".part")) continue;
    if (std::ranges::find(mark.journals, name) != mark.journals.end()) continue;
    std::error_code failed;
    std::filesystem::remove(folder + "/" + name, failed);
  }
}

Result<> sign(Mark& mark, os::Stream& file) {
  mark.head = TRY(digest_at(file, 0, std::min(kSigned, mark.size)));
  mark.tail = TRY(digest_at(file, mark.size - std::min(kSigned, mark.size), mark.size));
  return Ok{};
}

Result<std::string> changed_since(const Mark& mark, os::Stream& file) {
  const os::FileFacts now = file.facts();
  if (now.size < mark.size) return std::string("is shorter than before");
  if (now.inode != mark.file.inode || now.device != mark.file.device) {
    return std::string("is a different file than before");
  }
  Mark fresh;
  fresh.size = mark.size;
  TRY(sign(fresh, file));
  if (fresh.head != mark.head || fresh.tail != mark.tail) {
    return std::string("was rewritten");
  }
  // It was written to, and nothing was appended.
  if (now.size == mark.file.size && now.changed != mark.file.changed) {
    return std::string("was rewritten");
  }
  const bool same = now.size == mark.size && now.changed == mark.file.changed;
  if (!mark.grows && !same) return std::string("was changed and cannot be resumed");
  return std::string();
}

}  // namespace amdahl::ingest
