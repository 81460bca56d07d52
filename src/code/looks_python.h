// looks_python.h: conditions of the Python rules beyond a name; nothing if the rule does not
// apply.
#pragma once

#include <optional>

#include "code/rule.h"

namespace amdahl::code::python {

std::optional<Match> loader_workers(const Subject& subject);
std::optional<Match> loader_persistent(const Subject& subject);
std::optional<Match> loader_prefetch(const Subject& subject);
std::optional<Match> loader_pin(const Subject& subject);
std::optional<Match> logging(const Subject& subject);
std::optional<Match> log_fsync(const Subject& subject);
std::optional<Match> checkpoint_fsync(const Subject& subject);
std::optional<Match> range_check(const Subject& subject);
std::optional<Match> scalar_sync(const Subject& subject);
std::optional<Match> logged_scalar(const Subject& subject);
std::optional<Match> synchronize(const Subject& subject);
std::optional<Match> can_be_dropped(const Subject& subject);
std::optional<Match> thread_variable(const Subject& subject);
std::optional<Match> thread_default(const Subject& subject);
std::optional<Match> startup_read(const Subject& subject);
std::optional<Match> same_each_time(const Subject& subject);
std::optional<Match> blocking_copy(const Subject& subject);
std::optional<Match> needless_copy(const Subject& subject);
std::optional<Match> clone_detach(const Subject& subject);
std::optional<Match> inference_mode(const Subject& subject);
std::optional<Match> unused_import(const Subject& subject);

}  // namespace amdahl::code::python
