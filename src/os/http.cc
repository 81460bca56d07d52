#include "os/http.h"

#include <algorithm>
#include <mutex>

#include <curl/curl.h>
#include <fmt/core.h>

#include "base/hash.h"
#include "base/text.h"

namespace amdahl::os {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct CloseCurl {
  void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

struct Arriving {
  HttpAnswer answer;
  std::size_t most_bytes = 0;
  bool too_large = false;
  const Stop* stop = nullptr;
  bool stopped = false;
};

std::size_t on_body(char* bytes, std::size_t, std::size_t count, void* to) {
  auto& arriving = *static_cast<Arriving*>(to);
  if (arriving.answer.body.size() + count > arriving.most_bytes) {
    arriving.too_large = true;
    return 0;
  }
  arriving.answer.body.append(bytes, count);
  return count;
}

std::size_t on_header(char* bytes, std::size_t, std::size_t count, void* to) {
  auto& arriving = *static_cast<Arriving*>(to);
  const std::string_view line(bytes, count);
  const auto colon = line.find(':');
  if (colon != line.npos && lower(line.substr(0, colon)) == "retry-after") {
    // It may be a date; then our own backoff applies.
    const auto asked = to_number<int>(trim(line.substr(colon + 1)));
    if (asked && *asked >= 0) arriving.answer.retry_after = seconds(*asked);
  }
  if (colon != line.npos && lower(line.substr(0, colon)) == "location") {
    arriving.answer.location = trim(line.substr(colon + 1));
  }
  return count;
}

int on_progress(void* to, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& arriving = *static_cast<Arriving*>(to);
  arriving.stopped = *arriving.stop && (*arriving.stop)();
  return arriving.stopped ? 1 : 0;
}

class CurlHttp final : public Http {
 public:
  CurlHttp() {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    curl_.reset(curl_easy_init());
  }

  Result<HttpAnswer> ask(const HttpRequest& request, const Stop& stop) override {
    if (!curl_) return external("libcurl could not be started");
    TRY(check_address(request.url));
    Arriving arriving;
    arriving.most_bytes = request.most_bytes;
    arriving.stop = &stop;
    char why[CURL_ERROR_SIZE] = "";
    const auto headers = set(request, arriving, why);
    const CURLcode code = curl_easy_perform(curl_.get());
    curl_easy_setopt(curl_.get(), CURLOPT_ERRORBUFFER, nullptr);
    if (code != CURLE_OK) return failed(request, arriving, code, why);
    long status = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    arriving.answer.status = static_cast<int>(status);
    return std::move(arriving.answer);
  }

 private:
  std::unique_ptr<curl_slist, FreeList> set(const HttpRequest& request, Arriving& arriving,
                                            char* why) {
    CURL* curl = curl_.get();
    curl_easy_reset(curl);  // Keeps the connections.
    const auto ms = [](Nanos time) {
      return static_cast<long>(std::chrono::duration_cast<milliseconds>(time).count());
    };
    curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "amdahl");
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, ms(request.connect_limit));
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, ms(request.limit));
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &arriving);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &arriving);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &arriving);
    if (request.post) {
      curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.form.size()));
      curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.form.c_str());
    }
    if (!request.user.empty()) {
      curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
      curl_easy_setopt(curl, CURLOPT_USERNAME, request.user.c_str());
      curl_easy_setopt(curl, CURLOPT_PASSWORD, request.password.c_str());
    }
    curl_slist* list = nullptr;
    for (const std::string& header : request.headers) {
      list = curl_slist_append(list, header.c_str());
    }
    if (list) curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    return std::unique_ptr<curl_slist, FreeList>(list);
  }

  static Error failed(const HttpRequest& request, const Arriving& arriving, CURLcode code,
                      const char* why) {
    const std::string where = shown_address(request.url);
    if (arriving.stopped) return external(fmt::format("{}: interrupted", where));
    if (arriving.too_large) {
      return Error{Error::Kind::kUnsupported, fmt::format("{}: the response is larger than {} MiB",
                                                          where, request.most_bytes >> 20)};
    }
    if (code == CURLE_OPERATION_TIMEDOUT) {
      return external(
          fmt::format("{}: timeout: no response within {}", where, show_duration(request.limit)));
    }
    return external(fmt::format("{}: {}", where, *why ? why : curl_easy_strerror(code)));
  }

  std::unique_ptr<CURL, CloseCurl> curl_;
};

bool may_help(const Result<HttpAnswer>& answer) {
  if (!answer) return answer.error().kind == Error::Kind::kExternal;
  return answer->status == 429 || answer->status >= 500;
}

// In short sleeps, so that ^C is noticed.
void wait(Clock& clock, Nanos time, const Stop& stop) {
  const Nanos until = clock.monotonic() + time;
  while (!(stop && stop())) {
    const Nanos left = until - clock.monotonic();
    if (left <= Nanos{}) return;
    clock.sleep(std::min<Nanos>(left, milliseconds(100)));
  }
}

// Jitter that depends on the request, so that parallel requests do not retry at once.
double spread(const HttpRequest& request, int attempt) {
  const Digest digest = sha256(fmt::format("{} {}", attempt, request.form));
  return 0.75 + 0.5 * digest[0] / 255.0;
}

}  // namespace

std::unique_ptr<Http> make_http() { return std::make_unique<CurlHttp>(); }

Result<HttpAnswer> ask_with_retries(Http& http, Clock& clock, const HttpRequest& request,
                                    const RetryPolicy& patience, const Stop& stop) {
  Nanos pause = patience.first_wait;
  const Nanos until = clock.monotonic() + patience.in_all;
  for (int attempt = 1;; ++attempt) {
    Result<HttpAnswer> answer = http.ask(request, stop);
    if (!may_help(answer) || attempt >= patience.attempts || (stop && stop())) return answer;
    if (clock.monotonic() >= until) return answer;
    Nanos next = from_seconds(to_seconds(pause) * spread(request, attempt));
    if (answer && answer->retry_after) next = std::max(next, *answer->retry_after);
    wait(clock, std::min(next, patience.longest_wait), stop);
    pause = std::min(pause * 2, patience.longest_wait);
  }
}

std::string shown_address(const std::string& url) {
  const std::string plain = url.substr(0, url.find_first_of("?#"));
  const auto scheme = plain.find("://");
  if (scheme == plain.npos) return plain;
  const auto path = plain.find('/', scheme + 3);
  const auto at = plain.substr(0, path).rfind('@');
  return at == plain.npos ? plain : plain.substr(0, scheme + 3) + plain.substr(at + 1);
}

Result<> check_address(const std::string& url) {
  const std::string shown = shown_address(url);
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    return bad_input(fmt::format("'{}' is not a URL; write it like http://monitoring:9090", shown));
  }
  const auto host = url.find("://") + 3;
  const std::string authority = url.substr(host, url.find_first_of("/?#", host) - host);
  if (authority.empty()) return bad_input(fmt::format("'{}' has no host name", shown));
  if (authority.find('@') != authority.npos) {
    return bad_input(
        fmt::format("{}: do not put a password in the URL; name the "
                    "variable or the file that holds it",
                    shown));
  }
  return Ok{};
}

}  // namespace amdahl::os
