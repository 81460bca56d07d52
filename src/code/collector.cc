#include "code/collector.h"

namespace amdahl::code {
namespace {

constexpr std::size_t kMostArguments = 64;

}  // namespace

void Collector::open_function(TSNode node, std::string_view name) {
  open(node, Mark::kFunction);
  frames_.push_back({function_, loop(), conditions_});
  outer_loops_.push_back(std::move(loops_));
  loops_.clear();
  conditions_ = 0;
  function_ = static_cast<int>(facts.functions.size());
  facts.functions.push_back(
      {name, classes_.empty() ? std::string_view{} : classes_.back(), range_of(node)});
}

void Collector::open_class(TSNode node, std::string_view name) {
  open(node, Mark::kClass);
  classes_.push_back(name);
  facts.classes.insert(name);
}

int Collector::add_loop(TSNode node, std::string_view over) {
  Site& site = add(SiteKind::kWholeLoop, node);
  site.callee = over;
  site.whole_loop = static_cast<int>(facts.loops.size());
  facts.loops.push_back({over, range_of(node), function_, loop()});
  return static_cast<int>(facts.loops.size()) - 1;
}

void Collector::open_loop(TSNode node, int loop) {
  open(node, Mark::kLoop);
  loops_.push_back(loop);
}

void Collector::open_condition(TSNode node) {
  open(node, Mark::kCondition);
  ++conditions_;
}

void Collector::open_statement(TSNode node, bool is_alone) {
  open(node, Mark::kStatement);
  statements_.push_back({range_of(node), is_alone});
}

void Collector::open_import(TSNode node) {
  open(node, Mark::kImport);
  ++imports_;
}

void Collector::close(Mark mark) {
  switch (mark) {
    case Mark::kFunction:
      function_ = frames_.back().function;
      conditions_ = frames_.back().conditions;
      loops_ = std::move(outer_loops_.back());
      frames_.pop_back();
      outer_loops_.pop_back();
      break;
    case Mark::kClass:
      classes_.pop_back();
      break;
    case Mark::kLoop:
      loops_.pop_back();
      break;
    case Mark::kCondition:
      --conditions_;
      break;
    case Mark::kStatement:
      statements_.pop_back();
      break;
    case Mark::kImport:
      --imports_;
      break;
  }
}

void Collector::leave(TSNode node) {
  while (!open_.empty() && open_.back().first == node.id) {
    close(open_.back().second);
    open_.pop_back();
  }
}

Site& Collector::add(SiteKind kind, TSNode node) {
  Site site;
  site.kind = kind;
  site.range = range_of(node);
  site.statement = statements_.empty() ? site.range : statements_.back().range;
  site.is_statement = !statements_.empty() && site.statement.begin == site.range.begin &&
                      site.statement.end == site.range.end;
  site.is_alone = site.is_statement && statements_.back().is_alone;
  site.in_condition = conditions_ > 0;
  site.function = function_;
  site.loop = loop();
  return facts.sites.emplace_back(std::move(site));
}

void Collector::take_arguments(Site& site, TSNode list) const {
  if (ts_node_is_null(list)) return;
  site.arguments_range = range_of(list);
  const std::uint32_t count = ts_node_named_child_count(list);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i == kMostArguments) {
      site.has_splat = true;
      return;
    }
    const TSNode node = ts_node_named_child(list, i);
    const std::string_view type = type_of(node);
    if (type == "comment") continue;
    site.last_argument = range_of(node);
    if (type == "list_splat" || type == "dictionary_splat") {
      site.has_splat = true;
    } else if (type == "keyword_argument") {
      const TSNode value = child(node, "value");
      site.arguments.push_back({text(child(node, "name")), text(value), range_of(value)});
    } else {
      site.arguments.push_back({{}, text(node), range_of(node)});
    }
  }
}

}  // namespace amdahl::code
