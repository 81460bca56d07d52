#include "code/canonical.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "code/names.h"
#include "code/numbers.h"

namespace amdahl::code {
namespace {

// What holds statements, each on a line of its own.
constexpr auto kBlocks = std::to_array<std::string_view>(
    {"module", "block", "translation_unit", "compound_statement", "declaration_list",
     "field_declaration_list", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif"});
constexpr auto kClauses = std::to_array<std::string_view>(
    {"else_clause", "elif_clause", "except_clause", "except_group_clause", "finally_clause",
     "case_clause", "case_statement", "catch_clause"});
constexpr auto kTuples =
    std::to_array<std::string_view>({"tuple", "expression_list", "pattern_list", "tuple_pattern"});
constexpr auto kSilent =
    std::to_array<std::string_view>({"comment", "line_continuation", "pass_statement"});
// Statements of nothing else do nothing.
constexpr auto kConstants = std::to_array<std::string_view>(
    {"string", "concatenated_string", "integer", "float", "true", "false", "none", "ellipsis"});
// Taken as one word, whatever they consist of.
constexpr auto kWhole = std::to_array<std::string_view>(
    {"ERROR", "string_content", "string_literal", "raw_string_literal", "char_literal",
     "preproc_arg", "system_lib_string", "concatenated_string_literal"});

// "0x1F", "1_000" and "1'000" as decimal numbers; other numbers in their shortest form.
std::string number(std::string_view text) {
  std::string digits = lower(text);
  std::erase_if(digits, [](char c) { return c == '_' || c == '\''; });
  const bool hex = digits.starts_with("0x");
  std::size_t end = digits.size();
  while (!hex && end > 1 && digits[end - 1] >= 'a' && digits[end - 1] <= 'z') --end;
  while (hex && end > 1 && (digits[end - 1] == 'u' || digits[end - 1] == 'l')) --end;
  const std::string suffix = digits.substr(end);
  const std::string value = digits.substr(0, end);
  const int base = hex ? 16 : value.starts_with("0b") ? 2 : value.starts_with("0o") ? 8 : 10;
  const std::string_view body = std::string_view(value).substr(base == 10 ? 0 : 2);
  std::uint64_t whole = 0;
  const auto read = std::from_chars(body.data(), body.data() + body.size(), whole, base);
  const bool octal =
      base == 10 && value.size() > 1 && value.front() == '0' && !contains(value, ".");
  if (read.ec == std::errc{} && read.ptr == body.data() + body.size() && !octal) {
    return fmt::format("{}{}", whole, suffix);
  }
  const auto real = to_number<double>(value);
  return real && base == 10 && !octal ? fmt::format("{}f{}", *real, suffix) : digits;
}

// In one line, without the escapes that only the kind of quote asks for.
std::string content(std::string_view text, bool escapes) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool needless = escapes && text[i] == '\\' && i + 1 < text.size() &&
                          (text[i + 1] == '\'' || text[i + 1] == '"');
    if (needless) continue;
    if (text[i] == '\n') {
      out += "\\n";
    } else {
      out += text[i] == ' ' ? '\x1f' : text[i];
    }
    if (escapes && text[i] == '\\' && i + 1 < text.size()) out += text[++i];
  }
  return out;
}

// Names that an edit introduces, in the order in which they come up.
struct Introduced {
  std::set<std::string, std::less<>> names;
  std::map<std::string, int, std::less<>> numbers;
};

class Writer {
 public:
  Writer(Language language, std::string_view bytes, const Names& names, Introduced& introduced)
      : language_{language}, bytes_{bytes}, names_{names}, introduced_{introduced} {}

  void enter(TSNode node, std::string_view field) {
    path_.push_back({type_of(node), field, node});
    open_.push_back({});
    if (skipped_ > 0) return;
    const Step& step = path_.back();
    if (path_.size() > 1 && is_silent(step, above())) {
      skipped_ = path_.size();
      return;
    }
    if (open_.size() > 1 && open_.end()[-2].respelling) {
      open_.end()[-2].parts.push_back(line_.size());
    }
    Open& open = open_.back();
    open.respelling = respelling_of(step);
    open.scope = opens_scope(language_, step.type);
    open.body = is_body(step);
    open.group = is_group(step);
    if (open.scope) open_scope(node);
    if (open.body) ++depth_;
    if (starts_line(step)) line();
    if (is_one_of(step.type, kWhole) || ts_node_child_count(node) == 0) {
      leaf(step);
      skipped_ = path_.size();
    } else if (open.group) {
      word(is_one_of(step.type, kTuples) ? "<tuple" : "<");
    }
  }

