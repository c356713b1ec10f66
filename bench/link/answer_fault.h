// Carries a fault to its place in an answer that goes by in pieces. Pure; one per connection, one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/link/faults.h"

namespace soci {

class AnswerFault {
 public:
  // A new answer begins.
  void Begin(const Fault& fault) { *this = AnswerFault(), fault_ = fault; }

  // What to do before this piece of it is passed on; a bit that is to turn over has been turned in place.
  Fault::Kind Next(char* bytes, size_t count);

 private:
  Fault fault_;
  int end_of_head_ = 0;  // how much of "\r\n\r\n" has gone by, 4 when the body began
  uint64_t body_bytes_ = 0;
};

}  // namespace soci
