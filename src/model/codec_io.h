// codec_io.h: visitors over a type's list of fields: Writer, Reader, Counter. For codec*.cc only.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/units.h"
#include "model/codec.h"

// The list of fields is `template <class Io, Is<Noun> T> constexpr void fields(Io& io, T& noun)`,
// found by argument-dependent lookup. All of them are in codec_fields.h.
namespace amdahl::model {

template <class T, class Noun>
concept Is = std::same_as<std::remove_const_t<T>, Noun>;

template <class T>
concept Named = std::is_enum_v<T>;

inline bool read_name(std::string_view text, Bottleneck& out) {
  out = bottleneck_named(text);
  return out != Bottleneck::kUnknown || text == name(Bottleneck::kUnknown);
}

template <Named T>
bool take(std::optional<T> found, T& out) {
  if (found) out = *found;
  return found.has_value();
}
inline bool read_name(std::string_view text, Ending& out) { return take(ending_named(text), out); }
inline bool read_name(std::string_view text, Purpose& out) {
  return take(purpose_named(text), out);
}
inline bool read_name(std::string_view text, NeverRuns& out) {
  return take(never_runs_named(text), out);
}
inline bool read_name(std::string_view text, VerdictKind& out) {
  return take(verdict_named(text), out);
}
inline bool read_name(std::string_view text, Answer& out) { return take(answer_named(text), out); }
inline bool read_name(std::string_view text, Vote& out) { return take(vote_named(text), out); }

// Converts to any type. For unevaluated contexts only.
struct Anything {
  template <class T>
  operator T() const;
};

// Number of members of an aggregate: the most initialisers that it accepts.
template <class T, class... Members>
consteval std::size_t members_of() {
  if constexpr (requires { T{std::declval<Members>()..., std::declval<Anything>()}; }) {
    return members_of<T, Members..., Anything>();
  } else {
    return sizeof...(Members);
  }
}

// Counts the members that a list names, each once. Compares addresses, so it needs no object.
class Counter {
 public:
  template <class T>
  constexpr void operator()(const char*, const T& member) {
    const void* address = std::addressof(member);
    for (std::size_t i = 0; i < count_; ++i) {
      if (seen_[i] == address) return;
    }
    seen_[count_++] = address;
  }
  template <class T>
  constexpr void must(const char* name, const T& member) {
    (*this)(name, member);
  }
  template <class T>
  constexpr void brief(const char* name, const T& member) {
    (*this)(name, member);
  }

  constexpr std::size_t count() const { return count_; }

 private:
  std::array<const void*, 99> seen_{};
  std::size_t count_ = 0;
};

// Declared for its address only; never defined.
template <class Noun>
extern const Noun kNeverMade;

template <class Noun>
consteval std::size_t listed_of() {
  Counter counter;
  fields(counter, kNeverMade<Noun>);
  return counter.count();
}

class Writer {
 public:
  template <class T>
  void operator()(const char* name, const T& value) {
    out_[name] = write(value);
  }
  template <class T>
  void must(const char* name, const T& value) {
    out_[name] = write(value);
  }
  template <class T>
  void brief(const char* name, const T& value) {
    if (!(value == T{})) out_[name] = write(value);
  }

  Json finish() && { return std::move(out_); }

  static Json write(bool value) { return value; }
  static Json write(const std::string& value) { return value; }
  static Json write(Nanos value) { return value.count(); }
  template <std::integral T>
  static Json write(T value) {
    return value;
  }
  static Json write(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
  }
  template <Named T>
  static Json write(T value) {
    return std::string(name(value));
  }
  template <class T>
  static Json write(const std::optional<T>& value) {
    return value ? write(*value) : Json(nullptr);
  }
  // Written as the bare value. An absent value is written as it was before this type existed.
  template <class T>
  static Json write(const Observed<T>& value) {
    if (value.has_value()) return write(*value);
    const bool unreadable = value.sight() == Sight::kUnreadable;
    if (unreadable || !value.why().empty()) {
      return {{unreadable ? "unreadable" : "absent", value.why()}};
    }
    return std::same_as<T, std::string> ? Json("") : Json(nullptr);
  }
  template <class T>
  static Json write(const std::vector<T>& values) {
    Json list = Json::array();
    for (const T& value : values) list.push_back(write(value));
    return list;
  }
  // Utilisation as integer per mille, null where it was not observed: keeps a receipt of an hour
  // small.
  static Json write(const std::vector<float>& values) {
    Json list = Json::array();
    for (const float value : values) {
      const bool known = std::isfinite(value) && std::abs(value) < 1e6F;
      list.push_back(known ? Json(std::lround(value * 1000.0F)) : Json(nullptr));
    }
    return list;
  }
  template <class T>
  static Json write(const std::map<std::string, T>& values) {
    Json object = Json::object();
    for (const auto& [key, value] : values) object[key] = write(value);
    return object;
  }
  template <class T>
  requires std::is_class_v<T>
  static Json write(const T& noun) {
    static_assert(listed_of<T>() == members_of<T>(),
                  "a member of this noun is not in its list of fields: add it to codec_fields.h");
    Writer inner;
    fields(inner, noun);
    return std::move(inner).finish();
  }

