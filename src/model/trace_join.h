// trace_join.h: what TraceBuilder::finish() does, step by step.
#pragma once

#include "model/trace.h"

namespace amdahl::model {

// Each table in order of time, ties by all other fields: the same rows in any order give the same.
void sort_rows(Trace& trace);

// HostEvent::parent: the innermost event of the thread that holds all of it. Needs sorted rows.
void find_parents(Trace& trace);

// DeviceEvent::launch. Needs sorted rows.
void join_launches(Trace& trace);

// Steps from annotations, for sources that have none yet.
void find_steps(Trace& trace);

}  // namespace amdahl::model
