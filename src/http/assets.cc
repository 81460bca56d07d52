#include "http/assets.h"

namespace amdahl::http {

Response asset(const Request&) {
  return problem(404, "not found", "see /api/v1/openapi.json");
}

}  // namespace amdahl::http
