// The parts that all pages are made of. Whatever text goes in is escaped here; SVG is taken as it is. Pure.
#pragma once

#include <string>
#include <vector>

#include "bench/report/table.h"

namespace soci::bench {

// A whole page that needs nothing beside it: title, lines about the machine, and a body of HTML.
std::string HtmlPage(const std::string& title, const std::vector<std::string>& about, const std::string& body);

// Empty for an empty table or plot.
std::string HtmlTable(const Table& table);
std::string HtmlTitled(const std::string& title, const Table& table);
std::string HtmlPlot(const std::string& title, const std::string& svg);

}  // namespace soci::bench
