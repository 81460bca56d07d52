#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "hypothesize/knob.h"
#include "hypothesize/operation.h"
#include "hypothesize/playbook.h"
#include "model/plan.h"

namespace amdahl::hypothesize {
namespace {

using Kind = Operation::Kind;

// Variables with a list value: an item is appended, or replaces the one with its name.
struct ListVariable {
  std::string_view name;
  char between;
};

constexpr auto kListVariables = std::to_array<ListVariable>({
    {"LD_PRELOAD", ':'},
    {"GLIBC_TUNABLES", ':'},
    {"PYTORCH_CUDA_ALLOC_CONF", ','},
    {"XLA_FLAGS", ' '},
});

// Number formats under the names that programs give them.
constexpr std::array<std::array<std::string_view, 3>, 3> kSameMeaning = {{
    {"bf16", "bfloat16", "bf16-mixed"},
    {"fp16", "float16", "half"},
    {"fp32", "float32", "float"},
}};

std::string_view item_name(std::string_view item) {
  return item.substr(0, item.find_first_of("=:"));
}

std::string with_item(std::string_view list, char between, std::string_view item) {
  std::vector<std::string> items;
  const auto same = [&](std::string_view other) {
    if (other == item) return true;
    const std::string_view name = item_name(item);
    return name != item && name == item_name(other);
  };
  for (const std::string_view other : split(list, between)) {
    if (!other.empty() && !same(other)) items.emplace_back(other);
  }
  items.emplace_back(item);
  return join(items, std::string_view(&between, 1));
}

std::string merged(const std::string& variable, const Present& present, const std::string& value) {
  const auto list = std::ranges::find(kListVariables, variable, &ListVariable::name);
  if (list == kListVariables.end() || present.value.empty()) return value;
  return with_item(present.value, list->between, value);
}

std::string replaced(std::string text, std::string_view what, int count) {
  const std::string number = std::to_string(count);
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), number);
  }
  return text;
}

// The inputs of a template's resolution, and its result so far.
class Resolver {
 public:
  Resolver(const Entry& entry, const model::Spec& spec, const model::Change& baseline)
      : entry_(entry), spec_(spec), baseline_(baseline) {
    accelerators_ = accelerators_of(spec, baseline);
  }

  Result<model::Change> run() {
    for (const auto& [name, text] : entry_.resources) TRY(resource(text));
    for (const auto& [name, text] : entry_.knobs) TRY(knob(name, text));
    for (const auto& [name, value] : entry_.env) variable(name, value);
    if (!entry_.wrap.empty() && !is_wrapped()) change_.wrap = entry_.wrap;
    for (const auto& [fix, value] : entry_.inject) change_.inject[fix] = counted(value);
    if (model::is_empty(model::canonical(spec_, baseline_, change_))) {
      return bad_input(reason_.empty() ? "the job already has all of it" : reason_);
    }
    return change_;
  }

 private:
  // The CPUs in the plan of the changed job.
  int cpus() const {
    model::Change count;
    count.accelerators = accelerators_;
    const Result<model::Plan> plan = model::make_plan(spec_, count);
    return plan ? plan->cpus : accelerators_;
  }

  Result<> resource(const std::string& text) {
    const Operation operation = TRY(parse_operation(text));
    const int before = accelerators_;
    if (operation.kind == Kind::kSet) {
      accelerators_ = std::max(1, to_number<int>(operation.text).value_or(before));
    } else {
      const auto after = calculate(operation, before, {.min = 1, .max = std::nullopt});
      if (after) accelerators_ = static_cast<int>(*after);
    }
    // An entry may only release accelerators: more of them would not be a saving.
    if (accelerators_ >= before) {
      accelerators_ = before;
      return bad_input(fmt::format("the job has {} accelerator{} and cannot release any", before,
                                   before == 1 ? "" : "s"));
    }
    change_.accelerators = accelerators_;
    return Ok{};
  }

  Result<> knob(const std::string& name, const std::string& text) {
    const auto found = spec_.knobs.find(name);
    if (found == spec_.knobs.end()) {
      return bad_input(fmt::format("the job has no knob {}", name));
    }
    const model::Knob& knob = found->second;
    if (knob.effect == "semantic") {
      return bad_input(
          fmt::format("knob {} changes the results (effect = \"semantic\" in the spec)", name));
    }
    const Operation operation = TRY(parse_operation(text).in(name));
    const Present present = present_of(spec_, baseline_, knob);
    if (operation.kind == Kind::kOn || operation.kind == Kind::kOff) {
      const auto value = switched(knob, present, operation.kind == Kind::kOn);
      const bool same = value ? present.set && present.value == *value : !present.set;
      return same ? already(name, value.value_or("off")) : put(knob, name, value);
    }
    const std::string value = TRY(value_for(operation, knob, name, present));
    if (present.set && present.value == value) return already(name, value);
    return put(knob, name, value);
  }

