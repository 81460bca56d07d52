#include "fleet/sonar/sonar.h"

#include <optional>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/cut_lines.h"
#include "fleet/slurm/job.h"
#include "fleet/table/cells.h"

namespace amdahl::fleet::sonar {
namespace {

struct Key {
  std::string_view name;
  std::string_view slurm::JobFields::*member;
};
constexpr Key kKeys[] = {
    {"JobID", &slurm::JobFields::id},
    {"JobIDRaw", &slurm::JobFields::raw},
    {"JobName", &slurm::JobFields::name},
    {"User", &slurm::JobFields::user},
    {"Account", &slurm::JobFields::account},
    {"Partition", &slurm::JobFields::partition},
    {"State", &slurm::JobFields::state},
    {"Submit", &slurm::JobFields::submit},
    {"Start", &slurm::JobFields::start},
    {"End", &slurm::JobFields::end},
    {"ElapsedRaw", &slurm::JobFields::elapsed_raw},
    {"TimelimitRaw", &slurm::JobFields::limit_raw},
    {"ReqNodes", &slurm::JobFields::nodes},
    {"NodeList", &slurm::JobFields::node_list},
    {"AllocTRES", &slurm::JobFields::alloc_tres},
    {"ReqTRES", &slurm::JobFields::req_tres},
};

class SonarReader final : public Reader {
 public:
  SonarReader(Intake& intake, const ReaderOptions& options)
      : intake_{intake}, zone_{zone_named(options.time_zone, options.zone_rules)} {
    if (zone_) jobs_.emplace(intake, *zone_, true);
  }

  Result<> feed(std::string_view bytes) override {
    if (!zone_) return zone_.error();
    return lines_.feed(bytes,
                       [&](std::string_view line, Where where) { return take(line, where); });
  }

  Result<> finish() override {
    if (!zone_) return zone_.error();
    return lines_.finish([&](std::string_view line, Where where) { return take(line, where); });
  }

 private:
  Result<> take(std::string_view line, Where where) {
    if (trim(line).empty()) return Ok{};
    if (!cells_.cut(line, ',')) {
      intake_.trouble(model::Trouble::kBadLine, where, "has a quote without its end");
      return Ok{};
    }
    slurm::JobFields words;
    for (const std::string_view cell : cells_.all()) {
      const std::size_t equals = cell.find('=');
      if (equals == cell.npos) {
        intake_.trouble(model::Trouble::kBadLine, where,
                        fmt::format("'{}' is not key=value", clip(cell, 40)));
        return Ok{};
      }
      for (const Key& key : kKeys) {
        if (cell.substr(0, equals) == key.name) words.*key.member = cell.substr(equals + 1);
      }
    }
    // sonar leaves out what is zero.
    if (words.elapsed_raw.empty()) words.elapsed_raw = "0";
    jobs_->take(words, where);
    return Ok{};
  }

  Intake& intake_;
  Result<Zone> zone_;
  std::optional<slurm::Jobs> jobs_;
  LineCutter lines_;
  table::Cells cells_;
};

}  // namespace

bool claims(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  return line.starts_with("v=") && line.find(",JobID=") != line.npos;
}

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options) {
  return std::make_unique<SonarReader>(intake, options);
}

}  // namespace amdahl::fleet::sonar
