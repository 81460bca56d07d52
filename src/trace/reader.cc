#include "trace/reader.h"

#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "trace/bpf/bpf.h"
#include "trace/kineto/kineto.h"
#include "trace/ncu/ncu.h"
#include "trace/nsys/nsys.h"
#include "trace/perf/perf.h"
#include "trace/strangers.h"

namespace amdahl::trace {
namespace {

constexpr std::size_t kHead = 64 * 1024;

constexpr auto kReaders = std::to_array<Reader>({
    {"bpf", "a record of waits of amdahl profile", bpf::claims, bpf::read},
    {"kineto", "a trace of the PyTorch Profiler (Chrome JSON)", kineto::claims, kineto::read},
    {"ncu", "what Nsight Compute prints with --csv", ncu::claims, ncu::read},
    {"nsys", "an SQLite export of Nsight Systems", nsys::claims, nsys::read},
    {"perf", "what perf script prints", perf::claims, perf::read},
});

std::string names_of(std::span<const Reader> some) {
  std::vector<std::string> names;
  for (const Reader& reader : some) names.emplace_back(reader.name);
  return join(names, ", ");
}

// What people see of bytes that nobody reads.
std::string shown(std::string_view bytes) {
  std::string text = clip(bytes.substr(0, 64), 32);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) c = ' ';
  }
  return text;
}

Error unsupported(std::string text) { return {Error::Kind::kUnsupported, std::move(text)}; }

}  // namespace

std::span<const Reader> readers() { return kReaders; }

Result<Reader> reader_for(std::string_view head) {
  head = head.substr(0, kHead);
  if (head.empty()) return unsupported("is empty");
  std::vector<Reader> claiming;
  for (const Reader& reader : kReaders) {
    if (reader.claims(head)) claiming.push_back(reader);
  }
  if (claiming.size() == 1) return claiming.front();
  if (claiming.empty()) {
    if (std::string known = stranger(head); !known.empty()) return unsupported(std::move(known));
    return unsupported(fmt::format("begins with '{}', which no reader knows; formats: {}",
                                   shown(head), names_of(kReaders)));
  }
  return unsupported(
      fmt::format("is claimed by several readers, name one with --format: {}", names_of(claiming)));
}

Result<Reader> reader_named(std::string_view name) {
  for (const Reader& reader : kReaders) {
    if (reader.name == name) return reader;
  }
  std::vector<std::string_view> names;
  for (const Reader& reader : kReaders) names.push_back(reader.name);
  const auto near = did_you_mean(name, names);
  return Error{
      Error::Kind::kBadInput,
      fmt::format("there is no format '{}'{} formats: {}", name,
                  near ? fmt::format(", did you mean '{}'?", *near) : ";", names_of(kReaders))};
}

}  // namespace amdahl::trace
