#include "harness.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answers.h"

namespace amdahl::e2e {
namespace {

namespace fs = std::filesystem;

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

[[noreturn]] void become(const std::vector<std::string>& argv,
                         const std::map<std::string, std::string>& env, const std::string& folder,
                         const std::string& out, const std::string& err) {
  for (const auto& [name, value] : env) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const int in = ::open("/dev/null", O_RDONLY);
  const int o = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int e = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(in, 0);
  ::dup2(o, 1);
  ::dup2(e, 2);
  if (::chdir(folder.c_str()) == 0) ::execvp(words[0], words.data());
  ::_exit(127);
}

// Every answer that any test gets must keep to its schema.
void check_answer(const std::vector<std::string>& words, const Outcome& outcome) {
  const auto end = std::ranges::find(words, "--");
  if (std::find(words.begin(), end, "--json") == end) return;
  const auto answer = nlohmann::json::parse(outcome.out, nullptr, false);
  if (!answer.is_object()) return;
  const std::string schema = schema_of(words, answer);
  if (schema.empty()) return;
  EXPECT_EQ(problems_of(answer, schema), "") << outcome.out.substr(0, 4096);
}

}  // namespace

Outcome run(const std::vector<std::string>& argv, const std::map<std::string, std::string>& env,
            const std::string& folder) {
  static std::atomic<int> number{0};  // Tests run programs from several threads.
  // And two tests may run them in one folder.
  const std::string base =
      folder + "/.out-" + std::to_string(::getpid()) + "-" + std::to_string(++number);
  const pid_t child = ::fork();
  if (child == 0) become(argv, env, folder, base + ".out", base + ".err");
  int status = 0;
  ::waitpid(child, &status, 0);
  Outcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = slurp(base + ".out");
  outcome.err = slurp(base + ".err");
  fs::remove(base + ".out");
  fs::remove(base + ".err");
  return outcome;
}

Sandbox::Sandbox() {
  std::string shape = (fs::temp_directory_path() / "amdahl-e2e-XXXXXX").string();
  root_ = ::mkdtemp(shape.data());
}

Sandbox::~Sandbox() {
  if (::testing::Test::HasFailure()) {
    std::fprintf(stderr, "what the test left is in %s\n", root_.c_str());
    return;
  }
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

std::string Sandbox::path(const std::string& inside) const {
  return inside.empty() ? root_ : root_ + "/" + inside;
}

std::string Sandbox::write(const std::string& inside, const std::string& text,
                           bool executable) const {
  const std::string where = path(inside);
  fs::create_directories(fs::path(where).parent_path());
  std::ofstream(where, std::ios::binary) << text;
  if (executable) ::chmod(where.c_str(), 0755);
  return where;
}

std::string Sandbox::read(const std::string& inside) const { return slurp(path(inside)); }
bool Sandbox::has(const std::string& inside) const { return fs::exists(path(inside)); }

std::vector<std::string> Sandbox::list(const std::string& inside) const {
  std::vector<std::string> names;
  if (!has(inside)) return names;
  for (const auto& entry : fs::directory_iterator(path(inside))) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

Outcome Sandbox::amdahl(const std::vector<std::string>& words,
                        const std::map<std::string, std::string>& env) const {
  return start({program()}, words, env);
}

Outcome Sandbox::on_host(const std::string& host, const std::vector<std::string>& words) const {
  return start({"unshare", "--uts", "sh", "-c", "hostname " + host + " && exec \"$0\" \"$@\"",
                program()},
               words, {});
}

Outcome Sandbox::start(std::vector<std::string> argv, const std::vector<std::string>& words,
                       const std::map<std::string, std::string>& env) const {
  argv.insert(argv.end(), words.begin(), words.end());
  std::map<std::string, std::string> all{
      {"AMDAHL_STATE", path("state")}, {"XDG_CONFIG_HOME", path("no-config")}, {"NO_COLOR", "1"}};
  if (has("config.toml")) all["AMDAHL_CONFIG"] = path("config.toml");
  for (const auto& [name, value] : env) all[name] = value;
  Outcome outcome = run(argv, all, root_);
  check_answer(words, outcome);
  return outcome;
}

void Sandbox::add_nap_job(const std::string& seconds) const {
  write("job.sh",
        "#!/bin/sh\n"
        "echo \"$AMDAHL_OUT\" >> \"$RUN_LOG\"\n"
        "sleep ${NAP:-" +
            seconds +
            "}\n"
            "echo fine > \"$AMDAHL_OUT/result\"\n"
            "echo '{\"work\": 1}' >> \"$AMDAHL_REPORT\"\n",
        true);
  write("input", "what it reads\n");
  write("job.toml",
        "family = \"nap\"\n"
        "command = [\"./job.sh\"]\n"
        "workdir = \".\"\n"
        "accelerators = 1\n"
        "time_limit_s = 20\n"
        "inputs = [\"input\"]\n"
        "[env]\n"
        "RUN_LOG = \"" +
            path("runs.log") +
            "\"\n"
            "[work]\nunit = \"nap\"\n"
            "[[outputs]]\npath = \"{out}/result\"\n");
  write("config.toml",
        "[campaign]\nk = 4\n[compare]\ncap = 24\nmin_gain = 0.9\n[loop]\nlease_s = 3.0\n");
}

int count_lines(const std::string& text, const std::string& part) {
  int count = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) count += line.find(part) != line.npos ? 1 : 0;
  return count;
}

}  // namespace amdahl::e2e
