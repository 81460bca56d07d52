// html_parts.h: pieces of HTML that pages are put together from.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::profile {

// Text as it stands, whatever it holds; control characters are shown as "?".
std::string escaped(std::string_view text);

// "1.25×"; without a limit it says so.
std::string times_of(double factor);

struct Column {
  std::string_view name;
  bool words = false;
};

class Table {
 public:
  // The columns must outlive it.
  explicit Table(std::span<const Column> columns);
  // Cells are HTML.
  void row(const std::vector<std::string>& cells);
  std::string take();

 private:
  std::span<const Column> columns_;
  std::string out_;
};

}  // namespace amdahl::profile
