#include "indexer/cli/connection.h"

#include <utility>

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

RegistryClientOptions ClientOptions(const ConnectionArguments& arguments) {
  RegistryClientOptions options;
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
        registry(MakeRegistryClient(*transport, *credentials, ClientOptions(arguments))) {}

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
