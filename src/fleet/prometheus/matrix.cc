#include "fleet/prometheus/matrix.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/values.h"

namespace amdahl::fleet::prometheus {
namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kLongestToken = 1 << 20;
constexpr std::size_t kFlushAt = 4096;
constexpr std::size_t kMostPending = 1 << 24;  // Points of one series whose labels come last.
constexpr std::size_t kMostTexts = 100;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Seconds, with or without a fraction, as nanoseconds: a double would lose the milliseconds.
std::optional<Nanos> time_of(std::string_view text) {
  std::int64_t whole = 0;
  std::size_t at = 0;
  while (at < text.size() && is_digit(text[at])) {
    whole = whole * 10 + (text[at++] - '0');
    if (whole > 9'000'000'000) return std::nullopt;  // Nanoseconds would not fit.
  }
  if (at > 0 && at == text.size()) return Nanos(std::chrono::seconds(whole));
  if (at > 0 && text[at] == '.') {
    std::int64_t fraction = 0;
    std::int64_t unit = 1'000'000'000;
    ++at;
    while (at < text.size() && is_digit(text[at]) && unit > 1) {
      fraction = fraction * 10 + (text[at++] - '0');
      unit /= 10;
    }
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at == text.size()) return std::chrono::seconds(whole) + Nanos(fraction * unit);
  }
  const auto number = to_number<double>(text);
  if (!number || !std::isfinite(*number) || std::abs(*number) > 9e9) return std::nullopt;
  return from_seconds(*number);
}

std::optional<double> value_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return to_number<double>(text);  // Reads "NaN" and "Inf", too.
}

void append_utf8(std::string& text, unsigned code) {
  const auto put = [&](unsigned byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

// False if an escape is not one of JSON's. Surrogates are kept one by one: labels are only
// compared.
bool unescape(std::string_view raw, std::string& text) {
  text.clear();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      text.push_back(raw[i]);
      continue;
    }
    if (++i == raw.size()) return false;
    constexpr std::string_view kFrom = "\"\\/bfnrt";
    constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
    if (const auto row = kFrom.find(raw[i]); row != kFrom.npos) {
      text.push_back(kTo[row]);
      continue;
    }
    unsigned code = 0;
    if (raw[i] != 'u' || i + 4 >= raw.size()) return false;
    const char* from = raw.data() + i + 1;
    const auto [stopped, error] = std::from_chars(from, from + 4, code, 16);
    if (error != std::errc{} || stopped != from + 4) return false;
    append_utf8(text, code);
    i += 4;
  }
  return true;
}

// The end of the string that begins after `at` (at its opening quote); npos if it is not there yet.
std::size_t end_of_string(std::string_view text, std::size_t at, bool& escaped) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '"') return i;
    if (text[i] == '\\') {
      escaped = true;
      ++i;
    }
  }
  return text.npos;
}

}  // namespace

MatrixReader::MatrixReader(Intake& intake, std::string metric, bool hints)
    : intake_{intake}, metric_{std::move(metric)}, hints_{hints} {}

MatrixReader::Step MatrixReader::bad(std::string what) {
  what_ = std::move(what);
  return Step::kBad;
}

Result<> MatrixReader::feed(std::string_view bytes) {
  std::string_view text = bytes;
  if (!held_.empty()) {
    held_.append(bytes);
    text = held_;
  }
  std::size_t at = 0;
  Step now = Step::kDone;
  while (at < text.size() && now == Step::kDone) now = step(text, at);
  if (now == Step::kBad) return bad_input(fmt::format("byte {}: {}", passed_ + at + 1, what_));
  if (text.size() - at > kLongestToken) {
    return bad_input(fmt::format("byte {}: a text of more than 1 MiB", passed_ + at + 1));
  }
  passed_ += at;
  std::string rest(text.substr(at));
  held_ = std::move(rest);
  return Ok{};
}

Result<> MatrixReader::finish() {
  if (!levels_.empty() || !held_.empty()) {
    flush();
    intake_.trouble(model::Trouble::kTruncated, {.byte = passed_ + held_.size()},
                    "the answer is truncated");
    answered_.cut = true;
    levels_.clear();
    held_.clear();
  }
  return Ok{};
}

