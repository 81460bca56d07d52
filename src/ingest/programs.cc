#include "ingest/programs.h"

#include <fmt/core.h>

#include "fleet/journal/journal.h"
#include "fleet/slurm/live.h"
#include "fleet/slurm/slurm.h"
#include "os/program.h"

namespace amdahl::ingest {

Result<std::vector<Program>> ask_slurm(const Origin& source, const scan::Window& window, Nanos now,
                                       const os::Stop& stop) {
  std::vector<Program> programs;
  for (const fleet::slurm::Command& command :
       fleet::slurm::commands({window.start, window.end, source.where})) {
    Program& program = programs.emplace_back();
    program.name = fmt::format("{}: {}", describe(source), command.name);
    program.says = command.says;
    fleet::ReaderOptions options;
    options.path = command.name;
    options.time_zone = "UTC";
    options.now = now;
    fleet::journal::Writer journal;
    const auto reader = fleet::slurm::make(journal, options);
    auto done = os::run_program(
        {.argv = command.argv, .env = command.env},
        [&](std::string_view piece) {
          program.bytes += piece.size();
          return reader->feed(piece);
        },
        stop);
    if (done) done = reader->finish();
    if (stop()) return external("interrupted");
    program.journal = journal.finish();
    if (done) continue;
    program.failed = done.error().text;
    if (command.required) return std::move(done).in(program.name).error();
  }
  return programs;
}

}  // namespace amdahl::ingest
