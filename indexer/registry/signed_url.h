// How long a redirect target can be used, read from the URL's own parameters: S3, CloudFront, Google and Azure sign
// this way.
//
// Lifetimes are told by the server's clock (its Date header), not ours: the two may be hours apart. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "indexer/net/url.h"

namespace soci {

// Time left at the moment of the answer that held the URL; none: the URL does not say. Never negative.
// `server_now`: the Date of that answer, where it had one.
std::optional<std::chrono::seconds> SignedUrlLifetime(const Url& url,
                                                      std::optional<std::chrono::system_clock::time_point> server_now,
                                                      std::chrono::system_clock::time_point local_now);

}  // namespace soci
