#include "trace/perf/record.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace amdahl::trace::perf {
namespace {

constexpr std::int64_t kMostSeconds = 9'000'000'000;  // Nanoseconds of these fit.

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// The next word from `at` on; `at` goes behind it.
std::string_view word(std::string_view line, std::size_t& at) {
  at = std::min(line.find_first_not_of(" \t", at), line.size());
  const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
  const std::string_view found = line.substr(at, end - at);
  at = end;
  return found;
}

// "26683.348547:", with any number of decimals from 1 to 9.
std::optional<Nanos> time_of(std::string_view text) {
  if (!text.ends_with(':')) return std::nullopt;
  text.remove_suffix(1);
  const std::size_t dot = text.find('.');
  if (dot == text.npos) return std::nullopt;
  const std::string_view decimals = text.substr(dot + 1);
  if (!is_digits(text.substr(0, dot)) || !is_digits(decimals) || decimals.size() > 9) {
    return std::nullopt;
  }
  const auto seconds = to_number<std::int64_t>(text.substr(0, dot));
  auto part = to_number<std::int64_t>(decimals);
  if (!seconds || !part || *seconds > kMostSeconds) return std::nullopt;
  for (std::size_t i = decimals.size(); i < 9; ++i) *part *= 10;
  return std::chrono::seconds(*seconds) + Nanos{*part};
}

struct Ids {
  std::int64_t process = -1;
  std::int64_t thread = 0;
};

// "25840" or "25839/25840".
std::optional<Ids> ids_of(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view last = slash == text.npos ? text : text.substr(slash + 1);
  if (!is_digits(last)) return std::nullopt;
  const auto thread = to_number<std::int64_t>(last);
  if (!thread) return std::nullopt;
  if (slash == text.npos) return Ids{-1, *thread};
  if (!is_digits(text.substr(0, slash))) return std::nullopt;
  const auto process = to_number<std::int64_t>(text.substr(0, slash));
  if (!process) return std::nullopt;
  return Ids{*process, *thread};
}

// "cpu-clock:pppH" is cpu-clock; "sched:sched_switch" stays.
std::string_view without_modifiers(std::string_view event) {
  const std::size_t colon = event.rfind(':');
  if (colon == event.npos || colon == 0) return event;
  const std::string_view after = event.substr(colon + 1);
  const bool are_modifiers = after.find_first_not_of("ukhGHIpPSDWeb") == after.npos;
  return are_modifiers ? event.substr(0, colon) : event;
}

// The text between `name` and the next word: "prev_comm=a b prev_pid=" gives "a b".
std::optional<std::string_view> between(std::string_view text, std::string_view name,
                                        std::string_view after) {
  const std::size_t start = text.find(name);
  if (start == text.npos) return std::nullopt;
  const std::size_t from = start + name.size();
  const std::size_t end = after.empty() ? text.size() : text.find(after, from);
  if (end == text.npos) return std::nullopt;
  return trim(text.substr(from, end - from));
}

std::optional<std::int64_t> whole(std::optional<std::string_view> text) {
  return text && is_digits(*text) ? to_number<std::int64_t>(*text) : std::nullopt;
}

// Parses a head whose thread is the first number followed, after the CPU, by what `is_next`
// accepts.
template <class IsNext>
std::optional<Head> head_where(std::string_view line, IsNext is_next) {
  std::size_t at = 0;
  word(line, at);
  for (int tries = 0; tries < 16 && at < line.size(); ++tries) {
    const std::size_t before = at;
    const auto ids = ids_of(word(line, at));
    if (!ids) continue;
    std::size_t after = at;
    std::size_t behind = at;
    std::string_view next = word(line, after);
    if (next.starts_with('[') && next.ends_with(']')) {
      behind = after;
      next = word(line, after);
    }
    if (!is_next(next)) continue;
    Head head;
    head.command = trim(line.substr(0, before));
    head.process = ids->process;
    head.thread = ids->thread;
    const auto time = time_of(next);
    head.has_time = time.has_value();
    if (time) head.at = *time;
    if (!time) after = behind;
    std::string_view event = word(line, after);
    if (is_digits(event)) {
      head.period = to_number<std::uint64_t>(event).value_or(1);
      event = word(line, after);
    }
    if (!event.ends_with(':') || event.size() < 2) return std::nullopt;
    event.remove_suffix(1);
    head.event = without_modifiers(event);
    head.rest = trim(line.substr(std::min(after, line.size())));
    return head;
  }
  return std::nullopt;
}

// "kworker/0:1:17 [120] S" of libtraceevent's plugins: the command, the thread, and what follows.
struct Plugged {
  std::string_view command;
  std::int64_t thread = 0;
  std::string_view rest;
};
std::optional<Plugged> plugged(std::string_view text) {
  text = trim(text);
  const std::size_t priority = text.find(" [");
  const std::string_view task = text.substr(0, priority);
  const std::size_t colon = task.rfind(':');
  if (colon == task.npos) return std::nullopt;
  const auto thread = whole(task.substr(colon + 1));
  if (!thread) return std::nullopt;
  const std::size_t end = priority == text.npos ? text.npos : text.find(']', priority);
  return Plugged{task.substr(0, colon), *thread,
                 end == text.npos ? std::string_view{} : trim(text.substr(end + 1))};
}

}  // namespace

