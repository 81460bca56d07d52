// schema.h: the tables of a ledger file and the constraints that keep its promises.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace amdahl::ledger::sqlite {

inline constexpr std::int32_t kApplicationId = 0x414d4448;  // "AMDH".
inline constexpr int kSchemaVersion = 10;

// Brings a file from version `from` to the next. Speaks of `events` and `lease` alone: after the
// last step all projections are made anew from the events.
struct Migration {
  int from = 0;
  std::string_view sql;
};

struct Schema {
  int version = kSchemaVersion;
  std::span<const Migration> migrations;  // One for each version before `version`.
};

// What this program writes. Tests hand the store another.
Schema present_schema();

std::string base_sql();         // The tables that no replay can bring back: events and lease.
std::string projections_sql();  // All others, empty.

// A table that replay must reproduce, and how to name and order its rows.
struct Projection {
  std::string_view name;
  std::string_view select;  // The row's name for people, then its columns.
  // Ordered by what: the name, or the second column, a number by which a table is stored. Only the
  // latter reads a table that is larger than memory from end to end and not here and there.
  enum class Order : std::uint8_t { kName, kNumber } order = Order::kNumber;
};
std::span<const Projection> projections();

}  // namespace amdahl::ledger::sqlite