  void leave() {
    const Open& open = open_.back();
    if (open.respelling) respell(open);
    if (open.group) word(">");
    if (open.scope) scopes_.pop_back();
    if (open.body) --depth_;
    if (skipped_ == path_.size()) skipped_ = 0;
    path_.pop_back();
    open_.pop_back();
  }

  std::string take() {
    line();
    return std::move(out_);
  }

 private:
  // An expression that can be written in several ways: "b > a" as "a < b", "x += 1" as "x = x + 1".
  struct Respelling {
    bool assigns = false;      // What it computes is assigned to its left operand.
    bool any_order = false;    // Of the operands.
    std::string_view becomes;  // The operator; if mirrored, with the operands swapped.
    bool mirrored = false;
  };
  struct Open {
    bool scope = false;
    bool body = false;
    bool group = false;
    std::optional<Respelling> respelling{};
    std::vector<std::size_t> parts{};  // Where its parts begin in the line.
  };

  bool in_function() const { return !scopes_.empty(); }
  std::string_view above() const { return path_.size() > 1 ? path_.end()[-2].type : ""; }

  // Whether it is a block of statements, or the one statement that stands for it.
  bool is_body(const Step& step) const {
    if (is_one_of(step.type, kBlocks)) {
      return step.type != "module" && step.type != "translation_unit";
    }
    if (language_ != Language::kCpp || !step.type.ends_with("_statement")) return false;
    return step.field == "consequence" || step.field == "body" ||
           (above() == "else_clause" && step.type != "if_statement");
  }

  bool starts_line(const Step& step) const {
    if (!ts_node_is_named(step.node)) return false;
    return is_one_of(above(), kBlocks) || is_one_of(step.type, kClauses) || is_body(step);
  }

  bool is_group(const Step& step) const {
    return ts_node_is_named(step.node) && ts_node_child_count(step.node) > 0 &&
           step.type != "parenthesized_expression" && !is_one_of(step.type, kBlocks) &&
           !is_one_of(step.type, kWhole) && !starts_line(step);
  }

  bool is_silent(const Step& step, std::string_view above) const {
    if (is_one_of(step.type, kSilent)) return true;
    if (step.type == "expression_statement") return does_nothing(step.node);
    const std::string_view text = text_of(step.node, bytes_);
    if (!ts_node_is_named(step.node)) {
      if (above == "parenthesized_expression" || is_one_of(above, kTuples)) {
        return text == "(" || text == ")" || text == ",";
      }
      if (above == "compound_statement") return text == "{" || text == "}";
      if (text == ";") return above != "for_statement";
    }
    // What a local variable is annotated with is never evaluated.
    const bool annotates = above == "assignment" && language_ == Language::kPython && in_function();
    return annotates && (step.field == "type" || text == ":");
  }

  bool is_number_here(TSNode node) const {
    static const NameSet kNone;
    const auto numbers = names_.numbers_in.find(scopes_.empty() ? nullptr : scopes_.back());
    return is_number(node, bytes_, numbers == names_.numbers_in.end() ? kNone : numbers->second);
  }

  // Whether the operands may be swapped. Text and lists are added in their order; matrices are
  // multiplied in theirs.
  bool commutes(std::string_view sign, TSNode left, TSNode right) const {
    if (!is_pure(left) || !is_pure(right)) return false;
    if (sign == "==" || sign == "!=") return true;
    if (sign == "+" || sign == "*") return is_number_here(left) || is_number_here(right);
    return (sign == "&" || sign == "|" || sign == "^") && is_number_here(left) &&
           is_number_here(right);
  }

  std::optional<Respelling> respelling_of(const Step& step) const {
    const bool compares = step.type == "comparison_operator";
    if (compares ? ts_node_child_count(step.node) != 3
                 : step.type != "binary_operator" && step.type != "binary_expression") {
      return assignment_of(step);
    }
    const TSNode left = compares ? ts_node_child(step.node, 0) : child(step.node, "left");
    const TSNode right = compares ? ts_node_child(step.node, 2) : child(step.node, "right");
    const std::string_view sign =
        text_of(compares ? ts_node_child(step.node, 1) : child(step.node, "operator"), bytes_);
    if (sign == ">" || sign == ">=") {
      if (!is_pure(left) || !is_pure(right)) return std::nullopt;
      return Respelling{false, false, sign == ">" ? "<" : "<=", true};
    }
    if (!commutes(sign, left, right)) return std::nullopt;
    return Respelling{false, true, sign, false};
  }

