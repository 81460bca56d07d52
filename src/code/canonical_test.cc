#include "code/canonical.h"

#include <gtest/gtest.h>

namespace amdahl::code {
namespace {

std::string one(Language language, const std::string& text) {
  std::vector<Versions> files{{language, "", text}};
  make_canonical(files);
  return files[0].after;
}

struct SpellingCase {
  const char* name;
  const char* a;
  const char* b;
};

constexpr SpellingCase kSamePython[] = {
    {"comments", "x = 1\n", "# why\nx = 1  # because\n"},
    {"blank lines and spaces", "def f(a):\n    return a+1\n", "def f( a ):\n\n  return a  +  1\n"},
    {"docstrings", "def f(a):\n    return a\n",
     "def f(a):\n    \"\"\"It returns.\"\"\"\n    return a\n"},
    {"quotes", "x = 'it'\n", "x = \"it\"\n"},
    {"quotes in quotes", "x = 'it\\'s'\n", "x = \"it's\"\n"},
    {"long strings", "x = 'it'\n", "x = \"\"\"it\"\"\"\n"},
    {"parentheses", "def f(a):\n    return a * 2 + 1\n", "def f(a):\n    return ((a * 2) + (1))\n"},
    {"tuples", "a, b = c, d\n", "(a, b) = (c, d)\n"},
    {"trailing commas", "f(a, b)\n", "f(\n    a,\n    b,\n)\n"},
    {"numbers", "x = 1000\ny = 0.05\n", "x = 0x3e8\ny = 5e-2\n"},
    {"digits", "x = 1000\n", "x = 1_000\n"},
    {"local names", "def f(a):\n    b = a + 1\n    return [c for c in g(b)]\n",
     "def f(items):\n    n = items + 1\n    return [x for x in g(n)]\n"},
    {"nested functions", "def f(a):\n    def g(b):\n        return a + b\n    return g\n",
     "def f(x):\n    def inner(y):\n        return x + y\n    return inner\n"},
    {"annotations of locals", "def f(a):\n    b = a\n    return b\n",
     "def f(a):\n    c: int = a\n    return c\n"},
    {"pass", "def f(a):\n    return a\n", "def f(a):\n    pass\n    return a\n"},
    {"dead stores", "def f(a):\n    return a\n", "def f(a):\n    unused = 1\n    return a\n"},
    {"semicolons", "def f(a):\n    g(a)\n    h(a)\n", "def f(a):\n    g(a); h(a)\n"},
    {"one line", "if a:\n    b()\n", "if a: b()\n"},
    {"continued lines", "x = a + b\n", "x = a + \\\n    b\n"},
    {"helpers", "def fast(a):\n    return a\n\n\nfast(1)\n",
     "def quick(z):\n    return z\n\n\nquick(1)\n"},
    {"own attributes",
     "class C:\n    def f(self):\n        self.seen = 1\n        return self.seen\n",
     "class C:\n    def f(self):\n        self.memo = 1\n        return self.memo\n"},
    {"mirrored comparisons", "def f(a, b):\n    return a.x > b[0] or a >= 1\n",
     "def f(a, b):\n    return b[0] < a.x or 1 <= a\n"},
    {"comparisons in any order", "def f(a, b):\n    return a == b or b != 1\n",
     "def f(a, b):\n    return b == a or 1 != b\n"},
    {"numbers in any order", "def f(a):\n    n = len(a)\n    return a * 2, n + a, n * 3\n",
     "def f(a):\n    n = len(a)\n    return 2 * a, a + n, 3 * n\n"},
    {"counting",
     "def f(a):\n    n = 0\n    for i in range(9):\n        n += i\n        n -= 2\n    return n\n",
     "def f(a):\n    n = 0\n    for i in range(9):\n        n = i + n\n        n = n - 2\n    "
     "return n\n"},
    {"in a format string", "def f(a):\n    return f'{a} is'\n",
     "def f(b):\n    return f\"{b} is\"\n"},
};

constexpr SpellingCase kOtherPython[] = {
    {"another number", "x = 1\n", "x = 2\n"},
    {"a float is no whole number", "x = 1\n", "x = 1.0\n"},
    {"another string", "x = 'a b'\n", "x = 'a  b'\n"},
    {"another order", "f(a)\ng(a)\n", "g(a)\nf(a)\n"},
    {"another precedence", "x = a * (b + c)\n", "x = a * b + c\n"},
    {"another block", "if a:\n    b()\nc()\n", "if a:\n    b()\n    c()\n"},
    {"another variable", "def f(a, b):\n    return a\n", "def f(a, b):\n    return b\n"},
    {"another function", "f(a)\n", "g(a)\n"},
    {"another attribute", "loader.num_workers = 4\n", "loader.prefetch_factor = 4\n"},
    {"a setting that nothing reads", "batch_size = 8\n", "block_size = 8\n"},
    {"a method that others call", "class C(D):\n    def __iter__(self):\n        return 1\n",
     "class C(D):\n    def __next__(self):\n        return 1\n"},
    {"an option by name", "f(workers=4)\n", "f(threads=4)\n"},
    {"a global", "def f(a):\n    global x\n    x = 1\n", "def f(a):\n    global y\n    y = 1\n"},
    {"global or local", "def f():\n    global x\n    x = 1\n", "def f():\n    x = g()\n"},
    {"bytes", "x = b'a'\n", "x = 'a'\n"},
    {"raw strings", "x = r'\\n'\n", "x = '\\n'\n"},
    {"a tuple of one", "x = (a,)\n", "x = (a)\n"},
    {"a dead store that calls", "def f(a):\n    b = g(a)\n", "def f(a):\n    pass\n"},
    {"a class's fields", "class C:\n    a: int = 1\n", "class C:\n    b: int = 1\n"},
    {"sums of what may be text", "def f(a, b):\n    return a + b\n",
     "def f(a, b):\n    return b + a\n"},
    {"products of what may be matrices", "def f(a, b):\n    return a * b\n",
     "def f(a, b):\n    return b * a\n"},
    {"a change in place", "def f(a):\n    a += 1\n    return a\n",
     "def f(a):\n    a = a + 1\n    return a\n"},
    {"a change in place of what began as a number",
     "def f(a):\n    n = 0\n    for b in a:\n        n += b\n    return n\n",
     "def f(a):\n    n = 0\n    for b in a:\n        n = n + b\n    return n\n"},
    {"calls in another order", "def f(a):\n    return g(a) > h(a)\n",
     "def f(a):\n    return h(a) < g(a)\n"},
    {"other operands of a difference", "def f(a):\n    n = 3\n    return n - 1\n",
     "def f(a):\n    n = 3\n    return 1 - n\n"},
    {"the other side of a comparison", "def f(a, b):\n    return a > b\n",
     "def f(a, b):\n    return b > a\n"},
    {"a chain of comparisons", "def f(a, b):\n    return 1 < a > b\n",
     "def f(a, b):\n    return 1 > a > b\n"},
    {"another's number",
     "def f():\n    n = 0\n    def g(m):\n        nonlocal n\n        n = m\n    n += 1\n",
     "def f():\n    n = 0\n    def g(m):\n        nonlocal n\n        n = m\n    n = n + 1\n"},
    {"what is imported", "import numpy as np\nnp.x()\n", "import torch as np\nnp.x()\n"},
};

TEST(Canonical, PythonThatDoesTheSameIsTheSame) {
  for (const SpellingCase& c : kSamePython) {
    EXPECT_EQ(one(Language::kPython, c.a), one(Language::kPython, c.b)) << c.name;
  }
}

TEST(Canonical, PythonThatDoesSomethingElseDiffers) {
  for (const SpellingCase& c : kOtherPython) {
    EXPECT_NE(one(Language::kPython, c.a), one(Language::kPython, c.b)) << c.name;
  }
}

constexpr SpellingCase kSameCpp[] = {
    {"comments", "int x = 1;\n", "/* why */ int x = 1; // because\n"},
    {"layout", "int f(int a) { return a + 1; }\n", "int f( int a )\n{\n  return a+1;\n}\n"},
    {"parentheses", "int f(int a) { return a * 2 + 1; }\n",
     "int f(int a) { return ((a * 2) + 1); }\n"},
    {"braces", "void f(int a) { if (a) g(); }\n", "void f(int a) { if (a) { g(); } }\n"},
    {"braces of else", "void f(int a) { if (a) g(); else h(); }\n",
     "void f(int a) {\n  if (a) {\n    g();\n  } else {\n    h();\n  }\n}\n"},
    {"local names",
     "long f(const long *a) { long s = 0; for (int i = 0; i < 9; ++i) s += a[i]; return s; }\n",
     "long f(const long *data) {\n  long sum = 0;\n  for (int k = 0; k < 9; ++k) { sum += data[k]; "
     "}\n  return sum;\n}\n"},
    {"numbers", "int x = 1000;\n", "int x = 1'000;\n"},
    {"hexadecimal", "int x = 255;\n", "int x = 0xFF;\n"},
    {"mirrored comparisons", "int f(int a, const int *b) { return a > b[1]; }\n",
     "int f(int a, const int *b) { return b[1] < a; }\n"},
    {"numbers in any order", "long f(long a, long b) { return (a + b) * 2 | a & b; }\n",
     "long f(long a, long b) { return 2 * (b + a) | b & a; }\n"},
    {"counting", "void f(std::size_t n) { for (int i = 0; i < n; ++i) g(i); }\n",
     "void f(std::size_t n) { for (int i = 0; n > i; i += 1) { g(i); } }\n"},
    {"sums", "long f(const long *a) { long s = 0; s += a[0] * 2; s++; return s; }\n",
     "long f(const long *a) { long s = 0; s = s + a[0] * 2; s = 1 + s; return s; }\n"},
    {"helpers", "static int fast(int a) { return a; }\nint f() { return fast(1); }\n",
     "static int quick(int z) { return z; }\nint f() { return quick(1); }\n"},
};

constexpr SpellingCase kOtherCpp[] = {
    {"another operator", "int f(int a) { return a + 1; }\n", "int f(int a) { return a - 1; }\n"},
    {"another precedence", "int f(int a) { return a * (2 + 1); }\n",
     "int f(int a) { return a * 2 + 1; }\n"},
    {"a pragma", "#pragma omp parallel for\nint x;\n", "int x;\n"},
    {"another pragma", "#pragma omp parallel for\nint x;\n", "#pragma omp simd\nint x;\n"},
    {"another type", "float x = 1;\n", "double x = 1;\n"},
    {"another suffix", "auto x = 1.0f;\n", "auto x = 1.0;\n"},
    {"octal", "int x = 010;\n", "int x = 10;\n"},
    {"another member", "void f(T t) { t.workers = 4; }\n", "void f(T t) { t.threads = 4; }\n"},
    {"another string", "auto x = \"a b\";\n", "auto x = \"a  b\";\n"},
    {"text in another order", "auto f(std::string a, std::string b) { return a + b; }\n",
     "auto f(std::string a, std::string b) { return b + a; }\n"},
    {"matrices in another order", "auto f(Matrix a, Matrix b) { return a * b; }\n",
     "auto f(Matrix a, Matrix b) { return b * a; }\n"},
    {"what comes before counting", "int f(int a) { return a++; }\n",
     "int f(int a) { return a += 1; }\n"},
    {"an atomic step", "void f(std::atomic<int>& a) { a += 1; }\n",
     "void f(std::atomic<int>& a) { a = a + 1; }\n"},
    {"another sum", "float f(float a) { float s = 1; s += a + 1; return s; }\n",
     "float f(float a) { float s = 1; s = s + a + 1; return s; }\n"},
    {"what belongs to a condition", "void f(int a) { if (a) { g(); } h(); }\n",
     "void f(int a) { if (a) { g(); h(); } }\n"},
};

TEST(Canonical, CppThatDoesTheSameIsTheSame) {
  for (const SpellingCase& c : kSameCpp) {
    EXPECT_EQ(one(Language::kCpp, c.a), one(Language::kCpp, c.b)) << c.name;
  }
}

TEST(Canonical, CppThatDoesSomethingElseDiffers) {
  for (const SpellingCase& c : kOtherCpp) {
    EXPECT_NE(one(Language::kCpp, c.a), one(Language::kCpp, c.b)) << c.name;
  }
}

// A name that was there keeps its meaning; one that the edit brings has only the one it is given.
TEST(Canonical, NamesAreNumberedOverAllFiles) {
  const auto edit = [](const std::string& name) {
    std::vector<Versions> files{
        {Language::kPython, "", "def " + name + "(a):\n    return a\n"},
        {Language::kPython, "import a\n", "import a\n\nx = a." + name + "(" + name + ")\n"}};
    make_canonical(files);
    return files[0].after + files[1].after;
  };
  EXPECT_EQ(edit("fast"), edit("quick"));
  EXPECT_NE(edit("fast"), edit("a"));
}

// Broken and hostile text.
TEST(Canonical, AnyBytesAreTaken) {
  const std::string deep(20000, '(');
  for (const std::string& text :
       {std::string("def f(:\n  return ]\n"), deep, std::string("\0\1\2\xff", 4),
        std::string("'''"), std::string(5000, '\t') + "x", std::string("x = 'a\n")}) {
    for (const Language language : {Language::kPython, Language::kCpp}) {
      EXPECT_NE(one(language, text), one(language, text + "\ny = 1;\n")) << text.substr(0, 20);
    }
  }
}

TEST(Canonical, LinesWithAHash) {
  EXPECT_EQ(without_comments("# a\n\na: 1  # b\nc: 2 \n"), "a: 1\nc: 2\n");
  EXPECT_EQ(without_comments("#!/bin/sh\n#SBATCH -c 4\necho \"a # b\"\n"),
            "#!/bin/sh\n#SBATCH -c 4\necho \"a # b\"\n");
}

}  // namespace
}  // namespace amdahl::code
