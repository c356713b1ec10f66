// docker's config.json and the answers of credential helpers and token servers: refused, or usable.
#include "indexer/registry/docker_config.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "indexer/registry/credential_helper.h"
#include "indexer/registry/token_request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto config = soci::DockerConfig::Parse(text); config.ok()) {
    for (const char* host : {"docker.io", "registry.example", "registry.example:5000"}) {
      config->HelperFor(host);
      if (const soci::Credential* found = config->FindAuth(host)) soci::BasicAuthorization(*found);
    }
  }
  if (const auto answer = soci::ParseHelperAnswer(text); answer.ok()) {
    if (answer->secret.empty() && answer->identity_token.empty()) std::abort();
  }
  if (const auto token = soci::ParseTokenAnswer(text); token.ok()) {
    if (token->token.empty() || token->token.find_first_of(" \r\n") != std::string::npos) std::abort();
    if (token->lifetime.count() < 1) std::abort();
  }
  return 0;
}