MatrixReader::Step MatrixReader::step(std::string_view text, std::size_t& at) {
  if (is_space(text[at])) {
    ++at;
    return Step::kDone;
  }
  if (levels_.empty() && text[at] != '{' && text[at] != '[') {
    return bad("an answer must begin with '{'");
  }
  if (!levels_.empty() && levels_.back().in == In::kValues && points(text, at)) return Step::kDone;
  switch (text[at]) {
    case '{':
    case '[':
    case '}':
    case ']':
    case ':':
    case ',':
      return structure(text[at], at);
    case '"':
      return string(text, at);
    default:
      return bare(text, at);
  }
}

MatrixReader::Step MatrixReader::structure(char c, std::size_t& at) {
  Step done = Step::kDone;
  if (c == '{' || c == '[') {
    done = open(c == '{');
  } else if (c == '}' || c == ']') {
    done = close(c == '}');
  } else {
    Next& next = levels_.back().next;
    if (next != (c == ':' ? Next::kColon : Next::kComma)) {
      return bad(fmt::format("unexpected '{}'", c));
    }
    next = c == ',' && levels_.back().object ? Next::kKey : Next::kValue;
  }
  if (done == Step::kDone) ++at;
  return done;
}

MatrixReader::In MatrixReader::inside(bool object) const {
  switch (levels_.back().in) {
    case In::kRoot:
      if (key_ == "data" && object) return In::kData;
      if (key_ == "result" && !object) return In::kResult;
      if (key_ == "metric" && object) return In::kMetric;
      if (key_ == "values" && !object) return In::kNumbers;
      if (key_ == "timestamps" && !object) return In::kTimes;
      if (!object && key_ == "warnings") return In::kWarnings;
      return In::kSkipped;
    case In::kData:
      return key_ == "result" && !object ? In::kResult : In::kSkipped;
    case In::kResult:
      return object ? In::kSeries : In::kSkipped;
    case In::kSeries:
      if (key_ == "metric" && object) return In::kMetric;
      if (key_ == "values" && !object) return In::kValues;
      return key_ == "value" && !object ? In::kPoint : In::kSkipped;
    case In::kValues:
      return object ? In::kSkipped : In::kPoint;
    default:
      return In::kSkipped;
  }
}

MatrixReader::Step MatrixReader::open(bool object) {
  Level level{object ? In::kRoot : In::kResult, object,
              object ? Next::kFirstKey : Next::kFirstValue};
  if (!levels_.empty()) {
    Next& next = levels_.back().next;
    if (next != Next::kValue && next != Next::kFirstValue) return bad("unexpected value");
    if (levels_.size() == kDeepest) return bad("is nested too deep");
    level.in = inside(object);
    next = Next::kComma;
  }
  levels_.push_back(level);
  const bool is_export = level.in == In::kMetric && levels_.size() == 2;
  if (level.in == In::kSeries || is_export) begin_series();
  if (level.in == In::kPoint || level.in == In::kTimes) item_ = 0;
  return Step::kDone;
}

MatrixReader::Step MatrixReader::close(bool object) {
  const Level level = levels_.back();
  const bool can =
      level.next == Next::kComma || level.next == (object ? Next::kFirstKey : Next::kFirstValue);
  if (level.object != object || !can) {
    return bad(fmt::format("unexpected '{}'", object ? '}' : ']'));
  }
  levels_.pop_back();
  if (level.in == In::kMetric) end_labels();
  if (level.in == In::kSeries || level.in == In::kTimes) end_series();
  if (level.in == In::kPoint && item_ != 2) return bad("a point must be [time, \"value\"]");
  return Step::kDone;
}

MatrixReader::Step MatrixReader::string(std::string_view text, std::size_t& at) {
  bool escaped = false;
  const std::size_t end = end_of_string(text, at, escaped);
  if (end == text.npos) return Step::kMore;
  const std::string_view raw = text.substr(at + 1, end - at - 1);
  if (escaped) {
    if (!unescape(raw, text_)) return bad("invalid escape in a string");
  } else {
    text_.assign(raw);
  }
  const Step done = take(text_, true);
  if (done == Step::kDone) at = end + 1;
  return done;
}

