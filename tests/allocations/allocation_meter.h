// Counts what a test's program has allocated with `new`: a reader of hostile bytes must not be talked into taking
// memory. Linking it replaces the global operators. Counts of all threads together; under a sanitizer
// nothing is counted.
#pragma once

#include <cstddef>

namespace soci::test {

class AllocationMeter {
 public:
  AllocationMeter();

  // The most that was allocated at one time since construction, above what there was then.
  size_t Peak() const;

 private:
  size_t before_;
};

}  // namespace soci::test
