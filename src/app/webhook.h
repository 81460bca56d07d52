// webhook.h: tells another server of gate items, decisions and alarms. See docs/format/webhook.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "app/context.h"
#include "base/json.h"
#include "base/result.h"
#include "ledger/event.h"
#include "os/http.h"

namespace amdahl::app {

// The body of the message about this event; nothing if nobody is told of such events.
std::optional<Json> webhook_body(const ledger::Event& event);

// Hex digits of HMAC-SHA256 (RFC 2104).
std::string hmac_sha256_hex(std::string_view key, std::string_view message);

// Starts a worker that sends what is due, if there is any. Returns at once. Events from before the
// first call are never sent.
Result<> poke_webhook(Context& context);

struct WebhookSummary {
  int sent = 0;
  int given_up = 0;  // Kept in webhook/failed.jsonl with the reason.
};
// The worker: sends in order, each until it is accepted (2xx) or `policy` ends. kBusy if another
// worker is at it.
Result<WebhookSummary> send_webhooks(Context& context, const os::RetryPolicy& policy,
                                     const std::function<bool()>& stop);

}  // namespace amdahl::app
