#include "fleet/table/rows.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/hostlist.h"
#include "fleet/slurm/tres.h"
#include "fleet/table/devices.h"
#include "fleet/table/numbers.h"
#include "fleet/table/paths.h"
#include "fleet/table/states.h"
#include "fleet/table/synonyms.h"
#include "fleet/values.h"

namespace amdahl::fleet::table {
namespace {

using model::JobState;
using model::Trouble;

constexpr std::size_t kBundle = 4096;

}  // namespace

Rows::Rows(Intake& intake, const Mapping& mapping, Zone zone, const ReaderOptions& options)
    : intake_{intake},
      mapping_{mapping},
      zone_{std::move(zone)},
      stem_{stem_of(options.path)},
      host_{options.host} {}

Result<int> Rows::find(std::string_view column) const {
  const auto found = std::ranges::find(header_, column);
  if (found != header_.end()) return static_cast<int>(found - header_.begin());
  const std::vector<std::string_view> names(header_.begin(), header_.end());
  const auto near = did_you_mean(column, names);
  return bad_input(fmt::format("mapping: no column '{}'{}", column,
                               near
                                   ? fmt::format("; did you mean '{}'?", *near)
                                   : fmt::format("; columns: {}", clip(join(header_, ", "), 300))));
}

Result<> Rows::begin(std::vector<std::string> header) {
  header_ = std::move(header);
  weights_.resize(mapping_.values.size() + 1);
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    const From& from = mapping_.from[i];
    if (from.what == From::What::kColumn) places_[i].column = TRY(find(from.column));
    if (!from.times.empty()) places_[i].times = TRY(find(from.times));
    if (!from.also.empty()) places_[i].also = TRY(find(from.also));
  }
  for (const Filter& filter : mapping_.where) {
    filters_.push_back({.column = TRY(find(filter.column)), .times = -1, .also = -1});
  }
  for (std::size_t v = 0; v < mapping_.values.size(); ++v) {
    const auto found = series_of(mapping_, v, header_);
    series_.insert(series_.end(), found.begin(), found.end());
    if (found.empty()) TRY(find(mapping_.values[v].column));
  }
  return Ok{};
}

bool Rows::passes(const Cells& cells) const {
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    const Filter& filter = mapping_.where[i];
    const std::string_view cell = cells[static_cast<std::size_t>(filters_[i].column)];
    if (!filter.is.empty() && std::ranges::find(filter.is, cell) == filter.is.end()) return false;
    if (std::ranges::find(filter.is_not, cell) != filter.is_not.end()) return false;
  }
  return true;
}

// Files that were put one behind the other.
bool Rows::is_header(const Cells& cells) const {
  return mapping_.header && cells[0] == header_[0] &&
         std::equal(header_.begin(), header_.end(), cells.all().begin());
}

Result<> Rows::take(const Cells& cells, Where where) {
  one(cells, where);
  // One value out of range is a bad value; many are another unit.
  for (const Weight& weight : weights_) {
    if (!weight.in_fraction || weight.above <= 20 || weight.above * 20 <= weight.shares) continue;
    return bad_input(fmt::format(
        "line {}: utilisation looked like 0 to 1 in the first lines, but {} of {} values "
        "are above 1; set the unit in a mapping",
        where.line, weight.above, weight.shares));
  }
  return Ok{};
}

Result<> Rows::finish() {
  placed_.tell(intake_);
  for (const Weight& weight : weights_) {
    if (weight.in_fraction || weight.above > 0 || weight.between * 20 <= weight.shares) continue;
    return bad_input(
        fmt::format("utilisation was read as percent, but of {} values none is above 1 and {} "
                    "are not whole; set the unit in a mapping",
                    weight.shares, weight.between));
  }
  return Ok{};
}

void Rows::weigh(Weight& weight, double share, bool in_fraction) {
  if (!mapping_.is_guess) return;
  weight.in_fraction = in_fraction;
  ++weight.shares;
  if (share > 1.5) ++weight.above;
  if (share > 0 && share < 1) ++weight.between;
}

