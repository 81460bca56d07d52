// trace_join.h: the steps of TraceBuilder::finish().
#pragma once

#include "model/trace.h"

namespace amdahl::model {

// Sorts each table by time, then by all other fields: the result does not depend on input order.
void sort_rows(Trace& trace);

// Sets HostEvent::parent: the innermost enclosing event of the thread. Needs sorted rows.
void find_parents(Trace& trace);

// Sets DeviceEvent::launch. Needs sorted rows.
void join_launches(Trace& trace);

// Creates steps from annotations, for sources without steps.
void find_steps(Trace& trace);

}  // namespace amdahl::model
