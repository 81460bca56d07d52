#include "launch/marks.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/text.h"
#include "launch/local/record.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"
#include "os/left.h"

namespace amdahl::launch {
namespace {

using local::RunFolder;

std::string submitted_mark(const RunFolder& folder) { return folder.path + "/submitted"; }
std::string job_mark(const RunFolder& folder) { return folder.path + "/job"; }
std::string absent_mark(const RunFolder& folder) { return folder.path + "/absent"; }

void remove(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

std::string moment() {
  return fmt::format("{} {}\n", os::boot_id(), os::real_clock().monotonic().count());
}

// A line for each machine that looked, by its own clock: cycles of several machines may take turns.
bool is_long_absent(const RunFolder& folder, bool nowhere, Nanos settle) {
  const std::string path = absent_mark(folder);
  if (!nowhere) {
    remove(path);
    return false;
  }
  constexpr std::size_t kMostMachines = 16;
  const auto before = os::read_left(path);
  std::vector<std::string> lines;
  for (const auto line : split(before ? trim(*before) : std::string_view(), '\n')) {
    const auto words = split(line, ' ');
    if (words.size() != 2) continue;
    const auto since = to_number<std::int64_t>(words[1]);
    if (words[0] == os::boot_id() && since) {
      return os::real_clock().monotonic() - Nanos{*since} >= settle;
    }
    lines.emplace_back(line);
  }
  if (lines.size() >= kMostMachines) lines.erase(lines.begin());
  lines.push_back(moment());
  (void)os::write_file(path, join(lines, "\n"));
  return false;
}

}  // namespace

FolderFacts facts_of(const RunFolder& folder, bool nowhere, Nanos settle) {
  (void)os::list(folder.path);  // Makes a shared file system refresh.
  FolderFacts facts;
  facts.submitted = was_submitted(folder);
  facts.started = os::exists(folder.started());
  facts.done = os::exists(folder.done());
  facts.cancelled = os::exists(folder.cancelled());
  facts.recorded = recorded_id(folder);
  facts.long_absent = is_long_absent(folder, facts.submitted && nowhere, settle);
  return facts;
}

bool was_submitted(const RunFolder& folder) { return os::exists(submitted_mark(folder)); }

Result<> mark_submitted(const RunFolder& folder) {
  return os::write_file(submitted_mark(folder), moment());
}

void unmark_submitted(const RunFolder& folder) { remove(submitted_mark(folder)); }

Result<> record_id(const RunFolder& folder, const std::string& id) {
  return os::write_file(job_mark(folder), id + "\n");
}

std::string recorded_id(const RunFolder& folder) {
  const auto id = os::read_left(job_mark(folder));
  return id ? std::string(trim(*id)) : "";
}

bool is_of(const RunFolder& folder, const RunRef& run) {
  const auto owner = local::owner_of(folder);
  return owner && owner->ticket == run.ticket;
}

std::string job_name(const RunRef& run) {
  constexpr std::size_t kMost = 80;
  std::string safe;
  for (const char c : run.reservation) {
    const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-';
    safe += fine ? c : '_';
    if (safe.size() == kMost) break;
  }
  return fmt::format("{}{}.{}", kOurs, safe, run.ticket);
}

Result<PairRequest> for_allocation(const PairRequest& request) {
  if (request.concurrent) {
    return bad_input(
        "arms at once need the local launcher; set pairing = \"same-allocation\" in the spec");
  }
  PairRequest there = request;
  there.allocated = true;
  there.cpus.clear();
  return there;
}

std::vector<std::string> worker_words(const RunFolder& folder) {
  return {os::env_or("AMDAHL_WORKER", os::self_path()), "exec", "--pair", folder.path};
}

}  // namespace amdahl::launch
