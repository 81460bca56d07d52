#include "observe/bpf/unwind.h"

#include <cstring>
#include <vector>

namespace amdahl::observe {
namespace {

constexpr std::size_t kRegisters = 17;
constexpr int kMostRemembered = 8;
constexpr std::size_t kMostEntryBytes = 16384;

// Bytes of the file, read from front to back. Past the end it is bad, and yields 0.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, std::uint64_t address)
      : bytes_{bytes}, address_{address} {}

  bool is_bad() const { return is_bad_; }
  bool is_at_end() const { return at_ >= bytes_.size(); }
  std::uint64_t address() const { return address_ + at_; }
  void skip(std::uint64_t count) {
    if (count > bytes_.size() - at_) is_bad_ = true;
    at_ = is_bad_ ? bytes_.size() : at_ + count;
  }

  template <class T>
  T take() {
    T value{};
    if (sizeof(T) > bytes_.size() - at_) {
      is_bad_ = true;
      at_ = bytes_.size();
      return value;
    }
    std::memcpy(&value, &bytes_[at_], sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  std::uint64_t unsigned_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = take<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    is_bad_ = true;
    return 0;
  }

  std::int64_t signed_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
      const auto byte = take<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7FU} << shift;
      shift += 7;
      if ((byte & 0x80U) != 0) continue;
      if ((byte & 0x40U) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
    is_bad_ = true;
    return 0;
  }

  // A pointer in one of DWARF's encodings: absolute or relative to its own place.
  std::uint64_t pointer(std::uint8_t encoding) {
    const std::uint64_t place = address();
    std::uint64_t value = 0;
    switch (encoding & 0x0FU) {
      case 0x00:
      case 0x04:
      case 0x0C:
        value = take<std::uint64_t>();
        break;
      case 0x01:
        value = unsigned_leb();
        break;
      case 0x02:
        value = take<std::uint16_t>();
        break;
      case 0x03:
        value = take<std::uint32_t>();
        break;
      case 0x09:
        value = static_cast<std::uint64_t>(signed_leb());
        break;
      case 0x0A:
        value = static_cast<std::uint64_t>(std::int64_t{take<std::int16_t>()});
        break;
      case 0x0B:
        value = static_cast<std::uint64_t>(std::int64_t{take<std::int32_t>()});
        break;
      default:
        is_bad_ = true;
    }
    const unsigned relative = encoding & 0x70U;
    if (relative == 0x10) return value + place;
    if (relative != 0) is_bad_ = true;
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t address_;
  std::size_t at_ = 0;
  bool is_bad_ = false;
};

using Row = UnwindRow;
using Rule = UnwindRow::Rule;

// The common information entry (CIE) of its frame entries.
struct Common {
  std::uint64_t code_factor = 1;
  std::int64_t data_factor = 1;
  std::uint8_t pointer_encoding = 0;
  bool is_augmented = false;
  std::vector<std::byte> bytes;  // Its instructions, and their address.
  std::uint64_t address = 0;
};

struct Entry {
  std::vector<std::byte> bytes;  // Without the length.
  std::uint64_t address = 0;
};

std::optional<Entry> read_entry(const ElfFile& file, std::uint64_t address) {
  std::uint32_t length = 0;
  if (!file.read(address, std::as_writable_bytes(std::span(&length, 1)))) return std::nullopt;
  if (length < 4 || length > kMostEntryBytes) return std::nullopt;
  Entry entry{std::vector<std::byte>(length), address + 4};
  if (!file.read(entry.address, entry.bytes)) return std::nullopt;
  return entry;
}

std::optional<Common> read_common(const ElfFile& file, std::uint64_t address) {
  const auto entry = read_entry(file, address);
  if (!entry) return std::nullopt;
  Cursor in(entry->bytes, entry->address);
  Common common;
  if (in.take<std::uint32_t>() != 0) return std::nullopt;  // It is not a common entry.
  const auto version = in.take<std::uint8_t>();
  std::string augmentation;
  while (!in.is_at_end()) {
    const char c = in.take<char>();
    if (c == '\0') break;
    augmentation += c;
  }
  common.code_factor = in.unsigned_leb();
  common.data_factor = in.signed_leb();
  const std::uint64_t return_register = version == 1 ? in.take<std::uint8_t>() : in.unsigned_leb();
  if (return_register != Registers::kInstruction) return std::nullopt;
  common.is_augmented = augmentation.starts_with("z");
  if (common.is_augmented) {
    in.unsigned_leb();  // Its length.
    for (const char c : augmentation.substr(1)) {
      if (c == 'R') common.pointer_encoding = in.take<std::uint8_t>();
      if (c == 'L') in.take<std::uint8_t>();
      if (c == 'P') {
        const auto encoding = in.take<std::uint8_t>();
        in.pointer(static_cast<std::uint8_t>(encoding & 0x0FU));
      }
    }
  } else if (!augmentation.empty()) {
    return std::nullopt;
  }
  if (in.is_bad()) return std::nullopt;
  const std::size_t used = in.address() - entry->address;
  common.bytes.assign(entry->bytes.begin() + static_cast<std::ptrdiff_t>(used), entry->bytes.end());
  common.address = in.address();
  return common;
}

// Carries out the instructions of an entry up to one address.
class Program {
 public:
  Program(const Common& common, std::uint64_t start, std::uint64_t wanted)
      : common_{common}, at_{start}, wanted_{wanted} {}

