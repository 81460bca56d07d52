#include "model/receipt.h"

#include <algorithm>
#include <array>
#include <csignal>

#include <fmt/core.h>

namespace amdahl::model {
namespace {

struct Signal {
  int number;
  std::string_view name;
};

// Not strsignal(): it answers in the user's language, and receipts are compared.
constexpr auto kSignals = std::to_array<Signal>({
    {SIGHUP, "SIGHUP"},
    {SIGINT, "SIGINT"},
    {SIGQUIT, "SIGQUIT"},
    {SIGILL, "SIGILL"},
    {SIGTRAP, "SIGTRAP"},
    {SIGABRT, "SIGABRT"},
    {SIGBUS, "SIGBUS"},
    {SIGFPE, "SIGFPE"},
    {SIGKILL, "SIGKILL"},
    {SIGUSR1, "SIGUSR1"},
    {SIGSEGV, "SIGSEGV"},
    {SIGUSR2, "SIGUSR2"},
    {SIGPIPE, "SIGPIPE"},
    {SIGALRM, "SIGALRM"},
    {SIGTERM, "SIGTERM"},
    {SIGXCPU, "SIGXCPU"},
    {SIGXFSZ, "SIGXFSZ"},
    {SIGSYS, "SIGSYS"},
});

std::string signal_name(int number) {
  for (const Signal& signal : kSignals) {
    if (signal.number == number) return std::string(signal.name);
  }
  return fmt::format("signal {}", number);
}

// The reason where the supervisor gave one, for it has the numbers; else the bare fact.
std::string or_reason(const Receipt& receipt, std::string fact) {
  return receipt.reason.empty() ? fact : receipt.reason;
}

}  // namespace

bool succeeded(const Receipt& receipt) {
  return receipt.ending == Ending::kExited && receipt.code == 0;
}

NeverRuns why_never(const Receipt& receipt) {
  if (receipt.never_runs != NeverRuns::kNo || receipt.ending != Ending::kNotStarted) {
    return receipt.never_runs;
  }
  for (const NeverRuns why : {NeverRuns::kPatchDoesNotApply, NeverRuns::kBuildFailed}) {
    if (receipt.reason.starts_with(name(why))) return why;
  }
  return NeverRuns::kNo;
}

AcceleratorSeconds cost(const Receipt& receipt) {
  const Accelerators held{static_cast<double>(receipt.accelerators)};
  if (receipt.accelerator_kind != "cpu slot" || receipt.cpus.empty()) return held * receipt.wall;
  // Pinning does not bind a job, which may use CPUs of others: it pays for these, too.
  const Nanos used = (receipt.cpu_user + receipt.cpu_system) / receipt.cpus.size();
  return held * std::max(receipt.wall, used);
}

std::string describe_ending(const Receipt& receipt) {
  switch (receipt.ending) {
    case Ending::kExited:
      return fmt::format("exit {}", receipt.code);
    case Ending::kSignalled:
      return "killed by " + signal_name(receipt.code);
    case Ending::kTimeLimit:
      return or_reason(receipt, "over the time limit");
    case Ending::kMemoryLimit:
      return or_reason(receipt, "over the memory limit");
    case Ending::kCancelled:
      return or_reason(receipt, "cancelled");
    case Ending::kNotStarted:
      return receipt.reason.empty() ? "not started" : "not started: " + receipt.reason;
  }
  return "unknown";
}

Observed<double> quality_of(const ArmFact& arm, const std::string& metric) {
  const auto it = arm.quality.find(metric);
  return it == arm.quality.end() ? Observed<double>() : Observed<double>(it->second);
}

Fault fault_of(const PairFact& pair) {
  if (!pair.voided) return Fault::kNobody;
  if (pair.a.failed && pair.b.failed) return Fault::kBoth;
  if (pair.a.failed) return Fault::kA;
  return pair.b.failed ? Fault::kB : Fault::kUnknown;
}

}  // namespace amdahl::model
