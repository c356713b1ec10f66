// A scenario as reports show it: runs of one mode summarised, and ours set beside theirs and beside the floor.
//
// Pure. Runs that failed are left out of every figure and listed with their errors. Modes and points stand in the order
// in which the result first names them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/report/text.h"
#include "bench/result/result.h"
#include "bench/result/statistics.h"

namespace soci::bench {

// Whose a mode is: "lazy", "full" and "soci-index", alone or with more behind (" cached", "+replay"), are ours; "local"
// is the floor, alone or with more behind, that is the image already there; everything else is theirs.
enum class Role { kOurs, kTheirs, kFloor };
Role RoleOf(std::string_view mode);

// Seconds: what is reached sooner was there already, and nothing is a multiple of it.
inline constexpr double kLeastTime = 0.001;

struct PointView {
  std::string name;
  Summary seconds, bytes, requests, connections;
};

struct Figure {
  std::string name;
  Unit unit = Unit::kCount;
  Summary value;
};

struct ModeView {
  std::string mode;
  Role role = Role::kTheirs;
  size_t runs = 0;                  // that did not fail
  std::vector<std::string> errors;  // "run 3: what happened", of those that did
  std::vector<PointView> points;
  std::vector<PointView> host_points;       // of each host by itself, where several began together
  std::vector<Figure> figures;              // resources, then counts
  std::vector<double> read_milliseconds;    // of all runs
  std::vector<ByteSample> bytes_over_time;  // of the run that took the median time

  const PointView* FindPoint(std::string_view name) const;
  const Figure* FindFigure(std::string_view name) const;
};

struct Ratio {
  std::string point, ours, other;
  Role role = Role::kTheirs;  // of the other
  double ours_by_other = 0;   // of the medians' times
  bool overlap = false;       // no difference is shown
};

struct ScenarioView {
  std::string name;
  std::string about;  // "image S (694 MB, 1.80 GB unpacked), link A, work import, 5 runs of each mode"
  std::vector<std::string> points, figures;  // their names, over all modes
  std::vector<ModeView> modes;
  std::vector<Ratio> ratios;
  double plain_download_seconds = 0;  // 0: not measured
  std::string note;

  // The point that counts most: ready, or else the last one that ours and others have in common; "" if none.
  std::string MainPoint() const;
  std::string Title() const { return name + ": " + about; }
  // What the scenario says, in one sentence for each mode of ours that can be set beside anything, and how many reads
  // failed where they were counted.
  std::vector<std::string> Headlines() const;
  const Ratio* FindRatio(std::string_view point, std::string_view ours, std::string_view other) const;
};

ScenarioView MakeView(const Scenario& scenario);

}  // namespace soci::bench