MatrixReader::Step MatrixReader::bare(std::string_view text, std::size_t& at) {
  const std::size_t end = text.find_first_of(",]}: \n\r\t\"[{", at);
  if (end == text.npos) return Step::kMore;
  const std::string_view word = text.substr(at, end - at);
  if (word != "true" && word != "false" && word != "null" && !to_number<double>(word)) {
    return bad(fmt::format("'{}' is not JSON", clip(word, 32)));
  }
  const Step done = take(word, false);
  if (done == Step::kDone) at = end;
  return done;
}

MatrixReader::Step MatrixReader::take(std::string_view value, bool quoted) {
  Level& level = levels_.back();
  if (level.next == Next::kKey || level.next == Next::kFirstKey) {
    if (!quoted) return bad("a key must be in quotes");
    key_.assign(value);
    level.next = Next::kColon;
    return Step::kDone;
  }
  if (level.next != Next::kValue && level.next != Next::kFirstValue) {
    return bad("unexpected value");
  }
  level.next = Next::kComma;
  if (level.in == In::kMetric && quoted) {
    if (label_count_ == labels_.size()) labels_.emplace_back();
    labels_[label_count_].first.assign(key_);
    labels_[label_count_++].second.assign(value);
  } else if (level.in == In::kPoint) {
    if (item_ == 0) time_.assign(value);
    if (item_ == 1) point(time_, value);
    ++item_;
  } else if (level.in == In::kNumbers) {
    if (numbers_.size() < kMostPending) numbers_.emplace_back(value);
  } else if (level.in == In::kTimes) {
    export_point(value);
  } else if (level.in == In::kWarnings && quoted) {
    // Notes on the query itself ("PromQL warning: ...") speak of no missing data.
    const bool note = value.starts_with("PromQL ");
    if (!note && answered_.warnings.size() < kMostTexts) answered_.warnings.emplace_back(value);
  } else if (level.in == In::kRoot) {
    if (key_ == "status") answered_.status.assign(value);
    if (key_ == "errorType") answered_.error = fmt::format("{}: {}", value, answered_.error);
    if (key_ == "error") answered_.error += value;
    if (key_ == "isPartial" && value == "true") answered_.partial = true;
  }
  return Step::kDone;
}

// The common case, [1507680000,"83"] with what separates it, without a token at a time. False where
// the general reader must look: at the end of the window, or at anything unusual.
bool MatrixReader::points(std::string_view text, std::size_t& at) {
  Level& level = levels_.back();
  const std::size_t before = at;
  while (true) {
    std::size_t i = at;
    if (level.next == Next::kComma) {
      if (i >= text.size() || text[i] != ',') break;
      ++i;
    } else if (level.next != Next::kFirstValue && level.next != Next::kValue) {
      break;
    }
    if (i >= text.size() || text[i] != '[') break;
    const std::size_t time = ++i;
    std::size_t dots = 0;
    for (; i < text.size() && (is_digit(text[i]) || text[i] == '.'); ++i) {
      dots += text[i] == '.' ? 1U : 0U;
    }
    if (dots > 1 || i == time + dots) break;
    if (i + 2 >= text.size() || text[i] != ',' || text[i + 1] != '"') break;
    const std::size_t value = i + 2;
    const void* quote = std::memchr(text.data() + value, '"', text.size() - value);
    if (!quote) break;
    const auto end = static_cast<std::size_t>(static_cast<const char*>(quote) - text.data());
    if (end + 1 >= text.size() || text[end + 1] != ']') break;
    if (std::memchr(text.data() + value, '\\', end - value)) break;  // An escape, or none.
    point(text.substr(time, i - time), text.substr(value, end - value));
    level.next = Next::kComma;
    at = end + 2;
  }
  return at != before;
}

