#include "fleet/prometheus/prometheus.h"

#include <fmt/format.h>

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
      return bad_input(fmt::format("the server had answered with an error: {}", answered.error));
    }
    for (const std::string& text : answered.warnings) {
      intake_.trouble(model::Trouble::kMissing, {}, text);
    }
    if (answered.partial) {
      intake_.trouble(model::Trouble::kMissing, {}, "the server says that its answer is partial");
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
  return text.starts_with('{') && text.find("\"resultType\"") != text.npos &&
         (text.find("\"matrix\"") != text.npos || text.find("\"vector\"") != text.npos);
}

Explained explain(std::string_view head, const ReaderOptions&) {
  if (head.find(kJobByValue) == head.npos) return {Gives::kSamples, "", false};
  return {Gives::kBoth, fmt::format("values of {} are jobs", kJobByValue), false};
}

std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions&) {
  return std::make_unique<SavedAnswer>(intake);
}

}  // namespace amdahl::fleet::prometheus
