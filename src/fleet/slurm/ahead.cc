#include "fleet/slurm/ahead.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "fleet/slurm/job.h"
#include "fleet/slurm/table.h"

namespace amdahl::fleet::slurm {
namespace {

constexpr std::size_t kBlock = std::size_t{256} << 10;
constexpr std::size_t kLongestLine = std::size_t{1} << 26;

// One thread's own reader of the table.
class LineReader {
 public:
  explicit LineReader(const Ahead::Table& table)
      : jobs_{told_, table.zone, table.zone_is_known}, table_{told_, jobs_, "", true} {
    const auto header = table_.line(table.header, {});
    CHECK(header);
  }

  // `told` is cleared, and filled with what `lines` say; how many they are.
  std::uint64_t read(std::string_view lines, BufferedIntake& told) {
    std::swap(told_, told);
    told_.clear();
    Where where;
    while (!lines.empty()) {
      const std::size_t end = lines.find('\n');
      std::string_view line = lines.substr(0, end);
      const std::size_t size = line.size() + (end == lines.npos ? 0 : 1);
      ++where.line;
      if (line.ends_with('\r')) line.remove_suffix(1);
      const auto read = table_.line(line, where);
      CHECK(read);  // Only a header can be wrong.
      where.byte += size;
      lines.remove_prefix(size);
    }
    table_.finish();
    std::swap(told_, told);
    return where.line;
  }

 private:
  BufferedIntake told_;
  Jobs jobs_;
  slurm::Table table_;
};

}  // namespace

Ahead::Ahead(Intake& intake, Table table, Where first, int threads)
    : intake_{intake}, table_{std::move(table)}, next_{first} {
  CHECK(threads > 0);
  const std::string& header = table_.header;
  const auto is_letter = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
  const auto end_of_name = std::ranges::find_if_not(header, is_letter);
  if (end_of_name != header.end()) delimiter_ = *end_of_name;
  delimiters_ = std::ranges::count(header, delimiter_);
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

Ahead::~Ahead() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Ahead::work() {
  LineReader reader(table_);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_over_ || begun_ < blocks_.size(); });
    if (is_over_) return;
    Block& block = *blocks_[begun_++];
    lock.unlock();
    block.count = reader.read(block.lines, block.told);
    lock.lock();
    block.is_done = true;
    changed_.notify_all();
  }
}

// Where the next block is to begin: with a line that has as many cells as the header, so that no
// record of several lines is cut. `end`: of the last whole line.
std::size_t Ahead::cut_before(std::size_t end) const {
  constexpr int kMostLines = 1000;
  std::size_t line_end = end;
  for (int i = 0; i < kMostLines && line_end > 0; ++i) {
    const std::size_t before = line_end > 1 ? rest_.rfind('\n', line_end - 2) : rest_.npos;
    const std::size_t begin = before == rest_.npos ? 0 : before + 1;
    if (begin == 0) break;
    const auto line = std::string_view(rest_).substr(begin, line_end - begin);
    const auto cells = std::ranges::count(line, delimiter_);
    if (cells >= delimiters_) return begin;
    line_end = begin;
  }
  return end;
}

// Whole lines of what has come.
void Ahead::give(bool is_last) {
  std::size_t last = rest_.rfind('\n');
  if (last == rest_.npos) return;
  if (!is_last) last = cut_before(last + 1) - 1;
  std::unique_ptr<Block> block;
  if (spare_.empty()) {
    block = std::make_unique<Block>();
  } else {
    block = std::move(spare_.back());
    spare_.pop_back();
  }
  block->lines.assign(rest_, last + 1);
  std::swap(block->lines, rest_);
  block->lines.resize(last + 1);
  block->is_done = false;
  {
    const std::lock_guard lock(mutex_);
    blocks_.push_back(std::move(block));
  }
  changed_.notify_all();
}

void Ahead::take() {
  std::unique_ptr<Block> block;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return blocks_.front()->is_done; });
    block = std::move(blocks_.front());
    blocks_.pop_front();
    --begun_;
  }
  block->told.tell_all(intake_, next_);
  next_.line += block->count;
  next_.byte += block->lines.size();
  spare_.push_back(std::move(block));
}

Result<> Ahead::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t room = rest_.size() < kBlock ? kBlock - rest_.size() : kBlock;
    const std::string_view some = bytes.substr(0, room);
    rest_ += some;
    bytes.remove_prefix(some.size());
    if (rest_.size() < kBlock) break;
    give(false);
    if (rest_.size() > kLongestLine) return bad_input("a line is longer than 64 MiB: not a table");
    while (blocks_.size() > 2 * threads_.size()) take();
  }
  return Ok{};
}

void Ahead::finish() {
  if (!rest_.empty()) {
    if (!rest_.ends_with('\n')) rest_ += '\n';
    give(true);
  }
  while (!blocks_.empty()) take();
}

}  // namespace amdahl::fleet::slurm
