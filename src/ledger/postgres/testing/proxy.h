// proxy.h: stands between a ledger and its server and loses what a test wants lost.
#pragma once

#include <atomic>
#include <string>
#include <thread>

#include "ledger/postgres/testing/server.h"

namespace amdahl::ledger::postgres {

class Proxy {
 public:
  // What happens to the next COMMIT, once.
  enum class Loss : int {
    kNothing,
    kBefore,  // The server never gets it.
    kAnswer,  // The server commits, and the client never hears of it.
    kLate,    // The client's connection is lost at once; the server gets it later.
  };

  explicit Proxy(const TestServer& server);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  const std::string& folder() const { return folder_; }
  void lose(Loss what) { loss_ = what; }
  int lost() const { return lost_; }  // How many COMMITs.

 private:
  void serve();
  void carry(int client, int server);

  std::string folder_;
  std::string server_socket_;
  int listener_ = -1;
  std::atomic<Loss> loss_{Loss::kNothing};
  std::atomic<int> lost_{0};
  std::atomic<int> open_{0};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace amdahl::ledger::postgres
