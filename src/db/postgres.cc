#include "db/postgres.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include <fmt/core.h>
#include <poll.h>

namespace amdahl::db {
namespace {

std::string one_line(const char* message) {
  std::string text = message == nullptr ? "" : message;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return text.empty() ? "no reason given" : text;
}

struct FreeOptions {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

// States after which the connection cannot be used, or the same statement may succeed later.
bool is_passing(std::string_view state) {
  constexpr auto kPassing = std::to_array<std::string_view>(
      {"40001", "40P01", "53300", "55P03", "57014", "25006", "25P03"});
  return state.starts_with("08") || state.starts_with("57P") ||
         std::ranges::find(kPassing, state) != kPassing.end();
}

// What no waiting mends. libpq gives a refused connection no code, only a text.
bool is_for_good(std::string_view why) {
  constexpr auto kRefusals = std::to_array<std::string_view>(
      {"authentication failed", "pg_hba.conf", "\" does not exist", "invalid port number"});
  return std::ranges::any_of(kRefusals,
                             [&](std::string_view text) { return why.find(text) != why.npos; });
}

Error::Kind kind_of(std::string_view state) {
  if (state.starts_with("23") || state == "P0001") return Error::Kind::kConflict;
  if (state.starts_with("22")) return Error::Kind::kBadInput;
  return Error::Kind::kExternal;
}

}  // namespace

std::string_view ServerRows::text(int row, int column) const {
  const int size = PQgetlength(result_.get(), row, column);
  return {PQgetvalue(result_.get(), row, column), static_cast<std::size_t>(size)};
}

std::int64_t ServerRows::integer(int row, int column) const {
  const std::string_view digits = text(row, column);
  std::int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

Result<> check_address(const std::string& url) {
  char* why = nullptr;
  const std::unique_ptr<PQconninfoOption, FreeOptions> options{PQconninfoParse(url.c_str(), &why)};
  if (!options) {
    // The message may repeat the address, which may have a password in it.
    PQfreemem(why);
    return bad_input("is not an address of the form postgresql://USER@HOST:PORT/DATABASE");
  }
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    const std::string_view name = option->keyword;
    const bool is_secret = name == "password" || name == "sslpassword";
    if (!is_secret || option->val == nullptr || *option->val == '\0') continue;
    return bad_input(
        "must not contain a password: put it into the file that PGPASSFILE names (mode 600), or "
        "into PGPASSWORD");
  }
  return Ok{};
}

Result<ServerConnection> ServerConnection::open(const std::string& url, int connect_s,
                                                int silence_ms) {
  const std::string seconds = fmt::format("{}", connect_s);
  const std::string silence = fmt::format("{}", silence_ms);
  // What stands before dbname is a default; the address may say otherwise.
  const std::array<const char*, 9> names = {"target_session_attrs",
                                            "connect_timeout",
                                            "tcp_user_timeout",
                                            "keepalives_idle",
                                            "keepalives_interval",
                                            "application_name",
                                            "dbname",
                                            "client_encoding",
                                            nullptr};
  const std::array<const char*, 9> values = {"read-write", seconds.c_str(), silence.c_str(), "10",
                                             "5",          "amdahl",        url.c_str(),     "UTF8",
                                             nullptr};
  ServerConnection made{PQconnectdbParams(names.data(), values.data(), 1), silence_ms};
  PGconn* connection = made.connection_.get();
  if (PQstatus(connection) == CONNECTION_OK) return made;
  std::string why = one_line(PQerrorMessage(connection));
  if (PQconnectionNeedsPassword(connection) != 0) {
    return bad_input(why + "; put the password into the file that PGPASSFILE names (mode 600)");
  }
  if (is_for_good(why)) return bad_input(std::move(why));
  return external(std::move(why));
}

Error ServerConnection::gone(std::string_view purpose, std::string_view why) {
  lost_ = true;
  passing_ = true;
  return external(fmt::format("{}: the connection to the server was lost ({})", purpose, why));
}

Error ServerConnection::refused(std::string_view purpose, const PGresult* result) {
  const char* raw = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string state = raw == nullptr ? "" : raw;
  const std::string text = one_line(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));
  if (state.empty() || PQstatus(connection_.get()) == CONNECTION_BAD) return gone(purpose, text);
  passing_ = is_passing(state);
  if (state == "P0001") return {kind_of(state), text};
  return {kind_of(state), fmt::format("{}: {}", purpose, text)};
}

// False if nothing happened within the time.
bool ServerConnection::wait_for(short what) {
  pollfd socket{PQsocket(connection_.get()), what, 0};
  if (socket.fd < 0) return false;
  while (true) {
    const int ready = ::poll(&socket, 1, silence_ms_);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

Result<std::vector<ServerRows>> ServerConnection::answers(std::string_view purpose) {
  PGconn* connection = connection_.get();
  const auto silent = [&] { return gone(purpose, fmt::format("silent for {} ms", silence_ms_)); };
  while (true) {
    const int flushed = PQflush(connection);
    if (flushed < 0) return gone(purpose, one_line(PQerrorMessage(connection)));
    if (flushed == 0) break;
    if (!wait_for(POLLIN | POLLOUT)) return silent();
    if (PQconsumeInput(connection) == 0) {
      return gone(purpose, one_line(PQerrorMessage(connection)));
    }
  }
  std::vector<ServerRows> all;
  std::optional<Error> error;
  while (true) {
    while (PQisBusy(connection) != 0) {
      if (!wait_for(POLLIN)) return silent();
      if (PQconsumeInput(connection) == 0) {
        return gone(purpose, one_line(PQerrorMessage(connection)));
      }
    }
    PGresult* result = PQgetResult(connection);
    if (result == nullptr) break;
    const ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY) {
      all.emplace_back(result);
      continue;
    }
    if (!error) error = refused(purpose, result);
    PQclear(result);
    if (lost_) break;
  }
  if (error) return *error;
  return all;
}

Result<std::vector<ServerRows>> ServerConnection::exec(std::string_view purpose,
                                                       const std::string& sql) {
  passing_ = false;
  if (lost_ || PQsendQuery(connection_.get(), sql.c_str()) == 0) {
    return gone(purpose, one_line(PQerrorMessage(connection_.get())));
  }
  return answers(purpose);
}

Result<ServerRows> ServerConnection::query(std::string_view purpose, const std::string& sql,
                                           std::span<const Value> values) {
  passing_ = false;
  std::vector<const char*> texts;
  for (const Value& value : values) {
    // Sent as C strings: what follows a zero byte would be lost.
    if (value && value->find('\0') != value->npos) {
      return bad_input(fmt::format("{}: a zero byte cannot be stored", purpose));
    }
    texts.push_back(value ? value->c_str() : nullptr);
  }
  if (lost_ || PQsendQueryParams(connection_.get(), sql.c_str(), static_cast<int>(values.size()),
                                 nullptr, texts.data(), nullptr, nullptr, 0) == 0) {
    return gone(purpose, one_line(PQerrorMessage(connection_.get())));
  }
  auto all = answers(purpose);
  if (!all) return all.error();
  std::vector<ServerRows> rows = *std::move(all);
  if (rows.empty()) return external(fmt::format("{}: no answer", purpose));
  return std::move(rows.front());
}

}  // namespace amdahl::db
