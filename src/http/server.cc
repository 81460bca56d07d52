// asio of Boost 1.74 uses std::exchange without including it.
#include "http/server.h"

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/ssl.hpp>
#include <fmt/core.h>

#include "base/text.h"
#include "http/dispatcher.h"
#include "http/fleet_cache.h"
#include "http/wire.h"
#include "mcp/server.h"

namespace amdahl::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using boost::system::error_code;
template <class Value = void>
using Task = asio::awaitable<Value>;

constexpr int kAgentsAtOnce = 4;  // Calls of tools may wait for experiments.
constexpr auto kTick = std::chrono::milliseconds(100);
constexpr int kTicksBetweenLooks = 5;      // At the ledger.
constexpr int kTicksBetweenBeats = 150;    // Detects streams whose client has gone.
constexpr std::size_t kAtOnce = 64 << 10;  // Bytes read.

auto with(error_code& error) { return asio::redirect_error(asio::use_awaitable, error); }

class Server {
 public:
  Server(const app::Config& config, Dispatcher dispatcher, const ServeOptions& options)
      : dispatcher_{std::move(dispatcher)},
        fleet_{config, [this] { return ended_.load(); }},
        options_{options} {
    if (options.agents) mcp_.emplace(config, *options.agents, options.program.version);
  }

  Result<> listen();
  void run();

 private:
  Task<> on(asio::thread_pool& lane, const std::function<void()>& work);
  Task<> accept();
  Task<> tick();
  Task<> talk(tcp::socket socket);
  template <class Stream>
  Task<> talk_over(Stream& stream);
  template <class Stream>
  Task<bool> talk_once(Stream& stream, beast::flat_buffer& buffer);
  template <class Stream>
  Task<bool> receive(Stream& stream, beast::flat_buffer& buffer, std::size_t most);
  Task<> answer(const Request& request, Dispatcher::Answer& answered);
  Response ask_mcp(const Request& request, const std::string& who);
  template <class Stream>
  Task<bool> send(Stream& stream, const Request& request, Response& response, bool keep_alive);
  template <class Stream>
  Task<> follow(Stream& stream, const Request& request, Dispatcher::Answer& begun);

  std::atomic<bool> ended_ = false;
  Dispatcher dispatcher_;  // Touched by the ledger's lane alone,
  FleetCache fleet_;       // and this by the scan's; all else by the one network thread.
  const ServeOptions& options_;
  std::optional<mcp::Server> mcp_{};  // For the agents' lane.
  asio::io_context net_{1};
  asio::thread_pool ledger_lane_{1};
  asio::thread_pool scan_lane_{1};
  asio::thread_pool agent_lane_{kAgentsAtOnce};
  std::optional<asio::ssl::context> tls_{};
  tcp::acceptor acceptor_{net_};
  // Never expires. Cancelled when there is something new, which wakes all streams.
  asio::steady_timer news_{net_, asio::steady_timer::time_point::max()};
  std::int64_t latest_ = 0;
  int waiting_ = 0;
  Traffic traffic_{};
};

Result<> Server::listen() {
  error_code error;
  const auto address = asio::ip::make_address(options_.address, error);
  if (error || options_.port < 0 || options_.port > 65535) {
    return bad_input(fmt::format("cannot listen on '{}:{}': give an IP address and a port",
                                 options_.address, options_.port));
  }
  if (!options_.tls_certificate.empty()) {
    tls_.emplace(asio::ssl::context::tls_server);
    tls_->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                      asio::ssl::context::no_tlsv1_1);
    tls_->use_certificate_chain_file(options_.tls_certificate, error);
    if (error) return bad_input(fmt::format("{}: {}", options_.tls_certificate, error.message()));
    tls_->use_private_key_file(options_.tls_key, asio::ssl::context::pem, error);
    if (error) return bad_input(fmt::format("{}: {}", options_.tls_key, error.message()));
  }
  const tcp::endpoint endpoint(address, static_cast<std::uint16_t>(options_.port));
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return external(fmt::format("cannot listen on {}:{}: {}; choose another with --listen",
                                options_.address, options_.port, error.message()));
  }
  const int port = acceptor_.local_endpoint().port();
  const bool v6 = address.is_v6();
  if (options_.ready) {
    options_.ready(fmt::format("{}://{}{}{}:{}/", tls_ ? "https" : "http", v6 ? "[" : "",
                               options_.address, v6 ? "]" : "", port));
  }
  return Ok{};
}

void Server::run() {
  asio::co_spawn(net_, accept(), asio::detached);
  asio::co_spawn(net_, tick(), asio::detached);
  net_.run();
  ended_ = true;
  if (mcp_) mcp_->stop();
  ledger_lane_.join();
  scan_lane_.join();
  agent_lane_.join();
}

