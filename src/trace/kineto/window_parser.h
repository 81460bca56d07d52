// window_parser.h: the piece parser, compiled once per instruction set.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "trace/kineto/event.h"
#include "trace/kineto/frame.h"
#include "trace/kineto/window.h"

namespace amdahl::trace::kineto {

// `InstructionSet` is a tag defined by the including file, so that the linker does not merge the
// code of different files: simdjson's on-demand parser depends on compiler flags. For the same
// reason nothing here constructs, copies or destroys types shared with other files.
template <class InstructionSet>
class WindowParser {
 public:
  // `json` is a list of events followed by padding; its first byte is at stream offset `offset`.
  // False if any of it is not JSON; then discard the window.
  bool parse_list(std::string_view json, std::uint64_t offset, Window& window) {
    base_ = json.data();
    stream_ = offset;
    simdjson::ondemand::document document;
    if (parser_.iterate(json.data(), json.size(), json.size() + kPadding - 2).get(document)) {
      return false;
    }
    simdjson::ondemand::array list;
    if (document.get_array().get(list)) return false;
    last_offset_ = offset;
    for (auto element : list) {
      Value value;
      if (std::move(element).get(value)) return false;
      Object object;
      if (value.get_object().get(object)) return false;
      if (!parse_event(object, window)) return false;
    }
    note_length(offset + json.size(), window);
    return at_end(document);
  }

  // The same for a single event.
  bool parse_one(std::string_view json, std::uint64_t offset, Window& window) {
    base_ = json.data();
    stream_ = offset;
    simdjson::ondemand::document document;
    if (parser_.iterate(json.data(), json.size(), json.size() + kPadding - 2).get(document)) {
      return false;
    }
    Object object;
    if (document.get_object().get(object)) return false;
    return parse_event(object, window) && at_end(document);
  }

 private:
  using Object = simdjson::ondemand::object;
  using Value = simdjson::ondemand::value;

  static bool at_end(simdjson::ondemand::document& document) {
    return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
  }

  bool parse_event(Object& object, Window& window) {
    RawEvent event;
    std::uint32_t seen = 0;
    values_.clear();
    for (auto field : object) {
      simdjson::ondemand::raw_json_string key;
      if (field.key().get(key)) return false;
      Value value;
      if (field.value().get(value)) return false;
      if (event.offset == 0) {
        event.offset = stream_ + static_cast<std::uint64_t>(key.raw() - base_);
      }
      if (!take(key.raw(), value, event, seen)) return false;
    }
    if (event.offset != 0) note_length(event.offset, window);
    // Keys come in any order, so the event is complete only now.
    for (const Held& held : values_) keep_value(event, held.key, held.value, window);
    keep_event(event, window);
    return true;
  }

  // `offset` is the start of the next event. Unwanted values are skipped by their brackets alone,
  // so one extra bracket swallows the following events.
  void note_length(std::uint64_t offset, Window& window) {
    constexpr std::uint64_t kLong = 2048;
    if (offset > last_offset_ + kLong) window.note_long(last_offset_, offset);
    last_offset_ = offset;
  }

  static bool is(const char* key, std::string_view name) {
    return std::memcmp(key, name.data(), name.size()) == 0 && key[name.size()] == '"';
  }

  // True the first time key `bit` occurs in this event.
  static bool first(std::uint32_t bit, std::uint32_t& seen, RawEvent& event) {
    const std::uint32_t mask = std::uint32_t{1} << bit;
    if ((seen & mask) != 0) event.duplicate = true;
    const bool is_first = (seen & mask) == 0;
    seen |= mask;
    return is_first;
  }

  static std::string_view token(Value& value) { return value.raw_json_token(); }

  // A string without quotes; unescaped only if needed. False if malformed.
  static bool text(Value& value, std::string_view& text) {
    std::string_view raw = value.raw_json_token();
    if (raw.empty() || raw.front() != '"') {
      text = raw;
      return true;
    }
    if (std::memchr(raw.data(), '\\', raw.size()) != nullptr) {
      return value.get_string().get(text) == simdjson::SUCCESS;
    }
    raw.remove_prefix(1);
    while (!raw.empty() && raw.back() != '"') raw.remove_suffix(1);
    if (raw.empty()) return false;
    raw.remove_suffix(1);
    text = raw;
    return true;
  }

