#include "fleet/slurm/slurm.h"

#include <algorithm>
#include <optional>
#include <string>
#include <variant>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/cut_lines.h"
#include "fleet/slurm/ahead.h"
#include "fleet/slurm/fixed_table.h"
#include "fleet/slurm/json.h"
#include "fleet/slurm/scontrol.h"
#include "fleet/slurm/squeue.h"
#include "fleet/slurm/table.h"

namespace amdahl::fleet::slurm {
namespace {

std::string_view first_line(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t begin = head.find_first_not_of("\r\n");
  if (begin == head.npos) return {};
  head.remove_prefix(begin);
  head = head.substr(0, head.find('\n'));
  if (head.ends_with('\r')) head.remove_suffix(1);
  return head;
}

bool is_json(std::string_view head) {
  head = trim(head);
  const auto has = [&](std::string_view part) { return head.find(part) != head.npos; };
  // The list of jobs alone, as jq cuts it out.
  if (head.starts_with('[') && has("\"job_id\"") && has("\"association\"")) return true;
  // Slurm says who it is before its jobs, or in newer releases after them.
  return head.starts_with('{') && has("\"jobs\"") &&
         (has("\"Slurm\"") || has("\"slurm\"") || has("\"association\"") || has("\"het\"") ||
          has("\"array_job_id\"") || has("\"accrue_time\""));
}

// More blanks than this before anything else, and there is nothing else.
constexpr std::size_t kMostBlanks = std::size_t{1} << 20;

class SlurmReader final : public Reader {
 public:
  SlurmReader(Intake& intake, const ReaderOptions& options)
      : intake_{intake},
        options_{options},
        zone_{zone_named(options.time_zone, options.zone_rules)} {
    if (zone_) jobs_.emplace(intake, *zone_, !options.time_zone.empty());
  }

  Result<> feed(std::string_view bytes) override {
    if (!zone_) return zone_.error();
    if (json_) return json_->feed(bytes);
    if (!begun_) {  // Blanks do not tell yet what it is.
      blanks_ += bytes;
      const std::size_t begin = blanks_.find_first_not_of(" \t\r\n");
      if (begin == blanks_.npos) {
        return blanks_.size() < kMostBlanks ? Result<>(Ok{}) : bad_input("is blank");
      }
      begun_ = true;
      const std::string first = std::move(blanks_);
      if (first[begin] == '{' || first[begin] == '[') json_.emplace(intake_, *jobs_);
      return feed(first);
    }
    const auto use = [&](std::string_view line, Where where) { return take(line, where); };
    // Line by line until it is known what they are.
    while (std::holds_alternative<std::monostate>(form_) && !bytes.empty()) {
      const std::size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
      TRY(lines_.feed(bytes.substr(0, end), use));
      bytes.remove_prefix(end);
    }
    return ahead_ ? ahead_->feed(bytes) : lines_.feed(bytes, use);
  }

  Result<> finish() override {
    if (!zone_) return zone_.error();
    if (json_) return json_->finish();
    if (ahead_) {
      ahead_->finish();
      return Ok{};
    }
    TRY(lines_.finish([&](std::string_view line, Where where) { return take(line, where); }));
    if (auto* table = std::get_if<Table>(&form_)) table->finish();
    if (auto* fixed = std::get_if<FixedTable>(&form_)) TRY(fixed->finish());
    if (auto* scontrol = std::get_if<Scontrol>(&form_)) scontrol->finish();
    return Ok{};
  }

 private:
  Result<> take(std::string_view line, Where where) {
    if (std::holds_alternative<std::monostate>(form_)) {
      if (trim(line).empty()) return Ok{};
      choose(line);
    }
    if (auto* table = std::get_if<Table>(&form_)) {
      TRY(table->line(line, where));
      if (!ahead_ && options_.threads > 1 && table->has_header()) read_ahead(line);
      return Ok{};
    }
    if (auto* fixed = std::get_if<FixedTable>(&form_)) return fixed->line(line, where);
    if (auto* squeue = std::get_if<Squeue>(&form_)) return squeue->line(line, where);
    if (auto* scontrol = std::get_if<Scontrol>(&form_)) scontrol->line(line, where);
    if (auto* sinfo = std::get_if<Sinfo>(&form_)) sinfo->line(line, where);
    if (auto* events = std::get_if<Events>(&form_)) events->line(line, where);
    return Ok{};
  }

  void choose(std::string_view line) {
    if (is_node_record(line) || is_job_record(line)) {
      form_.emplace<Scontrol>(intake_, *jobs_, *zone_, options_.now);
    } else if (is_sinfo_header(line)) {
      form_.emplace<Sinfo>(intake_, *zone_, options_.now);
    } else if (is_squeue_header(line)) {
      form_.emplace<Squeue>(intake_, *jobs_);
    } else if (is_event_header(line)) {
      form_.emplace<Events>(intake_, *zone_, options_.now);
    } else if (is_fixed_width_header(line)) {
      form_.emplace<FixedTable>(intake_, *jobs_);
    } else {
      form_.emplace<Table>(intake_, *jobs_, options_.fields);
    }
  }

  void read_ahead(std::string_view header) {
    ahead_.emplace(intake_, Ahead::Table{std::string(header), *zone_, !options_.time_zone.empty()},
                   lines_.next(), options_.threads - 1);
  }

  Intake& intake_;
  ReaderOptions options_;
  Result<Zone> zone_;
  std::optional<Jobs> jobs_;
  std::optional<Json> json_;
  std::variant<std::monostate, Table, FixedTable, Squeue, Scontrol, Sinfo, Events> form_;
  LineCutter lines_;
  std::optional<Ahead> ahead_;  // Takes what comes after the header, if we may have threads.
  std::string blanks_;
  bool begun_ = false;
};

}  // namespace

bool claims(std::string_view head) {
  const std::string_view line = first_line(head);
  return is_surely_table_header(line) || is_fixed_width_header(line) || is_node_record(line) ||
         is_job_record(line) || is_sinfo_header(line) || is_event_header(line) ||
         is_squeue_header(line) || is_json(head);
}

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options) {
  return std::make_unique<SlurmReader>(intake, options);
}

Explained explain(std::string_view head, const ReaderOptions& options) {
  Explained said{.gives = Gives::kJobs};
  const std::string_view line = first_line(head);
  if (!options.fields.empty()) {
    said.appended = Appended::kAlone;
  } else if (line.find("JobID|") != line.npos) {
    said.appended = Appended::kAfterHeader;
  }
  if (is_json(head)) {
    said.text = head.find("\"job_state\"") != head.npos
                    ? "JSON of squeue or scontrol: ends of jobs "
                      "that run are limits, and not taken"
                    : "JSON of sacct";
  } else if (is_table_header(line)) {
    said.text = explain_header(line);
  } else if (is_node_record(line) || is_job_record(line)) {
    said.text = is_node_record(line) ? "scontrol show nodes" : "scontrol show job";
  } else if (is_squeue_header(line)) {
    said.text = "a table of squeue";
  } else if (is_fixed_width_header(line)) {
    said.text = "sacct's table for people, by the dashes below its names";
  } else if (is_sinfo_header(line) || is_event_header(line)) {
    said.text = is_sinfo_header(line) ? "a table of sinfo" : "events of sacctmgr";
  } else if (!options.fields.empty()) {
    said.text = fmt::format("a table of sacct without a header: {}", options.fields);
  }
  if (!said.text.empty() && !is_json(head) && options.time_zone.empty()) {
    said.text += "\ntimes have no time zone: pass --time-zone";
  }
  return said;
}

}  // namespace amdahl::fleet::slurm
