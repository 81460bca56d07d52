// reconcile.h: finds out what became of every run in flight, and writes it down.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "app/context.h"
#include "base/result.h"
#include "base/units.h"

namespace amdahl::app {

using Say = std::function<void(const std::string&)>;

// When this process last handed a reservation to the launcher; a cold cycle starts empty.
using Submitted = std::map<std::string, Nanos>;

// Adopts, collects and voids. Returns how many runs ended.
Result<int> reconcile(Context& context, Submitted& submitted, std::int64_t fence, const Say& say);

}  // namespace amdahl::app