void Rows::one(const Cells& cells, Where where) {
  std::size_t size = cells.size();
  while (size > header_.size() && cells[size - 1].empty()) --size;  // Lines that end in a comma.
  if (size == header_.size() && is_header(cells)) return;
  if (size != header_.size()) {
    intake_.trouble(Trouble::kBadLine, where,
                    fmt::format("has {} cells, expected {}", cells.size(), header_.size()));
    return;
  }
  if (!passes(cells)) return;
  cells_ = &cells;
  where_ = where;
  switch (mapping_.row) {
    case Row::kJob:
      return job();
    case Row::kSample:
      return sample();
    case Row::kPlace:
      return place();
    case Row::kCapacity:
      return capacity();
    case Row::kOccupancy:
      return occupancy();
    case Row::kDevice:
      return device();
  }
}

void Rows::complain(Trouble trouble, Field field, std::string_view text) {
  intake_.trouble(trouble, where_, fmt::format("{} '{}'", name(field), clip(text, 40)));
}

std::string_view Rows::text(Field field) {
  const From& from = mapping_[field];
  switch (from.what) {
    case From::What::kNothing:
      return {};
    case From::What::kColumn: {
      const FieldColumns& place = places_[static_cast<std::size_t>(field)];
      const std::string_view cell = (*cells_)[static_cast<std::size_t>(place.column)];
      if (place.also < 0) return cell;
      const bool is_id = field == Field::kId;  // Else a date with its time.
      line_id_ = fmt::format("{}{}{}", cell, is_id ? '/' : ' ',
                             (*cells_)[static_cast<std::size_t>(place.also)]);
      return line_id_;
    }
    case From::What::kConstant:
      return from.constant;
    case From::What::kFile:
      return file_part(from);
    case From::What::kLine:
      line_id_ =
          stem_.empty() ? std::to_string(where_.line) : fmt::format("{}:{}", stem_, where_.line);
      return line_id_;
  }
  return {};
}

// "r9189566-n911952" of "5174220-r9189566-n911952" comes after '-'; "5174220" ends at it.
std::string_view Rows::file_part(const From& from) const {
  std::string_view part = stem_;
  if (from.after != '\0') part = part.substr(std::min(part.find(from.after), part.size() - 1) + 1);
  return from.cut == '\0' ? part : part.substr(0, part.find(from.cut));
}

// Nothing, after a complaint, if it cannot be read; blank cells are `otherwise`.
std::optional<double> Rows::number(Field field, double otherwise) {
  const From& from = mapping_[field];
  if (!from.given()) return otherwise;
  const std::string_view cell = text(field);
  if (is_blank_word(cell)) return otherwise;
  Value value = read_number(cell, mapping_.decimal);
  if (value && places_[static_cast<std::size_t>(field)].times >= 0) {
    const auto times = static_cast<std::size_t>(places_[static_cast<std::size_t>(field)].times);
    const Value factor = read_number((*cells_)[times], mapping_.decimal);
    value.number *= factor.number;
    value.trouble = factor.trouble;
  }
  if (!value) {
    complain(*value.trouble, field, cell);
    return std::nullopt;
  }
  const double scaled = value.number * from.scale;
  if (!std::isfinite(scaled)) {
    complain(Trouble::kNotFinite, field, cell);
    return std::nullopt;
  }
  return scaled;
}

// 0 where there is none.
std::optional<Nanos> Rows::time(Field field) {
  if (!mapping_[field].given()) return Nanos{};
  const std::string_view cell = text(field);
  const Instant read = mapping_[field].time.read(cell, zone_);
  if (read.is == Instant::Is::kBad) {
    complain(Trouble::kBadTime, field, cell);
    return std::nullopt;
  }
  if (read.ambiguous() || read.skipped) complain(Trouble::kAmbiguousTime, field, cell);
  return read.at;
}

