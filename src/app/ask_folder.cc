#include "app/ask_folder.h"

#include <nlohmann/json.hpp>

#include "launch/environment.h"
#include "launch/local/spawn.h"
#include "os/fault.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::app {

AskFolder ask_folder(const Context& context, const std::string& id) {
  return {context.path("asks/" + id)};
}

Json encode_runtime(const agent::Runtime& runtime) {
  Json json{{"kind", runtime.kind},       {"model", runtime.model},
            {"program", runtime.program}, {"url", runtime.url},
            {"key_env", runtime.key_env}, {"own_configuration", runtime.own_configuration}};
  if (runtime.price) {
    json["price"] = {runtime.price->input, runtime.price->cached, runtime.price->output};
  }
  return json;
}

agent::Runtime decode_runtime(const Json& json) {
  agent::Runtime runtime;
  runtime.kind = json.value("kind", "");
  runtime.model = json.value("model", "");
  runtime.program = json.value("program", "");
  runtime.url = json.value("url", "");
  runtime.key_env = json.value("key_env", "");
  runtime.own_configuration = json.value("own_configuration", false);
  const Json price = json.value("price", Json());
  if (price.is_array() && price.size() == 3) {
    runtime.price =
        agent::Price{price[0].get<double>(), price[1].get<double>(), price[2].get<double>()};
  }
  return runtime;
}

std::string show(const agent::Runtime& runtime) {
  return runtime.model.empty() ? runtime.kind : runtime.kind + ":" + runtime.model;
}

Result<> hand_over(const AskFolder& folder, const Json& request) {
  TRY(os::make_dirs(folder.path));
  if (!os::exists(folder.request())) {
    TRY(os::write_file(folder.request(), pretty_json(request)));
  }
  const auto before = os::read_file(folder.handed());
  TRY(os::write_file(folder.handed(), (before ? *before : "") + "x"));
  os::fault_point("ask.before_spawn");
  const std::string worker = os::env_or("AMDAHL_WORKER", os::self_path());
  return launch::local::spawn_detached({worker, "exec", "--ask", folder.path},
                                       launch::own_environment(), folder.path + "/log");
}

}  // namespace amdahl::app
