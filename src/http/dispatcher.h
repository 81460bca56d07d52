// dispatcher.h: handles one request: finds the route, checks permissions, calls it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "app/context.h"
#include "app/webhook.h"
#include "base/result.h"
#include "http/access.h"
#include "http/message.h"
#include "http/metrics.h"
#include "http/routes.h"

namespace amdahl::http {

// Not thread-safe: it holds the ledger.
class Dispatcher {
 public:
  Dispatcher(app::Context context, AccessOptions access, Program program)
      : context_{std::move(context)}, access_{std::move(access)}, program_{std::move(program)} {}

  // The response, or what others must do once the request is admitted.
  struct Answer {
    enum class Then : std::uint8_t { kSend, kFleet, kEvents, kMcp };
    Then then = Then::kSend;
    Response response{};     // To be sent; for kEvents, its head.
    Found found{};           // For kFleet: the route.
    std::string who{};       // For kMcp: owner of the token.
    std::int64_t after = 0;  // For kEvents: the client's last event.
  };
  Answer answer(const Request& request, const Traffic& traffic);

  // The number of the newest event.
  Result<std::int64_t> latest();

  // Has webhooks of new events sent, by a process of its own.
  Result<> tell() { return app::poke_webhook(context_); }

  // Events after `after` as a stream, at most a few hundred; `upto` is the last of them.
  struct Batch {
    std::string text{};
    std::int64_t upto = 0;
  };
  Result<Batch> events_after(std::int64_t after);

 private:
  Answer admitted(const Found& found, const Request& request, const Person& person,
                  const Traffic& traffic);
  Response document(const Found& found, const Request& request, const Person& person);
  Response measures(const Request& request, const Traffic& traffic);
  Response kept(const std::string& key, const std::function<Response()>& make);
  Response session(const Request& request, const Person& person);
  Result<Answer> begin_events(const Request& request);

  app::Context context_;
  Access access_;
  Program program_;
  std::int64_t batch_after_ = -1;  // Of the cached batch, which many clients share.
  Batch batch_{};
  std::map<std::string, Response> kept_{};  // Answers, by path and query,
  std::int64_t kept_at_ = -1;               // of the ledger with this newest event.
  Nanos kept_since_{};
};

// Sets the headers of every response: no caching of answers, no foreign scripts. `request`: for
// If-None-Match and HEAD.
void finish(const Request& request, Response& response);

}  // namespace amdahl::http
