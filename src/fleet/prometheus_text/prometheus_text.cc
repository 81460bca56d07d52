#include "fleet/prometheus_text/prometheus_text.h"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/cut_lines.h"
#include "fleet/metrics.h"
#include "fleet/nvidia_smi/nvidia_smi.h"
#include "fleet/prometheus/labels.h"
#include "fleet/times.h"
#include "fleet/values.h"

namespace amdahl::fleet::prometheus_text {
namespace {

using model::Trouble;
using prometheus::Labels;
using prometheus::read_labels;

bool is_known(std::string_view metric) {
  return find_usage_metric(metric) || find_beside_metric(metric);
}

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == ':' || c == '.';
}

// One line: name{label="value",...} number [time] [# exemplar]
struct Line {
  std::string_view name;
  std::string_view labels;  // Between the braces.
  std::string_view value;
  std::string_view time;
};

// The end of the braces that `text` begins with; npos if they are not closed.
std::size_t end_of_labels(std::string_view text) {
  bool in_string = false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (in_string && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (text[i] == '}' && !in_string) {
      return i;
    }
  }
  return text.npos;
}

std::string_view word(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  const std::size_t end = text.find_first_of(" \t");
  const std::string_view found = text.substr(0, end);
  text = end == text.npos ? std::string_view() : text.substr(end);
  return found;
}

std::optional<Line> cut(std::string_view text) {
  Line line;
  std::size_t size = 0;
  while (size < text.size() && is_name(text[size])) ++size;
  line.name = text.substr(0, size);
  text.remove_prefix(size);
  while (text.starts_with(' ') && text.size() > 1 && text[1] == '{') text.remove_prefix(1);
  if (text.starts_with('{')) {
    const std::size_t end = end_of_labels(text);
    if (end == text.npos) return std::nullopt;
    line.labels = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
  } else if (line.name.empty()) {
    return std::nullopt;
  }
  line.value = word(text);
  line.time = word(text);
  if (line.time.starts_with('#')) line.time = {};  // An exemplar.
  if (line.value.empty()) return std::nullopt;
  return line;
}

// As given, or by the file's name: "gpu001-1700000000.prom" and "gpu001/metrics.txt".
std::string host_of(const ReaderOptions& options) {
  if (!options.host.empty()) return options.host;
  std::string host = nvidia_smi::host_in_path(options.path);
  const std::size_t dash = host.find('-');
  if (dash != host.npos && time_in_path(std::string_view(host).substr(dash)) != Nanos{}) {
    host.resize(dash);
  }
  const bool is_name = !host.empty() && (host[0] < '0' || host[0] > '9') &&
                       host.find_first_of("0123456789") != host.npos;
  return is_name ? host : std::string();
}

class TextReader final : public Reader {
 public:
  TextReader(Intake& intake, const ReaderOptions& options)
      : intake_{intake}, host_{host_of(options)}, scraped_{time_in_path(options.path)} {}

  Result<> feed(std::string_view bytes) override {
    return lines_.feed(bytes,
                       [&](std::string_view line, Where where) { return take(line, where); });
  }

  Result<> finish() override {
    TRY(lines_.finish([&](std::string_view line, Where where) { return take(line, where); }));
    if (other_ > 0) intake_.troubles(Trouble::kOtherMetric, other_);
    if (timeless_ > 0 && taken_ == 0) {
      return bad_input(fmt::format(
          "{} samples have no time, and the file's name has none ('node1-1700000000.prom'); what "
          "Prometheus kept has them: promtool tsdb dump, or query_range",
          timeless_));
    }
    return Ok{};
  }

 private:
  struct Known {
    SeriesId id = 0;
    bool wanted = false;
  };

  Result<> take(std::string_view text, Where where) {
    text = trim(text);
    if (text.empty() || text.starts_with('#')) return Ok{};
    const auto line = cut(text);
    if (!line) {
      intake_.trouble(Trouble::kBadLine, where,
                      fmt::format("'{}' is not a sample", clip(text, 40)));
      return Ok{};
    }
    sample(*line, text, where);
    return Ok{};
  }

  void sample(const Line& line, std::string_view text, Where where) {
    // Most of a scrape is about other things; no series of these is kept.
    if (!line.name.empty()) {
      const bool other = line.name == last_other_ || !is_known(line.name);
      if (other) {
        last_other_.assign(line.name);
        ++other_;
        return;
      }
    }
    // What names the series stands before the value.
    const std::string_view head =
        text.substr(0, static_cast<std::size_t>(line.value.data() - text.data()));
    key_.assign(head);
    auto found = known_.find(key_);
    if (found == known_.end()) found = known_.emplace(key_, series_of(line, where)).first;
    if (!found->second.wanted) return;
    const auto at = time_of(line.time, where);
    if (!at) return;
    std::string_view number = line.value;
    if (number.starts_with('+')) number.remove_prefix(1);
    const auto value = to_number<double>(number);
    if (!value) {
      return intake_.trouble(Trouble::kBadLine, where,
                             fmt::format("value '{}' is not a number", clip(line.value, 32)));
    }
    if (!(std::abs(*value) <= std::numeric_limits<float>::max())) {
      return intake_.trouble(Trouble::kNotFinite, where, line.value);
    }
    if (is_blank_number(*value)) return intake_.trouble(Trouble::kBlankValue, where, line.value);
    const Sample sample{*at, static_cast<float>(*value)};
    intake_.samples(found->second.id, {&sample, 1});
    ++taken_;
  }

