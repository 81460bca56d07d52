#include "dream/leads.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>

#include "base/text.h"
#include "dream/lead_words.h"
#include "dream/prose.h"
#include "model/patch_edits.h"

namespace amdahl::dream {
namespace {

using model::Bottleneck;

constexpr double kStrong = 2;
constexpr double kWeak = 1;
constexpr double kEnough = 2;  // A strong phrase, or two weak ones.
constexpr double kLeast = 1;

bool holds(std::string_view text, std::string_view phrase) {
  const std::string start = " " + std::string(phrase);
  return text.find(start) != std::string_view::npos;
}
// `phrases` are separated by commas.
bool holds_any(std::string_view text, std::string_view phrases) {
  return std::ranges::any_of(split(phrases, ','),
                             [&](std::string_view phrase) { return holds(text, phrase); });
}

// The first of the phrases that the text holds.
std::string first_of(std::string_view text, std::string_view phrases) {
  for (const std::string_view phrase : split(phrases, ',')) {
    if (holds(text, phrase)) return std::string(trim(phrase));
  }
  return "";
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

bool starts_with_any(std::string_view text, std::string_view words) {
  return std::ranges::any_of(split(words, ','), [&](std::string_view word) {
    return text.starts_with(" " + std::string(word) + " ");
  });
}

// Matches of one class in one text.
struct Tally {
  Bottleneck bottleneck = Bottleneck::kUnknown;
  double score = 0;
  double weak = 0;  // Of it.
  std::string technique{};
  bool costs = false;     // What told is a cost.
  double in_subject = 0;  // Of a commit: of its first line,
  double in_code = 0;     // and in what it changes.
};

void add(std::string_view text, std::string_view phrases, double each, Tally& tally) {
  for (const std::string_view phrase : split(phrases, ',')) {
    if (phrase.empty() || !holds(text, phrase)) continue;
    tally.score += each;
    if (each < kStrong) tally.weak += each;
    if (tally.technique.empty()) tally.technique = phrase;
  }
}

Tally tally_of(const Vocabulary& row, std::string_view text) {
  Tally tally{row.bottleneck};
  add(text, row.costs, kStrong, tally);
  tally.costs = tally.score > 0;
  add(text, row.cures, kStrong, tally);
  add(text, row.weak, kWeak, tally);
  return tally;
}

const Tally* best_of(std::span<const Tally> tallies) {
  const auto best = std::ranges::max_element(tallies, {}, &Tally::score);
  return best != tallies.end() && best->score >= kLeast ? &*best : nullptr;
}

// "Pin …", "Replacing …", "We moved …".
bool is_advice(const Sentence& sentence) {
  const std::string& first = sentence.words.front().text;
  if (starts_with_any(" " + first + " ", kAdvice)) return true;
  constexpr std::size_t kShortestGerund = 6;
  if (first.size() >= kShortestGerund && first.ends_with("ing")) return true;
  return first == "we" && sentence.words.size() > 1 && sentence.words[1].text.ends_with("ed") &&
         sentence.words[1].text != "tried" && sentence.words[1].text != "evaluated";
}

// "Do not …", "Avoid …", "Never …".
bool is_warning(const Sentence& sentence) {
  return starts_with_any(folded(sentence.text), "do not,don t,avoid,never,stop");
}

// "12 %", "3 ms", "1.7 times": a measured effect.
bool has_measure(std::string_view text) {
  for (std::size_t at = text.find_first_of("%"); at != std::string_view::npos;
       at = text.find('%', at + 1)) {
    const std::size_t digit = text.find_last_not_of(' ', at == 0 ? 0 : at - 1);
    if (at > 0 && digit != std::string_view::npos && is_digit(text[digit])) return true;
  }
  const std::string words = folded(text);
  for (const std::string_view said :
       {"twice", "doubled", "halved", "three times", "four times", "five times", "ten times",
        "half of the time", "a fifth of"}) {
    if (holds(words, said)) return true;
  }
  for (const std::string_view unit :
       {" times ", " ms ", "x faster", " microseconds ", "x ", " minutes ", " seconds ", " s "}) {
    const std::size_t at = words.find(unit);
    if (at != std::string::npos && at > 0 && is_digit(words[at - 1])) return true;
  }
  return false;
}

// Of the sentences the one with the phrase; else the first.
std::string quote_of(std::string_view text, const std::string& phrase) {
  const std::vector<Sentence> sentences = sentences_in(text);
  for (const Sentence& sentence : sentences) {
    if (holds(folded(sentence.text), phrase)) return quoted(sentence);
  }
  return sentences.empty() ? "" : quoted(sentences.front());
}

bool is_refused(std::string_view words, const Tally& tally) {
  if (holds_any(words, kHarms) && !holds_any(words, kHelps)) return true;
  return !tally.costs && holds_any(words, kAgainst);
}

// Lines to be typed, which say nothing about why.
bool is_command(std::string_view text) {
  constexpr std::size_t kMost = 2;
  std::size_t lines = 0;
  for (const std::string_view line : split(text, '\n')) {
    lines += line.ends_with('\\') || trim(line).starts_with("export ") ? 1 : 0;
  }
  const std::string_view start = trim(text);
  return lines > kMost || start.starts_with("# ") || start.starts_with("----");
}

// Tables, logs, code and other alphabets are not read.
bool is_data(std::string_view text) {
  constexpr double kMostMarks = 0.09;
  const auto marks = std::ranges::count_if(text, [](char c) {
    return std::string_view("|=(){}[]<>_`*#:/\\").find(c) != std::string_view::npos ||
           static_cast<unsigned char>(c) >= 0x80;
  });
  return static_cast<double>(marks) > kMostMarks * static_cast<double>(text.size());
}

// Pages, tests and the project's own tools: changing them makes no job cheaper.
bool is_beside(std::string_view path) {
  const std::string low = lower(path);
  for (const std::string_view part :
       {".md", ".rst", ".txt", ".yml", ".yaml", ".po", "test", "bench", "docs/", "example"}) {
    if (contains(low, part)) return true;
  }
  return false;
}

// The lines that come (or go) in files that matter, folded with their operators gone.
struct Edited {
  std::string added = " ";
  std::string removed = " ";
  std::string paths = " ";  // Folded.
  bool any = false;
};
Edited edited(const std::string& diff) {
  Edited all;
  for (const model::FileEdit& file : model::read_patch(diff)) {
    if (is_beside(file.path)) continue;
    all.paths += folded(file.path);
    for (const model::LineEdit& edit : file.edits) {
      for (const std::string& line : edit.added) all.added += folded(line);
      for (const std::string& line : edit.removed) all.removed += folded(line);
      all.any = true;
    }
  }
  return all;
}

// The first line without tags and numbers of tickets: "[Perf][AMD] x (#12)", "perf(moe): x".
struct Subject {
  std::string text;   // Folded.
  std::string tags;   // Folded.
  std::string plain;  // The text without names of code: "optimizer.step()", `cache_dir`.
};
std::string without_names(std::string_view line) {
  std::string plain;
  bool quoted = false;
  for (const std::string_view word : split(line, ' ')) {
    const bool opens = word.starts_with('`');
    quoted = quoted || opens;
    const bool joined = word.find('_') != word.npos || word.find("()") != word.npos ||
                        word.find("::") != word.npos ||
                        (word.find('.') != word.npos && word.find('.') + 1 < word.size());
    if (!quoted && !joined) plain += std::string(word) + " ";
    if (quoted && word.substr(opens ? 1 : 0).find('`') != word.npos) quoted = false;
  }
  return folded(plain);
}

Subject subject_of(std::string_view message) {
  constexpr std::size_t kLongestTag = 24;
  std::string_view line = trim(message.substr(0, message.find('\n')));
  std::string tags;
  while (line.starts_with('[') && line.find(']') != line.npos) {
    tags += line.substr(1, line.find(']') - 1);
    tags += ' ';
    line = trim(line.substr(line.find(']') + 1));
  }
  // "GROUP/project!123 - x"
  if (const std::size_t dash = line.find(" - "); dash != line.npos) {
    if (line.substr(0, dash).find_first_of("!#") != line.npos) line = trim(line.substr(dash + 3));
  }
  const std::size_t colon = line.find(": ");
  const bool has_tag = colon < kLongestTag && line.substr(0, colon).find(' ') == line.npos;
  if (has_tag) {
    tags += line.substr(0, colon);
    line = trim(line.substr(colon + 1));
  }
  if (const std::size_t ticket = line.rfind(" (#"); ticket != line.npos) {
    line = line.substr(0, ticket);
  }
  return {folded(line), folded(tags), without_names(line)};
}

// Long messages list what else was done; who signed them says nothing.
std::string without_trailers(std::string_view message) {
  constexpr std::size_t kMost = 300;
  std::string text;
  for (const std::string_view line : split(message, '\n')) {
    const std::string_view name = line.substr(0, line.find(": "));
    if (!name.ends_with("-by") && !name.ends_with("-By")) text += std::string(line) + "\n";
    if (text.size() >= kMost) break;
  }
  return text.substr(0, kMost);
}

// The subject says what a commit is about, the rest what else it touches.
Tally tally_of(const Vocabulary& row, const Subject& subject, const std::string& said,
               const Edited& change) {
  Tally tally = tally_of(row, subject.text);
  tally.in_subject = tally.score;
  const Tally rest = tally_of(row, said);
  tally.score += rest.score;
  tally.weak += rest.weak;
  if (tally.technique.empty()) tally.technique = rest.technique;
  tally.costs = tally.costs || rest.costs;
  Tally code{row.bottleneck};
  add(change.added, row.cures, kStrong, code);
  add(change.removed, row.costs, kStrong, code);
  Tally undone{row.bottleneck};
  add(change.added, row.costs, kStrong, undone);
  add(change.removed, row.cures, kStrong, undone);
  tally.in_code = code.score - undone.score;
  tally.score += tally.in_code;
  if (tally.technique.empty()) tally.technique = code.technique;
  return tally;
}

}  // namespace

// What is said of the technique itself: the sentence that names it and those beside it.
std::string around(std::string_view text, const std::string& phrase) {
  const std::vector<Sentence> sentences = sentences_in(text);
  std::string near;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    if (!holds(folded(sentences[i].text), phrase)) continue;
    for (std::size_t k = i - std::min<std::size_t>(i, 1); k < std::min(i + 2, sentences.size());
         ++k) {
      near += sentences[k].text + "\n";
    }
  }
  return near.empty() ? std::string(text) : near;
}

// Where links lead says nothing of what a text is about.
std::string without_links(std::string_view text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("](")) {
      const std::size_t end = rest.find_first_of(")\n");
      at = end == rest.npos ? text.size() : at + end + 1;
      kept += ']';
    } else if (rest.starts_with("http://") || rest.starts_with("https://")) {
      const std::size_t end = rest.find_first_of(" \t\n)>`\"");
      at = end == rest.npos ? text.size() : at + end;
    } else {
      kept += text[at++];
    }
  }
  return kept;
}

