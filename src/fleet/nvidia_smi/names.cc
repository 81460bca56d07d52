#include "fleet/nvidia_smi/names.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/cut_lines.h"
#include "fleet/nvidia_smi/nvidia_smi.h"
#include "fleet/table/cells.h"
#include "fleet/values.h"

namespace amdahl::fleet::nvidia_smi {
namespace {

using model::Trouble;

constexpr std::string_view kLogTitle = "NVSMI LOG";
constexpr std::size_t kMostNamed = 4096;  // Of one log; a host has a few.

std::string_view first_full_line(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t begin = head.find_first_not_of("\r\n");
  if (begin == head.npos) return {};
  head.remove_prefix(begin);
  return trim(head.substr(0, head.find('\n')));
}

// "(UUID: GPU-5d5ba0d6-…)" at the end of a line of -L.
std::string_view uuid_in(std::string_view line) {
  const std::size_t at = line.find("(UUID: ");
  if (at == line.npos) return {};
  const std::string_view rest = line.substr(at + 7);
  return rest.substr(0, rest.find(')'));
}

// "GPU 0: …" of -L: the index.
std::optional<int> listed_gpu(std::string_view line) {
  if (!line.starts_with("GPU ") || uuid_in(line).empty()) return std::nullopt;
  const std::string_view rest = line.substr(4);
  return to_number<int>(rest.substr(0, rest.find(':')));
}

bool is_log(std::string_view line) {
  return line.starts_with("====") && line.find(kLogTitle) != line.npos;
}

bool is_name_table(std::string_view line) {
  bool uuid = false;
  bool place = false;
  bool time = false;
  bool usage = false;
  for (const std::string_view cell : split(line, ',')) {
    const std::string_view column = plain_column(trim(cell));
    if (column.empty() ||
        column.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._") != column.npos) {
      return false;
    }
    if (column.starts_with("host") || column.starts_with("node")) return false;
    uuid = uuid || column == "uuid";
    place = place || column == "index" || column == "pci.bus_id";
    time = time || column == "timestamp";
    usage = usage || column == "utilization.gpu";
  }
  return uuid && place && !(time && usage);
}

class NamesReader final : public Reader {
 public:
  NamesReader(Intake& intake, const ReaderOptions& options)
      : intake_{intake},
        host_{options.host},
        likely_{options.host.empty() ? host_in_path(options.path) : ""} {}

  Result<> feed(std::string_view bytes) override {
    return lines_.feed(bytes,
                       [&](std::string_view line, Where where) { return take(line, where); });
  }

  Result<> finish() override {
    TRY(lines_.finish([&](std::string_view line, Where where) { return take(line, where); }));
    end_log();
    return Ok{};
  }

 private:
  enum class Form : std::uint8_t { kUnknown, kList, kLog, kTable };
  struct Gpu {
    std::string bus, uuid, minor;
    Where where;
  };

  Result<> take(std::string_view line, Where where) {
    const std::string_view text = trim(line);
    if (text.empty()) return Ok{};
    if (form_ == Form::kUnknown) TRY(begin(text));
    switch (form_) {
      case Form::kList:
        list(text, where);
        break;
      case Form::kLog:
        log(line, where);
        break;
      case Form::kTable:
        table(text, where);
        break;
      case Form::kUnknown:
        break;
    }
    return Ok{};
  }

  Result<> begin(std::string_view line) {
    if (listed_gpu(line)) form_ = Form::kList;
    if (is_log(line)) form_ = Form::kLog;
    if (is_name_table(line)) form_ = Form::kTable;
    if (form_ == Form::kUnknown) {
      return bad_input("is neither nvidia-smi -L, nor -q, nor --query-gpu=index,uuid");
    }
    return Ok{};
  }

  void tell(Device device) {
    device.host = host_;
    device.likely = likely_;
    intake_.tell(device);
  }

