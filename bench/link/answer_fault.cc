#include "bench/link/answer_fault.h"

#include <utility>

namespace soci {

Fault::Kind AnswerFault::Next(char* bytes, size_t count) {
  if (fault_.kind == Fault::Kind::kNone) return Fault::Kind::kNone;
  size_t i = 0;
  while (i < count && end_of_head_ < 4) {
    const char wanted = "\r\n\r\n"[end_of_head_];
    end_of_head_ = bytes[i] == wanted ? end_of_head_ + 1 : bytes[i] == '\r' ? 1 : 0;
    ++i;
  }
  const uint64_t body = count - i;
  if (fault_.at >= body_bytes_ + body) {
    body_bytes_ += body;
    return Fault::Kind::kNone;
  }
  char& hit = bytes[i + static_cast<size_t>(fault_.at - body_bytes_)];
  if (fault_.kind == Fault::Kind::kFlip) hit = static_cast<char>(hit ^ (1 << fault_.bit));
  return std::exchange(fault_, Fault{}).kind;
}

}  // namespace soci