std::optional<Lead> lead_in(const Passage& written) {
  Passage passage = written;
  passage.text = without_links(written.text);
  const std::string words = folded(passage.text);
  const std::string heading = folded(passage.heading);
  std::vector<Tally> tallies;
  for (const Vocabulary& row : vocabulary()) {
    tallies.push_back(tally_of(row, words));
    // A heading is about a whole page.
    if (tallies.back().score > 0 && tally_of(row, heading).score > 0) {
      tallies.back().score += kWeak;
      tallies.back().weak += kWeak;
    }
  }
  const Tally* best = best_of(tallies);
  if (best == nullptr || is_refused(words, *best) || is_command(passage.text)) return std::nullopt;
  if (holds_any(words, kReports) || is_data(passage.text)) return std::nullopt;
  const std::string near = around(passage.text, best->technique);
  const std::string told = folded(near);
  const std::vector<Sentence> sentences = sentences_in(near);
  const bool advised = std::ranges::any_of(sentences, is_advice);
  // "Do not call .item()": of a cost this is the cure.
  const bool warned = best->costs && std::ranges::any_of(sentences, is_warning);
  const bool measured = has_measure(near);
  const int gains = (holds_any(told, kGains) ? 1 : 0) + (measured ? 1 : 0);
  const int tells =
      gains + (holds_any(told, kLosses) || warned ? 1 : 0) + (advised || warned ? 1 : 0);
  // The less is said about the technique, the more must be said about its benefit.
  const bool only_weak = best->weak == best->score;
  const bool of_memory = holds_any(words, kOfMemory) && !holds_any(told, kTime) && !measured;
  const bool enough = only_weak ? tells >= (best->score > kEnough ? 2 : 3) && gains > 0 &&
                                      best->score >= kEnough && (measured || holds_any(told, kTime))
                                : tells >= (best->score - best->weak >= 2 * kStrong ? 1 : 2);
  const bool costs =
      measured || holds_any(told, kTime) || holds_any(told, kLosses) || advised || warned;
  if (!enough || of_memory || !costs) return std::nullopt;
  return Lead{best->bottleneck, best->technique, quote_of(written.text, best->technique),
              best->score};
}

