// figure.h: numbers of a simulation with how far chance may have moved them, and tables of them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace amdahl::sim {

struct Figure {
  double value = 0;
  double error = 0;  // Standard error by Monte Carlo; 0 if it has none.
};

Figure share_of(int hits, int of);
Figure mean_of(std::span<const double> values);
// Sum over sum, the units being independent: false promotions by promotions, campaign by campaign.
Figure ratio_of(std::span<const double> above, std::span<const double> below);

struct Cell {
  std::string text;
  std::optional<Figure> figure;  // What the text shows, for machines.
};
Cell words(std::string text);
Cell shown(const Figure& figure, int digits);
Cell plain(double value, int digits);  // A figure that is not ours, without an error.

struct Table {
  std::string name;
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> notes;
};

}  // namespace amdahl::sim