  // "x += 1", "x++". Of objects, the one may change what others see and the other not.
  std::optional<Respelling> assignment_of(const Step& step) const {
    if (step.type == "update_expression") {
      const std::string_view sign = text_of(child(step.node, "operator"), bytes_);
      const bool is_alone = above() == "expression_statement" || step.field == "update";
      const bool counts = is_alone && is_number_here(child(step.node, "argument"));
      if (!counts) return std::nullopt;
      return Respelling{true, sign == "++", sign == "++" ? "+" : "-", false};
    }
    if (step.type != "augmented_assignment" && step.type != "assignment_expression") {
      return std::nullopt;
    }
    const TSNode left = child(step.node, "left");
    const TSNode right = child(step.node, "right");
    std::string_view sign = text_of(child(step.node, "operator"), bytes_);
    if (sign.size() < 2 || type_of(left) != "identifier" || !is_number_here(left)) {
      return std::nullopt;
    }
    sign.remove_suffix(1);
    const bool fits = language_ == Language::kCpp ? is_pure(right) : is_number_here(right);
    if (!fits) return std::nullopt;
    return Respelling{true, commutes(sign, left, right), sign, false};
  }

  // Writes what the line has of it anew.
  void respell(const Open& open) {
    const Respelling& way = *open.respelling;
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < open.parts.size(); ++i) {
      const std::size_t begin = open.parts[i];
      const std::size_t end = i + 1 < open.parts.size() ? open.parts[i + 1] : line_.size();
      parts.emplace_back(trim(std::string_view(line_).substr(begin, end - begin)));
    }
    const bool counts = parts.size() == 2;     // "x ++" or "++ x".
    if (parts.size() != 3 && !counts) return;  // A part of it could not be parsed.
    std::string left =
        counts && parts[0] == std::string(2, way.becomes.front()) ? parts[1] : parts[0];
    std::string right = counts ? "1" : parts[2];
    const std::string target = left;
    if (way.mirrored || (way.any_order && right < left)) std::swap(left, right);
    line_.resize(open.parts.front());
    if (way.assigns) {
      for (const std::string_view text :
           {std::string_view(target), std::string_view("="), std::string_view("<")})
        word(text);
    }
    word(left);
    word(way.becomes);
    word(right);
    if (way.assigns) word(">");
  }

  bool does_nothing(TSNode statement) const {
    if (ts_node_named_child_count(statement) != 1) return false;
    const TSNode only = ts_node_named_child(statement, 0);
    if (is_one_of(type_of(only), kConstants)) return is_constant(only);
    if (type_of(only) != "assignment" || !in_function()) return false;
    const TSNode right = child(only, "right");
    if (ts_node_is_null(right)) return true;
    const TSNode left = child(only, "left");
    const auto reads = names_.read_in.find(outermost_);
    const std::string_view name = text_of(left, bytes_);
    const bool is_dead = type_of(left) == "identifier" && is_local(name) &&
                         (reads == names_.read_in.end() || !reads->second.contains(name));
    return is_dead && is_one_of(type_of(right), kConstants) && is_constant(right);
  }

  // No string that has something to evaluate in it.
  static bool is_constant(TSNode node) {
    bool constant = true;
    walk(
        node, [&](TSNode part, std::string_view) { constant &= type_of(part) != "interpolation"; },
        [](TSNode) {});
    return constant;
  }

  void open_scope(TSNode node) {
    if (scopes_.empty()) {
      outermost_ = node.id;
      numbers_.clear();
    }
    scopes_.push_back(node.id);
  }

  const void* scope_of(std::string_view name) const {
    for (std::size_t i = scopes_.size(); i-- > 0;) {
      const auto bound = names_.bound_in.find(scopes_[i]);
      if (bound != names_.bound_in.end() && bound->second.contains(name)) return scopes_[i];
    }
    return nullptr;
  }
  bool is_local(std::string_view name) const { return scope_of(name) != nullptr; }

  std::string spelled(std::string_view name, NameUse use) {
    const bool is_field = use == NameUse::kField || use == NameUse::kFieldBound;
    if (const void* scope = is_field ? nullptr : scope_of(name)) {
      const auto [found, is_new] =
          numbers_.emplace(std::pair(scope, std::string(name)), numbers_.size());
      return fmt::format("v{}'", found->second);
    }
    if (!introduced_.names.contains(name)) return std::string(name);
    const auto next = static_cast<int>(introduced_.numbers.size());
    return fmt::format("n{}'", introduced_.numbers.emplace(name, next).first->second);
  }

