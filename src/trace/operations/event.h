// event.h: a Chrome event of an operation timeline, from the calls of a JSON parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace amdahl::trace::operations {

// Fields that the file has, of those that are asked for.
struct Event {
  std::string phase;
  std::string name;
  std::string category;
  std::string label;  // args.name of a metadata event.
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> tid;
  std::optional<std::int64_t> start;     // Nanoseconds.
  std::optional<std::int64_t> duration;  // Likewise.
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> chunk;
  std::optional<std::int64_t> stage;
};

// Gives each event of a list to `take`. Numbers are read from their text: no time becomes a float.
class EventSink : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit EventSink(std::function<void(const Event&)> take) : take_{std::move(take)} {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override { return token(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return token(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return token(text); }
  bool string(string_t& text) override { return token(text); }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override;
  bool key(string_t& text) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override;

 private:
  bool token(const std::string& text);

  std::function<void(const Event&)> take_;
  Event event_;
  std::string key_;  // At depth 2 and 3.
  std::size_t depth_ = 0;
  bool in_args_ = false;  // The object at depth 3 is the event's args.
};

}  // namespace amdahl::trace::operations
