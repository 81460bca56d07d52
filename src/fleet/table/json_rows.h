// json_rows.h: lists of JSON objects, or one object per line, as table rows with keys as columns.
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
    // Called once before any row, with the keys and rows of the first objects. These rows are
    // passed to row() too.
    virtual Result<> begin(const Head& head) = 0;
    virtual Result<> row(const Cells& cells, Where where) = 0;  // Where::line is the row number.
    virtual void trouble(model::Trouble trouble, Where where, std::string_view text) = 0;
  };

  explicit JsonRows(Sink& sink);  // Must outlive this.
  ~JsonRows();

  Result<> feed(std::string_view bytes);
  Result<> finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Keys and rows of the first objects; nothing if the bytes are not such a table.
std::optional<Head> head_of_objects(std::string_view bytes);

}  // namespace amdahl::fleet::table
