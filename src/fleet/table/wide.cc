#include "fleet/table/wide.h"

#include <algorithm>

#include "base/text.h"
#include "fleet/hostlist.h"
#include "fleet/metrics.h"
#include "fleet/prometheus/labels.h"
#include "fleet/table/synonyms.h"

namespace amdahl::fleet::table {
namespace {

using prometheus::Labels;

bool is_letter(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

// What the '*' of `pattern` stands for in `name`; nothing if it does not fit.
std::optional<std::string> star_of(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == pattern.npos) {
    return pattern == name ? std::optional<std::string>("") : std::nullopt;
  }
  const std::string_view head = pattern.substr(0, star);
  const std::string_view tail = pattern.substr(star + 1);
  if (name.size() <= head.size() + tail.size() || !name.starts_with(head) ||
      !name.ends_with(tail)) {
    return std::nullopt;
  }
  return std::string(name.substr(head.size(), name.size() - head.size() - tail.size()));
}

std::optional<Labels> labels_in(std::string_view name) {
  name = trim(name);
  const std::size_t open = name.find('{');
  if (open == name.npos || !name.ends_with('}')) return std::nullopt;
  Labels labels;
  if (!prometheus::read_labels(name.substr(open + 1, name.size() - open - 2), labels)) {
    return std::nullopt;
  }
  if (labels.empty()) return std::nullopt;
  if (const std::string_view before = trim(name.substr(0, open)); !before.empty()) {
    labels.emplace_back("__name__", before);
  }
  return labels;
}

std::optional<WideSeries> series_by_labels(std::string_view name, std::string_view metric) {
  const auto labels = labels_in(name);
  if (!labels) return std::nullopt;
  const prometheus::Subject subject = prometheus::subject_of(*labels, metric);
  if (subject.key.metric != metric && metric_of(subject.key.metric) != metric) return std::nullopt;
  WideSeries series;
  series.host = subject.key.host;
  series.accelerator = subject.key.accelerator;
  series.uuid = subject.key.uuid;
  series.slice = subject.key.slice;
  series.job = subject.key.job;
  series.kind = subject.key.kind;
  series.profile = subject.key.profile;
  return series;
}

// "gpu", "card" and the like at the end (or beginning) of `text`: how long it is.
std::size_t device_word(std::string_view text, bool at_end) {
  const std::string small = lower(text);
  for (const std::string_view word : {"gpu", "card", "device", "nvidia", "cuda", "accelerator"}) {
    if (at_end ? small.ends_with(word) : small.starts_with(word)) return word.size();
  }
  return 0;
}

// "n1 - GPU 3", "10.1.2.3-0"
std::optional<NamedPlace> host_first(std::string_view name) {
  std::size_t digits = name.size();
  while (digits > 0 && is_digit(name[digits - 1])) --digits;
  NamedPlace place;
  place.accelerator = name.substr(digits);
  std::string_view rest = name.substr(0, digits);
  if (place.accelerator.empty() || place.accelerator.size() > 3 || rest.empty()) {
    return std::nullopt;
  }
  const auto drop = [&](std::string_view some) {
    const std::size_t last = rest.find_last_not_of(some);
    rest = rest.substr(0, last == rest.npos ? 0 : last + 1);
  };
  drop(" _-:#=/");
  const std::size_t word = device_word(rest, true);
  rest.remove_suffix(word);
  if (word > 0) drop(" _-:/.,|");
  place.host = rest;
  place.between = name.substr(rest.size(), digits - rest.size());
  if (rest.empty() || place.between.empty()) return std::nullopt;
  return place;
}

// "GPU 3 (n1)", "gpu3@n1"
std::optional<NamedPlace> device_first(std::string_view name) {
  const std::size_t word = device_word(name, false);
  if (word == 0) return std::nullopt;
  const std::size_t begin = name.find_first_not_of(" _-:#=/", word);
  if (begin == name.npos || !is_digit(name[begin])) return std::nullopt;
  const std::size_t end = std::min(name.find_first_not_of("0123456789", begin), name.size());
  std::string_view host = name.substr(end);
  const std::size_t skip = host.find_first_not_of(" _-:@/.,|([");
  if (skip == host.npos || skip == 0 || end - begin > 3) return std::nullopt;
  host.remove_prefix(skip);
  while (host.ends_with(')') || host.ends_with(']') || host.ends_with(' ')) host.remove_suffix(1);
  if (std::ranges::none_of(host, is_letter) || std::ranges::none_of(host, is_digit)) {
    return std::nullopt;
  }
  return NamedPlace{host, {}, name.substr(begin, end - begin), {}};
}

}  // namespace

std::vector<WideSeries> series_of(const Mapping& mapping, std::size_t value,
                                  std::span<const std::string> header) {
  const ValueColumn& of = mapping.values[value];
  std::vector<WideSeries> found;
  for (std::size_t i = 0; i < header.size(); ++i) {
    std::optional<WideSeries> series;
    if (of.by_labels) {
      series = series_by_labels(header[i], of.metric);
    } else if (const auto star = star_of(of.column, header[i])) {
      const std::size_t cut = of.split.empty() ? 0 : star->rfind(of.split);
      if (of.split.empty()) {
        series.emplace().accelerator = *star;
      } else if (cut != std::string::npos && cut > 0) {
        series.emplace().host = short_host(star->substr(0, cut));
        series->accelerator = star->substr(cut + of.split.size());
      }
    }
    if (!series) continue;
    series->column = i;
    series->value = value;
    if (!of.host.empty()) series->host = short_host(of.host);
    if (!of.accelerator.empty()) series->accelerator = of.accelerator;
    found.push_back(*std::move(series));
  }
  return found;
}

std::optional<std::string> metric_in_labels(std::string_view name) {
  const auto labels = labels_in(name);
  if (!labels) return std::nullopt;
  return std::string(prometheus::find(*labels, "__name__"));
}

std::optional<NamedPlace> place_in(std::string_view name) {
  name = trim(name);
  if (const auto place = device_first(name)) return place;
  if (const auto place = host_first(name)) return place;
  // "n1_gpu3_util", "n1.gpu3.utilization": what is measured stands last.
  for (std::size_t at = name.size(); (at = name.find_last_of(" _-:/.", at)) != name.npos && at > 0;
       --at) {
    const std::string_view metric = metric_of(name.substr(at + 1));
    if (metric.empty()) continue;
    auto place = host_first(name.substr(0, at));
    if (!place) continue;
    place->metric = metric;
    place->between = {};
    return place;
  }
  return std::nullopt;
}

}  // namespace amdahl::fleet::table
