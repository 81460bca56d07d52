// mapping_builder.h: assigns meanings to the columns of a table and writes the mapping.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/table/column.h"
#include "fleet/table/guess.h"
#include "fleet/table/mapping.h"

namespace amdahl::fleet::table {

// A TOML string.
std::string toml_quoted(std::string_view text);

class MappingBuilder {
 public:
  using Fits = std::function<bool(const Column&)>;

  explicit MappingBuilder(const Head& head);

  const std::vector<Column>& columns() const { return columns_; }
  bool is_used(const Column& column) const { return used_[index_of(column)]; }
  // The free column that fits and whose name matches best; null if none.
  const Column* find(Field field, const Fits& fits = {}) const;
  const std::vector<std::vector<std::string>>& rows() const { return head_.rows; }
  // Its index in each of rows().
  std::size_t index_of(const Column& column) const {
    return static_cast<std::size_t>(&column - columns_.data());
  }
  void use(const Column& column) { used_[index_of(column)] = true; }

  // Writes `field = "column"`, with `more` inside a table: `unit = "hours"`.
  void give(Field field, const Column& column, std::string_view more = {},
            std::string_view why = {});
  // Whether two of the first rows have the same `key` and different `of`.
  bool repeats(const Column& key, const Column& of) const;
  // Whether two of the first rows differ in it.
  bool differs(const Column& column) const;
  // Finds, marks as used and writes; null if none.
  const Column* take(Field field, const Fits& fits = {});
  // A time column with its format.
  const Column* take_time(Field field);
  void give_time(Field field, const Column& column, std::string_view why = {});
  void line(std::string_view field, std::string_view toml, std::string_view why);
  void miss(std::string_view field, std::string_view what);
  void value(std::string toml, std::string note);  // [[value]]
  void judge_unit_by_values() { guess_.unit_by_values = true; }
  void note(std::string text) { guess_.notes.push_back(std::move(text)); }

  Guess finish(Row row) &&;

 private:
  // The column with the time of day, if `date` has only dates; null if none.
  const Column* time_beside(const Column& date) const;

  const Head& head_;
  char decimal_;
  std::vector<Column> columns_;
  std::vector<bool> used_;
  Guess guess_;
  std::string lines_;    // In [columns].
  std::string missing_;  // The same, as comments.
  std::string values_;
  bool from_zero_ = false;
  std::string epoch_;  // With from_zero_.
};

}  // namespace amdahl::fleet::table
