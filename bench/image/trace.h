// What a program's start asks of its files, step by step: the import of a large Python package as strace shows it. Made
// from the recipe, kept in the image as text, played by soci-work. Pure.
//
// Modules are looked for in places where they are not, then read whole; libraries are mapped and touched in runs of
// pages; between the steps the program thinks. In all about 6 % of the image's bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/image/tree.h"

namespace soci::bench {

struct TraceStep {
  enum class Kind : char {
    kStat = 's',     // `path` is a file of `first` bytes
    kMissing = 'n',  // `path` is not there
    kList = 'd',     // entries of the folder `path`
    kRead = 'r',     // all `first` bytes of the file `path`
    kMap = 'm',      // maps the file `path`, of `first` bytes; touches that follow are of it
    kTouch = 't',    // one byte of each page of [first, first + second)
    kThink = 'w',    // `first` microseconds of processor time
  };

  Kind kind;
  std::string path = {};
  uint64_t first = 0, second = 0;

  bool operator==(const TraceStep&) const = default;
};

std::vector<TraceStep> MakeImportTrace(const ImageRecipe& recipe, const std::vector<PlannedLayer>& layers);

// One step a line: kind, numbers, path.
std::string ToText(const std::vector<TraceStep>& trace);
// Nothing if it is not such a text.
std::optional<std::vector<TraceStep>> TraceFromText(std::string_view text);

}  // namespace soci::bench
