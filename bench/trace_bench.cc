// How fast traces are read and broken down, by their size, beside a bare scan of the same bytes and
// Holistic Trace Analysis: trace_bench TRACE.json.gz FOLDER [MOST_MB] [PYTHONPATH_OF_HTA]
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/breakdown.h"
#include "trace/kineto/frame.h"
#include "trace/reader.h"
#include "trace/testing.h"
#include "trace_builder.h"

namespace {

using namespace amdahl;

constexpr std::uint64_t kMega = 1'000'000;
constexpr std::uint64_t kMostForHta = 220;  // MB: it takes minutes beyond.

struct Cost {
  bool worked = false;
  double wall_s = 0;
  double cpu_s = 0;
  double peak_mb = 0;
};

// Runs `work` in a process of its own, so that its peak memory is its own.
Cost measure(const std::function<bool()>& work) {
  std::fflush(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) _exit(work() ? 0 : 1);
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  Cost cost;
  cost.worked = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  cost.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  cost.cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
  cost.peak_mb = static_cast<double>(used.ru_maxrss) / 1000;
  return cost;
}

trace::NextBytes plain_bytes(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return [file](std::span<char> room) -> Result<std::size_t> {
    const ssize_t got = read(file, room.data(), room.size());
    if (got < 0) return external("cannot read");
    return static_cast<std::size_t>(got);
  };
}

bool load(const std::string& path, int threads) {
  const Result<model::Trace> trace =
      trace::load(*trace::reader_named("kineto"), path, plain_bytes(path), {.threads = threads});
  if (!trace) {
    fmt::print(stderr, "{}\n", trace.error().text);
    return false;
  }
  return !profile::break_down(*trace).empty();
}

// The limit: every field of every event is found and nothing is done with it.
bool scan(const std::string& path) {
  trace::kineto::Framer framer(plain_bytes(path));
  simdjson::ondemand::parser parser;
  trace::kineto::Buffer buffer;
  std::uint64_t fields = 0;
  while (true) {
    auto next = framer.next(std::move(buffer));
    if (!next) return false;
    std::optional<trace::kineto::Piece> piece = *std::move(next);
    if (!piece) return fields > 0;
    char* const bytes = piece->buffer.bytes.get();
    bytes[piece->begin - 1] = '[';
    bytes[piece->end] = ']';
    simdjson::ondemand::document document;
    const std::size_t length = piece->end - piece->begin + 2;
    if (parser.iterate(bytes + piece->begin - 1, length, length + 64).get(document)) return false;
    for (auto event : document.get_array()) {
      for (auto field : event.get_object()) fields += field.error() == simdjson::SUCCESS ? 1 : 0;
    }
    buffer = std::move(piece->buffer);
  }
}

bool run_hta(const std::string& path, const std::string& python_path) {
  setenv("PYTHONPATH", python_path.c_str(), 1);
  const std::string program = fmt::format(
      "import logging; logging.disable(logging.CRITICAL)\n"
      "from hta.trace_analysis import TraceAnalysis\n"
      "t = TraceAnalysis(trace_files={{0: '{}'}})\n"
      "t.get_temporal_breakdown(visualize=False)\n"
      "t.get_comm_comp_overlap(visualize=False)\n"
      "t.get_idle_time_breakdown(ranks=[0], visualize=False)\n",
      path);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, 1);
  dup2(nowhere, 2);
  execl("/usr/bin/python3", "python3", "-c", program.c_str(), static_cast<char*>(nullptr));
  return false;
}

std::optional<std::string> unpacked(const std::string& path) {
  const trace::NextBytes next = trace::bytes_of(path);
  std::string text;
  std::vector<char> room(1 << 20);
  while (true) {
    const Result<std::size_t> got = next(room);
    if (!got) return {};
    if (*got == 0) return text;
    text.append(room.data(), *got);
  }
}

bool write_trace(const std::string& from, const std::string& to, std::uint64_t bytes) {
  const std::optional<std::string> json = unpacked(from);
  std::FILE* const file = std::fopen(to.c_str(), "wb");
  if (!json || file == nullptr) return false;
  bench::repeat_trace(
      *json, bytes, [&](std::string_view text) { std::fwrite(text.data(), 1, text.size(), file); });
  return std::fclose(file) == 0;
}

std::uint64_t size_of(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const off_t size = lseek(file, 0, SEEK_END);
  close(file);
  return size > 0 ? static_cast<std::uint64_t>(size) : 0;
}

// The cheapest of three by CPU time: others only add to it.
Cost best(const std::function<bool()>& work, int rounds) {
  Cost cheapest = measure(work);
  for (int i = 1; i < rounds; ++i) {
    const Cost cost = measure(work);
    if (cost.cpu_s < cheapest.cpu_s) cheapest = cost;
  }
  return cheapest;
}

void print(std::string_view what, double mega, const Cost& cost) {
  if (!cost.worked) {
    fmt::print("| {:.0f} | {} | failed | | | | |\n", mega, what);
    return;
  }
  fmt::print("| {:.0f} | {} | {:.2f} | {:.2f} | {:.0f} | {:.0f} | {:.2f} |\n", mega, what,
             cost.wall_s, cost.cpu_s, mega / cost.cpu_s, cost.peak_mb, cost.peak_mb / mega);
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    fmt::print(stderr, "usage: trace_bench TRACE.json.gz FOLDER [MOST_MB] [PYTHONPATH_OF_HTA]\n");
    return 2;
  }
  const std::string from = words[1];
  const std::string path = std::string(words[2]) + "/trace_bench.json";
  const std::uint64_t most = count > 3 ? std::strtoull(words[3], nullptr, 10) : 2000;
  const std::string hta = count > 4 ? words[4] : "";
  fmt::print("| MB | what | wall s | CPU s | MB/s of CPU | peak MB | bytes a byte |\n");
  fmt::print("|---:|---|---:|---:|---:|---:|---:|\n");
  for (const std::uint64_t size : {50, 200, 500, 1000, 2000, 4000, 8000}) {
    if (size > most) break;
    if (!measure([&] { return write_trace(from, path, size * kMega); }).worked) return 1;
    const double mega = static_cast<double>(size_of(path)) / 1e6;
    const int rounds = size <= 1000 ? 3 : 2;
    print("bare scan", mega, best([&] { return scan(path); }, rounds));
    print("load and breakdown, 1 thread", mega, best([&] { return load(path, 1); }, rounds));
    print("load and breakdown, 2 threads", mega, best([&] { return load(path, 2); }, rounds));
    if (!hta.empty() && size <= kMostForHta) {
      print("HTA", mega, measure([&] { return run_hta(path, hta); }));
    }
    std::fflush(nullptr);
  }
  unlink(path.c_str());
  return 0;
}
