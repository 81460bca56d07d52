// Sources that no person wrote must not stop the analysis, crash it or take for ever.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "code/finding.h"
#include "code/tree.h"

namespace amdahl::code {
namespace {

Analysis look_at(const std::string& path, std::string bytes) {
  const std::vector<Source> sources = {{path, std::move(bytes)}};
  return analyse(sources);
}

std::string repeat(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Hostile, WhatIsTooLargeIsSaidAndPassedOver) {
  const Analysis got = look_at("big.py", std::string(kMostBytes + 1, ' '));
  EXPECT_TRUE(got.findings.empty());
  EXPECT_EQ(got.skipped,
            (std::vector<std::string>{
                "big.py: 4194305 bytes of source; files over 4194304 bytes are not analysed"}));
}

TEST(Hostile, AnyBytesAreTaken) {
  std::string all;
  for (int i = 0; i < 65536; ++i) all += static_cast<char>(i * 31 % 256);
  const std::string texts[] = {
      "",
      "\n",
      all,
      std::string(1000, '\0'),
      "\xff\xfe\xfd\xfc for x in loader:\n  model(x).item()\n",
      "for x in loader:\n  model(x).item(\n",
      "'''" + repeat("x", 1000),
      "def f(:\n  for\n    while\n  .item() (((",
      "\tfor x in loader:\n    model(x)\n  \t x.item()\n",
      "R\"(" + repeat("a", 1000),
      "template <class <class <class f(",
  };
  for (const std::string& text : texts) {
    look_at("a.py", text);
    look_at("a.cc", text);
  }
}

TEST(Hostile, DeepNestingIsNoRecursion) {
  constexpr int kDeep = 20'000;
  look_at("a.py", repeat("(", kDeep) + repeat(")", kDeep));
  look_at("a.py", "x = " + repeat("[", kDeep) + repeat("]", kDeep));
  look_at("a.py", "x" + repeat(".a().b", kDeep));
  look_at("a.py", "x = " + repeat("f(", kDeep) + repeat(")", kDeep));
  look_at("a.cc", "int f() { return " + repeat("(", kDeep) + "1" + repeat(")", kDeep) + "; }");
  look_at("a.cc", repeat("{", kDeep) + repeat("}", kDeep));
  look_at("a.cc", "int x = " + repeat("f(", kDeep) + repeat(")", kDeep) + ";");
  std::string indented;
  for (int i = 0; i < 500; ++i)
    indented += std::string(static_cast<std::size_t>(i), ' ') + "while 1:\n";
  look_at("a.py", indented);
}

TEST(Hostile, MuchOfTheSameStaysBounded) {
  constexpr int kMany = 20'000;
  const Analysis got =
      look_at("a.py", "for x in loader:\n  model(x)\n" + repeat("  x.item()\n", kMany));
  EXPECT_EQ(got.findings.size(), 100U) << "a rule says a file so often and no more";
  look_at("a.py", repeat("def f(): f()\n", kMany));
  look_at("a.py", repeat("for x in loader: x = model(x).to(device)\n", kMany));
  look_at("a.py", "f(" + repeat("x,", kMany) + ")");
  look_at("a.cc", repeat("void f() { for (;;) { f(); cublasGemm(); } }\n", kMany));
  look_at("a.py", "for x in loader: " + repeat("model(x).item(); ", kMany));
}

}  // namespace
}  // namespace amdahl::code
