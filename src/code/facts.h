// facts.h: what a source text says that rules look at: its calls, loops, functions and imports.
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

// All text is a view of the bytes that the facts were made from: these must outlive them.
struct Argument {
  std::string_view keyword;  // "" if it goes by its place.
  std::string_view text;
  Range range;
};

enum class SiteKind : std::uint8_t {
  kCall,       // f(x); in C++ also `new T`, and a variable of a class type: `std::thread t(f);`.
  kName,       // A name alone that does something: std::endl.
  kImport,     // import a.b, from a import b.
  kAssign,     // To something that is not a plain name: os.environ["OMP_NUM_THREADS"] = "1".
  kWholeLoop,  // A loop itself.
  kContext,    // with torch.no_grad():, or a decorator.
};

// One place that a rule may be about.
struct Site {
  SiteKind kind = SiteKind::kCall;
  std::string_view callee;    // "torch.utils.data.DataLoader", "loss.mean().item".
  std::string_view name;      // Its last word: "DataLoader", "item".
  std::string_view receiver;  // What stands before the last word: "loss.mean()".
  std::vector<Argument> arguments;
  bool has_splat = false;  // f(*a, **b): the arguments are not all known.
  Range range;
  Range arguments_range;      // With the brackets; empty if there are none.
  Range last_argument;        // Empty if there is none.
  Range statement;            // The statement it stands in.
  bool is_statement = false;  // It is all of the statement: its value is not used.
  bool is_alone = false;      // That statement is the only one in its block.
  bool in_condition = false;  // It decides: in an if, a while or an assert.
  int function = -1;          // Of `functions`; -1 at the top.
  int loop = -1;              // Of `loops`: the innermost of the same function.
  int whole_loop = -1;        // Of `loops`: which it is, if it is one.
};

struct Function {
  std::string_view name;
  std::string_view owner;  // Its class; "" if it has none.
  Range range;
};

struct Loop {
  std::string_view over;  // What it goes over, or its condition.
  Range range;
  int function = -1;
  int parent = -1;  // The loop of the same function around it.
};

struct Facts {
  Language language = Language::kPython;
  std::string_view path;  // Of the source; "" if nobody said.
  std::string_view bytes;
  std::vector<Function> functions;
  std::vector<Loop> loops;
  std::vector<Site> sites;  // In the order of the text.
  std::set<std::string_view> classes;
  std::set<std::string_view> used;     // Names that stand in the text, but for imports.
  std::set<std::string_view> dotted;   // a.b.c as it stands, but for imports.
  std::set<std::string_view> modules;  // Names that imports bind.
  // What torch.no_grad() and its like are called with: "" for nothing.
  std::set<std::string_view> grad_switches;
};

// Fails as parse() does.
Result<Facts> facts_of(Language language, std::string_view bytes);

// For facts_of(): what each language's tree means.
Facts python_facts(TSNode root, std::string_view bytes);
Facts cpp_facts(TSNode root, std::string_view bytes);

// "model" of "jobs/model.py", "data" of "data/__init__.py".
std::string_view module_of(std::string_view path);

// The argument under `keyword`, or the one at `place`; nullptr if it is not given.
const Argument* argument(const Site& site, std::string_view keyword);
const Argument* argument_at(const Site& site, std::size_t place);

}  // namespace amdahl::code
