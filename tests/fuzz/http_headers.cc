// What a server says of ranges, pages, waits, dates and addresses: refused, or a value that makes sense.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "indexer/net/content_range.h"
#include "indexer/net/link_header.h"
#include "indexer/net/retry_policy.h"
#include "indexer/net/url.h"
#include "indexer/registry/signed_url.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto range = soci::ParseContentRange(text)) {
    if (range->begin >= range->end || (range->total && range->end > *range->total)) std::abort();
  }
  if (const auto link = soci::ParseNextLink(text); link && (link->empty() || link->size() > size)) std::abort();
  const std::chrono::system_clock::time_point now{};
  if (const auto wait = soci::ParseRetryAfter(text, now); wait && wait->count() < 0) std::abort();
  static const soci::Url base = soci::Url::Parse("https://registry.example/v2/a/blobs/uploads/?x=1").value();
  for (const auto& url : {soci::Url::Parse(text), soci::ResolveUrl(base, text)}) {
    if (!url.ok()) continue;
    const auto again = soci::Url::Parse(url->ToString());
    if (!again.ok() || !soci::SameOrigin(*again, *url)) std::abort();
    if (const auto life = soci::SignedUrlLifetime(*url, std::nullopt, now); life && life->count() < 0) std::abort();
  }
  return 0;
}
