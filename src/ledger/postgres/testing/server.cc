#include "ledger/postgres/testing/server.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <fmt/core.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/postgres.h"
#include "os/clock.h"
#include "os/host.h"

namespace amdahl::ledger::postgres {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;
constexpr int kStartTries = 300;
constexpr Nanos kPause = std::chrono::milliseconds(50);

// Debian's folders, newest first.
std::string find_programs() {
  for (int version = 18; version >= 13; --version) {
    const std::string folder = fmt::format("/usr/lib/postgresql/{}/bin", version);
    if (fs::exists(folder + "/initdb") && fs::exists(folder + "/postgres")) return folder;
  }
  return "";
}

// PostgreSQL refuses to run as root.
[[noreturn]] void exec_without_rights(const std::vector<std::string>& argv,
                                      const std::string& log) {
  if (::geteuid() == 0) {
    if (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0) {
      ::_exit(126);
    }
  }
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::dup2(file, 1);
  ::dup2(file, 2);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execv(words[0], words.data());
  ::_exit(127);
}

std::string read_all(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator("/proc", failed)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    const std::string stat = read_all(entry.path().string() + "/stat");
    const auto after = stat.rfind(')');
    if (after == stat.npos || stat.size() < after + 4) continue;
    if (std::atoi(stat.c_str() + after + 4) == parent) children.push_back(pid);
  }
  return children;
}

}  // namespace

TestServer::TestServer(std::vector<std::string> settings) : settings_{std::move(settings)} {
  programs_ = find_programs();
  if (programs_.empty()) {
    reason_ = "PostgreSQL is not installed: apt-get install postgresql-15";
    return;
  }
  folder_ = fmt::format("/tmp/amdahl-pg-{}", os::random_hex(8));
  fs::create_directory(folder_);
  if (::geteuid() == 0 && ::chown(folder_.c_str(), kNobody, kNobody) != 0) {
    reason_ = "the folder cannot be given to another user";
    return;
  }
  const std::string log = folder_ + "/initdb.log";
  const pid_t child = ::fork();
  if (child == 0) {
    exec_without_rights(
        {programs_ + "/initdb", "-D", folder_ + "/data", "-U", "amdahl", "-A", "trust", "-E",
         "UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions"},
        log);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) {
    reason_ = "initdb failed: " + read_all(log);
    return;
  }
  start();
}

TestServer::~TestServer() {
  if (pid_ > 0) kill();
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

void TestServer::launch() {
  std::vector<std::string> argv = {programs_ + "/postgres", "-D", folder_ + "/data", "-k", folder_};
  std::vector<std::string> all = {"listen_addresses=", "shared_buffers=8MB", "max_connections=40",
                                  "autovacuum=off",    "max_wal_senders=0",  "wal_level=minimal"};
  all.insert(all.end(), settings_.begin(), settings_.end());
  for (const std::string& setting : all) {
    argv.emplace_back("-c");
    argv.push_back(setting);
  }
  pid_ = ::fork();
  if (pid_ == 0) exec_without_rights(argv, folder_ + "/server.log");
}

void TestServer::start() {
  for (int i = 0; i < kStartTries; ++i) {
    if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
    if (pid_ < 0) launch();  // Again, if processes of the one before kept it from starting.
    const auto there = db::ServerConnection::open(
        fmt::format("postgresql:///postgres?host={}&user=amdahl", folder_), 2, 5000);
    if (there) return;
    os::real_clock().sleep(kPause);
  }
  reason_ = "the server does not start: " + read_all(folder_ + "/server.log");
}

void TestServer::kill() {
  if (pid_ <= 0) return;  // kill(2) would take it for every process.
  const std::vector<pid_t> children = children_of(pid_);
  ::kill(pid_, SIGKILL);
  for (const pid_t child : children) ::kill(child, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void TestServer::stop() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGINT);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

std::string TestServer::url(const std::string& name, const std::string& folder) const {
  return fmt::format("postgresql:///postgres?host={}&user=amdahl&options=-csearch_path%3D{}",
                     folder, name);
}

std::string TestServer::url(const std::string& name) const {
  sql("public", fmt::format("CREATE SCHEMA IF NOT EXISTS {}", name));
  return url(name, folder_);
}

std::string TestServer::sql(const std::string& name, const std::string& text) const {
  auto opened = db::ServerConnection::open(url(name, folder_), 5, 20'000);
  if (!opened) return opened.error().text;
  db::ServerConnection connection = *std::move(opened);
  const auto done = connection.exec("sql", text);
  return done ? "" : done.error().text;
}

TestServer& shared_server() {
  static TestServer server;
  return server;
}

}  // namespace amdahl::ledger::postgres