std::optional<Nanos> Rows::duration(Field field, Nanos otherwise) {
  const From& from = mapping_[field];
  if (!from.given()) return otherwise;
  const std::string_view cell = text(field);
  if (is_blank_word(cell)) return otherwise;
  Nanos read{};
  if (!from.has_unit && cell.find(':') != cell.npos && read_duration(cell, read)) return read;
  const auto seconds = number(field, 0);
  if (!seconds) return std::nullopt;
  if (*seconds < 0 || *seconds > 9e9) {
    complain(Trouble::kBadTime, field, cell);
    return std::nullopt;
  }
  return Nanos{std::llround(*seconds * 1e9)};
}

// "a0128:1;a0129:8" as schedulers write it: "a0128,a0129".
std::string_view Rows::hosts() {
  const From& from = mapping_[Field::kHosts];
  const std::string_view cell = text(Field::kHosts);
  hosts_.clear();
  if (cell.starts_with("['") || cell.starts_with("[\"")) {  // As Python writes a list.
    std::ranges::copy_if(cell, std::back_inserter(hosts_), [](char c) {
      return std::string_view("[]'\" ").find(c) == std::string_view::npos;
    });
    return hosts_;
  }
  const bool is_plain = from.separator == ',' && from.cut == '\0';
  if (is_plain && cell.find_first_of("@*") == cell.npos) return cell;
  std::string_view last;
  for (std::string_view host : split(cell, from.separator)) {
    if (from.cut != '\0') host = host.substr(0, host.find(from.cut));
    host = host_of_slot(trim(host));
    if (host.empty()) continue;
    if (host == last) continue;  // "n1:n1:n2": one for each of its slots.
    last = host;
    if (!hosts_.empty()) hosts_ += ',';
    hosts_ += host;
  }
  return hosts_;
}

// A number, or resources as Slurm writes them: "gres/gpu:a100=2", "gpu:2".
std::optional<double> Rows::accelerators(model::JobDraft& job) {
  const std::string_view cell = text(Field::kAccelerators);
  if (mapping_[Field::kAccelerators].what != From::What::kColumn || is_blank_word(cell) ||
      read_number(cell, mapping_.decimal).trouble != Trouble::kBadLine) {
    return number(Field::kAccelerators, 0);
  }
  if (const auto count = devices_by_number(cell)) return count;
  slurm::Devices devices = slurm::devices_of_tres(cell);
  if (devices.count == 0) devices = slurm::devices_of_gres(cell);
  const bool words = cell.find('=') != cell.npos || cell.find(':') != cell.npos;
  if (devices.count == 0 && !words) return number(Field::kAccelerators, 0);
  if (job.kind.empty()) job.kind = devices.kind;
  return devices.count;
}

