// What all calls of one registry client share. Internal to the room.
//
// Kept alive by the client, by every source it opened and by every call on its way.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "indexer/base/clock.h"
#include "indexer/base/mutex.h"
#include "indexer/net/http_transport.h"
#include "indexer/net/retry_policy.h"
#include "indexer/registry/authorizer.h"
#include "indexer/registry/distribution_client.h"
#include "indexer/registry/hosts_directory.h"
#include "indexer/registry/negative_answers.h"
#include "indexer/registry/registry_hosts.h"

namespace soci {

// Servers that did not answer lately: asked last for a while. Network thread.
class HostHealth {
 public:
  explicit HostHealth(const Clock& clock) : clock_(clock) {}
  void NoteDown(const std::string& base) { down_until_[base] = clock_.Now() + kDownFor; }
  void NoteUp(const std::string& base) { down_until_.erase(base); }
  bool IsDown(const std::string& base) const {
    auto found = down_until_.find(base);
    return found != down_until_.end() && clock_.Now() < found->second;
  }

 private:
  static constexpr std::chrono::seconds kDownFor{30};
  const Clock& clock_;
  std::map<std::string, Clock::TimePoint> down_until_;
};

struct RegistryCore {
  RegistryCore(HttpTransport& http, CredentialProvider& provider, RegistryClientOptions client_options);

  // The servers for `reference_host` that can do this, those known to be down last. Network thread.
  Result<std::vector<RegistryHost>> HostsFor(const std::string& reference_host, HostCapability capability);

  HttpTransport& transport;
  const RegistryClientOptions options;
  const Clock& clock;
  const std::shared_ptr<Authorizer> authorizer;
  HostsDirectory hosts_directory;
  NegativeAnswers negative;
  HostHealth health;
  uint64_t calls = 0;  // seeds the jitter
};

}  // namespace soci
