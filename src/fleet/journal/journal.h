// journal.h: what an intake was told, written down small, so that no source need be read twice.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "fleet/intake.h"
#include "fleet/journal/format.h"
#include "fleet/source.h"

namespace amdahl::fleet::journal {

// Writes down all that it is told, as docs/format/journal.md says, and passes it on if `next` is
// not null. About one byte a sample.
class Writer final : public Intake {
 public:
  explicit Writer(Intake* next = nullptr);
  ~Writer() override;

  SeriesId series(const model::SeriesKey& key) override;
  void tell(const Record& record) override;

  // The bytes that are ready, to be written to a file as they come.
  std::string take();
  // The last of them. Without these a journal is truncated, and refused.
  std::string finish();

 private:
  struct Compressor;
  void room();   // Before a record: closes a block that is full.
  void close();  // The block that is open.
  void write(const Job& job);
  void write(const Assignment& place);
  void write(const Capacity& capacity);
  void write(const Occupancy& occupancy);
  void write(const Device& device);
  void write(const Parts& parts);
  void write(const Down& down);
  void write(const Samples& samples);
  void write(const Rows& rows);
  void write(const Complaint& complaint);
  void write(const Troubles& troubles);
  void op(Op op);
  void place(Where where);
  void words(std::initializer_list<std::string_view> all);
  void text(std::string_view text);
  void number(std::uint64_t value);
  void whole(std::int64_t value);
  void real(double value);
  void times(std::span<const Sample> samples);
  void values(std::span<const Sample> samples);

  Intake* next_;
  std::unique_ptr<Compressor> compressor_;
  std::string block_;
  std::string ready_;
  std::unordered_map<std::string, SeriesId> ids_;
  std::vector<SeriesId> next_ids_;    // Of `next_`, by ours.
  std::vector<SeriesId> translated_;  // Room for rows.
  std::string key_;
};

bool claims(std::string_view head);

// Whether bytes of this size are a journal to its end, by the sizes of its blocks alone. `at` gives
// so many bytes from an offset on, or fewer if there are not so many.
bool is_whole(std::uint64_t size,
              const std::function<std::string(std::uint64_t offset, std::size_t bytes)>& at);

// Tells `intake` the same again, in the same order. An error if a byte is missing or wrong; what
// stood before it was told.
std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

}  // namespace amdahl::fleet::journal
