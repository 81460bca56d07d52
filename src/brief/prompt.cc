#include <algorithm>
#include <array>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/shown.h"
#include "base/text.h"
#include "brief/brief.h"

namespace amdahl::brief {
namespace {

constexpr std::size_t kOneLine = 200;

bool is_plain(const Json& value) { return !value.is_structured(); }

std::string show(const Json& value) {
  if (value.is_null()) return "unknown";
  if (!value.is_string()) return value.dump();
  return value.get<std::string>();
}

// All on one line, if it is short and flat, or nothing but numbers; else empty.
std::string on_one_line(const Json& value) {
  const bool numbers =
      std::ranges::all_of(value, [](const Json& item) { return item.is_number(); });
  std::string text;
  for (const auto& [key, item] : value.items()) {
    if (!is_plain(item)) return "";
    const std::string shown = show(item);
    if (shown.find('\n') != std::string::npos) return "";
    text += fmt::format("{}{}{}", text.empty() ? "" : "; ",
                        value.is_object() ? key + " " : std::string(), shown);
    if (text.size() > kOneLine && !numbers) return "";
  }
  return text;
}

// Indented lines of a value, each marked as data. A line break of the data starts a marked line.
class Drawing {
 public:
  std::string text;

  void line(int depth, std::string_view words) {
    for (const std::string_view part : split(words, '\n')) {
      std::string clean(part);
      std::erase(clean, '\r');
      text += fmt::format("| {:{}}{}\n", "", 2 * depth, harmless(clean));
    }
  }

  void draw(int depth, const std::string& key, const Json& value) {
    if (value.is_structured() && value.empty()) return;
    const std::string head = key.empty() ? "- " : key + ": ";
    if (is_plain(value)) {
      const std::string shown = show(value);
      if (shown.find('\n') == std::string::npos) return line(depth, head + shown);
      line(depth, key.empty() ? "-" : key + ":");
      return line(depth + 1, trim_end(shown));
    }
    if (const std::string flat = on_one_line(value); !flat.empty()) {
      return line(depth, head + flat);
    }
    line(depth, key.empty() ? "-" : key + ":");
    for (const auto& [name, item] : value.items()) {
      draw(depth + 1, value.is_object() ? name : "", item);
    }
  }

 private:
  static std::string_view trim_end(std::string_view text) {
    return text.ends_with('\n') ? text.substr(0, text.size() - 1) : text;
  }
};

constexpr std::array<const char*, 11> kEvidenceOrder{"job",        "anatomy", "causes",  "findings",
                                                     "code",       "files",   "threads", "knobs",
                                                     "injections", "missing", "profile"};

}  // namespace

std::string prompt(const Json& packet) {
  std::string text = packet.at("task").get<std::string>() + "\n\nRules:\n";
  for (const Json& rule : packet.at("rules")) {
    text += fmt::format("- {}\n", rule.get<std::string>());
  }
  Drawing drawing;
  for (const char* section : kEvidenceOrder) {
    if (packet.at("evidence").contains(section)) {
      drawing.draw(0, section, packet.at("evidence").at(section));
    }
  }
  drawing.draw(0, "memory", packet.at("memory"));
  drawing.draw(0, "left_out", packet.at("left_out"));
  text += "\n" + drawing.text + "\nMore detail on request, for those who can run commands:\n";
  for (const Json& command : packet.at("more")) {
    text += fmt::format("- {}\n", command.get<std::string>());
  }
  return text + "\nAnswer with one JSON object of this schema and nothing else:\n" +
         packet.at("answer_schema").dump() + "\n";
}

// Tokenizers take about 3.2 bytes of a brief for a token (docs/format/brief.md).
std::int64_t tokens_in(std::string_view text) {
  return static_cast<std::int64_t>((2 * text.size() + 4) / 5);
}

}  // namespace amdahl::brief
