// Conditions of the Python rules beyond a name.
#include "code/looks_python.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"
#include "code/hoist.h"
#include "code/looks.h"

namespace amdahl::code::python {
namespace {

bool has_word(std::string_view text, std::string_view word) { return text.find(word) != text.npos; }

// What a DataLoader takes by its place as well.
constexpr std::size_t kWorkersAt = 5;
constexpr std::size_t kPinAt = 7;

const Argument* given(const Site& site, std::string_view keyword, std::size_t place) {
  const Argument* named = argument(site, keyword);
  return named != nullptr ? named : argument_at(site, place);
}

// Whether the loader has workers; an expression may give some.
bool may_have_workers(const Subject& subject) {
  const Argument* workers = given(subject.site, "num_workers", kWorkersAt);
  return workers != nullptr && workers->text != "0";
}

bool is_logging(const Site& site) {
  if (site.receiver.empty()) return site.name == "print";
  // What a log is asked, or is set to, writes nothing.
  constexpr auto kQuiet = std::to_array<std::string_view>(
      {"fileno", "close", "append", "extend", "getLogger", "setLevel", "isEnabledFor", "addHandler",
       "basicConfig", "items", "keys", "values", "get", "clear", "tell", "seek"});
  if (std::ranges::find(kQuiet, site.name) != kQuiet.end()) return false;
  constexpr auto kCalls = std::to_array<std::string_view>(
      {"add_scalar", "add_scalars", "log_metric", "log_metrics", "log_dict", "log_scalar"});
  if (std::ranges::find(kCalls, site.name) != kCalls.end()) return true;
  const std::string to = lower(last_receiver(site));
  constexpr auto kWriters = std::to_array<std::string_view>(
      {"wandb", "mlflow", "tqdm", "tensorboard", "stdout", "stderr"});
  if (std::ranges::find(kWriters, to) != kWriters.end()) return true;
  if ((site.name == "write" || site.name == "writelines" || site.name == "flush") &&
      (has_word(to, "file") || has_word(to, "writer") || has_word(to, "out"))) {
    return true;
  }
  // logits and log_probs are no logs.
  return to == "log" || to == "logs" || has_word(to, "logger") || to == "logging" ||
         to.ends_with("_log");
}

bool is_of_tensor(const Site& site) {
  if (site.receiver.empty()) return false;
  constexpr auto kNot = std::to_array<std::string_view>({"math", "np", "numpy", "os", "json"});
  return std::ranges::find(kNot, last_receiver(site)) == kNot.end();
}

// Whether the value goes into a log: log(y.item()), or x = y.item() and later log(x), in the same
// function and near.
bool is_logged(const Subject& subject) {
  constexpr std::size_t kBefore = 30;
  constexpr std::size_t kAfter = 400;
  const Site& at = subject.site;
  const auto& sites = subject.facts.sites;
  const auto place = static_cast<std::size_t>(&at - sites.data());
  for (std::size_t i = place - std::min(place, kBefore); i < place; ++i) {
    const bool around = sites[i].kind == SiteKind::kCall && sites[i].range.end >= at.range.end;
    if (around && is_logging(sites[i])) return true;
  }
  const std::string_view statement = subject.facts.bytes.substr(
      at.statement.begin, std::min<std::size_t>(at.statement.end - at.statement.begin, 200));
  const std::string_view name = trim(statement.substr(0, statement.find_first_of("=(")));
  if (!is_plain_name(name) || !has_word(statement, "=")) return false;
  for (std::size_t i = place + 1; i < std::min(sites.size(), place + kAfter); ++i) {
    if (sites[i].function != at.function || !is_logging(sites[i])) continue;
    const bool takes_it = std::ranges::any_of(sites[i].arguments, [&](const Argument& given) {
      return has_word(given.text.substr(0, 200), name);
    });
    if (takes_it) return true;
  }
  return false;
}

// The name of a device in the source: a literal, or a variable that was set to one.
bool is_accelerator(const Subject& subject, std::string_view text) {
  if (has_word(text, "cuda") || has_word(text, "xpu")) return true;
  if (text != "device" && text != "self.device") return false;
  constexpr std::size_t kMost = 5000;
  for (const Site& site :
       std::span(subject.facts.sites).first(std::min(kMost, subject.facts.sites.size()))) {
    if (site.range.begin > subject.site.range.begin) break;
    if (site.kind != SiteKind::kAssign || site.callee != text || site.arguments.empty()) continue;
    return has_word(site.arguments.front().text, "cuda");
  }
  return false;
}

// Whether it is in a function that saves state.
bool is_saving(const Subject& subject) {
  if (subject.site.function < 0) return false;
  const auto in = static_cast<std::size_t>(subject.site.function);
  const std::string_view name = subject.facts.functions[in].name;
  return has_word(name, "save") || has_word(name, "checkpoint");
}

}  // namespace

std::optional<Match> loader_workers(const Subject& subject) {
  const Argument* workers = given(subject.site, "num_workers", kWorkersAt);
  if (workers != nullptr && is_number(workers->text) && workers->text != "0") return std::nullopt;
  // Workers of an iterable data set each give all of it: more of them is another program.
  const bool can_edit = !is_used(subject, "IterableDataset") && !subject.site.has_splat;
  if (workers == nullptr) {
    if (subject.site.has_splat) return Match{"its arguments are passed in from elsewhere", {}};
    Match match{"num_workers is not given, so it is 0", {}};
    if (can_edit) match.edits = add_keyword(subject, "num_workers", "4");
    return match;
  }
  Match match{fmt::format("num_workers is {}", clip(workers->text, 40)), {}};
  if (workers->text == "0" && can_edit) match.edits = replace(workers->range, "4");
  return match;
}

std::optional<Match> loader_persistent(const Subject& subject) {
  if (!may_have_workers(subject)) return std::nullopt;
  if (const Argument* given = argument(subject.site, "persistent_workers"); given != nullptr) {
    if (given->text == "True") return std::nullopt;
    return Match{fmt::format("persistent_workers is {}", clip(given->text, 40)), {}};
  }
  if (subject.site.has_splat) return std::nullopt;
  const std::string_view workers = given(subject.site, "num_workers", kWorkersAt)->text;
  Match match{"persistent_workers is not given", {}};
  if (is_number(workers)) match.edits = add_keyword(subject, "persistent_workers", "True");
  if (!is_number(workers) && is_plain_name(workers)) {
    match.edits = add_keyword(subject, "persistent_workers", fmt::format("{} > 0", workers));
  }
  return match;
}

std::optional<Match> loader_prefetch(const Subject& subject) {
  if (!may_have_workers(subject)) return std::nullopt;
  const Argument* given = argument(subject.site, "prefetch_factor");
  if (given == nullptr && subject.site.has_splat) return std::nullopt;
  if (given == nullptr) return Match{"prefetch_factor is not given, so it is 2", {}};
  if (given->text == "1" || given->text == "2" || !is_number(given->text)) {
    return Match{fmt::format("prefetch_factor is {}", clip(given->text, 40)), {}};
  }
  return std::nullopt;
}

std::optional<Match> loader_pin(const Subject& subject) {
  const Argument* pin = given(subject.site, "pin_memory", kPinAt);
  if (pin != nullptr && pin->text == "True") return std::nullopt;
  if (pin != nullptr) {
    Match match{fmt::format("pin_memory is {}", clip(pin->text, 40)), {}};
    if (pin->text == "False") match.edits = replace(pin->range, "True");
    return match;
  }
  if (subject.site.has_splat) return std::nullopt;
  return Match{"pin_memory is not given", add_keyword(subject, "pin_memory", "True")};
}

std::optional<Match> logging(const Subject& subject) {
  if (!is_logging(subject.site) || is_saving(subject)) return std::nullopt;
  return Match{};
}

std::optional<Match> log_fsync(const Subject& subject) {
  if (is_saving(subject)) return std::nullopt;
  return Match{};
}

std::optional<Match> checkpoint_fsync(const Subject& subject) {
  if (!is_saving(subject)) return std::nullopt;
  return Match{};
}

std::optional<Match> range_check(const Subject& subject) {
  if (!subject.site.in_condition || !is_of_tensor(subject.site)) return std::nullopt;
  return Match{};
}

std::optional<Match> scalar_sync(const Subject& subject) {
  if (subject.site.in_condition || subject.site.receiver.empty()) return std::nullopt;
  if (!subject.site.arguments.empty() && subject.site.name != "item") return std::nullopt;
  if (is_logged(subject)) return std::nullopt;
  return Match{};
}

std::optional<Match> logged_scalar(const Subject& subject) {
  if (subject.site.in_condition || subject.site.receiver.empty() || !is_logged(subject)) {
    return std::nullopt;
  }
  return Match{};
}

// Waiting does not change results, except for asynchronous copies and timers.
std::optional<Match> synchronize(const Subject& subject) {
  Match match;
  const bool is_cuda = subject.site.callee.ends_with("cuda.synchronize");
  if (is_cuda && !is_used(subject, "non_blocking") && !is_used(subject, "elapsed_time")) {
    match.edits = drop_statement(subject);
  }
  return match;
}

std::optional<Match> can_be_dropped(const Subject& subject) {
  return Match{{}, drop_statement(subject)};
}

std::optional<Match> thread_variable(const Subject& subject) {
  if (!has_word(subject.site.callee, "_NUM_THREADS")) return std::nullopt;
  return Match{};
}

std::optional<Match> thread_default(const Subject& subject) {
  const Argument* first = argument_at(subject.site, 0);
  if (first == nullptr || !has_word(first->text, "_NUM_THREADS")) return std::nullopt;
  return Match{};
}

std::optional<Match> startup_read(const Subject& subject) {
  if (subject.how_often != HowOften::kLoop) return std::nullopt;
  return Match{};
}

// Whether or not it is the same each time; if it is certain, with the edits.
std::optional<Match> same_each_time(const Subject& subject) {
  Match match{{}, hoisted(subject)};
  if (!match.edits.empty()) match.detail = "its value is the same in every pass of the loop";
  return match;
}

namespace {

// Whether the copied is what a loop around it goes over: "for x, y in loader: x.cuda()".
bool is_of_a_loop(const Subject& subject) {
  constexpr std::size_t kLongestHead = 200;
  const std::string_view root =
      subject.site.receiver.substr(0, subject.site.receiver.find_first_of(".[("));
  for (int at = subject.site.loop; at >= 0;) {
    const Loop& loop = subject.facts.loops[static_cast<std::size_t>(at)];
    const std::string_view head = subject.facts.bytes.substr(loop.range.begin, kLongestHead);
    const std::string_view names = head.substr(0, head.find(" in "));
    for (std::size_t found = names.find(root); !root.empty() && found != names.npos;
         found = names.find(root, found + 1)) {
      const std::size_t end = found + root.size();
      const bool ends = end == names.size() || !is_plain_name(names.substr(end, 1));
      if (found > 0 && !is_plain_name(names.substr(found - 1, 1)) && ends) return true;
    }
    at = loop.parent;
  }
  return false;
}

// Whether it copies to a device and waits; with the edit, if it is sure to be taken.
std::optional<Match> copies_and_waits(const Subject& subject) {
  const Site& site = subject.site;
  if (site.receiver.empty() || argument(site, "non_blocking") != nullptr || site.has_splat) {
    return std::nullopt;
  }
  if (site.name == "cuda") {
    // A module's takes no such word.
    if (!is_of_a_loop(subject)) return Match{};
    return Match{{}, add_keyword(subject, "non_blocking", "True")};
  }
  const Argument* to = argument_at(site, 0);
  if (to == nullptr) to = argument(site, "device");
  // Not to another type, and not back to the host: that one must be waited for.
  if (to == nullptr || site.arguments.size() != 1) return std::nullopt;
  if (is_accelerator(subject, to->text)) {
    return Match{{}, add_keyword(subject, "non_blocking", "True")};
  }
  if (has_word(to->text, "device")) return Match{};
  return std::nullopt;
}

}  // namespace

// With the others of its line: one copy that waits is enough for all to wait.
std::optional<Match> blocking_copy(const Subject& subject) {
  constexpr std::size_t kBeside = 8;
  auto match = copies_and_waits(subject);
  if (!match) return match;
  const std::span<const Site> sites = subject.facts.sites;
  const auto at = static_cast<std::size_t>(&subject.site - sites.data());
  match->edits.clear();
  const std::size_t first = at - std::min(at, kBeside);
  for (const Site& other : sites.subspan(first, std::min(sites.size() - first, 2 * kBeside + 1))) {
    const bool is_copy =
        other.kind == SiteKind::kCall && (other.name == "to" || other.name == "cuda");
    if (!is_copy || other.range.line != subject.site.range.line) continue;
    const auto too = copies_and_waits({subject.facts, other, subject.how_often, subject.all});
    if (too) match->edits.insert(match->edits.end(), too->edits.begin(), too->edits.end());
  }
  std::ranges::sort(match->edits, {}, &Edit::begin);
  return match;
}

// clone().detach() has its own rule.
std::optional<Match> needless_copy(const Subject& subject) {
  const std::string_view after = subject.facts.bytes.substr(subject.site.range.end);
  if (subject.site.name == "clone" && after.starts_with(".detach()")) return std::nullopt;
  return Match{};
}

std::optional<Match> clone_detach(const Subject& subject) {
  const Site& site = subject.site;
  // Where gradients are off nothing is recorded.
  const auto off = [](std::string_view by) { return by.empty() || by == "True"; };
  if (!is_used(subject, "backward") && std::ranges::any_of(subject.facts.grad_switches, off)) {
    return std::nullopt;
  }
  constexpr std::string_view kClone = ".clone()";
  if (!site.receiver.ends_with(kClone) || !site.arguments.empty()) return std::nullopt;
  const auto end = site.range.begin + static_cast<std::uint32_t>(site.receiver.size());
  const auto begin = end - static_cast<std::uint32_t>(kClone.size());
  return Match{"the copy is recorded for the backward pass and then detached",
               {{begin, site.range.end, ".detach().clone()"}}};
}

// A step loop of a program that evaluates and never goes backwards.
std::optional<Match> inference_mode(const Subject& subject) {
  const Site& site = subject.site;
  if (site.loop >= 0 || is_used(subject, "backward") || !is_used(subject, "eval")) {
    return std::nullopt;
  }
  std::string switched;
  for (const Facts& facts : subject.all) {
    for (const std::string_view by : facts.grad_switches) {
      if (by.empty() || by == "True") return std::nullopt;
      switched = fmt::format("gradients depend on {}", clip(by, 40));
    }
  }
  return Match{switched.empty() ? "nothing switches gradients off" : switched, {}};
}

namespace {

constexpr std::size_t kImportsBeside = 64;  // Looked at on either side, in the order of the text.

bool is_unused(const Facts& facts, const Site& site) {
  const bool is_dotted = site.receiver.empty() && has_word(site.name, ".");
  if (!is_dotted) return !facts.used.contains(site.name);
  const auto at = facts.dotted.lower_bound(site.name);
  return at == facts.dotted.end() || !at->starts_with(site.name);
}

// Whether the file re-exports names, or says that this one is wanted. Imports inside functions are
// never re-exported.
bool is_handed_on(const Subject& subject) {
  constexpr std::size_t kLongestLine = 1000;
  const Facts& facts = subject.facts;
  const Site& site = subject.site;
  if (site.function >= 0) return false;
  if (facts.path.ends_with("__init__.py") || facts.used.contains("__all__")) return true;
  const std::size_t length = site.range.end - site.range.begin;
  const std::string_view from = facts.bytes.substr(site.range.begin, length + kLongestLine);
  if (has_word(from.substr(0, from.find('\n', length)), "noqa")) return true;
  const std::string_view module = module_of(facts.path);
  return std::ranges::any_of(subject.all, [&](const Facts& other) {
    if (&other == &facts || !other.modules.contains(site.name)) return false;
    return std::ranges::any_of(other.sites, [&](const Site& there) {
      return there.kind == SiteKind::kImport && there.callee == site.name &&
             there.receiver.substr(there.receiver.rfind('.') + 1) == module;
    });
  });
}

}  // namespace

// A line's time is all that is known of its imports: where one of them is used, it is no other's.
std::optional<Match> unused_import(const Subject& subject) {
  const Site& site = subject.site;
  if (site.receiver == "__future__" || site.callee == "*") return std::nullopt;
  const std::span<const Site> sites = subject.facts.sites;
  const auto at = static_cast<std::size_t>(&site - sites.data());
  const std::size_t first = at - std::min(at, kImportsBeside);
  const std::size_t count = std::min(sites.size() - first, 2 * kImportsBeside);
  for (const Site& other : sites.subspan(first, count)) {
    const bool is_beside = other.kind == SiteKind::kImport &&
                           other.range.line <= site.range.end_line &&
                           site.range.line <= other.range.end_line;
    if (is_beside && !is_unused(subject.facts, other)) return std::nullopt;
  }
  if (is_handed_on(subject)) return std::nullopt;
  return Match{fmt::format("{} is not used in this file", clip(site.name, 60)), {}};
}

}  // namespace amdahl::code::python
