#include <algorithm>

#include <fmt/core.h>

#include "base/screen.h"
#include "base/text.h"
#include "cli/show_scan_parts.h"
#include "cli/terminal.h"

namespace amdahl::cli {
namespace {

using scan::By;
using scan::Row;

constexpr std::size_t kExplainedRows = 3;
constexpr std::size_t kLeastName = 20;  // Columns for names.

// The ranked rows of a cut, in as many columns as there is room for.
class Ranking {
 public:
  Ranking(const ScanFlags& flags, const app::FleetAnswer& answer, By by, std::size_t width)
      : flags_{flags},
        answer_{answer},
        cut_{answer.report.cut(by)},
        by_{by},
        unit_{unit_of(answer.report)},
        width_{width} {}

  std::string text() {
    rows();
    reasons();
    return std::move(text_);
  }

 private:
  bool has_spec(const std::string& family) const {
    return std::ranges::find(answer_.with_spec, family) != answer_.with_spec.end();
  }

  static std::string seen(const Row& row, std::string text) {
    return row.utilisation ? std::move(text) : std::string("–");
  }

  // "Families, most recoverable first, in accelerator-hours".
  std::string title() const {
    constexpr std::string_view kMany[] = {"Jobs",       "Families", "Users",  "Accounts",
                                          "Partitions", "Nodes",    "States", "Kinds"};
    const std::string by = flags_.order.empty() ? "recoverable" : flags_.order;
    return fmt::format("{}, {} first, in {}", kMany[static_cast<std::size_t>(by_)],
                       by == "queue" ? "longest in the queue" : "most " + by, unit_.name);
  }

  // Which columns there are, behind the name.
  struct Columns {
    bool jobs = false;
    bool util = true;
    bool idle = true;
    bool money = false;
    bool lost = true;
    bool queue = false;
    bool spec = false;
  };

  std::vector<std::string> header_of(const Columns& has) const {
    std::vector<std::string> header = {std::string(scan::name(by_))};
    if (has.jobs) header.emplace_back("jobs");
    header.emplace_back("allocated");
    if (has.util) header.emplace_back("util");
    if (has.idle) header.emplace_back("idle");
    header.insert(header.end(), {"wasted", "recoverable"});
    if (has.money) header.emplace_back("USD wasted");
    if (has.lost) header.emplace_back("lost");
    if (has.queue) header.emplace_back("queue");
    if (has.spec) header.emplace_back("spec");
    return header;
  }

  std::vector<std::string> cells_of(const Columns& has, const Row& row) const {
    std::vector<std::string> cells = {plain(row.name)};
    if (has.jobs) cells.push_back(fmt::format("{}", row.jobs));
    cells.push_back(unit_(row.split.allocated));
    if (has.util) cells.push_back(row.utilisation ? show_percent(*row.utilisation) : "–");
    if (has.idle) {
      cells.push_back(seen(row, show_percent(share_of(row.split.idle, row.split.allocated))));
    }
    cells.push_back(seen(row, unit_(scan::wasted(row.split))));
    cells.push_back(seen(row, unit_(row.recoverable)));
    if (has.money) cells.push_back(usd(row.money ? row.money->wasted : std::nullopt));
    if (has.lost) cells.push_back(unit_(row.lost));
    if (has.queue) cells.push_back(unit_(row.queue));
    if (has.spec) cells.emplace_back(has_spec(row.name) ? "yes" : "no");
    return cells;
  }

  struct Cells {
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;
  };
  Cells cells_of(const Columns& has) const {
    Cells cells{header_of(has), {}};
    for (const Row& row : cut_.rows) cells.rows.push_back(cells_of(has, row));
    return cells;
  }

  // The width left for names.
  std::size_t room_in(const Cells& cells) const {
    std::size_t others = 0;
    for (std::size_t i = 1; i < cells.header.size(); ++i) {
      others += widest(cells.header, cells.rows, i) + 2;
    }
    return width_ > others ? width_ - others : 0;
  }

  void rows() {
    Columns has{.jobs = by_ != By::kJob,
                .money = answer_.report.totals.money.has_value(),
                .queue = flags_.order == "queue",
                .spec = by_ == By::kFamily && !answer_.with_spec.empty()};
    Cells table_of = cells_of(has);
    // In a narrow window columns are dropped in this order; names and the requested figure stay.
    for (bool Columns::*const less : {&Columns::lost, &Columns::idle, &Columns::jobs,
                                      &Columns::util, &Columns::spec, &Columns::money}) {
      if (room_in(table_of) >= kLeastName) break;
      if (less == &Columns::lost && flags_.order == "lost") continue;
      has.*less = false;
      table_of = cells_of(has);
    }
    auto& [header, cells] = table_of;
    const std::size_t room = std::max<std::size_t>(room_in(table_of), 8);
    for (auto& row : cells) row[0] = clip(row[0], room);
    if (by_ == By::kJob) add_details(header, cells);
    text_ += "\n";
    text_ += bold(flags_, clip(title(), width_)) + "\n";
    text_ += table(header, cells);
    if (cut_.count > cut_.rows.size()) {
      text_ +=
          dim(flags_, fmt::format("{} more; all of them: --top 0", cut_.count - cut_.rows.size())) +
          "\n";
    }
  }

  static std::size_t widest(const std::vector<std::string>& header,
                            const std::vector<std::vector<std::string>>& cells, std::size_t i) {
    std::size_t widest = columns_of(header[i]);
    for (const auto& row : cells) widest = std::max(widest, columns_of(row[i]));
    return widest;
  }

  // A job id alone says little: adds user and name if there is room.
  void add_details(std::vector<std::string>& header,
                   std::vector<std::vector<std::string>>& cells) const {
    constexpr std::size_t kLeast = 16;
    std::size_t used = 0;
    for (std::size_t i = 0; i < header.size(); ++i) used += widest(header, cells, i) + 2;
    if (width_ < used + kLeast) return;
    header.emplace_back("what it was");
    const std::vector<Row>& rows = cut_.rows;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      cells[i].push_back(clip(plain(rows[i].detail), width_ - used));
    }
  }

  // The explanation of the first rows.
  void reasons() {
    bool any = false;
    for (std::size_t i = 0; i < std::min(kExplainedRows, cut_.rows.size()); ++i) {
      const Row& row = cut_.rows[i];
      if (row.why.empty() || row.recoverable <= 0) continue;
      if (!any) text_ += "\n";
      any = true;
      const std::string name =
          by_ == By::kFamily ? fmt::format("{} ({})", row.name, row.detail) : row.name;
      for (const std::string& one :
           wrap_lines(fmt::format("{}: {}", clip(plain(name), 2 * width_), plain(row.why)), width_,
                      0, 2)) {
        text_ += one + "\n";
      }
    }
  }

  const ScanFlags& flags_;
  const app::FleetAnswer& answer_;
  const scan::Cut& cut_;
  By by_;
  FleetUnit unit_;
  std::size_t width_;
  std::string text_;
};

}  // namespace

std::string show_rows(const ScanFlags& flags, const app::FleetAnswer& answer, By by,
                      std::size_t width) {
  return Ranking(flags, answer, by, width).text();
}

}  // namespace amdahl::cli
