// harness.h: runs the real program on a folder of its own, as a person would.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace amdahl::e2e {

struct Outcome {
  int code = 0;  // Exit status; 128 + the number if a signal ended it.
  std::string out;
  std::string err;
};

// A folder that goes when the test does; kept and named if the test failed.
class Sandbox {
 public:
  Sandbox();
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  std::string path(const std::string& inside = "") const;
  std::string write(const std::string& inside, const std::string& text,
                    bool executable = false) const;
  std::string read(const std::string& inside) const;
  bool has(const std::string& inside) const;
  std::vector<std::string> list(const std::string& inside) const;

  // `amdahl WORDS…` with this folder's state; `env` on top of ours. An answer of --json that does
  // not keep to its schema (docs/format/answers) fails the test.
  Outcome amdahl(const std::vector<std::string>& words,
                 const std::map<std::string, std::string>& env = {}) const;

  // The same on a machine of another name. Needs root.
  Outcome on_host(const std::string& host, const std::vector<std::string>& words) const;

  // A job that naps as long as NAP says, or so many seconds: many beside what a busy host takes to
  // start a process, for a shorter nap to be a win that shows. It reports one unit of work and
  // writes its output, with a spec `job.toml` of the family "nap" and a configuration of a small
  // campaign.
  void add_nap_job(const std::string& seconds = "0.2") const;

 private:
  Outcome start(std::vector<std::string> argv, const std::vector<std::string>& words,
                const std::map<std::string, std::string>& env) const;

  std::string root_;
};

Outcome run(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env,
            const std::string& folder);

// Files of this build and this checkout. Functions, so that no path is compiled into a test and
// ccache finds its object in a checkout elsewhere.
const std::string& program();    // The amdahl that is tested.
const std::string& known_job();  // A job whose work is known exactly.
std::string source_path(const std::string& inside);
std::string example_path(const std::string& inside);

// Lines of `text` that contain `part`.
int count_lines(const std::string& text, const std::string& part);

}  // namespace amdahl::e2e
