#include "ingest/merge.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "fleet/journal/journal.h"
#include "os/fault.h"
#include "os/files.h"
#include "os/lock.h"
#include "os/stream.h"

namespace amdahl::ingest {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = std::size_t{1} << 20;

std::uint64_t size_of(const std::string& path) {
  std::error_code failed;
  const auto size = fs::file_size(path, failed);
  return failed ? 0 : size;
}

// The first journal of those that are to become one: each before it is more than twice as large as
// all behind it.
std::size_t first_to_merge(const std::string& folder, const Mark& mark) {
  std::size_t first = mark.journals.size() - 1;
  std::uint64_t behind = size_of(folder + "/" + mark.journals[first]);
  while (first > 0) {
    const std::uint64_t size = size_of(folder + "/" + mark.journals[first - 1]);
    if (size > 2 * behind) break;
    behind += size;
    --first;
  }
  return first;
}

Result<> copy(const std::string& path, fleet::journal::Writer& into, os::Growing& kept,
              const std::function<bool()>& stop) {
  os::Stream file = TRY(os::Stream::open(path));
  const auto reader = fleet::journal::make(into, {});
  std::string piece(kPiece, '\0');
  while (true) {
    if (stop && stop()) return external("interrupted");
    const std::size_t n = TRY(file.read(piece));
    if (n == 0) return reader->finish();
    TRY(reader->feed(std::string_view(piece).substr(0, n)));
    TRY(kept.append(into.take()));
  }
}

Result<Mark> merged(const std::string& folder, const Mark& mark, std::size_t first,
                    const std::function<bool()>& stop) {
  Mark next = mark;
  next.journals.resize(first);
  next.journals.push_back(next_journal(folder));
  os::Growing kept = TRY(os::Growing::make(folder + "/" + next.journals.back()));
  fleet::journal::Writer writer;
  for (std::size_t i = first; i < mark.journals.size(); ++i) {
    TRY(copy(folder + "/" + mark.journals[i], writer, kept, stop));
  }
  TRY(kept.append(writer.finish()));
  TRY(kept.keep());
  os::fault_point("scan-merged");
  TRY(save_mark(folder, next));
  os::fault_point("scan-merge-marked");
  return next;
}

void remove_empty(const std::string& folder) {
  std::error_code failed;
  fs::remove(folder, failed);
}

bool is_older(const std::string& path, Nanos before) {
  const auto file = os::Stream::open(path);
  return file && file->facts().changed < before;
}

std::uint64_t prune_pieces(const std::string& folder, Nanos before) {
  std::uint64_t removed = 0;
  for (const std::string& name : os::list(folder)) {
    const std::string path = folder + "/" + name;
    if (!name.ends_with(".journal") || !is_older(path, before)) continue;
    std::error_code failed;
    removed += fs::remove(path, failed) ? 1 : 0;
  }
  if (removed > 0) remove_empty(folder);
  return removed;
}

bool prune_file(const std::string& folder, Nanos before) {
  for (const std::string name : {"/mark.json", "/lock"}) {  // The lock is older than any mark.
    const auto file = os::Stream::open(folder + name);
    if (file && file->facts().changed >= before) return false;
    if (file) break;
  }
  const auto lock = os::FileLock::try_take(folder + "/lock");
  if (!lock) return false;
  // The mark first: without it nothing else is used.
  std::error_code failed;
  fs::remove(folder + "/mark.json", failed);
  os::fault_point("scan-pruned");
  fs::remove_all(folder, failed);
  return !failed;
}

}  // namespace

void show_piece_use(const std::string& path, Nanos now) {
  if (!is_older(path, now - std::chrono::hours(24))) return;
  std::error_code failed;  // Then it goes too early, and is asked for again.
  fs::last_write_time(path, fs::file_time_type::clock::now(), failed);
}

void merge_journals(const std::string& folder, Mark& mark, const std::function<bool()>& stop) {
  if (mark.journals.size() < 2) return;
  const std::size_t first = first_to_merge(folder, mark);
  if (first + 1 >= mark.journals.size()) return;
  auto next = merged(folder, mark, first, stop);
  if (!next) return;
  mark = *std::move(next);
  remove_others(folder, mark);
}

Pruned prune_kept(const std::string& below, Nanos now, Nanos keep) {
  Pruned pruned;
  for (const std::string& name : os::list(below)) {
    const std::string folder = below + "/" + name;
    if (name.starts_with("file-")) pruned.files += prune_file(folder, now - keep) ? 1 : 0;
    // The copy of a pipe, of a scan that was killed.
    if (name.starts_with("input-") && is_older(folder, now - std::chrono::hours(24))) {
      std::error_code failed;
      fs::remove(folder, failed);
    }
    if (name.starts_with("prometheus-")) pruned.pieces += prune_pieces(folder, now - keep);
  }
  return pruned;
}

}  // namespace amdahl::ingest