std::optional<Head> parse_head(std::string_view line) {
  if (line.empty() || line[0] == '\t' || line[0] == '#') return std::nullopt;
  // The command may hold anything: the first word after it that is a number, followed by a time.
  const auto has_time = [](std::string_view next) { return time_of(next).has_value(); };
  if (auto head = head_where(line, has_time)) return head;
  // Without times, a number in the command can be told from the thread only because the event name
  // ends the line.
  if (!trim(line).ends_with(':')) return std::nullopt;
  auto head = head_where(line, [](std::string_view next) {
    const bool is_name = next.size() > 1 && next.ends_with(':') && !is_digits(next.substr(0, 1));
    return is_digits(next) || is_name;
  });
  return head && head->rest.empty() ? head : std::nullopt;
}

std::optional<Frame> parse_frame(std::string_view line) {
  std::string_view text = trim(line);
  const std::size_t space = text.find(' ');
  const std::string_view address = text.substr(0, space);
  if (space == text.npos || address.find_first_not_of("0123456789abcdef") != address.npos) {
    return std::nullopt;
  }
  text = trim(text.substr(space));
  if (text.ends_with("(inlined)")) return Frame{trim(text.substr(0, text.size() - 9)), ""};
  Frame frame;
  const std::size_t open = text.rfind(" (");
  if (open != text.npos && text.ends_with(')')) {
    frame.file = text.substr(open + 2, text.size() - open - 3);
    text = trim(text.substr(0, open));
  }
  if (const std::size_t slash = frame.file.rfind('/'); slash != frame.file.npos) {
    frame.file.remove_prefix(slash + 1);
  }
  if (frame.file.starts_with('[') && frame.file.ends_with(']')) {
    frame.file = frame.file.substr(1, frame.file.size() - 2);
  }
  const std::size_t plus = text.rfind("+0x");
  frame.function = plus == text.npos ? text : text.substr(0, plus);
  if (frame.function.empty()) return std::nullopt;
  return frame;
}

std::optional<Switch> parse_switch(std::string_view rest) {
  const std::size_t arrow = rest.find("==>");
  if (arrow == rest.npos) return std::nullopt;
  const std::string_view before = rest.substr(0, arrow);
  const std::string_view after = rest.substr(arrow + 3);
  Switch made;
  if (const auto from = plugged(before), to = plugged(after); from && to) {
    made = {from->command, from->thread, from->rest, to->command, to->thread};
    return made;
  }
  const auto previous = whole(between(before, "prev_pid=", " "));
  const auto next = whole(between(after, "next_pid=", " "));
  const auto state = between(before, "prev_state=", "");
  if (!previous || !next || !state) return std::nullopt;
  made.previous = *previous;
  made.next = *next;
  made.state = *state;
  made.previous_command = between(before, "prev_comm=", " prev_pid=").value_or("");
  made.next_command = between(after, "next_comm=", " next_pid=").value_or("");
  return made;
}

std::optional<std::int64_t> parse_woken(std::string_view rest) {
  if (const auto thread = whole(between(rest, " pid=", " "))) return thread;
  const auto task = plugged(rest);
  return task ? std::optional(task->thread) : std::nullopt;
}

}  // namespace amdahl::trace::perf