  Result<std::string> value_for(const Operation& operation, const model::Knob& knob,
                                const std::string& name, const Present& present) {
    const auto number = to_number<double>(present.value);
    switch (operation.kind) {
      case Kind::kSet:
        return within(knob, name, as_the_program_says(knob, operation.text));
      case Kind::kAccelerators:
        return within(knob, name, std::to_string(accelerators_));
      case Kind::kCpus:
        return within(knob, name, std::to_string(cpus()));
      default:
        break;
    }
    if (!number) {
      return bad_input(fmt::format("the current value of knob {} is {}, not a number", name,
                                   present.value.empty() ? "unknown" : present.value));
    }
    const auto result = calculate(operation, *number, {knob.min, knob.max});
    return result ? spell(*result) : present.value;
  }

  // The playbook's word, or a synonym that the program accepts.
  static std::string as_the_program_says(const model::Knob& knob, const std::string& word) {
    const auto takes = [&](std::string_view other) {
      return std::ranges::find(knob.choices, other) != knob.choices.end();
    };
    if (knob.choices.empty() || takes(word)) return word;
    for (const auto& meaning : kSameMeaning) {
      if (std::ranges::find(meaning, word) == meaning.end()) continue;
      const auto found = std::ranges::find_if(meaning, takes);
      if (found != meaning.end()) return std::string(*found);
    }
    return word;
  }

  static Result<std::string> within(const model::Knob& knob, const std::string& name,
                                    const std::string& value) {
    const auto number = to_number<double>(value);
    if (!knob.choices.empty() && std::ranges::find(knob.choices, value) == knob.choices.end()) {
      return bad_input(
          fmt::format("knob {} takes {}, not {}", name, join(knob.choices, ", "), value));
    }
    if (number && ((knob.min && *number < *knob.min) || (knob.max && *number > *knob.max))) {
      return bad_input(fmt::format("{} is outside the bounds of knob {} ({} to {})", value, name,
                                   knob.min ? spell(*knob.min) : "any",
                                   knob.max ? spell(*knob.max) : "any"));
    }
    return value;
  }

  Result<> put(const model::Knob& knob, const std::string& name,
               const std::optional<std::string>& value) {
    if (set_knob(knob, value, change_)) return Ok{};
    return bad_input(fmt::format("the spec has no flag, variable or key for knob {}", name));
  }

  Result<> already(const std::string& name, const std::string& value) {
    reason_ =
        fmt::format("knob {} is already at its limit ({})", name, value.empty() ? "on" : value);
    return Ok{};
  }

  std::string counted(const std::string& text) const {
    return replaced(replaced(text, "{accelerators}", accelerators_), "{cpus}", cpus());
  }

  void variable(const std::string& name, const std::string& text) {
    const Present present = present_of(spec_, baseline_, name);
    const std::string value = merged(name, present, counted(text));
    if (!present.set || present.value != value) change_.env[name] = value;
  }

  // Whether the command is already started through the template's program, in whatever way.
  bool is_wrapped() const {
    const std::string& program = entry_.wrap.front();
    return std::ranges::find(baseline_.wrap, program) != baseline_.wrap.end() ||
           (!spec_.command.empty() && spec_.command.front() == program);
  }

  const Entry& entry_;
  const model::Spec& spec_;
  const model::Change& baseline_;
  int accelerators_ = 1;  // After the change.
  model::Change change_;
  std::string reason_;  // Why there was nothing to do.
};

}  // namespace

std::optional<model::Change> resolve(const Entry& entry, const model::Spec& spec,
                                     const model::Change& baseline, std::string& because) {
  Result<model::Change> change = Resolver(entry, spec, baseline).run();
  if (change) return *std::move(change);
  because = change.error().text;
  return std::nullopt;
}

std::vector<Entry> by_value(const Entry& entry) {
  std::vector<Entry> entries{entry};
  for (const std::string& value : entry.race) {
    Entry& other = entries.emplace_back(entry);
    for (auto* settings : {&other.knobs, &other.env, &other.inject}) {
      for (auto& [name, setting] : *settings) setting = value;
    }
  }
  return entries;
}

std::optional<model::Change> resolve(const Entry& entry, const model::Spec& spec,
                                     const model::Change& baseline) {
  std::string because;
  return resolve(entry, spec, baseline, because);
}

}  // namespace amdahl::hypothesize