  // False if it holds something that we do not know.
  bool run(Cursor in) {
    while (!in.is_at_end() && at_ <= wanted_) {
      if (!step(in) || in.is_bad()) return false;
    }
    return !in.is_bad();
  }
  void note_initial() { initial_ = row; }

  Row row;

 private:
  bool step(Cursor& in) {
    const auto code = in.take<std::uint8_t>();
    const std::uint8_t low = code & 0x3FU;
    switch (code >> 6U) {
      case 1:
        return advance(low);
      case 2:
        return set(low, {Rule::kAtOffset, scaled(in.unsigned_leb())});
      case 3:
        return set(low, low < kRegisters ? initial_.rules[low] : Rule{});
      default:
        return low < 0x0C ? simple(low, in) : frame(low, in);
    }
  }

  // Places and rules of registers.
  bool simple(std::uint8_t code, Cursor& in) {
    switch (code) {
      case 0x00:
        return true;
      case 0x01:
        at_ = in.pointer(common_.pointer_encoding);
        return true;
      case 0x02:
        return advance(in.take<std::uint8_t>());
      case 0x03:
        return advance(in.take<std::uint16_t>());
      case 0x04:
        return advance(in.take<std::uint32_t>());
      case 0x05: {
        const std::uint64_t number = in.unsigned_leb();
        return set(number, {Rule::kAtOffset, scaled(in.unsigned_leb())});
      }
      case 0x06: {
        const std::uint64_t number = in.unsigned_leb();
        return set(number, number < kRegisters ? initial_.rules[number] : Rule{});
      }
      case 0x07:
        return set(in.unsigned_leb(), {Rule::kUndefined, 0});
      case 0x08:
        return set(in.unsigned_leb(), {Rule::kSame, 0});
      case 0x09: {
        const std::uint64_t number = in.unsigned_leb();
        return set(number, {Rule::kRegister, static_cast<std::int64_t>(in.unsigned_leb())});
      }
      case 0x0A:
        if (remembered_.size() >= kMostRemembered) return false;
        remembered_.push_back(row);
        return true;
      default:
        if (remembered_.empty()) return false;
        row = remembered_.back();
        remembered_.pop_back();
        return true;
    }
  }

  // The frame's own address, and values given by expressions.
  bool frame(std::uint8_t code, Cursor& in) {
    switch (code) {
      case 0x0C:
        row.frame_register = in.unsigned_leb();
        row.frame_offset = static_cast<std::int64_t>(in.unsigned_leb());
        row.is_frame_known = true;
        return true;
      case 0x0D:
        row.frame_register = in.unsigned_leb();
        return true;
      case 0x0E:
        row.frame_offset = static_cast<std::int64_t>(in.unsigned_leb());
        return true;
      case 0x0F:
        row.is_frame_known = false;
        in.skip(in.unsigned_leb());
        return true;
      case 0x10:
      case 0x16: {
        const std::uint64_t number = in.unsigned_leb();
        in.skip(in.unsigned_leb());
        return set(number, {Rule::kUnknown, 0});
      }
      case 0x11: {
        const std::uint64_t number = in.unsigned_leb();
        return set(number, {Rule::kAtOffset, in.signed_leb() * common_.data_factor});
      }
      case 0x12:
        row.frame_register = in.unsigned_leb();
        row.frame_offset = in.signed_leb() * common_.data_factor;
        row.is_frame_known = true;
        return true;
      case 0x13:
        row.frame_offset = in.signed_leb() * common_.data_factor;
        return true;
      case 0x14: {
        const std::uint64_t number = in.unsigned_leb();
        return set(number, {Rule::kIsOffset, scaled(in.unsigned_leb())});
      }
      case 0x2E:
        in.unsigned_leb();
        return true;  // GNU_args_size.
      default:
        return false;
    }
  }

  bool advance(std::uint64_t count) {
    at_ += count * common_.code_factor;
    return true;
  }
  bool set(std::uint64_t number, Rule rule) {
    if (number < kRegisters) row.rules[number] = rule;
    return true;
  }
  std::int64_t scaled(std::uint64_t count) const {
    return static_cast<std::int64_t>(count * static_cast<std::uint64_t>(common_.data_factor));
  }

