#include "app/webhook.h"

#include <array>
#include <cstdlib>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text.h"
#include "launch/environment.h"
#include "launch/local/spawn.h"
#include "model/canary.h"
#include "os/files.h"
#include "os/host.h"
#include "os/lock.h"

namespace amdahl::app {
namespace {

constexpr int kVersion = 1;
constexpr Nanos kOneTry = std::chrono::seconds(10);

std::string folder_of(const Context& context) { return context.path("webhook"); }

Result<std::int64_t> last_event(Context& context) {
  const auto newest = TRY(context.ledger->events("", 0, 1));
  return newest.empty() ? 0 : newest.front().seq;
}

// Up to where events were looked at. It belongs to one ledger.
struct Cursor {
  std::string ledger;
  std::int64_t seq = 0;
};

Result<std::optional<Cursor>> read_cursor(const Context& context) {
  const auto text = os::read_file(folder_of(context) + "/sent.json");
  if (!text) return std::optional<Cursor>{};
  const Json json = TRY(parse_json(*text).in("webhook/sent.json"));
  if (!json.is_object() || !json.contains("seq") || !json["seq"].is_number_integer()) {
    return bad_input("webhook/sent.json: expected ledger and seq; remove the file to start anew");
  }
  return std::optional(Cursor{json.value("ledger", ""), json["seq"].get<std::int64_t>()});
}

Result<> write_cursor(const Context& context, const Cursor& cursor) {
  return os::write_file(folder_of(context) + "/sent.json",
                        dump_json({{"ledger", cursor.ledger}, {"seq", cursor.seq}}) + "\n");
}

// The place to go on from; the newest event if there is none of this ledger.
Result<Cursor> cursor_of(Context& context) {
  const std::string id = TRY(context.ledger->id());
  const auto known = TRY(read_cursor(context));
  if (known && known->ledger == id) return *known;
  TRY(os::make_dirs(folder_of(context)));
  const Cursor now{id, TRY(last_event(context))};
  TRY(write_cursor(context, now));
  return now;
}

Result<std::optional<ledger::Event>> next_due(Context& context, Cursor& cursor) {
  std::optional<ledger::Event> due;
  TRY(context.ledger->each_event(cursor.seq, [&](const ledger::Event& event) {
    if (webhook_body(event)) due = event;
    if (!due) cursor.seq = event.seq;
    return !due;
  }));
  return due;
}

Result<std::string> secret_of(const Config& config) {
  if (config.webhook_secret_env.empty()) return std::string();
  const char* secret = std::getenv(config.webhook_secret_env.c_str());
  if (!secret || !*secret) {
    return bad_input(
        fmt::format("webhook.secret_env: the variable {} is not set", config.webhook_secret_env));
  }
  return std::string(secret);
}

// What the event itself does not name: of a decision the claim, of an alarm the family.
Json body_of(const Context& context, const ledger::Event& event) {
  Json body = *webhook_body(event);
  if (body.contains("experiment")) {
    const auto gate = context.ledger->gate_at(body["experiment"].get<std::string>());
    if (gate && *gate) body["hypothesis"] = (*gate)->packet.hypothesis;
  }
  const auto row = context.ledger->hypothesis(body["hypothesis"].get<std::string>());
  if (row) body["family"] = row->hypothesis.family;
  return body;
}

os::HttpRequest request_for(const Context& context, const Cursor& cursor,
                            const ledger::Event& event, const std::string& secret) {
  os::HttpRequest request;
  request.url = context.config.webhook_url;
  request.post = true;
  const Json body = body_of(context, event);
  request.form = dump_json(body);
  request.limit = kOneTry;
  request.connect_limit = kOneTry;
  request.most_bytes = 1 << 20;
  const auto at = std::chrono::duration_cast<std::chrono::seconds>(context.clock->unix_time());
  request.headers = {"Content-Type: application/json",
                     fmt::format("X-Amdahl-Event: {}", body.at("type").get<std::string>()),
                     fmt::format("X-Amdahl-Delivery: {}-{}", cursor.ledger, event.seq),
                     fmt::format("X-Amdahl-Timestamp: {}", at.count())};
  if (!secret.empty()) {
    const std::string mac = hmac_sha256_hex(secret, fmt::format("{}.{}", at.count(), request.form));
    request.headers.push_back("X-Amdahl-Signature: sha256=" + mac);
  }
  return request;
}

Result<> keep_failure(const Context& context, const ledger::Event& event, const std::string& why) {
  const std::string path = folder_of(context) + "/failed.jsonl";
  const auto before = os::read_file(path);
  const Json row = {{"event", event.seq}, {"because", why}, {"body", body_of(context, event)}};
  return os::write_file(path, (before ? *before : "") + dump_json(row) + "\n");
}

Json message(const ledger::Event& event, std::string_view type, const std::string& family,
             const std::string& hypothesis, const std::string& text) {
  return {{"schema_version", kVersion}, {"type", type},         {"event", event.seq},
          {"at_ns", event.at.count()},  {"actor", event.actor}, {"family", family},
          {"hypothesis", hypothesis},   {"text", text}};
}

}  // namespace

std::optional<Json> webhook_body(const ledger::Event& event) {
  const Json& payload = event.payload;
  if (event.kind == "gate.opened") {
    Json body = message(event, "gate", payload.value("family", ""), payload.value("hypothesis", ""),
                        payload.value("claim", ""));
    body["comparison"] = payload.value("comparison", Json::object());
    body["saves_accelerator_h_per_day"] = payload.value("saves_accelerator_h_per_day", Json());
    return body;
  }
  if (event.kind == "gate.decided") {
    Json body = message(event, "decision", "", "", payload.value("reason", ""));
    body["experiment"] = event.subject;
    body["approved"] = payload.value("approved", false);
    return body;
  }
  if (event.kind == "canary.closed" &&
      payload.value("outcome", "") == model::name(model::CanaryState::kRollbackProposed)) {
    return message(event, "alarm", "", event.subject, payload.value("because", ""));
  }
  if (event.kind == "cycle.noted" && payload.is_object() && payload.contains("alarm")) {
    return message(event, "alarm", "", event.subject, payload.value("alarm", ""));
  }
  return std::nullopt;
}

std::string hmac_sha256_hex(std::string_view key, std::string_view message) {
  constexpr std::size_t kBlock = 64;
  const auto bytes_of = [](const Digest& digest) {
    return std::string(reinterpret_cast<const char*>(digest.data()), digest.size());
  };
  std::string padded = key.size() > kBlock ? bytes_of(sha256(key)) : std::string(key);
  padded.resize(kBlock, '\0');
  std::string inner = padded;
  std::string outer = padded;
  for (char& c : inner) c = static_cast<char>(c ^ 0x36);
  for (char& c : outer) c = static_cast<char>(c ^ 0x5c);
  return sha256_hex(outer + bytes_of(sha256(inner.append(message))));
}

Result<> poke_webhook(Context& context) {
  if (context.config.webhook_url.empty()) return Ok{};
  Cursor cursor = TRY(cursor_of(context));
  const std::int64_t before = cursor.seq;
  if (!TRY(next_due(context, cursor))) {
    return cursor.seq == before ? Result<>(Ok{}) : write_cursor(context, cursor);
  }
  const std::string worker = os::env_or("AMDAHL_WORKER", os::self_path());
  std::vector<std::string> argv = {worker, "exec", "--webhook", context.config.state_dir};
  if (!context.config.from.empty()) argv.insert(argv.end(), {"--config", context.config.from});
  return launch::local::spawn_detached(argv, launch::own_environment(),
                                       folder_of(context) + "/log");
}

Result<WebhookSummary> send_webhooks(Context& context, const os::RetryPolicy& policy,
                                     const std::function<bool()>& stop) {
  WebhookSummary summary;
  if (context.config.webhook_url.empty()) return summary;
  TRY(os::check_address(context.config.webhook_url).in("webhook.url"));
  const std::string secret = TRY(secret_of(context.config));
  Cursor cursor = TRY(cursor_of(context));
  const auto lock = os::FileLock::try_take(folder_of(context) + "/lock");
  if (!lock) return Error{Error::Kind::kBusy, "another worker sends the webhooks"};
  cursor = TRY(cursor_of(context));  // As the last holder of the lock left it.
  const std::unique_ptr<os::Http> http = os::make_http();
  while (!stop()) {
    const auto event = TRY(next_due(context, cursor));
    if (!event) break;
    const auto answer = os::ask_with_retries(
        *http, *context.clock, request_for(context, cursor, *event, secret), policy, stop);
    const bool taken = answer && answer->status >= 200 && answer->status < 300;
    if (!taken) {
      if (stop()) break;
      TRY(keep_failure(context, *event,
                       answer ? fmt::format("status {}", answer->status) : answer.error().text));
    }
    ++(taken ? summary.sent : summary.given_up);
    cursor.seq = event->seq;
    TRY(write_cursor(context, cursor));
  }
  TRY(write_cursor(context, cursor));
  return summary;
}

}  // namespace amdahl::app
