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
#include "trace/operations/operations.h"
#include "trace/perf/perf.h"
#include "trace/rocpd/rocpd.h"
#include "trace/unsupported_formats.h"
#include "trace/xplane/xplane.h"

namespace amdahl::trace {
namespace {

constexpr std::size_t kHead = 64 * 1024;

constexpr auto kReaders = std::to_array<Reader>({
    {"bpf", "a record of waits from amdahl profile", bpf::claims, bpf::read},
    {"kineto", "a PyTorch Profiler trace (Chrome JSON)", kineto::claims, kineto::read},
    {"ncu", "Nsight Compute output (ncu --csv)", ncu::claims, ncu::read},
    {"nsys", "an SQLite export of Nsight Systems", nsys::claims, nsys::read},
    {"operations", "operations of pipeline stages (Chrome JSON)", operations::claims,
     operations::read},
    {"perf", "output of perf script", perf::claims, perf::read},
    {"rocpd", "a database of rocprofv3 (rocpd)", rocpd::claims, rocpd::read},
    {"xplane", "an XPlane file of XLA, JAX or TensorFlow", xplane::claims, xplane::read},
});

std::string names_of(std::span<const Reader> some) {
  std::vector<std::string> names;
  for (const Reader& reader : some) names.emplace_back(reader.name);
  return join(names, ", ");
}

// Unknown bytes as printable text.
std::string shown(std::string_view bytes) {
  std::string text = clip(bytes.substr(0, 64), 32);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) c = ' ';
  }
  return text;
}

Error unsupported(std::string text) { return {Error::Kind::kUnsupported, std::move(text)}; }

}  // namespace

Result<Reader> reader_for(std::string_view head) {
  head = head.substr(0, kHead);
  if (head.empty()) return unsupported("is empty");
  std::vector<Reader> claiming;
  for (const Reader& reader : kReaders) {
    if (reader.claims(head)) claiming.push_back(reader);
  }
  if (claiming.size() == 1) return claiming.front();
  if (claiming.empty()) {
    if (std::string known = describe_unsupported(head); !known.empty())
      return unsupported(std::move(known));
    return unsupported(fmt::format("has an unknown format (starts with '{}'); known formats: {}",
                                   shown(head), names_of(kReaders)));
  }
  return unsupported(
      fmt::format("matches several formats; choose one with --format: {}", names_of(claiming)));
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
      fmt::format("unknown format '{}'{} known formats: {}", name,
                  near ? fmt::format(", did you mean '{}'?", *near) : ";", names_of(kReaders))};
}

}  // namespace amdahl::trace
