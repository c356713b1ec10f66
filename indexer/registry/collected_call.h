// A registry call whose whole answer is wanted: blocks until it is there. Never on the network thread. Internal to the
// room.
#pragma once

#include <memory>
#include <string>

#include "indexer/registry/registry_call.h"

namespace soci {

struct CallResult {
  HttpResponseHead head;
  std::string body;
  Url url;  // which answered, after redirects: what a relative Location or Link is relative to
};

struct CallContent {  // what a call sends
  HttpHeaders headers = {};
  std::shared_ptr<const ByteSource> body = nullptr;
  uint64_t body_offset = 0;
  uint64_t body_length = 0;
  size_t answer_limit = 1 << 20;
};

// kResourceExhausted: the answer is longer than the limit.
Result<CallResult> CollectCall(std::shared_ptr<RegistryCore> core, CallSpec spec, CallContent content,
                               const FetchContext& context);

}  // namespace soci
