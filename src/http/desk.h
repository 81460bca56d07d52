// desk.h: answers one request after the other: finds the route, checks who asks, calls it.
#pragma once

#include <cstdint>
#include <string>

#include "app/context.h"
#include "base/result.h"
#include "http/access.h"
#include "http/message.h"
#include "http/metrics.h"
#include "http/routes.h"

namespace amdahl::http {

// For one thread at a time: it holds the ledger.
class Desk {
 public:
  Desk(app::Context context, AccessOptions access, Program program)
      : context_{std::move(context)}, access_{std::move(access)}, program_{std::move(program)} {}

  // What is left to be done by others once the request is admitted.
  struct Answer {
    enum class Then : std::uint8_t { kSend, kFleet, kJob, kEvents, kMcp };
    Then then = Then::kSend;
    Response response{};     // To be sent; of kEvents, its head.
    std::string job{};       // Of kJob.
    std::string who{};       // Of kMcp: the holder of the token.
    std::int64_t after = 0;  // Of kEvents: the last event that the client has.
  };
  Answer answer(const Request& request, const Traffic& traffic);

  // The number of the newest event.
  Result<std::int64_t> latest();

  // Events after `after` as a stream, at most some hundred; `upto` is the last of them.
  struct Batch {
    std::string text{};
    std::int64_t upto = 0;
  };
  Result<Batch> events_after(std::int64_t after);

 private:
  Answer admitted(const Found& found, const Request& request, const Person& person,
                  const Traffic& traffic);
  Response session(const Request& request, const Person& person);
  Result<Answer> begin_events(const Request& request);

  app::Context context_;
  Access access_;
  Program program_;
  std::int64_t batch_after_ = -1;  // Of the kept batch: many clients ask for the same one.
  Batch batch_{};
};

// The files of the dashboard; and what every response carries: no caching of answers, no scripts
// but ours. `request`: for If-None-Match and HEAD.
void finish(const Request& request, Response& response);

}  // namespace amdahl::http