namespace {

// What the first line of a commit, and the numbers in its message, say of its purpose.
struct Intent {
  bool of_speed = false;    // It says that it is about speed,
  bool cuts = false;        // that something costly or needless is not done,
  bool sure = false;        // one of these, or it names a technique that has no other purpose;
  bool tells_gain = false;  // and how much it gains.
  bool measured = false;    // So does the message.
};

// "Avoid another copy", "skip the repeated scan"; not "use a copy to avoid errors".
bool cuts_cost(const std::string& plain) {
  // "All-reduce" reduces nothing.
  const std::string words = replaced(plain, " all reduce", " allreduce");
  for (const std::string_view verb : split(kCuts, ',')) {
    const std::size_t at = words.find(" " + std::string(verb));
    if (at == words.npos) continue;
    const std::string_view rest = std::string_view(words).substr(at + 1);
    if (holds_any(rest, kCosts)) return true;
  }
  if (holds_any(words, kTidied)) return false;
  return std::ranges::any_of(split(kSkips, ','), [&](std::string_view verb) {
    const std::size_t at = words.find(" " + std::string(verb));
    return at != words.npos && holds_any(std::string_view(words).substr(at + 1), kNeedless);
  });
}

// Nothing if the commit is about something else.
std::optional<Intent> intent_of(const Subject& subject, std::string_view message,
                                std::string_view text) {
  const auto tagged = [&](std::string_view words) {
    return std::ranges::any_of(split(words, ','), [&](std::string_view word) {
      return holds(subject.tags, std::string(word) + " ");
    });
  };
  if (starts_with_any(subject.text, kNoWork) || tagged(kNoWork)) return std::nullopt;
  if (holds_any(subject.plain, kElsewhere)) return std::nullopt;
  Intent intent;
  intent.measured = has_measure(text);
  intent.tells_gain = has_measure(message.substr(0, message.find('\n')));
  const bool mends_speed = holds_any(subject.plain, kSlowdowns);
  const bool claims = holds_any(subject.plain, kOfSpeed) || mends_speed;
  intent.of_speed = claims || holds(subject.tags, "perf");
  const bool repairs = holds_any(subject.tags, kRepairs) || starts_with_any(subject.text, kRepairs);
  if (repairs && !mends_speed) return std::nullopt;
  if (starts_with_any(subject.text, kUpkeep)) return std::nullopt;
  intent.cuts = cuts_cost(subject.plain);
  intent.sure = intent.cuts || holds_any(subject.text, kSure);
  if (holds_any(subject.text, kNoTime) && !intent.tells_gain && !claims) return std::nullopt;
  const bool mends = holds_any(subject.text, kMends) && !mends_speed;
  const bool is_other = starts_with_any(subject.text, kOtherWork) || tagged(kOtherWork);
  const bool other = (mends && !intent.cuts) || (is_other && !intent.sure);
  if (other && !intent.of_speed && !intent.tells_gain) return std::nullopt;
  return intent;
}

// What part of a job the changed files are about.
Bottleneck part_of(const std::string& paths) {
  if (holds_any(paths, kKernelFiles)) return Bottleneck::kCompute;
  if (holds_any(paths, kInputFiles)) return Bottleneck::kInput;
  if (holds_any(paths, kStartFiles)) return Bottleneck::kLifecycle;
  return holds_any(paths, kModelFiles) ? Bottleneck::kCompute : Bottleneck::kUnknown;
}

// Work that gets cheaper, if nothing says of which kind.
Tally work_of(const Subject& subject, const std::vector<Tally>& tallies, const Edited& change) {
  const auto most = std::ranges::max_element(tallies, {}, &Tally::in_subject);
  Tally work{part_of(change.paths)};
  if (work.bottleneck == Bottleneck::kUnknown) {
    work.bottleneck = most->in_subject > 0 ? most->bottleneck : Bottleneck::kSerial;
  }
  work.score = kEnough;
  for (const std::string_view words : {kOfSpeed, kSlowdowns, kCuts, kSure}) {
    if (work.technique.empty()) work.technique = first_of(subject.text, words);
  }
  return work;
}

// A commit without a stated purpose must name what it does, show it in its code, or explain it.
bool is_enough(const Tally& best, const Intent& intent, const Subject& subject, std::size_t size,
               bool explained) {
  const bool of_cost = intent.of_speed || intent.sure || intent.tells_gain;
  if (best.weak == best.score) {
    return of_cost && best.score >= kEnough && (best.in_subject > kWeak || intent.measured);
  }
  // A few lines are about what they do.
  constexpr std::size_t kFewLines = 500;
  const bool few = size <= kFewLines;
  const bool named = best.in_subject >= kStrong;
  const bool shown = few && best.in_code >= kStrong;
  const bool does = starts_with_any(subject.text, kMeasures) || holds_any(subject.text, kSpares);
  const bool tries = starts_with_any(subject.text, kTries);
  const bool is_feature = holds_any(subject.text, kFeatures);
  return of_cost || (does && (named || shown) && (explained || few)) ||
         (tries && named && explained) || (intent.measured && (named || shown)) ||
         (explained && (shown || intent.measured)) || (named && shown && !is_feature);
}

}  // namespace

