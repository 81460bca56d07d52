#include "observe/bpf/read_record.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "model/bpf_lines.h"
#include "os/fd.h"

namespace amdahl::observe {
namespace {

constexpr std::size_t kPiece = 1 << 18;
constexpr std::size_t kLongestLine = 64 << 20;

}  // namespace

Result<model::BpfSummary> read_record(const std::string& path) {
  const os::Fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)};
  if (file.get() < 0 && errno == ENOENT) {
    return Error{Error::Kind::kNotFound, fmt::format("{}: no such file", path)};
  }
  if (file.get() < 0) return external(fmt::format("{}: {}", path, std::strerror(errno)));
  model::BpfSummary summary;
  model::SingleWait unused;
  std::string left;
  const auto piece = std::make_unique<std::array<char, kPiece>>();
  while (true) {
    const ssize_t got = ::read(file.get(), piece->data(), piece->size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return external(fmt::format("{}: {}", path, std::strerror(errno)));
    if (got == 0) break;
    left.append(piece->data(), static_cast<std::size_t>(got));
    std::size_t at = 0;
    for (std::size_t end = 0; (end = left.find('\n', at)) != left.npos; at = end + 1) {
      if (left[at] == '[') continue;
      const auto line = std::string_view(left).substr(at, end - at);
      const auto kind = model::read_bpf_line(line, summary, unused);
      if (!kind) return Result<model::BpfSummary>(kind.error()).in(path);
      if (*kind == model::BpfLine::kEnd) return summary;
    }
    left.erase(0, at);
    if (left.size() > kLongestLine) return bad_input(path + ": has a line of over 64 MiB");
  }
  return bad_input(path + ": is cut off, so its totals are missing");
}

}  // namespace amdahl::observe
