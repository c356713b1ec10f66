// What any tool could do at best: all bytes of an image's layers fetched over as many connections as fill the link, and
// thrown away. What pulls are set beside.
#pragma once

#include <stop_token>

#include "bench/link/link.h"
#include "bench/run/host.h"

namespace soci::bench {

// Seconds. `image` is reached through a link with these options. Throws std::runtime_error; 0 after a stop. Blocks; any
// thread.
double PlainDownload(const ImageAddress& image, const LinkOptions& link, const std::stop_token& stop);

}  // namespace soci::bench
