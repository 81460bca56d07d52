// command.h: a command of one machine, which can be killed at any moment.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace amdahl::e2e {

class Command {
 public:
  void start(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env,
             const std::string& log) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    for (const auto& [name, value] : env) ::setenv(name.c_str(), value.c_str(), 1);
    const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(file, 1);
    ::dup2(file, 2);
    std::vector<char*> words;
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::execvp(words[0], words.data());
    ::_exit(127);
  }
  // Its exit code, once, when it has ended.
  std::optional<int> ended() {
    int status = 0;
    if (pid_ <= 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  bool runs() const { return pid_ > 0; }
  void signal(int number) const {
    if (pid_ > 0) ::kill(pid_, number);
  }

 private:
  pid_t pid_ = -1;
};

}  // namespace amdahl::e2e