void Rows::job() {
  model::JobDraft job;
  const auto submit = time(Field::kSubmit);
  const auto start = time(Field::kStart);
  const auto end = time(Field::kEnd);
  const auto elapsed = duration(Field::kElapsed, Nanos{-1});
  job.kind = text(Field::kKind);
  const auto accelerators = is_placed(mapping_) ? 1.0 : this->accelerators(job);
  const auto host_count = number(Field::kHostCount, 0);
  if (!submit || !start || !end || !elapsed || !accelerators || !host_count) return;
  job.id = text(Field::kId);
  if (job.id.empty()) return intake_.trouble(Trouble::kBadLine, where_, "has no id");
  if (*start != Nanos{} && *end != Nanos{} && *end < *start) {
    return complain(Trouble::kBadTime, Field::kEnd, "is before start");
  }
  job.raw = text(Field::kRaw);
  job.name = text(Field::kName);
  job.user = text(Field::kUser);
  job.account = text(Field::kAccount);
  job.partition = text(Field::kPartition);
  job.script = text(Field::kScript);
  job.hosts = hosts();
  job.submit = *submit;
  job.start = *start;
  job.end = *end;
  job.elapsed = *elapsed;
  job.accelerators = std::max(0.0, *accelerators);
  job.host_count = *host_count >= 0 && *host_count < 1e9 ? static_cast<int>(*host_count) : 0;
  if (const std::string_view word = text(Field::kState); !word.empty()) {
    const auto& words = mapping_[Field::kState].words;
    const auto found = words.find(word);
    job.state = state_of_word(found == words.end() ? word : std::string_view(found->second));
    if (job.state == JobState::kOther) complain(Trouble::kBadLine, Field::kState, word);
  }
  // A job that ran for a known time and is over has an end.
  if (job.end == Nanos{} && job.start != Nanos{} && job.elapsed >= Nanos{} &&
      job.state != JobState::kRunning) {
    job.end = job.start + job.elapsed;
  }
  if (mapping_[Field::kUtilisation].given()) {
    const std::string_view cell = text(Field::kUtilisation);
    if (is_blank_word(cell)) {
      intake_.troubles(Trouble::kBlankValue, 1);
    } else if (const auto share = number(Field::kUtilisation, 0)) {
      const double scale = mapping_[Field::kUtilisation].scale;
      weigh(weights_.back(), *share / scale, scale == 1);
      if (*share < 0 || *share > 1) {
        complain(Trouble::kOutOfRange, Field::kUtilisation, cell);
      } else {
        job.mean_utilisation = *share;
        job.metric = mapping_.metric;
      }
    }
  }
  if (!is_placed(mapping_)) return intake_.job(job, where_);
  std::string_view list = trim(text(Field::kAccelerator));  // "3", "0,1", "[0, 1]".
  if (list.starts_with('[') && list.ends_with(']')) list = list.substr(1, list.size() - 2);
  while (true) {
    const std::size_t comma = list.find_first_of(",;");
    const std::string_view accelerator = accelerator_index(trim(list.substr(0, comma)));
    if (is_blank_word(accelerator)) {
      return intake_.trouble(Trouble::kBadLine, where_, "has no accelerator");
    }
    placed_.add(job, short_host(job.hosts), accelerator, where_);
    if (comma == list.npos) return;
    list.remove_prefix(comma + 1);
  }
}

void Rows::add_sample(const model::SeriesKey& key, Nanos at, std::string_view cell, double scale,
                      std::string_view column, const ValueColumn* of) {
  const Value value = read_number(cell, mapping_.decimal);
  if (!value) {
    return intake_.trouble(*value.trouble, where_, fmt::format("{} '{}'", column, clip(cell, 40)));
  }
  if (of != nullptr) {
    weigh(weights_[static_cast<std::size_t>(of - mapping_.values.data())], value.number,
          of->in_fraction);
  }
  const double scaled = value.number * scale;
  if (!(std::abs(scaled) <= std::numeric_limits<float>::max())) {
    return intake_.trouble(Trouble::kNotFinite, where_, fmt::format("{} {}", column, scaled));
  }
  key_.clear();
  for (const std::string_view part : {key.host, key.accelerator, key.uuid, key.slice, key.job,
                                      key.metric, key.kind, key.profile}) {
    key_ += part;
    key_ += '\x1f';
  }
  auto found = ids_.find(key_);
  if (found == ids_.end()) found = ids_.emplace(key_, intake_.series(key)).first;
  pending_series_.push_back(found->second);
  pending_.push_back({at, static_cast<float>(scaled)});
  if (pending_.size() >= kBundle) flush();
}

void Rows::flush() {
  if (pending_.empty()) return;
  intake_.rows(pending_series_, pending_);
  pending_series_.clear();
  pending_.clear();
}

// Metrics that no exporter calls so, by their own names: "gpu.utilization" is gpu_util.
std::string_view Rows::known_metric(std::string_view said) {
  const auto found = metrics_.find(said);
  if (found != metrics_.end()) return found->second;
  const std::string_view known = metric_of(said);
  return metrics_.emplace(said, known.empty() ? said : known).first->second;
}

