// Which span of which layer goes next when room is needed: a clock over the spans of all layers. Its hand goes round
// and takes a life from each that it passes; the first without any is chosen.
//
// Pure; guarded by its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fuse/store/span_shelf.h"

namespace soci {

class EvictionClock {
 public:
  struct Victim {
    size_t shelf = 0;  // its place in the list
    SpanId span{};
  };

  // The victim is going. Nothing if no span is held, or none of them loses its lives however often the hand comes by.
  std::optional<Victim> Next(const std::vector<SpanShelf*>& shelves);

 private:
  size_t shelf_ = 0;
  uint32_t span_ = 0;
};

}  // namespace soci
