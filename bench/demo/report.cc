#include "bench/demo/report.h"

#include <fmt/format.h>

namespace soci::demo {
namespace {

double Seconds(const Milestone& milestone) { return static_cast<double>(milestone.at.count()) / 1000; }
double Megabytes(const Milestone& milestone) { return static_cast<double>(milestone.bytes) / 1e6; }

const Milestone& Named(const Course& course, std::string_view name) {
  for (const Milestone& milestone : course.milestones) {
    if (milestone.name == name) return milestone;
  }
  return course.milestones.back();
}

std::string Rows(const Course& lazy, const Course& ordinary, const char* format) {
  std::string rows;
  for (const Milestone& milestone : lazy.milestones) {
    const Milestone& other = Named(ordinary, milestone.name);
    rows += fmt::format(fmt::runtime(format), milestone.name, Seconds(milestone), Megabytes(milestone), Seconds(other),
                        Megabytes(other));
  }
  return rows;
}

}  // namespace

std::string Table(const Course& lazy, const Course& ordinary) {
  return fmt::format("{:<14}{:>22}{:>26}\n", "", "lazy (soci)", "ordinary (overlayfs)") +
         Rows(lazy, ordinary, "{:<14}{:>9.2f} s {:>8.1f} MB{:>13.2f} s {:>8.1f} MB\n");
}

std::string MarkdownTable(const Course& lazy, const Course& ordinary) {
  return "| since the pull began | lazy | fetched by then | ordinary | fetched by then |\n|---|---|---|---|---|\n" +
         Rows(lazy, ordinary, "| {} | {:.2f} s | {:.1f} MB | {:.2f} s | {:.1f} MB |\n");
}

std::string Conclusion(const Course& lazy, const Course& ordinary) {
  const auto ratio = [&](std::string_view name) { return Seconds(Named(ordinary, name)) / Seconds(Named(lazy, name)); };
  return fmt::format(
      "First output {:.1f} times as early, work done {:.1f} times as early, fully local {:.1f} times as early as by an "
      "ordinary pull.",
      ratio("first output"), ratio("work done"), ratio("fully local"));
}

}  // namespace soci::demo
