// Two results beside each other: for each scenario, mode and point both have, the ratio of the medians. Pure.
#pragma once

#include <string>

#include "bench/result/result.h"

namespace soci::bench {

// As text for a terminal, or as a page with plots of both. Where the two spreads overlap it says that no difference is
// shown, whatever the medians are. What only one of them has, and how their machines, images and links differ, is said.
std::string CompareText(const Result& a, const Result& b);
std::string CompareHtml(const Result& a, const Result& b);

// The scenario by the same name over the same link, or else by the same name; null if there is none.
const Scenario* Counterpart(const Result& result, const Scenario& scenario);

// Only the same work on the same image over the same link can be compared; "" or what differs.
std::string WhatDiffers(const Scenario& a, const Scenario& b);

}  // namespace soci::bench
