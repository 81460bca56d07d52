#include "dream/knob_names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace amdahl::dream {
namespace {

struct Names {
  std::string_view knob;
  std::string_view names;  // Sufficient on their own.
  std::string_view nouns;  // Everyday words.
  std::string_view rates;  // Rates that fall when the knob's number rises.
  bool grows = false;
  bool counted = false;  // "4 loader workers" sets it.
};

constexpr auto kNames = std::to_array<Names>({
    {"batch_size", "batch size,batch sizes,batchsize,per device eval batch size", "batches,batch",
     "", true},
    {"loader_workers",
     "loader workers,dataloader workers,data workers,num workers,dataloader num workers,"
     "loading workers,loader processes",
     "workers,loaders,worker processes", "", true, true},
    {"prefetch_factor", "prefetch factor,prefetch depth", "prefetch,prefetching", "", true},
    {"pin_memory", "pin memory,pinned memory,pinned buffers,page locked memory", "", ""},
    {"persistent_workers", "persistent workers,persistent loader workers", "", ""},
    {"decoded_cache",
     "decoded cache,decode cache,cache decoded,caching decoded,decoded inputs,decoded images", "",
     ""},
    {"threads", "num threads,thread count,intra op threads,compute threads", "threads", "", false,
     true},
    {"log_every", "log every,log interval,logging steps,logging interval", "", "logging,log lines",
     true},
    {"metric_every", "metric every,metrics every,metric interval,metrics interval", "", "metrics",
     true},
    {"range_check_every", "range check every,range check interval", "", "range checks,nan checks",
     true},
    {"checkpoint_every",
     "checkpoint every,checkpoint interval,checkpointing interval,save every,save steps,"
     "save interval",
     "", "checkpoints,checkpointing", true},
    {"checkpoint_async",
     "checkpoint async,async checkpoint,async checkpoints,async checkpointing,"
     "asynchronous checkpoint,asynchronous checkpoints,asynchronous checkpointing",
     "", ""},
    {"checkpoint_delta",
     "checkpoint delta,delta checkpoint,delta checkpoints,incremental checkpoints,"
     "incremental checkpointing",
     "", ""},
    {"verify_inputs", "verify inputs,input verification,verification of inputs", "", ""},
    {"lazy_imports", "lazy imports,lazy import,import lazily", "", ""},
    {"inference_mode", "inference mode", "", ""},
    {"queue_depth", "queue depth,requests in flight,batches in flight", "", "", true},
    {"kernel_cache", "kernel cache,kernel caching,cache kernels,compilation cache", "", ""},
    {"overlap_copies", "overlap copies,overlapping copies,overlapped copies,copy overlap", "", ""},
    {"compile", "torch compile", "compile", ""},
    {"precision", "mixed precision", "precision,dtype", ""},
    {"validation_every", "validation every,validation interval,eval every,eval steps", "",
     "validations,validation", true},
    {"io_buffer_kb", "io buffer kb,io buffer,read buffer", "", "", true},
    {"fsync", "fsync", "", ""},
});

const Names* names_of(std::string_view knob) {
  const auto row = std::ranges::find(kNames, knob, &Names::knob);
  return row == kNames.end() ? nullptr : &*row;
}

std::string_view between(const Sentence& sentence, std::size_t word) {
  const std::size_t start = sentence.words[word].end;
  const std::size_t end =
      word + 1 < sentence.words.size() ? sentence.words[word + 1].start : sentence.text.size();
  return std::string_view(sentence.text).substr(start, end - start);
}

bool only(std::string_view text, std::string_view chars) {
  return text.find_first_not_of(chars) == std::string_view::npos;
}

// "4" and "0.5"; not "4 %", "4/8", "4-8", "4x" and "4..".
std::optional<std::string> number_at(const Sentence& sentence, std::size_t word) {
  if (word >= sentence.words.size() || !only(sentence.words[word].text, "0123456789")) {
    return std::nullopt;
  }
  std::string number = sentence.words[word].text;
  std::size_t last = word;
  const bool fraction = between(sentence, word) == "." && word + 1 < sentence.words.size() &&
                        only(sentence.words[word + 1].text, "0123456789");
  if (fraction) number += "." + sentence.words[++last].text;
  const std::string_view rest = between(sentence, last);
  const std::string_view next = trim(rest);
  if (next.starts_with('%') || rest.starts_with('/') || rest.starts_with("..")) {
    return std::nullopt;
  }
  const bool goes_on = rest == "-" || rest == "–" || rest == "_";
  return goes_on ? std::nullopt : std::optional(number);
}

// What a switch is set to.
std::optional<std::string> state_at(const Sentence& sentence, std::size_t word) {
  if (word >= sentence.words.size()) return std::nullopt;
  const std::string& text = sentence.words[word].text;
  for (const std::string_view on : {"true", "on", "yes", "1", "enabled"}) {
    if (text == on) return "on";
  }
  for (const std::string_view off : {"false", "off", "no", "0", "disabled", "none"}) {
    if (text == off) return "off";
  }
  return std::nullopt;
}

std::optional<std::string> format_at(const Sentence& sentence, std::size_t word) {
  if (word >= sentence.words.size()) return std::nullopt;
  const std::string& text = sentence.words[word].text;
  for (const std::string_view format : {"bf16", "bfloat16", "fp16", "float16", "tf32"}) {
    if (text == format) return text;
  }
  return std::nullopt;
}

bool links(const std::string& word) {
  return word == "to" || word == "of" || word == "at" || word == "is" || word == "was" ||
         word == "as" || word == "equals";
}

// Reads one sentence for one knob.
class Finder {
 public:
  Finder(const Sentence& sentence, std::string knob, std::vector<KnobMention>& found)
      : sentence_(sentence), knob_(std::move(knob)), found_(found) {}

