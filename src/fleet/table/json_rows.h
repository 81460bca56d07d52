// json_rows.h: lists of JSON objects, and an object a line, as rows of a table whose columns are
// keys.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "fleet/intake.h"
#include "fleet/table/cells.h"
#include "fleet/table/head.h"

namespace amdahl::fleet::table {

class JsonRows {
 public:
  class Sink {
   public:
    virtual ~Sink() = default;
    // Once, before any row: the keys of the first objects, and their rows, which come again.
    virtual Result<> begin(const Head& head) = 0;
    virtual Result<> row(const Cells& cells, Where where) = 0;  // Line: the number of the row.
    virtual void trouble(model::Trouble trouble, Where where, std::string_view text) = 0;
  };

  explicit JsonRows(Sink& sink);  // Which must outlive it.
  ~JsonRows();

  Result<> feed(std::string_view bytes);
  Result<> finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The keys and rows of the first objects; nothing if these bytes do not begin such a table.
std::optional<Head> head_of_objects(std::string_view bytes);

}  // namespace amdahl::fleet::table
