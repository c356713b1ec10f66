#include "snapshotter/daemon/registry_parts.h"

#include "indexer/base/file_io.h"
#include "indexer/base/thread_pool.h"
#include "indexer/net/http_transport.h"
#include "indexer/registry/credentials.h"
#include "indexer/registry/distribution_client.h"
#include "indexer/registry/docker_config.h"

namespace soci {
namespace {

class HttpRegistryParts : public RegistryParts {
 public:
  HttpRegistryParts(const RegistryConfig& config, const Options& extra) {
    CurlTransportOptions transport;
    transport.idle_connections = extra.idle_connections;
    transport_ = MakeCurlTransport(transport);
    DockerConfigOptions docker;
    docker.path = config.docker_config;
    credentials_ = MakeDockerConfigCredentials(docker);
    RegistryClientOptions options;
    options.hosts.directories = config.hosts_directory;
    options.remember_negative = extra.remember_negative;
    options.spool_directory = extra.spool_directory;
    options.spool_threads = &spool_threads_;
    if (extra.plain_http) options.hosts.plain_http = RegistryHostsOptions::PlainHttp::kAlways;
    client_ = MakeRegistryClient(*transport_, *credentials_, options);
  }

  RegistryClient& client() override { return *client_; }

 private:
  ThreadPool spool_threads_{"spool", 1};
  std::unique_ptr<HttpTransport> transport_;
  std::unique_ptr<CredentialProvider> credentials_;
  std::unique_ptr<RegistryClient> client_;
};

}  // namespace

Result<std::unique_ptr<RegistryParts>> RegistryParts::Make(const RegistryConfig& config, const Options& options) {
  if (!options.spool_directory.empty()) SOCI_RETURN_IF_ERROR(MakeDirectories(options.spool_directory, 0700));
  return std::make_unique<HttpRegistryParts>(config, options);
}

}  // namespace soci
