// facts.h: what rules look at in a source: its calls, loops, functions and imports.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "code/source.h"
#include "code/tree.h"

namespace amdahl::code {

// All text is a view of the source bytes, which must outlive the facts.
struct Argument {
  std::string_view keyword;  // "" for a positional argument.
  std::string_view text;
  Range range;
};

enum class SiteKind : std::uint8_t {
  kCall,       // f(x); in C++ also `new T` and variables of class type: `std::thread t(f);`.
  kName,       // A bare name with an effect: std::endl.
  kImport,     // import a.b, from a import b.
  kAssign,     // To something other than a plain name: os.environ["OMP_NUM_THREADS"] = "1".
  kWholeLoop,  // The loop itself.
  kContext,    // with torch.no_grad():, or a decorator.
};

// A place in the source that rules can match.
struct Site {
  SiteKind kind = SiteKind::kCall;
  std::string_view callee;    // "torch.utils.data.DataLoader", "loss.mean().item".
  std::string_view name;      // Last component: "DataLoader", "item".
  std::string_view receiver;  // What precedes the last component: "loss.mean()".
  std::vector<Argument> arguments;
  bool has_splat = false;  // f(*a, **b): not all arguments are known.
  Range range;
  Range arguments_range;      // With the brackets; empty if there are none.
  Range last_argument;        // Empty if there is none.
  Range statement;            // The enclosing statement.
  bool is_statement = false;  // It is the whole statement; its value is unused.
  bool is_alone = false;      // That statement is the only one in its block.
  bool in_condition = false;  // In an if, while or assert.
  int function = -1;          // Index into `functions`; -1 at top level.
  int loop = -1;              // Index into `loops`: innermost one of the same function.
  int whole_loop = -1;        // Index into `loops`, if it is a loop itself.
};

struct Function {
  std::string_view name;
  std::string_view owner;  // Class name; "" if none.
  Range range;
};

struct Loop {
  std::string_view over;  // What it iterates over, or its condition.
  Range range;
  int function = -1;
  int parent = -1;  // Enclosing loop of the same function.
};

struct Facts {
  Language language = Language::kPython;
  std::string_view path;  // Path of the source; "" if unknown.
  std::string_view bytes;
  std::vector<Function> functions;
  std::vector<Loop> loops;
  std::vector<Site> sites;  // In source order.
  std::set<std::string_view> classes;
  std::set<std::string_view> used;     // Names used in the text, except in imports.
  std::set<std::string_view> dotted;   // Dotted names (a.b.c) as written, except in imports.
  std::set<std::string_view> modules;  // Names bound by imports.
  // Arguments of torch.no_grad() and similar calls; "" for none.
  std::set<std::string_view> grad_switches;
};

// Same errors as parse().
Result<Facts> facts_of(Language language, std::string_view bytes);

// For facts_of(): interpret each language's tree.
Facts python_facts(TSNode root, std::string_view bytes);
Facts cpp_facts(TSNode root, std::string_view bytes);

// "model" of "jobs/model.py", "data" of "data/__init__.py".
std::string_view module_of(std::string_view path);

// The argument `keyword`, or the one at position `place`; nullptr if not given.
const Argument* argument(const Site& site, std::string_view keyword);
const Argument* argument_at(const Site& site, std::size_t place);

}  // namespace amdahl::code
