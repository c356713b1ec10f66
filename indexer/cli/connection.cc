#include "indexer/cli/connection.h"

#include <cstdlib>
#include <utility>

#include "indexer/base/thread_pool.h"
#include "indexer/content/docker_archive.h"
#include "indexer/content/oci_archive.h"
#include "indexer/content/oci_layout.h"
#include "indexer/index/layout_home.h"
#include "indexer/index/registry_home.h"
#include "indexer/net/http_transport.h"
#include "indexer/registry/distribution_client.h"
#include "indexer/registry/docker_config.h"

namespace soci::cli {
namespace {

// Where a layer goes that a server sends as a whole only; used for that and nothing else.
std::string TemporaryFolder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

RegistryClientOptions ClientOptions(const ConnectionArguments& arguments, ThreadPool& spool_threads) {
  RegistryClientOptions options;
  options.hosts.directories = arguments.hosts_directory;
  options.spool_directory = TemporaryFolder();
  options.spool_threads = &spool_threads;
  // About 6 s: a person or a pipeline waits. Attempts that brought bytes of a layer do not count.
  options.retry.attempts = 6;
  if (arguments.plain_http) options.hosts.plain_http = RegistryHostsOptions::PlainHttp::kAlways;
  if (!arguments.ca_files.empty()) {
    auto tls = std::make_shared<TlsOptions>();
    tls->ca_files = arguments.ca_files;
    options.hosts.tls = std::move(tls);
  }
  return options;
}

}  // namespace

// In the order in which one part uses the other.
struct Connection::Network {
  explicit Network(const ConnectionArguments& arguments)
      : transport(MakeCurlTransport({.user_agent = "soci-index"})),
        credentials(MakeDockerConfigCredentials()),
        registry(MakeRegistryClient(*transport, *credentials, ClientOptions(arguments, spool_threads))) {}

  ThreadPool spool_threads{"spool", 1};
  std::unique_ptr<HttpTransport> transport;
  std::unique_ptr<CredentialProvider> credentials;
  std::unique_ptr<RegistryClient> registry;
};

Connection::Connection(const ConnectionArguments& arguments) : arguments_(arguments) {}
Connection::~Connection() = default;

Result<std::unique_ptr<ImageHome>> Connection::Open(const Target& target, const std::string& output) {
  const LayoutImage image{.tag = target.tag, .digest = target.digest, .name = target.text};
  if (target.kind == Target::Kind::kLayout) {
    SOCI_ASSIGN_OR_RETURN(std::unique_ptr<OciLayout> layout, OciLayout::Open(target.path));
    return MakeLayoutHome(std::move(layout), image);
  }
  if (target.IsArchive()) {
    const bool docker = target.kind == Target::Kind::kDockerArchive;
    SOCI_ASSIGN_OR_RETURN(std::unique_ptr<OciArchive> archive,
                          docker ? OpenDockerArchive(target.path, output) : OciArchive::Open(target.path, output));
    return MakeLayoutHome(std::move(archive), image);
  }
  if (!network_) network_ = std::make_unique<Network>(arguments_);
  return MakeRegistryHome(*network_->registry, target.reference);
}

}  // namespace soci::cli