std::optional<Lead> lead_in(const Commit& commit) {
  const Subject subject = subject_of(commit.message);
  const std::string text = without_trailers(commit.message);
  const std::string said = folded(text);
  const auto intent = intent_of(subject, commit.message, text);
  if (!intent || (holds_any(said, kHarms) && !holds_any(said, kHelps))) return std::nullopt;
  Edited change = edited(commit.diff);
  if (!change.any) return std::nullopt;
  // A large change touches many things that it is not about.
  constexpr std::size_t kMostCode = 3000;
  const std::size_t size = change.added.size() + change.removed.size();
  if (size > kMostCode) change.added = change.removed = " ";
  std::vector<Tally> tallies;
  for (const Vocabulary& row : vocabulary())
    tallies.push_back(tally_of(row, subject, said, change));
  const Tally* best = best_of(tallies);
  const Tally work = work_of(subject, tallies, change);
  const bool vague = best == nullptr || (best->weak == best->score && best->in_subject < kEnough) ||
                     (best->in_subject <= 0 && best->score == best->in_code);
  if ((intent->of_speed || intent->cuts) && vague) best = &work;
  if (best == nullptr || !is_enough(*best, *intent, subject, size, holds_any(said, kTime))) {
    return std::nullopt;
  }
  return Lead{best->bottleneck, best->technique, quote_of(commit.message, best->technique),
              best->score};
}

double likeness(std::string_view a, std::string_view b) {
  const auto shingles = [](std::string_view text) {
    const std::string words = folded(text);
    const std::vector<std::string_view> each = split(trim(words), ' ');
    std::set<std::string> all;
    for (std::size_t i = 0; i + 2 < each.size(); ++i) {
      all.insert(std::string(each[i]) + " " + std::string(each[i + 1]) + " " +
                 std::string(each[i + 2]));
    }
    if (all.empty()) all.insert(words);
    return all;
  };
  const std::set<std::string> first = shingles(a);
  const std::set<std::string> second = shingles(b);
  const auto both =
      std::ranges::count_if(first, [&](const std::string& one) { return second.contains(one); });
  return static_cast<double>(both) /
         static_cast<double>(first.size() + second.size() - static_cast<std::size_t>(both));
}

}  // namespace amdahl::dream