void Rows::sample() {
  const auto at = time(Field::kTime);
  if (!at) return;
  if (*at == Nanos{}) return complain(Trouble::kBadTime, Field::kTime, text(Field::kTime));
  std::string_view host = text(Field::kHost);
  if (host.empty()) host = host_;
  model::SeriesKey key{.host = short_host(host),
                       .accelerator = accelerator_index(text(Field::kAccelerator)),
                       .uuid = text(Field::kUuid),
                       .slice = text(Field::kSlice),
                       .job = job_in(text(Field::kJob)),
                       .metric = text(Field::kMetric),
                       .kind = text(Field::kKind)};
  if (mapping_[Field::kValue].given()) {
    key.metric = known_metric(key.metric);
    return add_sample(key, *at, text(Field::kValue), mapping_[Field::kValue].scale, "value");
  }
  for (const WideSeries& series : series_) {
    const ValueColumn& value = mapping_.values[series.value];
    model::SeriesKey own = key;
    own.metric = value.metric;
    const auto set = [](std::string_view& part, const std::string& said) {
      if (!said.empty()) part = said;
    };
    set(own.host, series.host);
    set(own.accelerator, series.accelerator);
    set(own.uuid, series.uuid);
    set(own.slice, series.slice);
    set(own.job, series.job);
    set(own.kind, series.kind);
    set(own.profile, series.profile);
    add_sample(own, *at, (*cells_)[series.column], value.scale, header_[series.column], &value);
  }
}

void Rows::place() {
  const std::string_view job = text(Field::kJob);
  const std::string_view host = short_host(text(Field::kHost));
  const std::string_view accelerator = accelerator_index(text(Field::kAccelerator));
  if (job.empty() || host.empty() || accelerator.empty()) {
    return intake_.trouble(Trouble::kBadLine, where_, "has no job, host or accelerator");
  }
  intake_.tell(Assignment{job, host, accelerator});
}

void Rows::device() {
  const std::string_view host = text(Field::kHost);
  const std::string_view accelerator = text(Field::kAccelerator);
  const std::string_view uuid = text(Field::kUuid);
  if (is_blank_word(accelerator) || is_blank_word(uuid)) {
    return intake_.trouble(Trouble::kBadLine, where_, "has no accelerator or no uuid");
  }
  intake_.tell(Device{.host = short_host(host.empty() ? std::string_view(host_) : host),
                      .accelerator = accelerator,
                      .slice = text(Field::kSlice),
                      .profile = text(Field::kSlice),
                      .uuid = uuid});
}

void Rows::capacity() {
  const auto count = number(Field::kAccelerators, 0);
  if (!count) return;
  if (*count < 0 || *count > 1e6) {
    return complain(Trouble::kOutOfRange, Field::kAccelerators, text(Field::kAccelerators));
  }
  if (*count < 1) return;  // A host without.
  intake_.tell(Capacity{short_host(text(Field::kHost)), text(Field::kPartition), text(Field::kKind),
                        static_cast<int>(*count)});
}

void Rows::occupancy() {
  const auto at = time(Field::kTime);
  const auto held = duration(Field::kHeld, Nanos{});
  const auto total = number(Field::kTotal, 0);
  const auto allocated = number(Field::kAllocated, 0);
  const auto idle = number(Field::kIdle, 0);
  const auto down = number(Field::kDown, 0);
  if (!at || !held || !total || !allocated || !idle || !down) return;
  if (*at == Nanos{}) return complain(Trouble::kBadTime, Field::kTime, text(Field::kTime));
  intake_.tell(Occupancy{
      .partition = text(Field::kPartition),
      .at = *at,
      .held = *held,
      .total = *total,
      .allocated = mapping_[Field::kAllocated].given() ? *allocated : *total - *idle - *down,
      .down = *down});
}

}  // namespace amdahl::fleet::table
