#include "fleet/nvidia_mon/nvidia_mon.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/line_reader.h"
#include "fleet/nvidia_smi/nvidia_smi.h"
#include "fleet/values.h"

namespace amdahl::fleet::nvidia_mon {
namespace {

using model::Trouble;

void words_of(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = line.find_first_not_of(" \t,", at);
    if (begin == line.npos) return;
    const std::size_t end = std::min(line.find_first_of(" \t,", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    at = end;
  }
}

struct Names {
  int date = -1;
  int time = -1;
  int gpu = -1;
  int pid = -1;
  int sm = -1;
  std::size_t count = 0;
};

// The first of the two lines that begin with '#': the second has units.
bool read_names(std::string_view line, Names& names) {
  if (!line.starts_with('#')) return false;
  std::vector<std::string_view> words;
  words_of(line.substr(1), words);
  Names found;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = lower(words[i]);
    const int at = static_cast<int>(i);
    if (word == "date") found.date = at;
    if (word == "time") found.time = at;
    if (word == "gpu") found.gpu = at;
    if (word == "pid") found.pid = at;
    if (word == "sm") found.sm = at;
  }
  found.count = words.size();
  if (found.gpu < 0 || words.size() < 3) return false;
  names = found;
  return true;
}

class MonReader final : public LineReader {
 public:
  MonReader(Intake& intake, const ReaderOptions& options)
      : LineReader(intake, options),
        host_{options.host.empty() ? nvidia_smi::host_in_path(options.path) : options.host} {}

 private:
  void end() override { flush(); }

  Result<> take(std::string_view line, Where where) override {
    if (trim(line).empty()) return Ok{};
    if (line.starts_with('#')) {
      Names names;
      if (!read_names(line, names)) return Ok{};
      if (names.date < 0 || names.time < 0) {
        return bad_input(
            fmt::format("line {}: its rows have no date and time; run it with -o DT", where.line));
      }
      if (names.sm < 0) {
        return bad_input(fmt::format(
            "line {}: has no column sm; run dmon with -s u, or pmon with -s u", where.line));
      }
      names_ = names;
      return Ok{};
    }
    if (names_.count == 0) {
      return bad_input("does not begin with the header of nvidia-smi dmon or pmon");
    }
    record(line, where);
    return Ok{};
  }

  std::string_view word(int at) const { return words_[static_cast<std::size_t>(at)]; }

  void record(std::string_view line, Where where) {
    words_of(line, words_);
    // The last of pmon is a command, which may have blanks or be missing.
    const bool fits =
        names_.pid < 0 ? words_.size() == names_.count : words_.size() + 1 >= names_.count;
    const int last = std::max({names_.date, names_.time, names_.gpu, names_.pid, names_.sm});
    if (!fits || words_.size() <= static_cast<std::size_t>(last)) {
      return intake_.trouble(Trouble::kBadLine, where,
                             fmt::format("has {} cells, expected {}", words_.size(), names_.count));
    }
    std::string date(word(names_.date));
    if (date.size() == 8) date = date.substr(0, 4) + "-" + date.substr(4, 2) + "-" + date.substr(6);
    const std::string text = fmt::format("{} {}", date, word(names_.time));
    const Instant time = read_time(text, *zone_);
    if (!time.known()) {
      return intake_.trouble(Trouble::kBadTime, where, fmt::format("'{}'", clip(text, 40)));
    }
    if (time.ambiguous() || time.skipped) {
      intake_.trouble(Trouble::kAmbiguousTime, where, clip(text, 40));
    }
    const std::string_view gpu = word(names_.gpu);
    if (gpu.find_first_not_of("0123456789") != gpu.npos) {
      return intake_.trouble(Trouble::kBadLine, where, fmt::format("gpu '{}'", clip(gpu, 20)));
    }
    // In the hour that daylight saving repeats, time that would run backwards is its second pass.
    const bool second = time.ambiguous() && time.at < now_ - std::chrono::minutes{5};
    add(gpu, second ? time.other : time.at, where);
  }

  void add(std::string_view gpu, Nanos at, Where where) {
    if (at != now_) flush();
    now_ = at;
    const bool idle = names_.pid >= 0 && word(names_.pid) == "-";  // No process has it.
    double share = 0;
    if (!idle) {
      const Value value = read_value(word(names_.sm));
      if (!value) {
        return intake_.trouble(*value.trouble, where,
                               fmt::format("sm '{}'", clip(word(names_.sm), 20)));
      }
      share = value.number;
    }
    const auto found = sums_.find(gpu);
    if (found == sums_.end()) {
      sums_.emplace(std::string(gpu), share);
    } else if (names_.pid >= 0) {
      found->second += share;
    } else {  // dmon faster than once a second.
      flush();
      sums_.emplace(std::string(gpu), share);
    }
  }

  // All processes of a moment have been seen.
  void flush() {
    for (const auto& [gpu, sum] : sums_) {
      auto found = series_.find(gpu);
      if (found == series_.end()) {
        const SeriesId id = intake_.series({.host = host_,
                                            .accelerator = gpu,
                                            .uuid = {},
                                            .slice = {},
                                            .job = {},
                                            .metric = names_.pid >= 0 ? "pmon sm" : "dmon sm",
                                            .kind = {}});
        found = series_.emplace(gpu, id).first;
      }
      // Shares of processes that took turns may add up to a little more than all.
      const double share = names_.pid >= 0 ? std::min(sum, 100.0) : sum;
      const Sample sample{now_, static_cast<float>(share)};
      intake_.samples(found->second, {&sample, 1});
    }
    sums_.clear();
  }

  std::string host_;
  Names names_;
  std::vector<std::string_view> words_;
  Nanos now_{};
  std::map<std::string, double, std::less<>> sums_;  // Of this moment, by GPU.
  std::map<std::string, SeriesId, std::less<>> series_;
};

std::string_view first_line(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  return trim(head.substr(0, head.find('\n')));
}

}  // namespace

bool claims(std::string_view head) {
  Names names;
  return read_names(first_line(head), names) &&
         (names.sm >= 0 || names.pid >= 0 || head.find("# Idx") != head.npos ||
          head.find("#YYYYMMDD") != head.npos);
}

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options) {
  return std::make_unique<MonReader>(intake, options);
}

Explained explain(std::string_view head, const ReaderOptions& options) {
  Names names;
  read_names(first_line(head), names);
  const std::string host =
      options.host.empty() ? nvidia_smi::host_in_path(options.path) : options.host;
  return {Gives::kSamples,
          fmt::format("{}; its host is {}; its times are of {}",
                      names.pid >= 0 ? "pmon: of each GPU the sum of sm over its processes"
                                     : "dmon: sm of each GPU",
                      host.empty() ? "not known (--host NAME)" : host,
                      options.time_zone.empty() ? "UTC (--time-zone)" : options.time_zone.c_str())};
}

}  // namespace amdahl::fleet::nvidia_mon
