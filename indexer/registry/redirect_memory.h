// Where a blob's bytes were last found: the storage URL its registry redirected to, so that reads go there at once.
//
// One per opened blob. The URL is forgotten before it expires and when the storage refuses it; while one read asks the
// registry anew, the others wait for what it learns. Lives on the network thread. Holds secrets: never printed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "indexer/base/clock.h"
#include "indexer/net/http_types.h"
#include "indexer/net/url.h"

namespace soci {

struct RedirectTarget {
  Url url;
  std::string referer;  // the address that redirected; some storage wants to see it again
  std::shared_ptr<const TlsOptions> tls;
};

class RedirectMemory {
 public:
  explicit RedirectMemory(const Clock& clock) : clock_(clock) {}

  // The target to use; none: ask the registry.
  const RedirectTarget* Find();
  // True: the caller asks the registry and must call one of the four below. False: somebody does; `wake` runs when it
  // is known.
  bool StartAsking(std::function<void()> wake);
  void Learn(RedirectTarget target, std::optional<std::chrono::seconds> lifetime);
  // The registry serves the blob itself.
  void LearnDirect();
  void GiveUpAsking();
  // The storage did not take it any more.
  void Forget(const Url& url);
  // This server does not have the blob; it is asked last for a while.
  void NoteMissingAt(const std::string& base);
  bool IsMissingAt(const std::string& base) const;

 private:
  void Wake();

  const Clock& clock_;
  std::optional<RedirectTarget> target_;
  std::optional<Clock::TimePoint> renew_at_;
  std::map<std::string, Clock::TimePoint> missing_until_;
  bool direct_ = false;
  bool asking_ = false;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace soci
