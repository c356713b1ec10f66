// A TCP port of 127.0.0.1 that nobody listens on at this moment; somebody may by the time it is used. Any thread.
#pragma once

#include <cstdint>

namespace soci::test {

uint16_t FreePort();

}  // namespace soci::test
