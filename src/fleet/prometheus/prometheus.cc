#include "fleet/prometheus/prometheus.h"

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/metrics.h"
#include "fleet/prometheus/matrix.h"

namespace amdahl::fleet::prometheus {
namespace {

class SavedAnswer final : public Reader {
 public:
  explicit SavedAnswer(Intake& intake) : intake_{intake}, matrix_{intake, "", true} {}

  Result<> feed(std::string_view bytes) override { return matrix_.feed(bytes); }

  Result<> finish() override {
    TRY(matrix_.finish());
    const Answered& answered = matrix_.answered();
    if (answered.status == "error") {
      return bad_input(fmt::format("the server answered with an error: {}", answered.error));
    }
    for (const std::string& text : answered.warnings) {
      intake_.trouble(model::Trouble::kMissing, {}, text);
    }
    if (answered.partial) {
      intake_.trouble(model::Trouble::kMissing, {}, "the server reports a partial answer");
    }
    return Ok{};
  }

 private:
  Intake& intake_;
  MatrixReader matrix_;
};

}  // namespace

bool claims(std::string_view head) {
  const std::string_view text = trim(head);
  const auto has = [&](std::string_view part) { return text.find(part) != text.npos; };
  if (text.starts_with('{') && has("\"resultType\"")) return has("\"matrix\"") || has("\"vector\"");
  // The list of series alone, and VictoriaMetrics' export.
  const std::string_view first = text.starts_with('[') ? trim(text.substr(1)) : text;
  if (!first.starts_with('{')) return false;
  return trim(first.substr(1)).starts_with("\"metric\"") &&
         (has("\"__name__\"") || has("\"values\"") || has("\"value\""));
}

Explained explain(std::string_view head, const ReaderOptions&) {
  if (head.find(kJobByValue) == head.npos) return {.gives = Gives::kSamples};
  return {Gives::kBoth, fmt::format("values of {} are jobs", kJobByValue)};
}

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions&) {
  return std::make_unique<SavedAnswer>(intake);
}

}  // namespace amdahl::fleet::prometheus