// Runs `work` in the lane and returns to the network thread. References in `work` point into the
// caller's coroutine frame, which outlives the lanes: run() joins them before frames are
// destroyed. g++ 12 destroys temporaries of a co_await expression twice, so everything passed to a
// coroutine here has a name.
Task<> Server::on(asio::thread_pool& lane, const std::function<void()>& work) {
  asio::steady_timer done(net_, asio::steady_timer::time_point::max());
  asio::post(lane, [&] {
    work();
    asio::post(net_, [&] { done.cancel(); });
  });
  error_code woken;
  co_await done.async_wait(with(woken));
}

Task<> Server::accept() {
  while (!ended_) {
    error_code error;
    tcp::socket socket = co_await acceptor_.async_accept(with(error));
    if (error == asio::error::operation_aborted) co_return;
    if (error) {  // No descriptors left: those that are open must end first.
      asio::steady_timer pause(net_, kTick);
      co_await pause.async_wait(with(error));
      continue;
    }
    if (traffic_.connections >= options_.limits.connections) {
      ++traffic_.refused_connections;
      continue;  // Closed by its destructor.
    }
    asio::co_spawn(net_, talk(std::move(socket)), asio::detached);
  }
}

Task<> Server::tick() {
  asio::steady_timer timer(net_);
  for (int ticks = 0;; ++ticks) {
    timer.expires_after(kTick);
    error_code error;
    co_await timer.async_wait(with(error));
    if (options_.stopped && options_.stopped()) break;
    if (ticks % kTicksBetweenBeats == 0) news_.cancel();
    if (ticks % kTicksBetweenLooks != 0) continue;
    std::int64_t latest = 0;
    bool told = true;
    const std::function<void()> look = [&] {
      const auto found = dispatcher_.latest();
      if (found) latest = *found;
      if (latest > latest_) told = static_cast<bool>(dispatcher_.tell());
    };
    co_await on(ledger_lane_, look);
    if (!told) ++traffic_.webhook_failures;
    if (latest <= latest_) continue;
    latest_ = latest;
    news_.cancel();
  }
  ended_ = true;
  net_.stop();
}

Task<> Server::talk(tcp::socket socket) {
  ++traffic_.connections;
  socket.set_option(tcp::no_delay(true));
  if (tls_) {
    beast::ssl_stream<beast::tcp_stream> stream(beast::tcp_stream(std::move(socket)), *tls_);
    error_code error;
    beast::get_lowest_layer(stream).expires_after(options_.limits.request);
    co_await stream.async_handshake(asio::ssl::stream_base::server, with(error));
    if (!error) co_await talk_over(stream);
  } else {
    beast::tcp_stream stream(std::move(socket));
    co_await talk_over(stream);
  }
  --traffic_.connections;
}

template <class Stream>
Task<> Server::talk_over(Stream& stream) {
  beast::flat_buffer buffer(options_.limits.header_bytes + options_.limits.body_bytes);
  while (!ended_ && co_await talk_once(stream, buffer)) {
  }
  error_code ignored;
  beast::get_lowest_layer(stream).socket().shutdown(tcp::socket::shutdown_both, ignored);
}

// One request and its response; returns whether the connection stays open.
template <class Stream>
Task<bool> Server::talk_once(Stream& stream, beast::flat_buffer& buffer) {
  RequestReader reader(options_.limits.header_bytes, options_.limits.body_bytes);
  Request request;
  Dispatcher::Answer answered;
  // Waiting for the first byte is idleness; from then on the whole request must come in time.
  if (buffer.size() == 0) {
    beast::get_lowest_layer(stream).expires_after(options_.limits.idle);
    if (!co_await receive(stream, buffer, 1)) co_return false;
  }
  beast::get_lowest_layer(stream).expires_after(options_.limits.request);
  while (true) {
    const asio::const_buffer came = buffer.cdata();
    buffer.consume(reader.take({static_cast<const char*>(came.data()), came.size()}));
    if (reader.whole() || reader.problem()) break;
    const std::size_t room = std::min(buffer.max_size() - buffer.size(), kAtOnce);
    if (room == 0) break;
    // A client that is gone or too slow gets no answer.
    if (!co_await receive(stream, buffer, room)) co_return false;
  }
  if (!reader.whole()) {
    answered.response = reader.problem().value_or(too_large());
    co_return co_await send(stream, request, answered.response, false);
  }
  const bool keep_alive = reader.keeps_alive();
  auto parsed = reader.request(tls_.has_value());
  if (!parsed) {
    answered.response = problem(parsed.error());
    co_return co_await send(stream, request, answered.response, false);
  }
  request = *std::move(parsed);
  beast::get_lowest_layer(stream).expires_never();
  co_await answer(request, answered);
  if (answered.then == Dispatcher::Answer::Then::kEvents && answered.response.status == 200) {
    co_await follow(stream, request, answered);
    co_return false;
  }
  co_return co_await send(stream, request, answered.response, keep_alive);
}

