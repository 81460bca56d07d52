// server.h: a real PostgreSQL on this machine, for as long as a test runs.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace amdahl::ledger::postgres {

// In a folder of its own, on a Unix socket, by a user without rights. Ends with the thread that
// started it, whatever happens to that.
class TestServer {
 public:
  // Settings as after `postgres -c`, beyond those that make tests quick.
  explicit TestServer(std::vector<std::string> settings = {"fsync=off"});
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  bool runs() const { return reason_.empty(); }
  const std::string& reason() const { return reason_; }  // Why this machine cannot have one.

  // Of a ledger of its own for each name, which is made if need be.
  std::string url(const std::string& name) const;
  // The same through another socket's folder.
  std::string url(const std::string& name, const std::string& folder) const;
  const std::string& folder() const { return folder_; }

  // Runs SQL as the owner of everything: "" or the server's message.
  std::string sql(const std::string& name, const std::string& text) const;

  void kill();   // SIGKILL for the server and all of its processes.
  void stop();   // As an administrator would.
  void start();  // Again; waits until it answers.

 private:
  void launch();

  std::vector<std::string> settings_;
  std::string folder_;
  std::string programs_;
  std::string reason_;
  pid_t pid_ = -1;
};

// One for all tests of a process.
TestServer& shared_server();

}  // namespace amdahl::ledger::postgres