void MatrixReader::point(std::string_view time, std::string_view value) {
  const auto at = time_of(time);
  const auto number = value_of(value);
  const Where where{.byte = passed_};
  if (!at) {
    intake_.trouble(model::Trouble::kBadTime, where, fmt::format("'{}'", clip(time, 32)));
  } else if (!number) {
    intake_.trouble(model::Trouble::kBadLine, where,
                    fmt::format("value '{}' is not a number", clip(value, 32)));
  } else if (!(std::abs(*number) <= std::numeric_limits<float>::max())) {  // Samples are floats.
    intake_.trouble(model::Trouble::kNotFinite, where, value);
  } else if (by_value_ && labelled_) {
    held_by(value, *at);
  } else if (is_blank_number(*number) && !by_value_) {
    intake_.trouble(model::Trouble::kBlankValue, where, value);
  } else {
    pending_.push_back({*at, static_cast<float>(*number)});
    if (pending_.size() >= (labelled_ ? kFlushAt : kMostPending)) flush();
  }
}

// Its times are in milliseconds; null is no value.
void MatrixReader::export_point(std::string_view time) {
  const auto index = static_cast<std::size_t>(item_++);
  if (index >= numbers_.size() || numbers_[index] == "null") {
    return intake_.trouble(model::Trouble::kBlankValue, {.byte = passed_},
                           "a time without a value");
  }
  const auto ms = to_number<std::int64_t>(time);
  if (!ms || *ms < 0 || *ms > 9'000'000'000'000) {
    return intake_.trouble(model::Trouble::kBadTime, {.byte = passed_},
                           fmt::format("'{}'", clip(time, 32)));
  }
  point(fmt::format("{}.{:03}", *ms / 1000, *ms % 1000), numbers_[index]);
}

// Where and when the job was seen; that is all there is of it if nobody has accounting.
void MatrixReader::held_by(std::string_view job, Nanos at) {
  if (job_in(job).empty()) return;
  if (job != latest_job_) {
    latest_job_.assign(job);
    model::SeriesKey key = subject_of(labels_, metric_).key;
    key.job = latest_job_;
    series_ = intake_.series(key);
    const bool indexed = !key.accelerator.empty();
    intake_.tell(Assignment{latest_job_, key.host, indexed ? key.accelerator : key.uuid});
  }
  const Sample sample{at, 0};
  intake_.samples(series_, {&sample, 1});
}

void MatrixReader::begin_series() {
  label_count_ = 0;
  labelled_ = false;
  wanted_ = false;
  by_value_ = false;
  latest_job_.clear();
  pending_.clear();
  numbers_.clear();
  ++answered_.series;
}

void MatrixReader::end_labels() {
  labelled_ = true;
  labels_.resize(label_count_);
  const Subject subject = subject_of(labels_, metric_);
  const model::SeriesKey& key = subject.key;
  by_value_ = key.metric == kJobByValue;
  wanted_ = !key.uuid.empty() || (!key.host.empty() && !key.accelerator.empty());
  if (!wanted_) {
    intake_.trouble(model::Trouble::kBadLine, {.byte = passed_},
                    "a series without the labels of a host and an accelerator");
  } else if (!by_value_) {
    series_ = intake_.series(key);
    if (!subject.bus.empty() && !key.accelerator.empty() && key.slice.empty()) {
      intake_.tell(Device{
          .host = key.host, .accelerator = key.accelerator, .uuid = key.uuid, .bus = subject.bus});
    }
    const bool says = !subject.user.empty() || !subject.account.empty();
    if (!hints_ || key.job.empty() || !says) return;
    model::JobDraft hint;
    hint.id = key.job;
    hint.user = subject.user;
    hint.account = subject.account;
    hint.partition = subject.partition;
    intake_.job(hint, {.byte = passed_});
  }
}

void MatrixReader::end_series() { flush(); }

void MatrixReader::flush() {
  if (labelled_ && wanted_ && !by_value_ && !pending_.empty()) {
    intake_.samples(series_, pending_);
    answered_.samples += pending_.size();
  } else if (!labelled_ && !pending_.empty()) {
    intake_.trouble(model::Trouble::kBadLine, {.byte = passed_},
                    "points of a series without labels");
  }
  pending_.clear();
}

}  // namespace amdahl::fleet::prometheus
