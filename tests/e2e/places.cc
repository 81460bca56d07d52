#include "harness.h"

namespace amdahl::e2e {

const std::string& program() {
  static const std::string kPath = AMDAHL_PROGRAM;
  return kPath;
}

const std::string& known_job() {
  static const std::string kPath = KNOWN_JOB;
  return kPath;
}

std::string source_path(const std::string& inside) { return AMDAHL_SOURCE_DIR + inside; }

std::string example_path(const std::string& inside) { return AMDAHL_EXAMPLES + inside; }

}  // namespace amdahl::e2e
