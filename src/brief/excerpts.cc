#include "brief/excerpts.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"

namespace amdahl::brief {
namespace {

constexpr int kAround = 7;
constexpr int kLongestFunction = 60;
constexpr int kWholeFile = 200;
constexpr std::size_t kLongestLine = 140;
constexpr std::size_t kMostDearest = 6;

// Lines of one file that should be shown, both included.
struct Range {
  const code::Source* source = nullptr;
  int first = 1;
  int last = 1;
  double seconds = 0;
  std::map<int, double> hot;  // Lines, with their seconds.
};

std::string_view name_of(const code::Source& source) {
  return source.in_repo.empty() ? source.path : source.in_repo;
}

// One that touches another becomes a part of it.
void add(std::vector<Range>& ranges, Range range) {
  for (Range& known : ranges) {
    const bool apart = range.first > known.last + 2 || range.last < known.first - 2;
    if (known.source != range.source || apart) continue;
    const auto is_known = [&](const auto& one) { return known.hot.contains(one.first); };
    const bool same_line = std::ranges::all_of(range.hot, is_known);
    known.first = std::min(known.first, range.first);
    known.last = std::max(known.last, range.last);
    if (!same_line) known.seconds += range.seconds;
    for (const auto& [line, seconds] : range.hot) {
      known.hot[line] = std::max(known.hot[line], seconds);
    }
    return;
  }
  ranges.push_back(std::move(range));
}

// Ranges that grew into each other become one.
std::vector<Range> joined(std::vector<Range> ranges) {
  std::ranges::sort(ranges, {}, &Range::first);
  std::vector<Range> apart;
  for (Range& range : ranges) add(apart, std::move(range));
  return apart;
}

// "16: 2.1 s, 22: 0.4 s".
std::string dearest_of(const std::map<int, double>& hot) {
  std::vector<std::pair<int, double>> lines(hot.begin(), hot.end());
  std::ranges::stable_sort(lines, std::ranges::greater{},
                           [](const auto& one) { return one.second; });
  if (lines.size() > kMostDearest) lines.resize(kMostDearest);
  std::string told;
  for (const auto& [line, seconds] : lines) {
    told += fmt::format("{}{}: {:.2g} s", told.empty() ? "" : ", ", line, seconds);
  }
  return told;
}

Excerpt draw(const Range& range) {
  Excerpt excerpt{
      std::string(name_of(*range.source)), range.seconds, {}, {}, dearest_of(range.hot)};
  const std::vector<std::string_view> lines = split(range.source->bytes, '\n');
  const int last = std::min(range.last, static_cast<int>(lines.size()));
  for (int line = std::max(1, range.first); line <= last; ++line) {
    const bool hot = range.hot.contains(line);
    if (hot) excerpt.hot.push_back(line);
    excerpt.text += fmt::format("{}{:>4} {}\n", hot ? '*' : ' ', line,
                                clip(lines[static_cast<std::size_t>(line - 1)], kLongestLine));
  }
  return excerpt;
}

}  // namespace

std::vector<Excerpt> excerpts(std::span<const code::Source> sources,
                              std::span<const profile::LineCost> lines,
                              std::span<const profile::Finding> findings, std::size_t most_bytes) {
  std::map<std::string_view, const code::Source*> by_path;
  for (const code::Source& source : sources) by_path.emplace(source.path, &source);
  std::vector<Range> ranges;
  std::vector<profile::LineCost> dearest(lines.begin(), lines.end());
  std::ranges::stable_sort(dearest, std::ranges::greater{}, &profile::LineCost::seconds);
  for (const profile::Finding& finding : findings) {
    const auto source = by_path.find(finding.code.file);
    if (source == by_path.end()) continue;
    const int length = finding.code.function_end_line - finding.code.function_line;
    const bool whole = finding.code.function_line > 0 && length <= kLongestFunction;
    add(ranges, {source->second,
                 whole ? finding.code.function_line : finding.code.line - kAround,
                 whole ? finding.code.function_end_line : finding.code.line + kAround,
                 finding.accelerator_seconds,
                 {{finding.code.line, finding.accelerator_seconds}}});
  }
  for (const profile::LineCost& cost : dearest) {
    const auto source = by_path.find(cost.file);
    if (source == by_path.end() || cost.line < 1 || cost.imports || cost.makes_loader) continue;
    add(ranges, {source->second,
                 cost.line - kAround,
                 cost.line + kAround,
                 cost.seconds,
                 {{cost.line, cost.seconds}}});
  }
  ranges = joined(std::move(ranges));
  // No line is known: whole files, if they are short, are better than nothing.
  const bool none = ranges.empty();
  for (std::size_t i = 0; none && i < sources.size(); ++i) {
    if (std::ranges::count(sources[i].bytes, '\n') <= kWholeFile) {
      ranges.push_back({&sources[i], 1, kWholeFile, 0, {}});
    }
  }
  std::ranges::stable_sort(ranges, std::ranges::greater{}, &Range::seconds);
  std::vector<Excerpt> shown;
  std::size_t bytes = 0;
  for (const Range& range : ranges) {
    Excerpt excerpt = draw(range);
    bytes += excerpt.text.size();
    if (bytes > most_bytes && !shown.empty()) break;
    shown.push_back(std::move(excerpt));
  }
  return shown;
}

std::vector<SourceFile> source_files(std::span<const code::Source> sources, std::size_t most) {
  std::vector<SourceFile> files;
  for (const code::Source& source : sources) {
    const auto lines = std::ranges::count(source.bytes, '\n');
    files.push_back({std::string(name_of(source)), static_cast<int>(lines)});
  }
  std::ranges::stable_sort(files, std::ranges::greater{}, &SourceFile::lines);
  if (files.size() > most) files.resize(most);
  return files;
}

}  // namespace amdahl::brief
