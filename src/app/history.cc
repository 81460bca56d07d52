#include "app/history.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/core.h>

#include "base/text.h"

namespace amdahl::app {
namespace {

constexpr int kEventsShown = 200;  // Of one subject.

Result<> check_page(std::int64_t before, int at_most) {
  if (at_most < 1) return bad_input("limit must be at least 1");
  if (before >= 0) return Ok{};
  return bad_input("before must not be negative; use the number that the last page named");
}

// A slip in a filter must not look like an empty ledger.
Result<> check_filter(Context& context, const HypothesisFilter& filter) {
  if (!filter.family.empty()) TRY(need_family(context, filter.family));
  std::vector<std::string_view> states{"live", "parked", "reopened"};
  for (int i = 0;; ++i) {
    const std::string_view state = name(static_cast<model::VerdictKind>(i));
    if (!model::verdict_named(state)) break;
    states.push_back(state);
    if (static_cast<model::VerdictKind>(i) == model::VerdictKind::kDropped) break;
  }
  const std::string& wanted = filter.state;
  if (wanted.empty() || std::ranges::find(states, wanted) != states.end()) return Ok{};
  const auto near = did_you_mean(wanted, states);
  const std::vector<std::string> all(states.begin(), states.end());
  return bad_input(fmt::format("unknown hypothesis state '{}'{}; states are: {}", wanted,
                               near ? fmt::format(", did you mean '{}'?", *near) : "",
                               join(all, ", ")));
}

using Item = ledger::HypothesisPage::Item;

// What is parked is "live" in the store while its experiment is open, and "parked" afterwards. Both
// are few, so that the page is cut here.
Result<ledger::HypothesisPage> page_of_open(Context& context, const HypothesisFilter& filter,
                                            const std::map<std::string, Parked>& parked) {
  constexpr int kAll = std::numeric_limits<int>::max();
  ledger::HypothesisPage page =
      TRY(context.ledger->page_of_hypotheses(filter.family, "live", 0, kAll));
  const bool wants_parked = filter.state == "parked";
  std::erase_if(page.items, [&](const Item& item) {
    return parked.contains(item.row.hypothesis.id) != wants_parked;
  });
  if (wants_parked) {
    ledger::HypothesisPage closed =
        TRY(context.ledger->page_of_hypotheses(filter.family, "parked", 0, kAll));
    std::ranges::move(closed.items, std::back_inserter(page.items));
    std::ranges::sort(page.items, std::ranges::greater{}, &Item::number);
  }
  page.total = std::ssize(page.items);
  if (filter.before > 0) {
    std::erase_if(page.items, [&](const Item& item) { return item.number >= filter.before; });
  }
  if (std::ssize(page.items) > filter.at_most) {
    page.items.resize(static_cast<std::size_t>(filter.at_most));
    page.next = page.items.back().number;
  }
  return page;
}

// Only what is being compared can be parked.
Result<bool> may_be_parked(Context& context, const std::vector<Item>& items) {
  const auto is_live = [](const Item& item) { return item.row.state == "live"; };
  if (std::ranges::none_of(items, is_live)) return false;
  const auto live = TRY(context.ledger->live_experiments());
  return std::ranges::any_of(live, [&](const ledger::ExperimentRow& row) {
    return row.stage == model::Stage::kCompare &&
           std::ranges::find(items, row.experiment.hypothesis, [](const Item& item) {
             return item.row.hypothesis.id;
           }) != items.end();
  });
}

}  // namespace

Result<HypothesisList> list_hypotheses(Context& context, const HypothesisFilter& filter) {
  TRY(check_page(filter.before, filter.at_most));
  TRY(check_filter(context, filter));
  HypothesisList list;
  const bool is_open = filter.state == "parked" || filter.state == "live";
  if (is_open) list.parked = TRY(parked(context));
  list.page = TRY(is_open ? page_of_open(context, filter, list.parked)
                          : context.ledger->page_of_hypotheses(filter.family, filter.state,
                                                               filter.before, filter.at_most));
  // Which ones are parked takes the evidence of all that is live: asked only where it matters.
  if (!is_open && TRY(may_be_parked(context, list.page.items))) list.parked = TRY(parked(context));
  for (Item& item : list.page.items) {
    if (list.parked.contains(item.row.hypothesis.id)) item.row.state = "parked";
  }
  return list;
}

Result<ledger::HypothesisRow> find_hypothesis(Context& context, const std::string& id) {
  auto row = context.ledger->hypothesis(id);
  if (row || row.error().kind != Error::Kind::kNotFound) return row;
  const auto experiment = context.ledger->experiment(id);
  if (!experiment) return row;
  return context.ledger->hypothesis(experiment->experiment.hypothesis);
}

Result<Story> story_of(Context& context, const ledger::HypothesisRow& row) {
  Story story{row, TRY(context.ledger->verdict(row.hypothesis.id)), {}, {}, {}, {}, {}};
  std::map<std::string, Parked> waiting;
  if (row.state == "live") waiting = TRY(parked(context));
  if (const auto it = waiting.find(row.hypothesis.id); it != waiting.end()) {
    story.parked = it->second;
    story.row.state = "parked";
  }
  story.events = TRY(context.ledger->events(row.hypothesis.id, 0, kEventsShown));
  if (story.verdict && !story.verdict->experiment.empty()) {
    story.experiment = TRY(context.ledger->experiment(story.verdict->experiment));
  }
  for (const ledger::ExperimentRow& live : TRY(context.ledger->live_experiments())) {
    if (live.experiment.hypothesis == row.hypothesis.id) story.experiment = live;
  }
  if (story.experiment) {
    const std::string& id = story.experiment->experiment.id;
    story.votes = TRY(context.ledger->votes(id));
    story.attacks = TRY(attacks_on(context, row.hypothesis.family, id));
    const auto more = TRY(context.ledger->events(id, 0, kEventsShown));
    story.events.insert(story.events.end(), more.begin(), more.end());
  }
  std::ranges::sort(story.events, {}, &ledger::Event::seq);
  return story;
}

Result<std::vector<ledger::Event>> events_about(Context& context, const std::string& subject,
                                                std::int64_t before, int at_most) {
  TRY(check_page(before, at_most));
  return context.ledger->events(subject, before, at_most);
}

Result<> each_event(Context& context, const std::function<bool(const ledger::Event&)>& take,
                    std::int64_t after) {
  return context.ledger->each_event(after, take);
}

Result<std::vector<ledger::HypothesisRow>> search(Context& context, const std::string& words,
                                                  int at_most) {
  TRY(check_page(0, at_most));
  return context.ledger->search(words, at_most);
}

Result<ledger::VerifyReport> verify(Context& context) { return context.ledger->verify(); }

}  // namespace amdahl::app
