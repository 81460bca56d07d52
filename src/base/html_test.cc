#include "base/html.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

TEST(Html, TextCannotBecomeMarkup) {
  const struct {
    const char* name;
    std::string text;
    const char* want;
  } cases[] = {
      {"markup", "<b a=\"1\">&</b>", "&lt;b a=&quot;1&quot;&gt;&amp;&lt;/b&gt;"},
      {"UTF-8", "Größe 训练", "Größe 训练"},
      {"control characters", "a\x1b[0m\nb", "a?[0m?b"},
      {"cut short", "\xe2\x82", "??"},
      {"no such signs", "\xed\xa0\x80\xc0\x80\xf5\x80\x80\x80", "?????????"},
      {"no UTF-8", "a\xff\xc3.", "a??."},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(escape_html(c.text), c.want);
  }
}

TEST(Html, ATableHasACellForEveryColumn) {
  constexpr HtmlColumn kColumns[] = {{"name", true}, {"jobs"}, {"hours", false, "descending"}};
  HtmlTable table(kColumns, "rows");
  HtmlCell named{"<b>a</b>", "a\""};
  named.title = "why";
  table.row({named, "1", "2.5 h"});
  table.row({"b", "void: no reason"});
  EXPECT_EQ(table.take(),
            "<div class=\"scroll\"><table id=\"rows\">\n"
            "<thead><tr><th class=\"words\">name</th><th>jobs</th>"
            "<th aria-sort=\"descending\">hours</th></tr></thead>\n<tbody>\n"
            "<tr><td class=\"words\" data-v=\"a&quot;\" title=\"why\"><b>a</b></td><td>1</td>"
            "<td>2.5 h</td></tr>\n"
            "<tr><td class=\"words\">b</td><td class=\"words\" colspan=\"2\">void: no reason</td>"
            "</tr>\n</tbody></table></div>\n");
}

TEST(Html, APagesOwnStyleComesAfterThatOfAll) {
  const std::string head = html_head("<x>", "body { max-width: 9rem; }");
  EXPECT_NE(head.find("<title>&lt;x&gt;</title>"), head.npos);
  EXPECT_LT(head.find("color-scheme"), head.find("max-width: 9rem"));
  EXPECT_NE(head.find("script-src 'none'"), head.npos);
  // printf 'let a = 1;' | openssl dgst -sha256 -binary | base64
  const std::string with = html_head("x", "", "let a = 1;");
  EXPECT_NE(with.find("script-src 'sha256-"
                      "xY6QKfH9PRsQnLz56nj6MBwiK5oHg+im1Jkpdp1x/Ck='"),
            with.npos)
      << with.substr(0, 600);
  EXPECT_EQ(html_script("let a = 1;"), "<script>let a = 1;</script>\n");
}

}  // namespace
}  // namespace amdahl