  bool take(const char* key, Value& value, RawEvent& event, std::uint32_t& seen) {
    switch (key[0]) {
      case 'p':
        if (is(key, "ph")) {
          if (first(0, seen, event)) event.phase = phase_of(token(value));
        } else if (is(key, "pid") && first(1, seen, event)) {
          event.pid = token(value);
        }
        return true;
      case 't':
        if (is(key, "ts") && first(2, seen, event)) event.ts = token(value);
        if (is(key, "tid") && first(3, seen, event)) event.tid = token(value);
        return true;
      case 'd':
        if (is(key, "dur") && first(4, seen, event)) event.dur = token(value);
        return true;
      case 'n':
        return !is(key, "name") || !first(5, seen, event) || text(value, event.name);
      case 'c':
        return !is(key, "cat") || !first(6, seen, event) || take_category(value, event);
      case 'i':
        if (is(key, "id") && first(7, seen, event)) event.id = token(value);
        if (is(key, "id2") && first(7, seen, event)) return take_id(value, event);
        return true;
      case 'a':
        return !is(key, "args") || !first(8, seen, event) || take_args(value, event);
      default:
        return true;
    }
  }

  // {"local": "0x7"}: its text as a whole is used as the id.
  static bool take_id(Value& value, RawEvent& event) {
    Object object;
    if (value.get_object().get(object)) return true;
    return object.raw_json().get(event.id) == simdjson::SUCCESS;
  }

  // A letter in quotes; 0 for anything else.
  static char phase_of(std::string_view raw) {
    return raw.size() >= 3 && raw[0] == '"' && raw[1] != '\\' && raw[2] == '"' ? raw[1] : '\0';
  }

  // A file has few categories: each is looked up once, then recognised by its bytes.
  bool take_category(Value& value, RawEvent& event) {
    const std::string_view raw = token(value);
    Known& known = known_[word(raw.data()) * 0x9E3779B97F4A7C15 >> 60];
    if (known.length != 0 && raw.size() >= known.length &&
        std::memcmp(raw.data(), known.quoted, known.length) == 0) {
      event.category = known.category;
      return true;
    }
    std::string_view name;
    if (!text(value, name)) return false;
    event.category = category_of(name);
    if (raw.front() != '"' || name.data() != raw.data() + 1) return true;
    known.length = name.size() + 2 <= sizeof known.quoted ? name.size() + 2 : 0;
    std::memcpy(known.quoted, raw.data(), known.length);
    known.category = event.category;
    return true;
  }

  // An argument that may be a counter's value. Nested in this class, so that the vector's code is
  // separate for each instruction set.
  struct Held {
    std::string_view key;
    std::string_view value;
  };

  bool take_args(Value& value, RawEvent& event) {
    const Wanted wanted = wanted_args(event.category, event.phase);
    if (wanted == kWantNothing) return true;
    Object object;
    if (value.get_object().get(object)) return true;  // Some writers use a list or null.
    if (wanted == kWantStack) {
      // Few operators have a stack: skipping all args at once is faster than field by field.
      std::string_view raw;
      if (object.raw_json().get(raw)) return false;
      event.inputs = raw;
      constexpr std::string_view kKey = "\"Call stack\"";
      if (memmem(raw.data(), raw.size(), kKey.data(), kKey.size()) == nullptr) return true;
      if (object.reset().error() != simdjson::SUCCESS) return false;
    }
    std::uint64_t seen = 0;
    const bool values =
        event.category == Category::kRange || event.phase == 'C' || event.phase == 0;
    for (auto field : object) {
      simdjson::ondemand::raw_json_string key;
      if (field.key().get(key)) return false;
      Value argument;
      if (field.value().get(argument)) return false;
      if (!take_arg(key.raw(), argument, event, wanted, seen)) return false;
      // A call needs one field only; the rest is skipped at once.
      if (wanted == kWantCall && seen != 0) break;
      if (values) values_.push_back({name_of_key(key.raw()), token(argument)});
    }
    return true;
  }

  static std::string_view name_of_key(const char* key) {
    return {key, static_cast<std::size_t>(std::strchr(key, '"') - key)};
  }

  // The next 8 bytes as a number; every piece has padding behind it.
  static std::uint64_t word(const char* bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
  }

  // The first bytes of a key including its closing quote: distinguishes nearly all keys at once.
  struct Head {
    std::uint64_t mask = 0;
    std::uint64_t word = 0;

