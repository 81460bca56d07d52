#include "compare/html.h"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/html.h"
#include "compare/axis.h"
#include "compare/html_chart.h"
#include "compare/sample_measurements.h"

namespace amdahl::compare {
namespace {

// Names of the open tags where something does not match; empty if all is well-formed. Attribute
// values must be quoted and hold no "<"; enough for the pages that we write ourselves.
std::string fault_in(const std::string& page) {
  std::vector<std::string> open;
  for (std::size_t at = page.find('<'); at != page.npos; at = page.find('<', at + 1)) {
    const std::size_t end = page.find('>', at);
    if (end == page.npos) return "a tag without an end";
    const std::string tag = page.substr(at + 1, end - at - 1);
    if (tag.starts_with("!")) continue;
    if (tag.find('<') != tag.npos) return "a tag in a tag: " + tag;
    const std::string name = tag.substr(0, tag.find_first_of(" \n/", 1));
    if (tag.starts_with("/")) {
      if (open.empty() || "/" + open.back() != tag) return "unexpected " + tag;
      open.pop_back();
    } else if (!tag.ends_with("/")) {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : "left open: " + open.back();
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Html, ThePageIsWholeAndNeedsNothingElse) {
  for (const int pairs : {0, 1, 9, 40}) {
    const Account account = account_of(sample_tried(0.03, 0.02, pairs));
    const std::string page = html_page(account, {"today", "host", "/folder"});
    EXPECT_EQ(fault_in(page), "") << page;
    EXPECT_EQ(count(page, "<script"), 0);
    EXPECT_EQ(count(page, "href="), 0);
    EXPECT_EQ(count(page, "src="), 0);
    EXPECT_EQ(count(page, "url("), 0);
    EXPECT_EQ(count(page, "<svg "), pairs == 0 ? 0 : 2);
    EXPECT_EQ(count(page, "class=\"gain\"") + count(page, "class=\"loss\""), pairs);
    EXPECT_NE(page.find("<h1 class=\""), page.npos);
    EXPECT_NE(page.find("prefers-color-scheme: dark"), page.npos);
  }
}

// B takes 2 % of A's time.
TEST(Html, LargeEffectsHaveTicksUpToTheirPointsAndNoNegativeTime) {
  Account account = account_of(sample_tried(std::log(50), 0.01, 9));
  std::vector<double> shares;
  for (const Tick& tick : axis_for(account, 8).ticks) shares.push_back(tick.share);
  ASSERT_EQ(shares.size(), 6U);
  constexpr double kWant[] = {0, 0.5, 0.8, 0.9, 0.95, 0.98};
  for (std::size_t i = 0; i < shares.size(); ++i) EXPECT_NEAR(shares[i], kWant[i], 1e-9);
  EXPECT_EQ(axis_for(account, 3).ticks.size(), 2U);  // 0 and 90 %.
  EXPECT_EQ(value_chart(account).find(">-"), std::string::npos);
  EXPECT_EQ(account.remarks.size(), 1U);  // Why it takes so many pairs.
  // B takes 50 times as long.
  account = account_of(sample_tried(-std::log(50), 0.01, 9));
  EXPECT_NEAR(axis_for(account, 8).ticks.front().share, -49, 1e-9);
}

TEST(Html, SaysAllThatTheTerminalSays) {
  Measurements measured = sample_tried(0.02, 0.05, 12);
  measured.design.cap = 12;
  measured.pairs[3].b.failed = measured.pairs[3].voided = true;
  measured.pairs[3].void_reason = "B: exit 1";
  const Account account = account_of(measured);
  const std::string page = html_page(account, {});
  EXPECT_NE(page.find(escape_html(account.verdict)), page.npos);
  for (const Line& line : account.lines) {
    EXPECT_NE(page.find(escape_html(line.text)), page.npos) << line.text;
  }
  ASSERT_FALSE(account.remarks.empty());
  for (const std::string& text : account.remarks) {
    EXPECT_NE(page.find(escape_html(text)), page.npos) << text;
  }
  ASSERT_FALSE(account.settle.empty());
  for (const std::string& text : account.settle) {
    EXPECT_NE(page.find(escape_html(text)), page.npos) << text;
  }
  EXPECT_NE(page.find("void: B: exit 1"), page.npos);
}

TEST(Html, WhateverACommandHoldsIsText) {
  Measurements measured = sample_tried(0.08, 0.02, 9);
  measured.a = "sh -c 'a <b>&\"</code><script>alert(1)</script>'";
  measured.b = "printf '\x01\xff\xc3 gr\xc3\xbc\xc3\x9f'";
  measured.metric_text.metric = "x<y";
  const std::string page = html_page(account_of(measured), {"now", "<host>", "/a&b"});
  EXPECT_EQ(fault_in(page), "");
  EXPECT_EQ(count(page, "<script"), 0);
  EXPECT_NE(page.find("&lt;script&gt;alert(1)&lt;/script&gt;"), page.npos);
  EXPECT_NE(page.find("printf '??? grüß'"), page.npos);
}

}  // namespace
}  // namespace amdahl::compare
