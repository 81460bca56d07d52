// journal.h: what an intake was told, written down small, so that no source need be read twice.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "fleet/intake.h"
#include "fleet/source.h"

namespace amdahl::fleet::journal {

// Writes down all that it is told, as docs/format/journal.md says, and passes it on if `next` is
// not null. About one byte a sample.
class Writer final : public Intake {
 public:
  explicit Writer(Intake* next = nullptr);
  ~Writer() override;

  void job(const model::JobDraft& job, Where where) override;
  void place(std::string_view job, std::string_view host, std::string_view accelerator) override;
  void capacity(std::string_view host, std::string_view partition, std::string_view kind,
                int accelerators) override;
  void occupancy(std::string_view partition, const Occupancy& occupancy) override;
  void device(const Device& device) override;
  void parts(std::string_view host, double of_each) override;
  void down(const Down& down) override;
  SeriesId series(const model::SeriesKey& key) override;
  void samples(SeriesId series, std::span<const Sample> samples) override;
  void rows(std::span<const SeriesId> series, std::span<const Sample> samples) override;
  void trouble(model::Trouble trouble, Where where, std::string_view text) override;
  void troubles(model::Trouble trouble, std::uint64_t count) override;

  // The bytes that are ready, to be written to a file as they come.
  std::string take();
  // The last of them. Without these a journal is truncated, and refused.
  std::string finish();

 private:
  struct Compressor;
  void room();   // Before a record: closes a block that is full.
  void close();  // The block that is open.
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