    explicit constexpr Head(std::string_view key) {
      std::array<unsigned char, 8> mask_bytes{};
      std::array<unsigned char, 8> bytes{};
      for (std::size_t i = 0; i < bytes.size() && i <= key.size(); ++i) {
        mask_bytes[i] = 0xFF;
        bytes[i] = static_cast<unsigned char>(i < key.size() ? key[i] : '"');
      }
      mask = std::bit_cast<std::uint64_t>(mask_bytes);
      word = std::bit_cast<std::uint64_t>(bytes);
    }
  };

  struct Argument {
    std::string_view key;
    std::string_view RawEvent::*member;
    Wanted least;
    bool is_text;
  };

  // Sorted by first letter, which distinguishes most keys.
  static constexpr Argument kArguments[] = {
      {"Call stack", &RawEvent::call_stack, kWantStack, true},
      {"Collective name", &RawEvent::collective, kWantDevice, true},
      {"Device Id", &RawEvent::memory_device, kWantAll, false},
      {"Group size", &RawEvent::group_size, kWantDevice, false},
      {"In msg nelems", &RawEvent::elements, kWantDevice, false},
      {"Process Group Name", &RawEvent::group, kWantDevice, true},
      {"Total Allocated", &RawEvent::allocated, kWantAll, false},
      {"bytes", &RawEvent::bytes, kWantDevice, false},
      {"correlation", &RawEvent::correlation, kWantCall, false},
      {"correlation_id", &RawEvent::correlation, kWantAll, false},
      {"cuda_sync_kind", &RawEvent::sync_kind, kWantAll, true},
      {"device", &RawEvent::device, kWantDevice, false},
      {"dtype", &RawEvent::element_type, kWantDevice, true},
      {"est. achieved occupancy %", &RawEvent::occupancy, kWantDevice, false},
      {"graph node id", &RawEvent::graph_node, kWantDevice, false},
      {"name", &RawEvent::label, kWantAll, true},
      {"size", &RawEvent::bytes, kWantDevice, false},
      {"stream", &RawEvent::stream, kWantDevice, false},
      {"wait_on_cuda_event_record_corr_id", &RawEvent::record_correlation, kWantAll, false},
      {"wait_on_stream", &RawEvent::awaited_stream, kWantAll, false},
  };

  // For each byte, the first argument that starts with it, or the number of arguments.
  static constexpr std::array<std::uint8_t, 256> kFirstWith = [] {
    std::array<std::uint8_t, 256> first{};
    first.fill(std::size(kArguments));
    for (std::size_t i = std::size(kArguments); i-- > 0;) {
      first[static_cast<unsigned char>(kArguments[i].key[0])] = static_cast<std::uint8_t>(i);
    }
    return first;
  }();

  static constexpr auto kHeads = [] {
    return []<std::size_t... i>(std::index_sequence<i...>) {
      return std::array{Head(kArguments[i].key)...};
    }
    (std::make_index_sequence<std::size(kArguments)>());
  }();

  bool take_arg(const char* key, Value& value, RawEvent& event, Wanted wanted,
                std::uint64_t& seen) {
    const std::uint64_t start = word(key);
    for (std::size_t i = kFirstWith[static_cast<unsigned char>(key[0])];
         i < std::size(kArguments) && kArguments[i].key[0] == key[0]; ++i) {
      if ((start & kHeads[i].mask) != kHeads[i].word) continue;
      const Argument& argument = kArguments[i];
      if (!wanted_here(argument.least, wanted) || !is(key, argument.key)) continue;
      const std::uint64_t bit = std::uint64_t{1} << i;
      if ((seen & bit) != 0) {
        event.duplicate = true;
        return true;
      }
      seen |= bit;
      if (argument.is_text) return text(value, event.*argument.member);
      event.*argument.member = token(value);
      return true;
    }
    return true;
  }

  static bool wanted_here(Wanted least, Wanted wanted) {
    return least == kWantStack ? wanted == kWantStack || wanted == kWantAll : least <= wanted;
  }

  simdjson::ondemand::parser parser_;
  std::vector<Held> values_;  // Of the current event.
  const char* base_ = nullptr;
  std::uint64_t stream_ = 0;       // Stream offset of `base_`.
  std::uint64_t last_offset_ = 0;  // Of the last event.
  struct Known {
    char quoted[40] = {};
    std::size_t length = 0;  // 0: none yet.
    Category category = Category::kUnknown;
  };
  Known known_[16];
};

}  // namespace amdahl::trace::kineto
