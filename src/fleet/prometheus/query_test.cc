#include "fleet/prometheus/query.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace amdahl::fleet::prometheus {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Query, FormsAreEncoded) {
  const Request request{"/x", {{"query", "up{a=\"b c\"}"}, {"start", "1.5"}}};
  EXPECT_EQ(encode_form(request), "query=up%7Ba%3D%22b%20c%22%7D&start=1.5");
}

TEST(Query, AsksForEachScrapeOnce) {
  EXPECT_EQ(expression_of("M", "", seconds(15)), "last_over_time(M[14999ms])");
  const std::vector<std::string> hosts = {"gpu1", "a.b"};
  EXPECT_EQ(expression_of("M", matcher_of("Hostname", hosts), seconds(15)),
            "last_over_time(M{Hostname=~\"gpu1|a\\\\.b\"}[14999ms])");
  EXPECT_EQ(expression_with_job_values("busy", "", seconds(30)),
            "(last_over_time(busy[29999ms]) * on (instance, minor_number, uuid) group_left "
            "(value_is_job) count_values by (instance, minor_number, uuid) (\"value_is_job\", "
            "last_over_time(nvidia_gpu_jobId[29999ms]))) or on (instance, minor_number, uuid) "
            "last_over_time(busy[29999ms])");
}

TEST(Query, ScrapesAreAsFarApartAsUsual) {
  EXPECT_EQ(cadence_of(240), seconds(15));
  EXPECT_EQ(cadence_of(237), seconds(15));
  EXPECT_EQ(cadence_of(13), seconds(300));
  EXPECT_EQ(cadence_of(12), seconds(300));
  EXPECT_EQ(cadence_of(80), seconds(45));
  EXPECT_EQ(cadence_of(1), seconds(3600));
}

