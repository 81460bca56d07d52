#include "launch/local/nodes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>

#include <fmt/core.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"
#include "model/codec.h"
#include "observe/node.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"
#include "os/left.h"

extern char** environ;

namespace amdahl::launch::local {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Nanos kAllWatchWithin = seconds(60);
constexpr Nanos kAllToldWithin = seconds(60);
constexpr Nanos kLookEvery = milliseconds(100);
constexpr std::string_view kWatches = "watching\n";

Result<pid_t> start_srun(const std::vector<std::string>& words, int link) {
  std::vector<std::string> copy = words;
  std::vector<char*> argv;
  for (std::string& word : copy) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files{};
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, link, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, link, STDOUT_FILENO);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv.front(), &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    return external(fmt::format("cannot start srun, which jobs of several nodes need: {}",
                                std::system_category().message(error)));
  }
  return pid;
}

// The larger one; unknown if one is.
double worse(double a, double b) { return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b); }

model::HostNoise worse(const model::HostNoise& a, const model::HostNoise& b) {
  return {worse(a.load1, b.load1), worse(a.foreign_cpu_cores, b.foreign_cpu_cores),
          worse(a.steal_share, b.steal_share), worse(a.psi_cpu_some, b.psi_cpu_some),
          worse(a.run_queue, b.run_queue)};
}

// What the observer is told: its order first, then how the job went.
struct Told {
  bool closed = false;
  std::optional<Json> line{};
};

Told next_line(std::string& heard, Nanos wait) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  Told told;
  if (heard.find('\n') == heard.npos &&
      ::poll(&input, 1, static_cast<int>(wait / milliseconds(1))) > 0) {
    std::array<char, 4096> bytes{};
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got > 0) heard.append(bytes.data(), static_cast<std::size_t>(got));
    told.closed = got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN);
  }
  const std::size_t end = heard.find('\n');
  if (end == heard.npos) return told;
  auto line = parse_json(heard.substr(0, end));
  heard.erase(0, end + 1);
  if (line && line->is_object()) told.line = *std::move(line);
  return told;
}

}  // namespace

NodeObservers::NodeObservers(Order order, os::Fd link, pid_t srun)
    : order_{std::move(order)}, link_{std::move(link)}, srun_{srun} {}

NodeObservers::~NodeObservers() {
  if (link_.get() < 0) return;
  ::shutdown(link_.get(), SHUT_WR);
  const Nanos until = os::real_clock().monotonic() + kAllToldWithin;
  while (read_more(until)) {
  }
}

Result<NodeObservers> NodeObservers::start(const Order& order) {
  TRY(os::make_dirs(order.folder));
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return external("cannot make a socket for the observers of nodes");
  }
  os::Fd ours{ends[0]};
  const os::Fd theirs{ends[1]};
  const std::string nodes = std::to_string(order.nodes);
  const pid_t srun = TRY(start_srun(
      {"srun", "--nodes=" + nodes, "--ntasks=" + nodes, "--ntasks-per-node=1", "--cpus-per-task=1",
       "--overlap", "--export=ALL", "--input=all", "--unbuffered", "--job-name=amdahl-nodes",
       "--chdir=/", os::env_or("AMDAHL_WORKER", os::self_path()), "exec", "--node", order.folder},
      theirs.get()));
  NodeObservers made(order, std::move(ours), srun);
  TRY(made.await_ready());
  return made;
}

// Appends what they say; false at their end or after `until`.
bool NodeObservers::read_more(Nanos until) {
  const Nanos left = until - os::real_clock().monotonic();
  pollfd link{link_.get(), POLLIN, 0};
  const int ready =
      left <= Nanos{} ? 0 : ::poll(&link, 1, static_cast<int>(left / milliseconds(1)));
  if (ready < 0 && errno == EINTR) return true;
  std::array<char, 4096> bytes{};
  const ssize_t got = ready > 0 ? ::read(link_.get(), bytes.data(), bytes.size()) : -1;
  if (got > 0) {
    heard_.append(bytes.data(), static_cast<std::size_t>(got));
    return true;
  }
  // While the link is open, srun lives and its number is its own.
  if (ready == 0) ::kill(srun_, SIGKILL);
  ::waitpid(srun_, nullptr, ready > 0 ? 0 : WNOHANG);
  link_ = os::Fd{-1};
  return false;
}

Result<> NodeObservers::await_ready() {
  const Json order{{"mark", order_.mark}, {"accelerators", order_.accelerators}};
  const std::string line = dump_json(order) + "\n";
  if (::send(link_.get(), line.data(), line.size(), MSG_NOSIGNAL) < 0) {
    return external("the observers of nodes did not start");
  }
  const Nanos until = os::real_clock().monotonic() + kAllWatchWithin;
  const auto watching = [&] {
    int count = 0;
    for (std::size_t at = 0; (at = heard_.find(kWatches, at)) != heard_.npos; ++at) ++count;
    return count;
  };
  while (watching() < order_.nodes) {
    if (!read_more(until)) {
      return external(fmt::format("observers started on {} of {} nodes: {}", watching(),
                                  order_.nodes, clip(heard_, 200)));
    }
  }
  return Ok{};
}