  const Common& common_;
  std::uint64_t at_;
  std::uint64_t wanted_;
  Row initial_;
  std::vector<Row> remembered_;
};

// The entry of the function around the address, by the sorted table of .eh_frame_hdr.
std::optional<std::uint64_t> find_entry(const ElfFile& file, std::uint64_t address) {
  const std::uint64_t table = file.unwind_table();
  std::array<std::byte, 12> head{};
  if (table == 0 || !file.read(table, head)) return std::nullopt;
  const auto at = [&](std::size_t i) { return static_cast<unsigned>(head[i]); };
  // The only layout that linkers write: a count and pairs of offsets, four bytes each.
  if (at(0) != 1 || at(1) != 0x1B || at(2) != 0x03 || at(3) != 0x3B) return std::nullopt;
  std::uint32_t count = 0;
  std::memcpy(&count, &head[8], sizeof(count));
  std::uint64_t low = 0;
  std::uint64_t high = count;
  std::array<std::int32_t, 2> found{};
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    std::array<std::int32_t, 2> pair{};
    if (!file.read(table + 12 + middle * 8, std::as_writable_bytes(std::span(pair)))) {
      return std::nullopt;
    }
    if (table + static_cast<std::uint64_t>(std::int64_t{pair[0]}) <= address) {
      found = pair;
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return std::nullopt;
  return table + static_cast<std::uint64_t>(std::int64_t{found[1]});
}

std::optional<std::uint64_t> apply(const Rule& rule, std::size_t number, std::uint64_t frame,
                                   const Registers& registers, const StackCopy& stack) {
  switch (rule.kind) {
    case Rule::kSame:
      return registers.values[number];
    case Rule::kAtOffset:
      return stack.word(frame + static_cast<std::uint64_t>(rule.value));
    case Rule::kIsOffset:
      return frame + static_cast<std::uint64_t>(rule.value);
    case Rule::kRegister:
      if (rule.value < 0 || rule.value >= static_cast<std::int64_t>(kRegisters)) break;
      return registers.values[static_cast<std::size_t>(rule.value)];
    default:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> StackCopy::word(std::uint64_t address) const {
  if (address < from || bytes.size() < 8 || address - from > bytes.size() - 8) return std::nullopt;
  std::uint64_t value = 0;
  std::memcpy(&value, &bytes[address - from], sizeof(value));
  return value;
}

std::optional<UnwindRow> unwind_row(const ElfFile& file, std::uint64_t address) {
  const auto place = find_entry(file, address);
  const auto entry = place ? read_entry(file, *place) : std::nullopt;
  if (!entry) return std::nullopt;
  Cursor in(entry->bytes, entry->address);
  const auto back = in.take<std::uint32_t>();
  const auto common = read_common(file, entry->address - back);
  if (back == 0 || !common) return std::nullopt;
  const std::uint64_t start = in.pointer(common->pointer_encoding);
  const std::uint64_t length =
      in.pointer(static_cast<std::uint8_t>(common->pointer_encoding & 0x0FU));
  if (common->is_augmented) in.skip(in.unsigned_leb());
  if (in.is_bad() || address < start || address - start >= length) return std::nullopt;
  Program program(*common, start, address);
  if (!program.run(Cursor(common->bytes, common->address))) return std::nullopt;
  program.note_initial();
  if (!program.run(in)) return std::nullopt;
  return program.row;
}

std::optional<Registers> caller_of(const UnwindRow& row, const Registers& registers,
                                   const StackCopy& stack) {
  if (!row.is_frame_known || row.frame_register >= kRegisters) return std::nullopt;
  const std::uint64_t frame =
      registers.values[row.frame_register] + static_cast<std::uint64_t>(row.frame_offset);
  // The stack grows down: a frame that is not above cannot be the caller's.
  if (frame <= registers.stack()) return std::nullopt;
  Registers caller = registers;
  for (std::size_t number = 0; number < kRegisters; ++number) {
    const auto value = apply(row.rules[number], number, frame, registers, stack);
    // Only an unreadable saved register ends the walk; for the return address always.
    if (value) {
      caller.values[number] = *value;
    } else if (number == Registers::kInstruction) {
      return std::nullopt;
    } else {
      caller.values[number] = 0;
    }
  }
  caller.values[Registers::kStack] = frame;
  if (row.rules[Registers::kInstruction].kind == Rule::kSame || caller.instruction() == 0) {
    return std::nullopt;
  }
  return caller;
}

std::optional<Registers> caller_by_frame(const Registers& registers, const StackCopy& stack) {
  const std::uint64_t frame = registers.values[Registers::kFrame];
  if (frame < registers.stack()) return std::nullopt;
  const auto before = stack.word(frame);
  const auto back = stack.word(frame + 8);
  if (!before || !back || *back == 0) return std::nullopt;
  Registers caller = registers;
  caller.values[Registers::kFrame] = *before;
  caller.values[Registers::kStack] = frame + 16;
  caller.values[Registers::kInstruction] = *back;
  return caller;
}

}  // namespace amdahl::observe