 private:
  Json out_ = Json::object();
};

// Stops at the first error; later calls do nothing.
class Reader {
 public:
  template <class T>
  void operator()(const char* name, T& out) {
    field(name, out, false);
  }
  template <class T>
  void must(const char* name, T& out) {
    field(name, out, true);
  }
  template <class T>
  void brief(const char* name, T& out) {
    field(name, out, false);
  }

  const std::string& problem() const { return problem_; }

  void fail(std::string why) {
    if (problem_.empty()) problem_ = path_.empty() ? std::move(why) : path_ + ": " + why;
  }

  void read(const Json& json, bool& out) {
    if (is(json, json.is_boolean(), "boolean")) out = json.get<bool>();
  }
  void read(const Json& json, std::string& out) {
    if (is(json, json.is_string(), "string")) out = json.get_ref<const std::string&>();
  }
  void read(const Json& json, Nanos& out) {
    std::int64_t count = 0;
    read(json, count);
    out = Nanos{count};
  }
  template <std::integral T>
  void read(const Json& json, T& out) {
    if (!is(json, json.is_number_integer(), "integer")) return;
    const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                                : std::in_range<T>(json.get<std::int64_t>());
    if (!fits) return fail("the number " + json.dump() + " is out of range");
    out = json.get<T>();
  }
  void read(const Json& json, double& out) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (json == "nan") {
      out = std::numeric_limits<double>::quiet_NaN();
    } else if (json == "inf" || json == "-inf") {
      out = json == "inf" ? kInfinity : -kInfinity;
    } else if (is(json, json.is_number(), "number")) {
      out = json.get<double>();
    }
  }
  template <Named T>
  void read(const Json& json, T& out) {
    if (!is(json, json.is_string(), "string")) return;
    if (!read_name(json.get_ref<const std::string&>(), out)) {
      fail("unknown name " + dump_json(json));
    }
  }
  template <class T>
  void read(const Json& json, std::optional<T>& out) {
    out.reset();
    if (json.is_null()) return;
    T value{};
    read(json, value);
    out = std::move(value);
  }
  template <class T>
  void read(const Json& json, Observed<T>& out) {
    const auto why = [&](const char* sight, auto make) {
      if (!json.is_object() || !json.contains(sight)) return false;
      std::string text;
      within(sight, [&] { read(json.at(sight), text); });
      out = make(std::move(text));
      return true;
    };
    if (why("absent", Observed<T>::absent) || why("unreadable", Observed<T>::unreadable)) return;
    std::optional<T> value;
    read(json, value);
    out = std::move(value);
  }
  template <class T>
  void read(const Json& json, std::vector<T>& out) {
    if (!is(json, json.is_array(), "array")) return;
    out.clear();
    out.reserve(json.size());
    for (const Json& item : json) {
      T value{};
      within(std::to_string(out.size()), [&] { read(item, value); });
      out.push_back(std::move(value));
    }
  }
  void read(const Json& json, std::vector<float>& out) {
    std::vector<std::optional<int>> permille;
    read(json, permille);
    out.clear();
    out.reserve(permille.size());
    for (const std::optional<int>& value : permille) {
      out.push_back(value ? static_cast<float>(*value) / 1000.0F
                          : std::numeric_limits<float>::quiet_NaN());
    }
  }
  template <class T>
  void read(const Json& json, std::map<std::string, T>& out) {
    if (!is(json, json.is_object(), "object")) return;
    out.clear();
    for (const auto& item : json.items()) {
      within(item.key(), [&] { read(item.value(), out[item.key()]); });
    }
  }
  template <class T>
  requires std::is_class_v<T>
  void read(const Json& json, T& noun) {
    if (!is(json, json.is_object(), "object")) return;
    const Json* outer = std::exchange(here_, &json);
    fields(*this, noun);
    here_ = outer;
  }

 private:
  bool is(const Json& json, bool right, const char* wanted) {
    if (!right) fail(std::string("type must be ") + wanted + ", but is " + json.type_name());
    return right;
  }
  template <class Body>
  void within(std::string_view name, const Body& body) {
    const std::size_t length = path_.size();
    path_ += '/';
    path_ += name;
    body();
    path_.resize(length);
  }
  template <class T>
  void field(const char* name, T& out, bool must) {
    if (!problem_.empty()) return;
    const auto found = here_->find(name);
    within(name, [&] {
      if (found != here_->end()) return read(*found, out);
      if (must) fail("is missing");
    });
  }

  const Json* here_ = nullptr;
  std::string path_;
  std::string problem_;
};

template <class Noun>
Json encode(const Noun& noun) {
  return Writer::write(noun);
}

template <class Noun>
Result<Noun> decode(const Json& json) {
  Reader reader;
  Noun noun;
  try {
    reader.read(json, noun);
  } catch (const Json::exception& e) {  // A bug: the Reader checks types before it reads.
    return bad_input(e.what());
  }
  if (!reader.problem().empty()) return bad_input(reader.problem());
  return noun;
}

template <class Noun>
Result<Noun> decode_text(std::string_view text) {
  return decode<Noun>(TRY(parse_json(text)));
}

}  // namespace amdahl::model
