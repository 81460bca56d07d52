#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/spec.h"

namespace amdahl::model {
namespace {

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      quoted += fmt::format("\\u{:04X}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::string quote_list(const std::vector<std::string>& texts) {
  std::string list = "[";
  for (const std::string& text : texts) {
    if (list.size() > 1) list += ", ";
    list += quote(text);
  }
  return list + "]";
}

std::string number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) {
    return fmt::format("{}", static_cast<std::int64_t>(value));
  }
  const std::string text = fmt::format("{}", value);
  return text;
}

std::string direction(bool lower) { return quote(lower ? "lower" : "higher"); }

// Lines of "key = value", without empty and default values.
class Page {
 public:
  void line(std::string_view key, const std::string& value) {
    text_ += fmt::format("{} = {}\n", key, value);
  }
  void text(std::string_view key, const std::string& value) {
    if (!value.empty()) line(key, quote(value));
  }
  void texts(std::string_view key, const std::vector<std::string>& values) {
    if (!values.empty()) line(key, quote_list(values));
  }
  void maybe(std::string_view key, const std::optional<double>& value) {
    if (value) line(key, number(*value));
  }
  void head(const std::string& title) { text_ += fmt::format("\n{}\n", title); }
  std::string finish() && { return std::move(text_); }

 private:
  std::string text_;
};

// {"--split" = "small"} on one line, so that it stays with its row.
void write_table(Page& page, std::string_view key, const std::map<std::string, std::string>& all) {
  if (all.empty()) return;
  std::vector<std::string> words;
  for (const auto& [name, value] : all) words.push_back(quote(name) + " = " + quote(value));
  page.line(key, fmt::format("{{ {} }}", fmt::join(words, ", ")));
}

void write_measures(Page& page, const Spec& spec) {
  page.head("[metric]");
  page.line("name", quote(spec.metric));
  page.line("direction", direction(spec.lower_is_better));
  page.head("[work]");
  page.line("unit", quote(spec.work_unit));
  page.text("pattern", spec.work_pattern);
  page.maybe("fixed", spec.fixed_work);
  for (const Output& output : spec.outputs) {
    page.head("[[outputs]]");
    page.line("path", quote(output.path));
    page.line("digest", output.digest ? "true" : "false");
  }
  for (const Quality& quality : spec.quality) {
    page.head("[[quality]]");
    page.line("name", quote(quality.name));
    page.line("tolerance", number(quality.tolerance));
    page.line("direction", direction(!quality.higher_is_better));
    page.text("pattern", quality.pattern);
  }
}

}  // namespace

std::string to_toml(const Spec& spec) {
  Page page;
  page.line("family", quote(spec.family));
  page.line("command", quote_list(spec.command));
  page.text("workdir", spec.workdir);
  page.text("repo", spec.repo);
  page.texts("build", spec.build);
  page.texts("check", spec.check);
  page.texts("paths", spec.paths);
  page.texts("deny", spec.deny);
  if (spec.network) page.line("network", "true");
  if (spec.layout.nodes > 1) page.line("nodes", fmt::format("{}", spec.layout.nodes));
  if (spec.layout.tasks_per_node > 1) {
    page.line("tasks_per_node", fmt::format("{}", spec.layout.tasks_per_node));
  }
  page.line("accelerators", fmt::format("{}", spec.accelerators));
  page.line("cpus", fmt::format("{}", spec.cpus));
  page.line("time_limit_s", number(static_cast<double>(spec.time_limit.count()) / 1e9));
  page.maybe("memory_limit_mb", spec.memory_limit_mb);
  page.line("pairing", quote(spec.pairing));
  page.texts("inputs", spec.inputs);
  if (!spec.env.empty()) page.head("[env]");
  for (const auto& [name, value] : spec.env) page.line(quote(name), quote(value));
  write_measures(page, spec);
  for (const auto& [name, knob] : spec.knobs) {
    page.head(fmt::format("[knobs.{}]", name));
    page.text("arg", knob.arg);
    page.texts("aliases", knob.aliases);
    page.text("env", knob.env);
    page.text("config", knob.config);
    page.text("value", knob.value);
    page.maybe("min", knob.min);
    page.maybe("max", knob.max);
    page.text("on", knob.on);
    page.text("off", knob.off);
    page.texts("choices", knob.choices);
    page.text("effect", knob.effect);
  }
  for (const Stratum& stratum : spec.strata) {
    page.head("[[strata]]");
    page.line("name", quote(stratum.name));
    page.line("weight", number(stratum.weight));
    if (stratum.size > 0) page.line("size", number(stratum.size));
    write_table(page, "env", stratum.env);
    write_table(page, "args", stratum.args);
  }
  return std::move(page).finish();
}

}  // namespace amdahl::model
