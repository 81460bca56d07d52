#include <array>
#include <utility>

#include "base/text.h"
#include "dream/leads.h"

namespace amdahl::dream {
namespace {

constexpr auto kEntities =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"&lt;", "<"},
                                                                  {"&gt;", ">"},
                                                                  {"&quot;", "\""},
                                                                  {"&#39;", "'"},
                                                                  {"&nbsp;", " "},
                                                                  {"&amp;", "&"}});

// Block elements.
constexpr auto kBlocks = std::to_array<std::string_view>(
    {"p", "div", "li", "ul", "ol", "table", "tr", "section", "article", "pre", "blockquote", "br"});

// "h2" and "/h2" are h2.
std::string_view name_of(std::string_view tag) {
  if (tag.starts_with('/')) tag.remove_prefix(1);
  return tag.substr(0, tag.find_first_of(" \t\r\n/>"));
}

void put_lines_of(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (c == '\n') out += c;
  }
}

}  // namespace

std::string text_of_html(std::string_view page) {
  const std::string low = lower(page);
  std::string out;
  for (std::size_t at = 0; at < page.size();) {
    if (page[at] != '<') {
      std::size_t skip = 1;
      std::string_view put = page.substr(at, 1);
      for (const auto& [entity, means] : kEntities) {
        if (page.substr(at).starts_with(entity)) {
          skip = entity.size();
          put = means;
          break;
        }
      }
      out += put;
      at += skip;
      continue;
    }
    const std::size_t end = page.find('>', at);
    if (end == std::string_view::npos) break;
    const std::string_view tag = std::string_view(low).substr(at + 1, end - at - 1);
    const std::string name(name_of(tag));
    const bool opens = !tag.starts_with('/');
    std::size_t next = end + 1;
    if (tag.starts_with("!--")) {
      const std::size_t close = page.find("-->", at);
      next = close == std::string_view::npos ? page.size() : close + 3;
    } else if (opens && (name == "script" || name == "style")) {
      const std::size_t close = low.find("</" + name, end);
      next = close == std::string_view::npos ? page.size() : close;
    }
    put_lines_of(page.substr(at, next - at), out);
    if (name.size() == 2 && name[0] == 'h' && is_digit(name[1])) out += opens ? "\n\n# " : "\n\n";
    for (const std::string_view block : kBlocks) {
      if (name == block) out += name == "li" && opens ? "\n- " : "\n\n";
    }
    at = next;
  }
  return out;
}

}  // namespace amdahl::dream
