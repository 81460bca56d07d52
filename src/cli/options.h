// options.h: what was typed, and the table of all that may be.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace amdahl::cli {

// Everything that can be typed after a verb; each verb reads what its rows name.
struct Flags {
  std::string state;
  std::string config;
  bool json = false;
  bool no_color = false;
  bool help = false;

  std::vector<std::string> words;       // Positional, before "--".
  std::vector<std::string> command;     // After "--", untouched.
  std::vector<std::string_view> given;  // Names of the options that were typed.

  std::string family;
  std::string output;
  std::string spec;
  std::string reason;
  std::string as;
  std::string title;
  std::string docs;
  std::string until = "settled";
  std::string gate_policy;
  std::string hypothesis_state;
  std::string patch;
  std::string budget;
  std::string pair_dir;
  std::string source;
  std::string metric;
  std::string work_pattern;
  std::string seed;
  std::string resume;
  std::string html;
  std::string what_if;
  std::string format;
  std::string scenario;
  std::string policy;
  std::string from;
  std::string to;
  std::string window;
  std::string by;
  std::string order;
  std::string trend;
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
  std::vector<std::string> sources;
  std::vector<std::string> headers;
  std::vector<std::string> env;
  std::vector<std::string> args;
  std::vector<std::string> sets;
  std::vector<std::string> inject;
  double time_limit = 0;
  double memory_limit = 0;
  double gain = 0;
  std::string cause;
  double claim = 0;
  double noise = 0;
  double confidence = 95;
  double precision = 0;
  double price = -1;
  double work = 0;
  double idle = -1;
  int top = 20;
  int accelerators = 0;
  int width = 0;
  int pairs = 0;
  int slots = 0;
  int same = -1;
  int warm_up = 1;
  int limit = 50;
  int before = 0;
  int hypotheses = 0;
  int threads = 0;
  bool explain_input = false;
  bool csv = false;
  bool fresh = false;
  bool progress = false;
  std::string job;
  bool watch = false;
  bool refresh = false;
  bool replace = false;
  bool quiet = false;
  bool ascii = false;
  bool show = false;
  bool promoted = false;
  bool higher = false;
  bool concurrent = false;
  bool from_ledger = false;
  bool canary = false;
  bool hta = false;
  bool nsys = false;
  bool syscalls = false;
  bool ncu = false;

  bool is_given(std::string_view option) const {
    return std::find(given.begin(), given.end(), option) != given.end();
  }
};

struct Option {
  std::string_view verb;   // "" for all.
  std::string_view name;   // "--watch".
  std::string_view value;  // What the value is called in help; "" for a switch.
  std::variant<std::string Flags::*, bool Flags::*, int Flags::*, double Flags::*,
               std::vector<std::string> Flags::*>
      field;
  std::string_view does;
};

std::span<const Option> options();

// The verb and its flags; kBadInput for what is not known, with "did you mean".
struct Typed {
  std::string verb;
  Flags flags;
};
Result<Typed> parse(const std::vector<std::string>& argv);

}  // namespace amdahl::cli