  void leaf(const Step& step) {
    const std::string_view text = text_of(step.node, bytes_);
    const NameUse use = use_of(language_, path_, bytes_);
    if (use != NameUse::kNone) {
      word(spelled(text, use));
    } else if (step.type == "integer" || step.type == "float" || step.type == "number_literal") {
      word(number(text));
    } else if (step.type == "string_start") {
      prefix_ = lower(text);
      std::erase_if(prefix_, [](char c) { return c == '\'' || c == '"' || c == 'u'; });
      word("'" + prefix_);
    } else if (step.type == "string_end") {
      word("'");
    } else if (step.type == "string_content" && language_ == Language::kPython) {
      word(content(text, !contains(prefix_, "r")));
    } else {
      const bool closes = text == ")" || text == "]" || text == "}";
      if (closes && line_.ends_with(" ,")) line_.resize(line_.size() - 2);
      word(content(trim(text), false));
    }
  }

  void word(std::string_view text) {
    if (text.empty()) return;
    if (!line_.empty()) line_ += ' ';
    line_ += text;
  }

  void line() {
    if (!line_.empty()) out_ += fmt::format("{:{}}{}\n", "", line_depth_, line_);
    line_.clear();
    line_depth_ = depth_;
  }

  Language language_;
  std::string_view bytes_;
  const Names& names_;
  Introduced& introduced_;
  Path path_;
  std::vector<Open> open_;  // Beside the path.
  std::vector<const void*> scopes_;
  const void* outermost_ = nullptr;
  std::map<std::pair<const void*, std::string>, std::size_t> numbers_;
  std::string prefix_;
  std::string out_;
  std::string line_;
  std::size_t depth_ = 0;
  std::size_t line_depth_ = 0;
  std::size_t skipped_ = 0;  // Size of the path at the node that is skipped; 0: none.
};

struct Parsed {
  Tree tree;
  Names names;
};

std::optional<Parsed> parsed(Language language, std::string_view bytes) {
  auto tree = parse(language, bytes);
  if (!tree) return std::nullopt;
  Parsed made{*std::move(tree), {}};
  made.names = names_in(language, ts_tree_root_node(made.tree.get()), bytes);
  return made;
}

std::string written(Language language, const Parsed& text, std::string_view bytes,
                    Introduced& introduced) {
  Writer writer(language, bytes, text.names, introduced);
  walk(
      ts_tree_root_node(text.tree.get()),
      [&](TSNode node, std::string_view field) { writer.enter(node, field); },
      [&](TSNode) { writer.leave(); });
  return writer.take();
}

}  // namespace

void make_canonical(std::vector<Versions>& files) {
  std::vector<std::array<std::optional<Parsed>, 2>> trees;
  Names olds;
  Names news;
  const auto add = [](Names& to, const Names& from) {
    to.all.insert(from.all.begin(), from.all.end());
    to.bound.insert(from.bound.begin(), from.bound.end());
    to.read.insert(from.read.begin(), from.read.end());
  };
  for (const Versions& file : files) {
    trees.push_back({parsed(file.language, file.before), parsed(file.language, file.after)});
    if (trees.back()[0]) add(olds, trees.back()[0]->names);
    if (trees.back()[1]) add(news, trees.back()[1]->names);
  }
  Introduced none;
  Introduced introduced;
  std::ranges::copy_if(news.bound, std::inserter(introduced.names, introduced.names.end()),
                       [&](const std::string& name) {
                         return news.read.contains(name) && !olds.all.contains(name);
                       });
  for (std::size_t i = 0; i < files.size(); ++i) {
    Versions& file = files[i];
    if (!trees[i][0] || !trees[i][1]) continue;
    file.before = written(file.language, *trees[i][0], file.before, none);
    file.after = written(file.language, *trees[i][1], file.after, introduced);
  }
}

std::string without_comments(std::string_view text) {
  std::string out;
  for (std::string_view line : split(text, '\n')) {
    // A '#' in a value or in quotes is none, and #SBATCH, #$ and #! say something.
    const std::size_t mark = line.find('#');
    const bool is_comment =
        mark != line.npos && (mark == 0 || line[mark - 1] == ' ' || line[mark - 1] == '\t') &&
        (mark + 1 == line.size() || line[mark + 1] == ' ' || line[mark + 1] == '#') &&
        line.substr(0, mark).find_first_of("'\"`\\$") == line.npos;
    if (is_comment) line = line.substr(0, mark);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) {
      line.remove_suffix(1);
    }
    if (!line.empty()) out += fmt::format("{}\n", line);
  }
  return out;
}

}  // namespace amdahl::code