  void names(std::string_view list) {
    each(list, [&](std::size_t first, std::size_t last) {
      keep(first, value(first, last, true), way(first, last), false);
    });
  }

  void nouns(std::string_view list) {
    each(list, [&](std::size_t first, std::size_t last) {
      const auto set = value(first, last, false);
      const Direction said = way(first, last);
      if (set || said != Direction::kUnstated) keep(first, set, said, true);
    });
  }

  void rates(std::string_view list) {
    each(list, [&](std::size_t first, std::size_t last) {
      const Direction said = way(first, last);
      if (said != Direction::kUnstated) keep(first, std::nullopt, opposite(said), true);
    });
  }

  // The job's own flag, variable or key: only as one writes it to set it.
  void own(std::string_view name) {
    const std::string phrase = folded(name);
    if (trim(phrase).empty()) return;
    each(trim(phrase), [&](std::size_t first, std::size_t last) {
      const std::size_t start = sentence_.words[first].start;
      const bool as_flag = name.starts_with('-') && start > 0 && sentence_.text[start - 1] == '-';
      const bool assigned = trim(between(sentence_, last - 1)).starts_with('=');
      if (!as_flag && !assigned) return;
      const auto set = value_after(last, as_flag);
      if (set) keep(first, set, Direction::kUnstated, false);
    });
  }

 private:
  template <class Found>
  void each(std::string_view list, const Found& found) const {
    for (const std::string_view name : split(list, ',')) {
      if (name.empty()) continue;
      const auto length = static_cast<std::size_t>(std::ranges::count(name, ' ')) + 1;
      for (const std::size_t first : positions_of(sentence_, name)) {
        if (!is_part(first, first + length)) found(first, first + length);
      }
    }
  }

  // Of a longer name: OMP_NUM_THREADS is not num_threads.
  bool is_part(std::size_t first, std::size_t last) const {
    const std::string& text = sentence_.text;
    const std::size_t start = sentence_.words[first].start;
    const std::size_t end = sentence_.words[last - 1].end;
    return (start > 0 && text[start - 1] == '_') || (end < text.size() && text[end] == '_');
  }

  Direction way(std::size_t first, std::size_t last) const {
    return direction_beside(sentence_, first, last, is_switch(knob_));
  }

  std::optional<std::string> read(std::size_t word) const {
    if (is_switch(knob_)) return state_at(sentence_, word);
    return knob_ == "precision" ? format_at(sentence_, word) : number_at(sentence_, word);
  }