// Neighbours neither share nor miss a point, and no piece has more than the server gives.
TEST(Query, PiecesCoverTheWindowOnce) {
  const Window window{seconds(1507507201), seconds(1507507201) + hours(24 * 7)};
  const struct {
    Nanos step;
    double series;
  } cases[] = {{seconds(15), 8}, {seconds(15), 5000}, {seconds(300), 700},
               {seconds(1), 1},  {seconds(60), 1e7},  {milliseconds(500), 3}};
  for (const auto& c : cases) {
    const std::vector<Selection> selections = {{"M", "M", "", c.step, c.series}};
    const std::vector<Piece> pieces = plan(selections, window);
    ASSERT_FALSE(pieces.empty());
    std::int64_t points = 0;
    Nanos expected{};
    for (const Piece& piece : pieces) {
      const Request request = request_of(piece);
      const double start = std::stod(request.form[1].second);
      const double end = std::stod(request.form[2].second);
      const auto here = std::llround((end - start) / to_seconds(c.step)) + 1;
      EXPECT_LE(here, 11'000);
      EXPECT_LE(static_cast<double>(here - 1) * c.series, 250'000);
      if (expected != Nanos{}) {
        EXPECT_NEAR(start, to_seconds(expected), 1e-6);
      }
      expected = from_seconds(end) + c.step;
      points += here;
    }
    EXPECT_LE(pieces.front().from, window.from);
    const double want = to_seconds(window.to - pieces.front().from) / to_seconds(c.step);
    EXPECT_NEAR(static_cast<double>(points), want, 1);
  }
}

TEST(Query, ALaterWindowAsksForTheSamePieces) {
  const std::vector<Selection> selections = {{"M", "M", "", seconds(15), 100}};
  const Nanos day = hours(24);
  const Nanos noon = day * 17000 + hours(12);
  const auto before = plan(selections, {noon - day, noon});
  const auto after = plan(selections, {noon - day, noon + hours(5)});
  ASSERT_GT(before.size(), 2U);
  for (std::size_t i = 0; i + 1 < before.size(); ++i) {
    EXPECT_EQ(before[i].from, after[i].from);
    EXPECT_EQ(before[i].to, after[i].to);
  }
}

TEST(Query, AWindowThatMovesOnAsksForTheSamePieces) {
  const std::vector<Selection> selections = {{"M", "M", "", seconds(15), 100}};
  const Nanos noon = hours(24) * 17000 + hours(12);
  const auto before = plan(selections, {noon - hours(240), noon});
  const auto after = plan(selections, {noon - hours(239), noon + hours(1)});
  for (const Piece& piece : after) {
    if (piece.to > noon) break;
    EXPECT_TRUE(std::ranges::any_of(before, [&](const Piece& other) {
      return other.from == piece.from && (other.to == piece.to || other.to == noon);
    })) << to_seconds(piece.from);
  }
  // A short one does not ask for a whole piece.
  EXPECT_EQ(plan(selections, {noon - seconds(600), noon}).front().from, noon - seconds(600));
}

TEST(Query, HalvesAreTheWhole) {
  const Piece piece{0, "M", seconds(0), seconds(100), seconds(15)};  // 0, 15, ... 90: seven.
  const auto both = halves(piece);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(request_of(both[0]).form[2].second, "30");
  EXPECT_EQ(request_of(both[1]).form[1].second, "45");
  EXPECT_EQ(request_of(both[1]).form[2].second, "90");
  EXPECT_TRUE(halves({0, "M", seconds(0), seconds(15), seconds(15)}).empty());
}

// What began in the last hour of the window, or minutes before its end, is seen.
TEST(Query, ProbesEndWithTheWindow) {
  const Nanos from = seconds(1709251200);
  for (const Nanos length : {Nanos(hours(4)), Nanos(hours(168)), Nanos(seconds(1900))}) {
    for (const Request& request : {ask_cadence({from, from + length}, "M"),
                                   ask_presence({from, from + length}, "M", "Hostname")}) {
      const double start = std::stod(request.form[1].second);
      const double end = std::stod(request.form[2].second);
      const double step = std::stod(request.form[3].second);
      EXPECT_NEAR(end, to_seconds(from + length), 0.002);
      EXPECT_NEAR(std::remainder(end - start, step), 0, 0.002);
      EXPECT_GE(start, to_seconds(from));
      EXPECT_LE(start, to_seconds(from) + step);
    }
  }
}

TEST(Query, TheTimeBetweenScrapesIsMeasuredOnOneSeries) {
  EXPECT_EQ(ask_busiest(seconds(7), "M").form[0].second, "topk(1, count_over_time(M[1h]))");
  const auto labels = read_labels(R"({"status":"success","data":{"resultType":"vector","result":[)"
                                  R"({"metric":{"gpu":"0","host":"a\"b"},"value":[1,"4"]}]}})");
  ASSERT_TRUE(labels);
  const Request request = ask_hour_of(seconds(7), "M{gpu=\"0\"}", *labels);
  EXPECT_EQ(request.path, "/api/v1/query");
  EXPECT_EQ(request.form[0].second, R"(M{gpu="0",host="a\"b"}[1h])");
  EXPECT_EQ(request.form[1].second, "7");
  // Four samples of 100 seconds, and one before a pause: an hour's count would say 12 minutes.
  const auto apart = read_distance(
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":)"
      R"([[1000,"1"],[2000,"0"],[2030.001,"1"],[2060,"1"],[2090,"1"]]}]}})");
  ASSERT_TRUE(apart);
  EXPECT_EQ(cadence_of(3600 / to_seconds(*apart)), seconds(30));
  const auto one = read_distance(
      R"({"status":"success","data":{"result":[{"metric":{},"values":[[1000,"1"]]}]}})");
  ASSERT_TRUE(one);
  EXPECT_EQ(*one, Nanos{});
}

TEST(Query, TellsAtHowManyTimesAHostHadAMetric) {
  const auto presence = read_presence(
      R"({"status":"success","data":{"result":[{"metric":{"Hostname":"a"},"values":[[1,"8"],)"
      R"([2,"8"]]},{"metric":{"Hostname":"b"},"values":[[2,"4"]]}]}})",
      "Hostname");
  ASSERT_TRUE(presence);
  EXPECT_EQ(*presence, (Presence{{"a", 2}, {"b", 1}}));
}

TEST(Query, ReadsSmallAnswers) {
  const auto values = read_values(R"({"status":"success","data":["b","a"]})");
  ASSERT_TRUE(values);
  EXPECT_EQ(*values, (std::vector<std::string>{"a", "b"}));
  const auto peak = read_peak(R"({"status":"success","data":{"resultType":"matrix","result":[)"
                              R"({"metric":{},"values":[[1,"12"],[2,"240"],[3,"NaN"]]}]}})");
  ASSERT_TRUE(peak);
  ASSERT_TRUE(peak->has_value());
  EXPECT_EQ((*peak)->value, 240.0);
  EXPECT_EQ((*peak)->at, seconds(2));
  const auto none = read_peak(R"({"status":"success","data":{"resultType":"matrix","result":[]}})");
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->has_value());
  EXPECT_EQ(read_values(R"({"status":"error","errorType":"bad_data","error":"x"})").error().text,
            "bad_data: x");
  EXPECT_EQ(read_values(R"({"hello":1})").error().text, "not an answer of a Prometheus server");
}

}  // namespace
}  // namespace amdahl::fleet::prometheus
