// options.h: the table of all command-line options, and parsed arguments.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace amdahl::cli {

// Options common to all verbs; a verb's own options are in a struct below.
struct Flags {
  virtual ~Flags() = default;

  std::string state;
  std::string config;
  bool json = false;
  bool no_color = false;
  bool help = false;

  std::vector<std::string> words;       // Positional, before "--".
  std::vector<std::string> command;     // After "--", unchanged.
  std::vector<std::string_view> given;  // Names of the options that were given.

  // For verbs that have the option.
  std::string html;
  int width = 0;
  bool ascii = false;
  bool progress = false;
  bool quiet = false;

  bool is_given(std::string_view option) const {
    return std::find(given.begin(), given.end(), option) != given.end();
  }
};

struct RunFlags : Flags {
  std::string family;
  std::string spec;
  double time_limit = 0;
  double memory_limit = 0;
  int accelerators = 0;
  bool promoted = false;
};

struct TuneFlags : Flags {
  std::string budget;
  std::string family;
  std::string spec;
  int accelerators = 0;
  int slots = 0;
  std::string launcher;
};

struct LauncherFlags : Flags {
  double patience = 60;
};

struct ScanFlags : Flags {
  std::string from;
  std::string to;
  std::string window;
  std::string by;
  std::string order;
  std::string trend;
  std::string metric;
  std::string fields;
  std::string map;
  std::string time_zone;
  std::string host;
  std::string step;
  std::string token_env;
  std::string token_file;
  std::string user;
  std::string password_env;
  std::string password_file;
  std::string of;
  std::string job;
  std::string policy;
  std::string mail;
  std::string alerts;
  std::vector<std::string> sources;
  std::vector<std::string> headers;
  double idle = -1;
  double price = -1;
  int top = 20;
  int threads = 0;
  bool explain_input = false;
  bool csv = false;
  bool fresh = false;
  bool chargeback = false;
  bool keep = false;
};

struct AdoptFlags : Flags {
  std::string family;
  std::string output;
  std::string spec;
  bool replace = false;
};

struct ProfileFlags : Flags {
  std::string what_if;
  std::string measure;
  std::string family;
  std::string format;
  std::string fail_if;
  std::string keep;
  std::vector<std::string> diff;
  int accelerators = 0;
  bool show = false;
  bool hta = false;
  bool nsys = false;
  bool ncu = false;
  bool syscalls = false;
};

struct ProposeFlags : Flags {
  std::string patch;
  std::string title;
  std::string cause;
  std::string as;
  std::vector<std::string> env;
  std::vector<std::string> args;
  std::vector<std::string> sets;
  std::vector<std::string> inject;
  double gain = 0;
  int accelerators = 0;
};

struct BriefFlags : Flags {
  std::string role = "propose";
};

struct CycleFlags : Flags {
  std::string until = "settled";
  std::string gate_policy;
  int slots = 0;
  std::string launcher;
  bool watch = false;
  bool refresh = false;
};

struct WorkFlags : Flags {
  double idle = 0;
  std::string launcher;
};

struct GateFlags : Flags {
  std::string reason;
  std::string as;
};

struct CanaryFlags : Flags {
  std::string reason;
  std::string as;
};

struct StackFlags : Flags {
  int pairs = 0;
  bool show = false;
};

struct LedgerFlags : Flags {
  std::string hypothesis_state;
  std::string family;
  std::string output;
  std::string reason;
  std::string as;
  int limit = 50;
  int before = 0;
};

struct DreamFlags : Flags {
  std::string docs;
  std::string family;
};

struct RoiFlags : Flags {
  double price = -1;
  std::string csv;
};

struct CleanFlags : Flags {
  double older = 30;
  double keep = -1;
  bool dry_run = false;
};

struct InitFlags : Flags {
  bool replace = false;
};

struct CompareFlags : Flags {
  std::string metric;
  std::string work_pattern;
  std::string seed;
  std::string resume;
  double claim = 0;
  double noise = 0;
  double confidence = 95;
  double precision = 0;
  int pairs = 0;
  int same = -1;
  int warm_up = 1;
  int accelerators = 0;
  bool higher = false;
  bool concurrent = false;
};

struct SimFlags : Flags {
  std::string seed;
  std::string scenario;
  std::string policy;
  int hypotheses = 0;
  int threads = 0;
  bool canary = false;
  bool from_ledger = false;
};

struct McpFlags : Flags {
  std::string budget;
  std::string family;
  int accelerators = 0;
};

struct ServeFlags : Flags {
  std::string listen = "127.0.0.1:8300";
  std::string tls_cert;
  std::string tls_key;
  std::vector<std::string> allow_hosts;
  std::string agents;
  std::string role = "reader";
  int days = 0;
  bool link = false;
};

struct ExecFlags : Flags {
  std::string pair_dir;
  std::string node_dir;
  std::string ask_dir;
  std::string webhook_dir;
};

struct Option {
  // `in` is a member of that verb's flags.
  template <class VerbFlags, class T>
  constexpr Option(std::string_view of, std::string_view called, std::string_view wants,
                   T VerbFlags::*in, std::string_view text)
      : verb{of}, name{called}, value{wants}, field{static_cast<T Flags::*>(in)}, does{text} {}

  std::string_view verb;   // "" for all.
  std::string_view name;   // "--watch".
  std::string_view value;  // Name of the value in help; "" for a switch.
  std::variant<std::string Flags::*, bool Flags::*, int Flags::*, double Flags::*,
               std::vector<std::string> Flags::*>
      field;
  std::string_view does;
};

std::span<const Option> options();

// The verb and its flags; kBadInput with "did you mean" for unknown words.
struct Typed {
  std::string verb;
  std::unique_ptr<Flags> flags = std::make_unique<Flags>();  // Of the verb's own type.
};
Result<Typed> parse(const std::vector<std::string>& argv);

}  // namespace amdahl::cli
