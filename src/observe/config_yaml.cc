#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <yaml.h>

#include "base/text.h"
#include "observe/config_format.h"

// The file is read as a row of events and written from the same row, with the one event exchanged:
// whatever we do not understand (tags, anchors, quotes, times) goes through as it is.
namespace amdahl::observe {
namespace {

class Event {
 public:
  explicit Event(const yaml_event_t& raw) : raw_{raw} {}
  Event(Event&& other) noexcept : raw_{std::exchange(other.raw_, yaml_event_t{})} {}
  Event& operator=(Event&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&raw_); }

  yaml_event_type_t type() const { return raw_.type; }
  bool opens() const {
    return raw_.type == YAML_MAPPING_START_EVENT || raw_.type == YAML_SEQUENCE_START_EVENT;
  }
  bool closes() const {
    return raw_.type == YAML_MAPPING_END_EVENT || raw_.type == YAML_SEQUENCE_END_EVENT;
  }
  bool is_scalar() const { return raw_.type == YAML_SCALAR_EVENT; }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(raw_.data.scalar.value), raw_.data.scalar.length};
  }
  bool plain() const { return raw_.data.scalar.style == YAML_PLAIN_SCALAR_STYLE; }
  bool tagged() const { return raw_.data.scalar.tag != nullptr; }
  // The name it can be referred to by, or refers to; empty without one.
  std::string_view anchor() const {
    const yaml_char_t* name =
        raw_.type == YAML_ALIAS_EVENT            ? raw_.data.alias.anchor
        : raw_.type == YAML_MAPPING_START_EVENT  ? raw_.data.mapping_start.anchor
        : raw_.type == YAML_SEQUENCE_START_EVENT ? raw_.data.sequence_start.anchor
        : is_scalar()                            ? raw_.data.scalar.anchor
                                                 : nullptr;
    return name == nullptr ? std::string_view{} : reinterpret_cast<const char*>(name);
  }
  const yaml_event_t& raw() const { return raw_; }
  yaml_event_t release() { return std::exchange(raw_, yaml_event_t{}); }

 private:
  yaml_event_t raw_;
};

using Events = std::vector<Event>;

Result<Events> read_events(const std::string& text) {
  yaml_parser_t parser;
  if (yaml_parser_initialize(&parser) == 0) return external("no memory to read YAML");
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()),
                               text.size());
  Events events;
  std::optional<Error> problem;
  do {
    yaml_event_t raw;
    if (yaml_parser_parse(&parser, &raw) == 0) {
      problem = bad_input(fmt::format("line {}, column {}: {}", parser.problem_mark.line + 1,
                                      parser.problem_mark.column + 1, parser.problem));
      break;
    }
    events.emplace_back(raw);
  } while (events.back().type() != YAML_STREAM_END_EVENT);
  yaml_parser_delete(&parser);
  if (problem) return *problem;
  return events;
}

int append_to(void* out, unsigned char* bytes, std::size_t size) {
  static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), size);
  return 1;
}

Result<std::string> write_events(Events events) {
  yaml_emitter_t emitter;
  if (yaml_emitter_initialize(&emitter) == 0) return external("no memory to write YAML");
  std::string out;
  yaml_emitter_set_output(&emitter, append_to, &out);
  yaml_emitter_set_unicode(&emitter, 1);
  yaml_emitter_set_width(&emitter, -1);  // No new line breaks inside values.
  std::optional<Error> problem;
  for (Event& event : events) {
    yaml_event_t raw = event.release();  // The emitter deletes it.
    if (yaml_emitter_emit(&emitter, &raw) != 0) continue;
    problem = external(fmt::format("cannot be written again: {}", emitter.problem));
    break;
  }
  yaml_emitter_delete(&emitter);
  if (problem) return *problem;
  return out;
}

Event scalar(const std::string& text, yaml_scalar_style_t style, const char* tag = nullptr) {
  yaml_event_t raw;
  const auto* tag_bytes = reinterpret_cast<const yaml_char_t*>(tag);
  const int implicit = tag == nullptr ? 1 : 0;
  yaml_scalar_event_initialize(&raw, nullptr, tag_bytes,
                               reinterpret_cast<const yaml_char_t*>(text.data()),
                               static_cast<int>(text.size()), implicit, implicit, style);
  return Event(raw);
}

// Words that YAML 1.1 or 1.2 reads as something else than text.
bool is_null(std::string_view text) {
  const std::string word = lower(text);
  return word.empty() || word == "~" || word == "null";
}
bool is_truth(std::string_view text) {
  constexpr std::array<std::string_view, 8> kWords = {"true", "false", "yes", "no",
                                                      "on",   "off",   "y",   "n"};
  return std::ranges::find(kWords, lower(text)) != kWords.end();
}
bool may_be_number(std::string_view text) {
  return !text.empty() && std::strchr("0123456789+-.", text.front()) != nullptr;
}

ValueKind held_by(const Event& event) {
  if (!event.plain() || event.tagged()) return ValueKind::kText;
  const std::string_view text = event.text();
  if (is_null(text)) return ValueKind::kNull;
  if (is_truth(text)) return ValueKind::kTruth;
  if (to_number<std::int64_t>(text)) return ValueKind::kWhole;
  if (to_number<double>(text)) return ValueKind::kNumber;
  return ValueKind::kText;
}

// With a point, without which YAML 1.1 would take "1e-05" for text.
std::string show_float(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  std::string text = fmt::format("{}", value);
  if (text.find('.') == text.npos) text.insert(std::min(text.find('e'), text.size()), ".0");
  return text;
}