  // "GPU 0: NAME (UUID: GPU-…)" and below it "MIG 1g.5gb Device 0: (UUID: MIG-…)".
  void list(std::string_view line, Where where) {
    if (const auto index = listed_gpu(line)) {
      gpu_ = std::to_string(*index);
      tell({.accelerator = gpu_, .uuid = uuid_in(line)});
      return;
    }
    const std::string_view uuid = uuid_in(line);
    if (!line.starts_with("MIG ") || uuid.empty() || gpu_.empty()) {
      intake_.trouble(Trouble::kBadLine, where, clip(line, 60));
      return;
    }
    const std::string_view rest = trim(line.substr(4));
    tell({.accelerator = gpu_,
          .slice = uuid,
          .profile = rest.substr(0, rest.find(' ')),
          .uuid = uuid});
  }

  // "    GPU UUID                              : GPU-…"
  void log(std::string_view line, Where where) {
    if (is_log(line)) return end_log();
    if (line.starts_with("GPU ") && line.find(" : ") == line.npos) {
      if (gpus_.size() < kMostNamed) {
        gpus_.push_back({std::string(trim(line.substr(4))), {}, {}, where});
      }
      return;
    }
    const std::size_t colon = line.find(" : ");
    if (colon == line.npos) return;
    const std::string_view name = trim(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 3));
    if (name == "Attached GPUs") attached_ = to_number<std::size_t>(value).value_or(0);
    if (gpus_.empty() || is_blank_word(value)) return;
    if (name == "GPU UUID") gpus_.back().uuid = value;
    if (name == "Minor Number") gpus_.back().minor = value;
    if (name == "Gpu" && value.ends_with('%')) intake_.troubles(Trouble::kOtherMetric, 1);
  }

  // The log does not say indices: GPUs stand in their order. Where not all are there (-i 2) only
  // the minor number can be their index.
  void end_log() {
    const bool all = gpus_.size() == attached_ || attached_ == 0;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      const Gpu& gpu = gpus_[i];
      const std::string index = all ? std::to_string(i) : gpu.minor;
      if (index.empty() || gpu.uuid.empty()) {
        intake_.trouble(Trouble::kBadLine, gpu.where,
                        fmt::format("GPU {} has no UUID or no number", gpu.bus));
        continue;
      }
      tell({.accelerator = index, .uuid = gpu.uuid, .bus = gpu.bus});
    }
    gpus_.clear();
    attached_ = 0;
  }

  void table(std::string_view line, Where where) {
    if (is_name_table(line)) {
      cells_.cut(line, ',');
      columns_.clear();
      for (const std::string_view cell : cells_.all()) columns_.emplace_back(plain_column(cell));
      return;
    }
    if (!cells_.cut(line, ',') || cells_.size() != columns_.size()) {
      intake_.trouble(Trouble::kBadLine, where,
                      fmt::format("has {} cells, expected {}", cells_.size(), columns_.size()));
      return;
    }
    const auto cell = [&](std::string_view name) {
      const auto at = std::ranges::find(columns_, name);
      if (at == columns_.end()) return std::string_view();
      const std::string_view text = cells_[static_cast<std::size_t>(at - columns_.begin())];
      return is_blank_word(text) ? std::string_view() : text;
    };
    const std::string_view bus = cell("pci.bus_id");
    const std::string_view index = cell("index").empty() ? bus : cell("index");
    if (index.empty() || cell("uuid").empty()) {
      intake_.trouble(Trouble::kBadLine, where, "has no uuid or no index");
      return;
    }
    tell({.accelerator = index, .uuid = cell("uuid"), .bus = bus});
  }

  Intake& intake_;
  std::string host_;
  std::string likely_;  // By the path, which may be named after anything.
  LineCutter lines_;
  Form form_ = Form::kUnknown;
  std::string gpu_;  // Of -L: the GPU that the next MIG devices belong to.
  std::vector<Gpu> gpus_;
  std::size_t attached_ = 0;
  table::Cells cells_;
  std::vector<std::string> columns_;
};

}  // namespace

bool claims_names(std::string_view head) {
  const std::string_view line = first_full_line(head);
  return listed_gpu(line).has_value() || is_log(line) || is_name_table(line);
}

std::unique_ptr<Reader> make_names(Intake& intake, const ReaderOptions& options) {
  return std::make_unique<NamesReader>(intake, options);
}

}  // namespace amdahl::fleet::nvidia_smi
