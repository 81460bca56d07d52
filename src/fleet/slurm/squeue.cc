#include "fleet/slurm/squeue.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/slurm/tres.h"

namespace amdahl::fleet::slurm {
namespace {

struct QueueField {
  std::string_view name;  // As -o and -O print it.
  std::string_view JobFields::*member;
};
constexpr QueueField kQueueFields[] = {
    {"JOBID", &JobFields::id},
    {"NAME", &JobFields::name},
    {"USER", &JobFields::user},
    {"ACCOUNT", &JobFields::account},
    {"PARTITION", &JobFields::partition},
    {"STATE", &JobFields::state},
    {"ST", &JobFields::state},
    {"SUBMIT_TIME", &JobFields::submit},
    {"START_TIME", &JobFields::start},
    {"TIME", &JobFields::elapsed},
    {"NODES", &JobFields::nodes},
    {"NODELIST", &JobFields::node_list},
    {"NODELIST(REASON)", &JobFields::node_list},
    {"TRES_ALLOC", &JobFields::alloc_tres},
    {"COMMAND", &JobFields::script},
};

constexpr std::string_view kAskQueueAgain =
    "run: squeue -a -t all -o '%i|%P|%j|%u|%a|%T|%V|%S|%M|%D|%N|%b', or squeue --json";

}  // namespace

bool is_squeue_header(std::string_view line) {
  const std::string_view text = trim(line);
  return text.starts_with("JOBID") && text.find("PARTITION") != text.npos &&
         (text.find("ST") != text.npos) && text.find("NODES") != text.npos;
}

// Blanks stand within no cell but the last, the reason that a job waits for.
void Squeue::cut(std::string_view line) {
  cells_.clear();
  if (bars_) {
    for (const std::string_view cell : split(line, '|')) cells_.push_back(trim(cell));
    return;
  }
  line = trim(line);
  while (!line.empty()) {
    const bool is_last = !columns_.empty() && cells_.size() + 1 == columns_.size();
    const std::size_t end = is_last ? line.npos : line.find(' ');
    cells_.push_back(trim(line.substr(0, end)));
    line = end == line.npos ? std::string_view() : trim(line.substr(end));
  }
}

Result<> Squeue::header(std::string_view line) {
  header_ = line;
  bars_ = line.find('|') != line.npos;
  columns_.clear();
  cut(line);
  bool start = false;
  bool devices = false;
  std::vector<Member> columns;
  for (const std::string_view cell : cells_) {
    const auto found = std::ranges::find(kQueueFields, cell, &QueueField::name);
    columns.push_back(found == std::end(kQueueFields) ? nullptr : found->member);
    start = start || cell == "START_TIME";
    devices = devices || cell == "TRES_ALLOC";
    if (cell != "TRES_PER_NODE" && cell != "GRES") continue;
    per_node_ = static_cast<int>(columns.size()) - 1;
    devices = true;
  }
  columns_ = std::move(columns);
  if (!start) return bad_input(fmt::format("has no column START_TIME; {}", kAskQueueAgain));
  if (!devices) return bad_input(fmt::format("has no column TRES_PER_NODE; {}", kAskQueueAgain));
  return Ok{};
}

Result<> Squeue::line(std::string_view line, Where where) {
  if (trim(line).empty() || line == header_) return Ok{};
  if (columns_.empty()) return header(line);
  cut(line);
  if (cells_.size() != columns_.size()) {
    intake_.trouble(model::Trouble::kBadLine, where,
                    fmt::format("has {} cells, expected {}", cells_.size(), columns_.size()));
    return Ok{};
  }
  JobFields words;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i] != nullptr && cells_[i] != "N/A") words.*columns_[i] = cells_[i];
  }
  if (words.node_list.starts_with('(')) words.node_list = {};  // Why it waits.
  // What each node gives, for all of them.
  std::string all;
  if (words.alloc_tres.empty() && per_node_ >= 0) {
    std::string_view each = cells_[static_cast<std::size_t>(per_node_)];
    if (each.starts_with("gres/") || each.starts_with("gres:")) each.remove_prefix(5);
    const Devices devices = devices_of_gres(each);
    const int nodes = std::max(1, to_number<int>(words.nodes).value_or(1));
    if (devices.count > 0) {
      all = fmt::format("gres/gpu{}{}={}", devices.kind.empty() ? "" : ":", devices.kind,
                        devices.count * nodes);
    }
    words.alloc_tres = all;
    words.req_tres = all;
  }
  jobs_.take(words, where);
  return Ok{};
}

}  // namespace amdahl::fleet::slurm