Event event_for(const Value& value) {
  constexpr auto kPlain = YAML_PLAIN_SCALAR_STYLE;
  if (const auto* truth = std::get_if<bool>(&value))
    return scalar(*truth ? "true" : "false", kPlain);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return scalar(std::to_string(*whole), kPlain);
  }
  if (const auto* number = std::get_if<double>(&value)) return scalar(show_float(*number), kPlain);
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return scalar("null", kPlain);
  const bool ambiguous =
      is_null(*text) || is_truth(*text) || may_be_number(*text) || *text == "<<" || *text == "=";
  return scalar(*text, ambiguous ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : kPlain);
}

class Document {
 public:
  explicit Document(Events events) : events_{std::move(events)} {}

  Result<> set(const std::string& key, const std::string& text) {
    std::size_t at = 2;  // After the starts of the stream and of the document.
    if (at >= events_.size()) return bad_input("it is empty");
    std::string_view last;
    const auto steps = split(key, '.');
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (events_[at].type() == YAML_ALIAS_EVENT) return through_alias(key, last, at);
      if (!events_[at].opens()) return not_a_parent(key, i == 0 ? steps[0] : last);
      last = steps[i];
      const std::optional<std::size_t> found = TRY(child(at, key, last));
      if (!found && i + 1 < steps.size()) return no_such_step(key, last);
      if (!found) return insert(at, std::string(last), text);
      at = *found;
    }
    return replace(at, key, text);
  }

  bool has_one_document() const {
    return std::ranges::count(events_, YAML_DOCUMENT_START_EVENT, &Event::type) == 1;
  }
  Events take() && { return std::move(events_); }

 private:
  // The event after the node that begins here.
  std::size_t after(std::size_t at) const {
    int depth = 0;
    do {
      depth += events_[at].opens() ? 1 : events_[at].closes() ? -1 : 0;
      ++at;
    } while (depth > 0);
    return at;
  }

  // The value of a mapping's key, or an item of a list. Of a key that is given twice the last
  // counts, as for those who read it.
  Result<std::optional<std::size_t>> child(std::size_t at, const std::string& key,
                                           std::string_view step) const {
    std::optional<std::size_t> found;
    const bool list = events_[at].type() == YAML_SEQUENCE_START_EVENT;
    const auto wanted = to_number<std::size_t>(step);
    std::size_t number = 0;
    for (++at; !events_[at].closes(); at = after(at), ++number) {
      if (list && number == wanted) found = at;
      if (list) continue;
      const bool is_it = events_[at].is_scalar() && events_[at].text() == step;
      at = after(at);
      if (is_it) found = at;
    }
    if (list && !found) return no_such_item(key, step, number);
    return found;
  }

  Result<> replace(std::size_t at, const std::string& key, const std::string& text) {
    const Event* now = &events_[at];
    if (now->type() == YAML_ALIAS_EVENT) now = &referred_to(now->anchor(), at);
    if (now->opens()) {
      return not_a_value(key, now->type() == YAML_SEQUENCE_START_EVENT ? "a list" : "a mapping");
    }
    if (!events_[at].anchor().empty() && events_[at].is_scalar() && is_referred_to(at)) {
      return bad_input(fmt::format(
          "{}: other keys are aliases of it (*{}): replace the aliases by their values first", key,
          events_[at].anchor()));
    }
    const ValueKind holds = held_by(*now);
    if (holds == ValueKind::kText && (!now->plain() || now->tagged())) {
      const yaml_event_t& raw = now->raw();
      events_[at] =
          scalar(text, raw.data.scalar.style, reinterpret_cast<const char*>(raw.data.scalar.tag));
    } else {
      events_[at] = event_for(value_like(text, holds));
    }
    return Ok{};
  }

  Result<> insert(std::size_t parent, const std::string& step, const std::string& text) {
    const auto end = events_.begin() + static_cast<std::ptrdiff_t>(after(parent)) - 1;
    const auto value = events_.insert(end, event_for(value_like(text, ValueKind::kNull)));
    events_.insert(value, event_for(Value{step}));
    return Ok{};
  }

  const Event& referred_to(std::string_view anchor, std::size_t before) const {
    for (std::size_t i = before; i-- > 0;) {
      if (events_[i].type() != YAML_ALIAS_EVENT && events_[i].anchor() == anchor) return events_[i];
    }
    return events_[before];  // The parser refuses an alias of nothing only when it composes.
  }
  bool is_referred_to(std::size_t at) const {
    return std::any_of(
        events_.begin() + static_cast<std::ptrdiff_t>(at), events_.end(), [&](const Event& event) {
          return event.type() == YAML_ALIAS_EVENT && event.anchor() == events_[at].anchor();
        });
  }
  Error through_alias(const std::string& key, std::string_view step, std::size_t at) const {
    return bad_input(fmt::format("{}: \"{}\" is an alias (*{}): replace it by its value first", key,
                                 step, events_[at].anchor()));
  }

  Events events_;
};

}  // namespace

Result<std::string> set_in_yaml(const std::string& text, const Keys& keys) {
  auto events = read_events(text);
  if (!events) return events.error();
  Document document(*std::move(events));
  if (!document.has_one_document()) {
    return bad_input("expected exactly one YAML document");
  }
  for (const auto& [key, value] : keys) TRY(document.set(key, value));
  return write_events(std::move(document).take());
}

}  // namespace amdahl::observe
