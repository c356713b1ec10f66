// Fetches a whole small answer: for token and probe requests, where streaming would only be in the way.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "indexer/net/http_transport.h"

namespace soci {

struct HttpResponse {
  HttpResponseHead head;
  std::string body;
};

// `done` runs on the network thread, once. A body beyond `limit` is kResourceExhausted. Any status is an answer.
std::shared_ptr<Transfer> StartCollecting(HttpTransport& transport, HttpRequest request, size_t limit,
                                          std::function<void(Result<HttpResponse>)> done);

}  // namespace soci
