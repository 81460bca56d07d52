// nodes.h: one observer on each node of an allocation, started by srun beside the job's ranks.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "base/units.h"
#include "model/plan.h"
#include "model/receipt.h"
#include "os/fd.h"

namespace amdahl::launch::local {

// Lives while an arm runs. If this process dies, its observers end the arm on their nodes.
class NodeObservers {
 public:
  struct Order {
    int nodes = 1;
    std::string folder;    // On a file system that all nodes see; gets NUMBER.json of each node.
    std::string mark;      // See observe/node.h.
    int accelerators = 0;  // Of a node.
  };
  // Returns when all of them watch. An error is the place's fault, not the job's.
  static Result<NodeObservers> start(const Order& order);
  NodeObservers(NodeObservers&&) = default;
  NodeObservers& operator=(NodeObservers&&) = delete;
  ~NodeObservers();

  // Ends what the job left on its nodes and adds what was seen of it there to its receipt.
  void finish(model::Receipt& job);

 private:
  NodeObservers(Order order, os::Fd link, pid_t srun);
  Result<> await_ready();
  bool read_more(Nanos until);

  Order order_;
  os::Fd link_;
  pid_t srun_;
  std::string heard_;
};

// The observer's own body (`amdahl exec --node DIR`): takes its order from standard input.
Result<> observe_node(const std::string& folder);

// The whole job from what each of its nodes wrote.
void add_hosts(std::vector<model::Receipt> nodes, int wanted, model::Receipt& job);

// Sets the arm's share of a job of several nodes: its mark, and the accelerators of its steps.
void limit_steps(int nodes, const std::string& mark, model::Plan& plan);

// "{head}" is the host name of the first node, "{port}" a port that was free there just now.
Result<> fill_in_meeting_point(model::Plan& plan);

}  // namespace amdahl::launch::local
