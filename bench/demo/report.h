// The demo's figures as people read them. Pure.
#pragma once

#include <string>
#include <vector>

#include "bench/demo/course.h"

namespace soci::demo {

// One row per milestone; both courses have the same.
std::string Table(const Course& lazy, const Course& ordinary);
// The same as a Markdown table.
std::string MarkdownTable(const Course& lazy, const Course& ordinary);
// One sentence that says what the figures say, whichever way they fall.
std::string Conclusion(const Course& lazy, const Course& ordinary);

}  // namespace soci::demo
