// Reads what the PyTorch hook leaves: docs/format/hook.md. Every field may be absent.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "profile/classify.h"

namespace amdahl::profile {
namespace {

constexpr int kSchema = 1;

struct Field {
  const char* name;           // In the hook's document.
  std::string_view evidence;  // In ours.
};

constexpr auto kTimes = std::to_array<Field>({
    {"startup_s", "hook.startup_share"},
    {"import_s", "hook.import_share"},
    {"installed_import_s", "hook.installed_import_share"},
    {"loader_wait_s", "hook.input_wait_share"},
    {"save_s", "hook.save_share"},
    {"fsync_s", "hook.fsync_share"},
    {"gc_s", "hook.gc_share"},
    {"memmap_s", "hook.memmap_share"},
    {"reread_s", "hook.reread_share"},
    {"parse_s", "hook.parse_share"},
    {"arrays_s", "hook.arrays_share"},
    {"rescalar_s", "hook.rescalar_share"},
    {"boards_s", "hook.boards_share"},
    {"eval_grad_s", "hook.eval_grad_share"},
    {"teardown_s", "hook.teardown_share"},
    {"first_batch_s", "hook.first_batch_share"},
    {"warmup_s", "hook.warmup_share"},
    {"overhead_s", "hook.overhead_share"},
    {"lines_cpu_s", "hook.lines_share"},
});

constexpr auto kNumbers = std::to_array<Field>({
    {"wall_s", "hook.wall_s"},
    {"exit_s", "hook.exit_s"},
    {"exit_cpu_s", "hook.exit_cpu_s"},
    {"steps", "hook.steps"},
    {"save_calls", "hook.save_calls"},
    {"fsync_calls", "hook.fsync_calls"},
    {"backward_calls", "hook.backward_calls"},
    {"memmap_calls", "hook.memmap_calls"},
    {"reread_calls", "hook.reread_calls"},
    {"parse_calls", "hook.parse_calls"},
    {"arrays_calls", "hook.arrays_calls"},
    {"rescalar_calls", "hook.rescalar_calls"},
    {"boards_calls", "hook.boards_calls"},
    {"bound_cpus", "hook.bound_cpus"},
    {"anomaly_calls", "hook.anomaly_calls"},
    {"uncompiled_modules", "hook.uncompiled_modules"},
    {"torch_threads", "hook.torch_threads"},
    {"grad_enabled_share", "hook.grad_enabled_share"},
    {"inference_mode_share", "hook.inference_mode_share"},
});

constexpr auto kLoader = std::to_array<Field>({
    {"batch_size", "hook.batch_size"},
    {"num_workers", "hook.loader_workers"},
    {"prefetch_factor", "hook.prefetch_factor"},
    {"pin_memory", "hook.pin_memory"},
    {"persistent_workers", "hook.persistent_workers"},
    {"dataset_len", "hook.dataset_len"},
    {"passes", "hook.loader_passes"},
});

// Calls that compute the same thing under several names.
constexpr auto kGemms = std::to_array<std::string_view>(
    {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::matmul", "aten::linear",
     "aten::_scaled_dot_product_attention"});
constexpr auto kCopies = std::to_array<std::string_view>(
    {"aten::copy_", "aten::_to_copy", "aten::to", "aten::contiguous", "aten::clone"});

Error wrong_type(std::string_view place, std::string_view want, const Json& value) {
  return bad_input(fmt::format("{}: must be {}, but is {}", place, want, value.type_name()));
}

// Switches are 0 and 1. Nothing the hook counts or times is negative, no share above 1.
Result<double> number(const Json& value, std::string_view place) {
  if (value.is_boolean()) return value.get<bool>() ? 1.0 : 0.0;
  if (!value.is_number()) return wrong_type(place, "a number", value);
  const double result = value.get<double>();
  if (result < 0)
    return bad_input(fmt::format("{}: must not be negative, but is {}", place, result));
  if (place.ends_with("_share") && result > 1) {
    return bad_input(fmt::format("{}: must be at most 1, but is {}", place, result));
  }
  return result;
}

// A field that is absent or null is nothing.
Result<std::optional<double>> number_at(const Json& object, std::string_view place,
                                        const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return std::optional<double>{};
  const double value = TRY(number(*found, fmt::format("{}/{}", place, name)));
  return std::optional<double>{value};
}

// The object under `name`, an empty one if it is absent or null.
Result<Json> object_at(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return Json::object();
  if (!found->is_object()) return wrong_type(fmt::format("/{}", name), "an object", *found);
  return *found;
}

Result<> read_numbers(const Json& object, std::string_view place, std::span<const Field> fields,
                      Facts& facts) {
  for (const Field& field : fields) {
    const auto value = TRY(number_at(object, place, field.name));
    if (value) facts.evidence[std::string(field.evidence)] = *value;
  }
  return Ok{};
}

double share(double part, double whole) { return std::clamp(part / whole, 0.0, 1.0); }

Result<> read_times(const Json& hook, Facts& facts) {
  const double wall = TRY(number_at(hook, "", "wall_s")).value_or(0);
  for (const Field& field : kTimes) {
    const auto seconds = TRY(number_at(hook, "", field.name));
    if (seconds && wall > 0) facts.evidence[std::string(field.evidence)] = share(*seconds, wall);
  }
  if (wall <= 0) {
    facts.missing.emplace_back("hook: no wall_s (was the job killed?), so its shares are unknown");
    return Ok{};
  }
  const double startup = std::min(TRY(number_at(hook, "", "startup_s")).value_or(0), wall);
  const double teardown = std::min(TRY(number_at(hook, "", "teardown_s")).value_or(0), wall);
  if (startup > 0) facts.phases.push_back({"startup", Nanos{}, from_seconds(startup)});
  if (teardown > 0) {
    facts.phases.push_back({"teardown", from_seconds(wall - teardown), from_seconds(teardown)});
  }
  return Ok{};
}

Result<> read_steps(const Json& hook, Facts& facts) {
  const auto found = hook.find("step_s");
  if (found == hook.end() || found->is_null()) return Ok{};
  if (!found->is_array()) return wrong_type("/step_s", "a list of mean, p50 and p95", *found);
  constexpr std::string_view kNames[] = {"hook.step_ms", "hook.step_p50_ms", "hook.step_p95_ms"};
  for (std::size_t i = 0; i < std::size(kNames) && i < found->size(); ++i) {
    const Json& value = (*found)[i];
    if (value.is_null()) continue;
    const double seconds = TRY(number(value, fmt::format("/step_s/{}", i)));
    facts.evidence[std::string(kNames[i])] = 1000 * seconds;
  }
  return Ok{};
}

struct Ops {
  double seconds = 0;
  double gemm = 0;
  double conv = 0;
  double copy = 0;
};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// What other threads did for an operator can take longer than it: torch calls that less than 0.
Result<double> own_time_at(const Json& op, const std::string& place) {
  const auto found = op.find("self_cpu_s");
  const bool is_below = found != op.end() && found->is_number() && found->get<double>() < 0;
  if (is_below) return 0.0;
  return TRY(number_at(op, place, "self_cpu_s")).value_or(0);
}

Result<Ops> read_ops(const Json& window) {
  Ops sum;
  const auto ops = window.find("ops");
  if (ops == window.end() || ops->is_null()) return sum;
  if (!ops->is_array()) return wrong_type("/window/ops", "a list", *ops);
  for (std::size_t i = 0; i < ops->size(); ++i) {
    const Json& op = (*ops)[i];
    const std::string place = fmt::format("/window/ops/{}", i);
    if (!op.is_object()) return wrong_type(place, "an object", op);
    const auto name = op.find("name");
    if (name == op.end()) return bad_input(fmt::format("{}/name: is missing", place));
    if (!name->is_string()) return wrong_type(place + "/name", "a string", *name);
    const auto& text = name->get_ref<const std::string&>();
    const double seconds = TRY(own_time_at(op, place));
    sum.seconds += seconds;
    if (is_one_of(kGemms, text)) sum.gemm += seconds;
    if (text.find("conv") != text.npos) sum.conv += seconds;
    if (is_one_of(kCopies, text)) sum.copy += seconds;
  }
  return sum;
}

std::string_view why_no_window(const Json& hook, const Facts& facts) {
  const auto torch = hook.find("torch");
  const bool was_killed = hook.value("ended", Json(true)) == false;
  if (torch != hook.end() && torch->is_null()) {
    if (was_killed) return "hook: the job was killed before it imported torch";
    return "hook: the job did not import torch, so steps, loader and operators are unknown";
  }
  const auto steps = facts.evidence.find("hook.steps");
  if (steps != facts.evidence.end() && steps->second == 0) {
    return "hook: no steps were seen (no DataLoader batch, no module call), so operators are "
           "unknown";
  }
  if (was_killed) {
    return "hook: the job was killed; figures are from the last update before that, without "
           "operators";
  }
  if (hook.value("own_profiler", Json(false)) == true) {
    return "hook: the job uses torch's profiler itself, so operators were not recorded: pass its "
           "trace to amdahl profile";
  }
  return "hook: no window of steps was profiled, so operators are unknown";
}

Result<> read_window(const Json& hook, Facts& facts) {
  const Json window = TRY(object_at(hook, "window"));
  const double steps = TRY(number_at(window, "/window", "steps")).value_or(0);
  const double wall = TRY(number_at(window, "/window", "wall_s")).value_or(0);
  const auto calls = TRY(number_at(window, "/window", "op_calls"));
  const auto syncs = TRY(number_at(window, "/window", "scalar_syncs"));
  const Ops ops = TRY(read_ops(window));
  if (steps > 0 && syncs) facts.evidence["hook.scalar_syncs_per_step"] = *syncs / steps;
  if (steps > 0 && calls) facts.evidence["hook.ops_per_step"] = *calls / steps;
  if (ops.seconds <= 0) {
    facts.missing.emplace_back(why_no_window(hook, facts));
    return Ok{};
  }
  if (calls.value_or(0) > 0) facts.evidence["hook.mean_op_us"] = 1e6 * ops.seconds / *calls;
  // Writing files happens outside operators but is reported separately.
  const double written = TRY(number_at(window, "/window", "written_s")).value_or(0);
  if (wall > 0) facts.evidence["hook.python_share"] = 1 - share(ops.seconds + written, wall);
  facts.evidence["hook.gemm_share"] = share(ops.gemm, ops.seconds);
  facts.evidence["hook.conv_share"] = share(ops.conv, ops.seconds);
  facts.evidence["hook.copy_share"] = share(ops.copy, ops.seconds);
  return Ok{};
}

Result<LineCost> read_line(const Json& row, const std::string& place) {
  if (!row.is_object()) return wrong_type(place, "an object", row);
  LineCost cost;
  for (const auto& [name, text] : {std::pair{"file", &cost.file}, {"function", &cost.function}}) {
    const auto found = row.find(name);
    if (found == row.end()) return bad_input(fmt::format("{}/{}: is missing", place, name));
    if (!found->is_string()) return wrong_type(fmt::format("{}/{}", place, name), "text", *found);
    *text = found->get<std::string>();
  }
  const double line = TRY(number_at(row, place, "line")).value_or(0);
  cost.line = static_cast<int>(std::min(line, 1e9));
  cost.seconds = TRY(number_at(row, place, "seconds")).value_or(0);
  const Json phase = row.value("phase", Json("step"));
  cost.in_input = phase == "input";
  cost.in_steps = phase == "step" || cost.in_input;
  cost.imports = phase == "import";
  cost.makes_loader = phase == "loader";
  return cost;
}

Result<> read_lines(const Json& hook, Facts& facts) {
  const auto rows = hook.find("lines");
  if (rows == hook.end() || rows->is_null()) return Ok{};
  if (!rows->is_array()) return wrong_type("/lines", "a list", *rows);
  for (std::size_t i = 0; i < rows->size(); ++i) {
    LineCost cost = TRY(read_line((*rows)[i], fmt::format("/lines/{}", i)));
    facts.lines.push_back(std::move(cost));
  }
  std::ranges::stable_sort(facts.lines, std::ranges::greater{}, &LineCost::seconds);
  return Ok{};
}

}  // namespace

Result<Facts> read_hook(std::string_view json) {
  const Json hook = TRY(parse_json(json));
  if (!hook.is_object()) return wrong_type("/", "an object", hook);
  const double schema = TRY(number_at(hook, "", "schema")).value_or(kSchema);
  if (schema != kSchema) {
    return Error{
        Error::Kind::kUnsupported,
        fmt::format("/schema: {} is not supported (this program reads {}): profile the job again",
                    schema, kSchema)};
  }
  Facts facts;
  TRY(read_numbers(hook, "", kNumbers, facts));
  facts.process = static_cast<std::int64_t>(TRY(number_at(hook, "", "pid")).value_or(0));
  facts.thread = static_cast<std::int64_t>(TRY(number_at(hook, "", "step_thread")).value_or(0));
  const Json loader = TRY(object_at(hook, "loader"));
  TRY(read_numbers(loader, "/loader", kLoader, facts));
  TRY(read_times(hook, facts));
  TRY(read_steps(hook, facts));
  TRY(read_window(hook, facts));
  TRY(read_lines(hook, facts));
  return facts;
}

}  // namespace amdahl::profile
