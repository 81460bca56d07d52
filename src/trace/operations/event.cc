#include "trace/operations/event.h"

#include "trace/kineto/decimal.h"

namespace amdahl::trace::operations {
namespace {

constexpr std::size_t kInEvent = 2;  // The list is 1.
constexpr std::size_t kInArgs = 3;

}  // namespace

bool EventSink::start_object(std::size_t) {
  ++depth_;
  if (depth_ == kInEvent) event_ = {};
  if (depth_ == kInArgs) in_args_ = key_ == "args";
  return true;
}

bool EventSink::key(string_t& text) {
  if (depth_ <= kInArgs) key_ = text;
  return true;
}

bool EventSink::end_object() {
  if (depth_ == kInEvent) take_(event_);
  --depth_;
  return true;
}

bool EventSink::start_array(std::size_t) {
  ++depth_;
  if (depth_ == kInArgs) in_args_ = false;
  return true;
}

bool EventSink::end_array() {
  --depth_;
  return true;
}

bool EventSink::parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) {
  depth_ = 0;
  return false;
}

bool EventSink::token(const std::string& text) {
  if (depth_ == kInArgs && in_args_) {
    if (key_ == "step") event_.step = kineto::integer_of(text);
    if (key_ == "model_chunk") event_.chunk = kineto::integer_of(text);
    if (key_ == "stage" || key_ == "pp_rank") event_.stage = kineto::integer_of(text);
    if (key_ == "name") event_.label = text;
    return true;
  }
  if (depth_ != kInEvent) return true;
  if (key_ == "ph") event_.phase = text;
  if (key_ == "name") event_.name = text;
  if (key_ == "cat") event_.category = text;
  if (key_ == "pid") event_.pid = kineto::integer_of(text);
  if (key_ == "tid") event_.tid = kineto::integer_of(text);
  if (key_ == "ts") event_.start = kineto::nanos_of(text);
  if (key_ == "dur") event_.duration = kineto::nanos_of(text);
  return true;
}

}  // namespace amdahl::trace::operations
