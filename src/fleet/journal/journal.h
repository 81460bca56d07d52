// journal.h: a compact log of an intake's records, so that no source is read twice.
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

// Logs all records (docs/format/journal.md) and passes them to `next` unless it is null. About one
// byte per sample.
class Writer final : public Intake {
 public:
  explicit Writer(Intake* next = nullptr);
  ~Writer() override;

  SeriesId series(const model::SeriesKey& key) override;
  void tell(const Record& record) override;

  // The finished bytes so far, to be appended to a file.
  std::string take();
  // The last bytes. A journal without them is truncated and refused.
  std::string finish();

 private:
  struct Compressor;
  void room();   // Before a record: closes a full block.
  void close();  // Closes the open block.
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
  std::vector<SeriesId> next_ids_;    // Ids of `next_`, indexed by ours.
  std::vector<SeriesId> translated_;  // Buffer for rows.
  std::string key_;
};

bool claims(std::string_view head);

// Whether the file is a complete journal, by the sizes of its blocks only. `at` returns bytes from
// an offset, fewer at the end.
bool is_whole(std::uint64_t size,
              const std::function<std::string(std::uint64_t offset, std::size_t bytes)>& at);

// Replays all records into `intake` in the same order. Fails if a byte is missing or wrong;
// records before it have been passed on.
std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

}  // namespace amdahl::fleet::journal
