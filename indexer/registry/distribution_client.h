// Makes the RegistryClient that speaks the OCI distribution protocol over HTTP.
//
// Everything that talks to a registry goes through one such client: one set of hosts, tokens, retries and limits, so
// that no path forgets a setting.
#pragma once

#include <memory>
#include <string>

#include "indexer/base/clock.h"
#include "indexer/net/http_types.h"
#include "indexer/net/retry_policy.h"
#include "indexer/registry/credentials.h"
#include "indexer/registry/registry_client.h"
#include "indexer/registry/registry_hosts.h"

namespace soci {

class HttpTransport;
class ThreadPool;

struct RegistryClientOptions {
  RegistryHostsOptions hosts;
  HttpLimits limits;
  RetryPolicy retry;
  // For pushes, which have no FetchContext.
  std::chrono::milliseconds push_budget = std::chrono::minutes(10);
  // Larger blobs are pushed in pieces of this size, so that a broken upload goes on where it broke.
  uint64_t push_piece = 16 << 20;
  // Where blobs of servers that ignore ranges are kept while they are open (see BlobSpool), and the threads for its
  // file work, which outlive the client and its sources. Without both, each read of such a server drops what comes
  // before its range.
  std::string spool_directory;
  ThreadPool* spool_threads = nullptr;
  // How long "no referrers API" and "no such referrer" are believed.
  std::chrono::milliseconds remember_negative = std::chrono::seconds(60);
  const Clock* clock = &SystemClock();
};

// Borrows transport and credentials: both outlive the client and every source it opens.
std::unique_ptr<RegistryClient> MakeRegistryClient(HttpTransport& transport, CredentialProvider& credentials,
                                                   RegistryClientOptions options = {});

}  // namespace soci
