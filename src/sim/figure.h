// figure.h: figures of a simulation with their Monte Carlo error, and tables of them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace amdahl::sim {

struct Figure {
  double value = 0;
  double error = 0;  // Standard error; 0: none.
};

Figure share_of(int hits, int of);
Figure mean_of(std::span<const double> values);
// Ratio of sums over independent units: false promotions by promotions, per campaign.
Figure ratio_of(std::span<const double> above, std::span<const double> below);

struct Cell {
  std::string text;
  std::optional<Figure> figure;  // For machines.
};
Cell words(std::string text);
Cell shown(const Figure& figure, int digits);
Cell plain(double value, int digits);  // A figure from elsewhere, without an error.

struct Table {
  std::string name;
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> notes;
};

}  // namespace amdahl::sim
