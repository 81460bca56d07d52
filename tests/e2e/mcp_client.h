// mcp_client.h: a scripted client of `amdahl mcp`, in either era of the protocol.
#pragma once

#include <string>
#include <vector>

#include "json.h"

namespace amdahl::e2e {

enum class Era { kLegacy, kModern };

// Starts the server on the house's state and talks to it over pipes; ends it with itself.
class McpClient {
 public:
  McpClient(const Sandbox& house, Era era, const std::vector<std::string>& words = {},
            bool with_tasks = false);
  ~McpClient();
  McpClient(const McpClient&) = delete;
  McpClient& operator=(const McpClient&) = delete;

  // The whole answer: "result" or "error".
  Json request(const std::string& method, Json params = Json::object());
  // The result of a tool.
  Json raw_call(const std::string& tool, Json arguments = Json::object());
  // The structured answer of a tool, which must be no error, keep to the tool's schema and be the
  // same as its text.
  Json call(const std::string& tool, Json arguments = Json::object());
  // The text of what must be an error.
  std::string refused(const std::string& tool, Json arguments = Json::object());
  // Waits until the work that this session began has ended; what loop_status says then.
  Json finished();
  // Until it is settled, by the tool's own waiting.
  Json settled(const std::string& hypothesis);

  // Closes its input; the exit code.
  int end();

 private:
  Json meta() const;

  Era era_;
  bool with_tasks_;
  int in_ = -1;   // To it.
  int out_ = -1;  // From it.
  int pid_ = -1;
  int next_id_ = 1;
  std::string rest_;
  Json tools_;
};

}  // namespace amdahl::e2e