// Some bytes more, at most so many; false if there will be none.
template <class Stream>
Task<bool> Server::receive(Stream& stream, beast::flat_buffer& buffer, std::size_t most) {
  error_code error;
  const asio::mutable_buffer room = buffer.prepare(most);
  buffer.commit(co_await stream.async_read_some(room, with(error)));
  co_return !error;
}

Task<> Server::answer(const Request& request, Dispatcher::Answer& answered) {
  if (waiting_ >= options_.limits.waiting) {
    answered.response = problem(503, "busy", "too many requests wait; try again in a moment");
    answered.response.headers.emplace_back("Retry-After", "1");
    co_return;
  }
  ++waiting_;
  const Traffic traffic = traffic_;
  const std::function<void()> ask = [&] {
    try {
      answered = dispatcher_.answer(request, traffic);
    } catch (const std::exception& e) {  // One request must not end the server.
      answered.response = problem(500, "this is a bug", e.what());
    }
  };
  co_await on(ledger_lane_, ask);
  const std::function<void()> look = [&] {
    try {
      answered.response = fleet_.answer(answered.found, request);
    } catch (const std::exception& e) {
      answered.response = problem(500, "this is a bug", e.what());
    }
  };
  if (answered.then == Dispatcher::Answer::Then::kFleet) co_await on(scan_lane_, look);
  const std::function<void()> tell = [&] { answered.response = ask_mcp(request, answered.who); };
  if (answered.then == Dispatcher::Answer::Then::kMcp) co_await on(agent_lane_, tell);
  --waiting_;
}

// In the agents' lane.
Response Server::ask_mcp(const Request& request, const std::string& who) {
  if (!mcp_) {
    return problem(404, "not found",
                   "agents are not served; start the server with: amdahl serve --agents LIMIT");
  }
  const auto header = [&](const char* name) { return std::string(request.header(name)); };
  const mcp::Headers headers{header("mcp-protocol-version"), header("mcp-method"),
                             header("mcp-name")};
  mcp::Session session{.client = who};
  const auto message = parse_json(request.body);
  const mcp::Reply reply =
      message ? mcp_->handle(*message, session, &headers) : mcp::Server::parse_error();
  if (!reply.message) return {.status = 202};
  Response response = json_response(*reply.message);
  response.status = reply.http_status;
  return response;
}

template <class Stream>
Task<bool> Server::send(Stream& stream, const Request& request, Response& response,
                        bool keep_alive) {
  finish(request, response);
  ++traffic_.responses[response.status];
  const bool stays = keep_alive && !ended_;
  const Body body = request.method == "HEAD" ? Body::kLeftOut : Body::kWhole;
  const std::string text = bytes_of(response, stays, body);
  beast::get_lowest_layer(stream).expires_after(options_.limits.send);
  error_code error;
  co_await asio::async_write(stream, asio::buffer(text), with(error));
  co_return !error && keep_alive;
}

// Sends events as they come. A client that reads slowly only falls behind: it is asked for what
// comes after its own last event, so that nothing is kept for it and nothing is left out.
template <class Stream>
Task<> Server::follow(Stream& stream, const Request& request, Dispatcher::Answer& begun) {
  finish(request, begun.response);
  ++traffic_.responses[begun.response.status];
  ++traffic_.event_streams;
  std::string text = bytes_of(begun.response, false, Body::kEndless) + "retry: 1000\n\n";
  error_code error;
  std::int64_t after = begun.after;
  while (!error && !ended_) {
    beast::get_lowest_layer(stream).expires_after(options_.limits.send);
    co_await asio::async_write(stream, asio::buffer(text), with(error));
    if (error) break;
    Result<Dispatcher::Batch> batch = Dispatcher::Batch{};
    const std::function<void()> read = [&] { batch = dispatcher_.events_after(after); };
    co_await on(ledger_lane_, read);
    if (!batch) break;  // The ledger cannot be read: the client comes again.
    after = batch->upto;
    text = batch->text;
    if (!text.empty()) continue;
    error_code woken;
    co_await news_.async_wait(with(woken));
    text = ":\n\n";
  }
  --traffic_.event_streams;
}

}  // namespace

Result<> serve(const app::Config& config, const ServeOptions& options) {
  if (options.tls_certificate.empty() != options.tls_key.empty()) {
    return bad_input("TLS needs both files: --tls-cert and --tls-key");
  }
  app::Context context = TRY(app::open_context(config, false));
  AccessOptions access{context.path("tokens.json"), options.hosts, options.own_token};
  access.hosts.push_back(lower(options.address));
  Server server(config, Dispatcher(std::move(context), std::move(access), options.program),
                options);
  TRY(server.listen());
  server.run();
  return Ok{};
}

}  // namespace amdahl::http