void NodeObservers::finish(model::Receipt& job) {
  // Ages, not times: no two machines' clocks are compared.
  const Nanos ended = job.started_monotonic + job.wall;
  const Json told{{"wall_ns", job.wall.count()},
                  {"ended_ns_ago", (os::real_clock().monotonic() - ended).count()}};
  const std::string line = dump_json(told) + "\n";
  (void)::send(link_.get(), line.data(), line.size(), MSG_NOSIGNAL);
  ::shutdown(link_.get(), SHUT_WR);
  const Nanos until = os::real_clock().monotonic() + kAllToldWithin;
  while (read_more(until)) {
  }
  std::vector<model::Receipt> nodes;
  for (int node = 0; node < order_.nodes; ++node) {
    const auto text = os::read_left(fmt::format("{}/{}.json", order_.folder, node));
    auto read =
        text ? model::decode_text<model::Receipt>(*text) : Result<model::Receipt>(text.error());
    if (read && read->hosts.size() == 1) nodes.push_back(*std::move(read));
  }
  add_hosts(std::move(nodes), order_.nodes, job);
}

Result<> observe_node(const std::string& folder) {
  std::string heard;
  Told order;
  while (!order.line && !order.closed) order = next_line(heard, seconds(60));
  if (!order.line) return bad_input("exec --node gets its order from standard input");
  observe::NodeWatch watch({os::env_or("SLURMD_NODENAME", os::host_name()),
                            order.line->value("mark", ""), order.line->value("accelerators", 0)});
  std::fwrite(kWatches.data(), 1, kWatches.size(), stdout);
  std::fflush(stdout);
  os::Clock& clock = os::real_clock();
  Told end;
  Nanos next{};
  while (!end.line && !end.closed) {
    const Nanos now = clock.monotonic();
    if (now >= next) {
      watch.tick(now);
      next = now + kLookEvery;
    }
    end = next_line(heard, kLookEvery);
  }
  const Nanos ended_ago{end.line ? end.line->value("ended_ns_ago", std::int64_t{0}) : 0};
  const Nanos wall{end.line ? end.line->value("wall_ns", std::int64_t{0}) : 0};
  model::Receipt seen = watch.finish(clock.monotonic() - ended_ago - wall, wall);
  seen.left_behind = watch.end_all();
  if (!end.line) return external("the worker is gone");
  seen.id = seen.family = "node";
  const int number = to_number<int>(os::env_or("SLURM_NODEID", "0")).value_or(0);
  return os::write_file(fmt::format("{}/{}.json", folder, number), dump_json(model::encode(seen)));
}

void add_hosts(std::vector<model::Receipt> nodes, int wanted, model::Receipt& job) {
  job.schema = model::kReceiptWithHosts;
  job.hosts.clear();
  job.utilisation.accelerators.clear();
  std::set<std::string> hardware;
  job.cpu_user = job.cpu_system = Nanos{};
  job.peak_rss_bytes = 0;
  job.run_delay = {};
  for (model::Receipt& node : nodes) {
    model::HostUse& host = node.hosts.front();
    job.noise = job.hosts.empty() ? host.noise : worse(job.noise, host.noise);
    hardware.insert(host.hardware);
    job.cpu_user += host.cpu;
    job.peak_rss_bytes += host.peak_rss_bytes;
    job.left_behind += node.left_behind;
    job.observer_cpu += node.observer_cpu;
    job.utilisation.interval = node.utilisation.interval;
    job.utilisation.metric = node.utilisation.metric;
    std::ranges::move(node.utilisation.accelerators,
                      std::back_inserter(job.utilisation.accelerators));
    job.hosts.push_back(std::move(host));
  }
  if (!hardware.empty()) {
    job.hardware = join(std::vector<std::string>(hardware.begin(), hardware.end()), " + ");
  }
  if (static_cast<int>(nodes.size()) == wanted) return;
  job.noise = {NAN, NAN, NAN, NAN, NAN};
  job.report_problems.push_back(fmt::format("{} of {} nodes left no record of the job",
                                            wanted - static_cast<int>(nodes.size()), wanted));
}

void limit_steps(int nodes, const std::string& mark, model::Plan& plan) {
  plan.env[observe::kRankMark] = mark;
  // Of sbatch's options srun takes this one over, and would pass nothing on.
  plan.env["SLURM_EXPORT_ENV"] = "ALL";
  if (!os::env_or("SLURM_JOB_GPUS", "").empty()) {
    plan.env["SLURM_GRES"] = fmt::format("gpu:{}", plan.accelerators / nodes);
  }
}

Result<> fill_in_meeting_point(model::Plan& plan) {
  std::string port;
  const auto fill = [&](std::string& text) -> Result<> {
    for (std::size_t at = 0; (at = text.find("{head}", at)) != text.npos;) {
      text.replace(at, 6, os::host_name());
    }
    for (std::size_t at = 0; (at = text.find("{port}", at)) != text.npos;) {
      if (port.empty()) {
        const os::Fd probe{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        sockaddr_in address{};
        address.sin_family = AF_INET;
        socklen_t size = sizeof address;
        auto* any = reinterpret_cast<sockaddr*>(&address);
        if (::bind(probe.get(), any, size) != 0 || ::getsockname(probe.get(), any, &size) != 0) {
          return external("no free port for the job's ranks");
        }
        port = std::to_string(ntohs(address.sin_port));
      }
      text.replace(at, 6, port);
    }
    return Ok{};
  };
  for (std::string& word : plan.argv) TRY(fill(word));
  for (auto& [name, value] : plan.env) TRY(fill(value));
  return Ok{};
}

}  // namespace amdahl::launch::local