  std::optional<std::string> value(std::size_t first, std::size_t last, bool telling) const {
    const Names* row = names_of(knob_);
    if (row != nullptr && row->counted && first > 0 && only(between(sentence_, first - 1), " ")) {
      if (const auto count = number_at(sentence_, first - 1)) return count;
    }
    return value_after(last, telling);
  }

  // "=4", ": 4", " to 4", " from 2 to 4", and " 4" after an unambiguous name.
  std::optional<std::string> value_after(std::size_t last, bool telling) const {
    const std::string_view gap = between(sentence_, last - 1);
    const bool assigned = gap.find_first_of("=:") != std::string_view::npos;
    if (!only(gap, " =:`\"'*)") || last >= sentence_.words.size()) return std::nullopt;
    if (gap.find("==") != std::string_view::npos) return std::nullopt;
    std::size_t at = last;
    if (sentence_.words[at].text == "from") at += 2;
    const bool linked = at < sentence_.words.size() && links(sentence_.words[at].text);
    if (linked) ++at;
    const bool direct = telling && !is_switch(knob_);
    return assigned || linked || direct ? read(at) : std::nullopt;
  }

  void keep(std::size_t first, std::optional<std::string> value, Direction way,
            bool everyday) const {
    found_.push_back({knob_, std::move(value), way, first, everyday});
  }

  const Sentence& sentence_;
  std::string knob_;
  std::vector<KnobMention>& found_;
};

// How the job itself calls it: flags, a variable, the last part of a key.
std::vector<std::string> own_names(const model::Knob& knob) {
  std::vector<std::string> names = knob.aliases;
  names.push_back(knob.arg);
  names.push_back(knob.env);
  const std::size_t key = knob.config.find_last_of("#.");
  if (key != std::string::npos) names.push_back(knob.config.substr(key + 1));
  return names;
}

}  // namespace

std::vector<KnobMention> knobs_in(const Sentence& sentence, const model::Spec& spec) {
  std::vector<KnobMention> found;
  for (const Names& row : kNames) {
    std::vector<KnobMention> said;
    Finder finder(sentence, std::string(row.knob), said);
    finder.names(row.names);
    finder.nouns(row.nouns);
    finder.rates(row.rates);
    const auto knob = spec.knobs.find(std::string(row.knob));
    if (knob != spec.knobs.end()) {
      for (const std::string& name : own_names(knob->second)) finder.own(name);
    }
    // A name within another ("loader workers", "workers") is the same mention; one with a value
    // wins over one without.
    std::ranges::stable_sort(
        said, {}, [](const KnobMention& one) { return std::pair(!one.value, one.everyday); });
    for (KnobMention& one : said) {
      const bool again = std::ranges::any_of(found, [&](const KnobMention& other) {
        return other.knob == one.knob && (other.value == one.value || !one.value) &&
               (one.way == Direction::kUnstated || other.way == one.way || other.value);
      });
      if (!again) found.push_back(std::move(one));
    }
  }
  return found;
}

const model::Knob* knob_for(const std::string& variable, const model::Spec& spec) {
  for (const auto& [name, knob] : spec.knobs) {
    if (knob.arg.empty() && knob.env == variable) return &knob;
  }
  // A job that sets its threads itself ignores the variable.
  const auto threads = spec.knobs.find("threads");
  return variable == "OMP_NUM_THREADS" && threads != spec.knobs.end() ? &threads->second : nullptr;
}

bool is_switch(std::string_view knob) {
  const auto known = model::known_knobs();
  const auto row = std::ranges::find(known, knob, &model::KnownKnob::name);
  return row != known.end() && row->sets.starts_with("switch");
}

bool grows(std::string_view knob) {
  const Names* row = names_of(knob);
  return row != nullptr && row->grows;
}

std::vector<std::string> names_of_knobs(const model::Spec& spec) {
  std::vector<std::string> names;
  for (const Names& row : kNames) {
    for (const std::string_view list : {row.names, row.nouns, row.rates}) {
      for (const std::string_view name : split(list, ',')) {
        if (!name.empty()) names.emplace_back(name);
      }
    }
  }
  for (const auto& [knob, own] : spec.knobs) {
    for (const std::string& name : own_names(own)) {
      const std::string phrase(trim(folded(name)));
      if (!phrase.empty()) names.push_back(phrase);
    }
  }
  return names;
}

}  // namespace amdahl::dream
