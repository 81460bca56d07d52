// collector.h: tracks functions, loops and statements while walking a syntax tree; both languages.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "code/facts.h"

namespace amdahl::code {

// Keeps stacks, so that each site knows its function, loop and statement.
class Collector {
 public:
  Collector(Language language, std::string_view bytes) {
    facts.language = language;
    facts.bytes = bytes;
  }

  std::string_view text(TSNode node) const { return text_of(node, facts.bytes); }

  // Opened at `node`, closed when the walk leaves it.
  void open_function(TSNode node, std::string_view name);
  void open_class(TSNode node, std::string_view name);
  void open_loop(TSNode node, int loop);
  void open_condition(TSNode node);
  void open_statement(TSNode node, bool is_alone);
  void open_import(TSNode node);
  void leave(TSNode node);

  // Adds the loop at `node`, not yet entered, and a site for it.
  int add_loop(TSNode node, std::string_view over);

  // Adds a site at the current position.
  Site& add(SiteKind kind, TSNode node);
  // Collects the arguments in `list`; only the first ones of a very long list.
  void take_arguments(Site& site, TSNode list) const;

  bool in_import() const { return imports_ > 0; }

  Facts facts;

 private:
  enum class Mark : std::uint8_t { kFunction, kClass, kLoop, kCondition, kStatement, kImport };
  struct Frame {
    int function = -1;
    int loop = -1;
    int conditions = 0;
  };
  struct Statement {
    Range range;
    bool is_alone = false;
  };
  void open(TSNode node, Mark mark) { open_.emplace_back(node.id, mark); }
  void close(Mark mark);
  int loop() const { return loops_.empty() ? -1 : loops_.back(); }

  std::vector<std::pair<const void*, Mark>> open_;
  std::vector<Frame> frames_;  // Enclosing state of each open function.
  std::vector<int> loops_;     // In the innermost function.
  std::vector<std::vector<int>> outer_loops_;
  std::vector<std::string_view> classes_;
  std::vector<Statement> statements_;
  int function_ = -1;
  int conditions_ = 0;
  int imports_ = 0;
};

}  // namespace amdahl::code
