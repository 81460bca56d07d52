// A ledger of any length for people and for tests of the dashboard.
//
// ledger_build FOLDER HYPOTHESES [FAMILIES]: one in ten of its hypotheses was declined at the gate.
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "ledger_builder.h"

int main(int argc, char** argv) {
  if (argc < 3) return std::fputs("usage: ledger_build FOLDER HYPOTHESES [FAMILIES]\n", stderr), 2;
  amdahl::bench::History history;
  history.hypotheses = std::atoi(argv[2]);
  history.families = argc > 3 ? std::atoi(argv[3]) : history.families;
  history.declined_in = 10;
  const auto events = amdahl::bench::build_idle_ledger(argv[1], history);
  fmt::print("{}\n", events ? fmt::format("{} events", *events) : events.error().text);
  return events ? 0 : 1;
}