  Known series_of(const Line& line, Where where) {
    Labels labels;
    if (!read_labels(line.labels, labels)) {
      intake_.trouble(Trouble::kBadLine, where, "its labels cannot be read");
      return {};
    }
    prometheus::Subject subject = prometheus::subject_of(labels, line.name);
    model::SeriesKey& key = subject.key;
    if (!is_known(key.metric)) {
      ++other_;
      return {};
    }
    // A scrape does not name its host: Prometheus adds that label.
    if (key.host.empty()) key.host = host_;
    if (key.uuid.empty() && (key.host.empty() || key.accelerator.empty())) {
      intake_.trouble(
          Trouble::kBadLine, where,
          "a series without labels for host and accelerator; if the file is from one host, "
          "pass --host NAME");
      return {};
    }
    if (!key.job.empty() && (!subject.user.empty() || !subject.account.empty())) {
      model::JobDraft hint;
      hint.id = key.job;
      hint.user = subject.user;
      hint.account = subject.account;
      hint.partition = subject.partition;
      intake_.job(hint, where);
    }
    return {intake_.series(key), true};
  }

  std::optional<Nanos> time_of(std::string_view text, Where where) {
    if (text.empty()) {
      if (scraped_ != Nanos{}) return scraped_;
      ++timeless_;
      intake_.trouble(Trouble::kBadTime, where, "has no time");
      return std::nullopt;
    }
    const Instant read = read_time(text, Zone{});
    if (read.known()) return read.at;
    intake_.trouble(Trouble::kBadTime, where, fmt::format("'{}'", clip(text, 32)));
    return std::nullopt;
  }

  Intake& intake_;
  std::string host_;
  Nanos scraped_;
  LineCutter lines_;
  std::string key_;
  std::unordered_map<std::string, Known> known_;
  std::string last_other_;   // A metric that is not used, the last one.
  std::uint64_t other_ = 0;  // Samples of such.
  std::uint64_t timeless_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace

Nanos time_in_path(std::string_view path) {
  std::string_view name = path.substr(path.find_last_of('/') + 1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] < '0' || name[i] > '9' || (i > 0 && name[i - 1] >= '0' && name[i - 1] <= '9')) {
      continue;
    }
    const std::string_view rest = name.substr(i);
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits == 10 || digits == 13) {
      const Instant read = read_time(rest.substr(0, digits), Zone{});
      if (read.known()) return read.at;
    }
    // "2026-11-16T10:00:00Z", or with dashes where file systems want none of colons.
    std::string iso(rest.substr(0, 19));
    if (iso.size() < 19 || (iso[10] != 'T' && iso[10] != '_' && iso[10] != ' ')) continue;
    iso[10] = 'T';
    if (iso[13] == '-' || iso[13] == '_') iso[13] = iso[16] = ':';
    const Instant read = read_time(iso, Zone{});
    if (read.known()) return read.at;
  }
  return {};
}

bool claims(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  for (const std::string_view line : split(head, '\n')) {
    const std::string_view text = trim(line);
    if (text.empty()) continue;
    if (text.starts_with("# HELP ") || text.starts_with("# TYPE ") || text.starts_with("# UNIT ")) {
      return true;
    }
    if (text.starts_with('#')) continue;
    const auto sample = cut(text);
    Labels labels;
    return sample && !sample->labels.empty() && read_labels(sample->labels, labels) &&
           to_number<double>(sample->value).has_value();
  }
  return false;
}

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options) {
  return std::make_unique<TextReader>(intake, options);
}

Explained explain(std::string_view, const ReaderOptions& options) {
  Explained said{.gives = Gives::kSamples};
  const std::string host = host_of(options);
  const Nanos at = time_in_path(options.path);
  said.text = fmt::format(
      "host, accelerator and job are labels; where there is no label of a host: {}\n"
      "samples without a time: {}",
      host.empty() ? "left out (--host NAME)" : host,
      at == Nanos{}
          ? std::string("left out, for the file's name has none either")
          : fmt::format("of {} s since 1970, by the file's name", at / std::chrono::seconds{1}));
  return said;
}

}  // namespace amdahl::fleet::prometheus_text
