// Credentials as `docker login` leaves them: auths, identity tokens, credHelpers and credsStore of config.json.
//
// The file is read again for every question, so a new login is seen without restart. A helper is run without a shell,
// with a time limit, and gets the registry's name on standard input: nothing secret is on a command line.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "indexer/registry/credentials.h"

namespace soci {

struct DockerConfig {
  std::map<std::string, Credential> auths;          // by the key as written: "host", "https://host/v1/"
  std::map<std::string, std::string> cred_helpers;  // host -> the helper's short name
  std::string creds_store;                          // the helper for every other host; may be empty

  // kInvalidArgument if it is no JSON object; single entries that make no sense are left out.
  static Result<DockerConfig> Parse(std::string_view json);
  // The entry for a registry host under any of the spellings docker uses.
  const Credential* FindAuth(std::string_view host) const;
  // The helper docker would ask for this host; empty: none.
  std::string HelperFor(std::string_view host) const;
};

// What docker calls this registry: Docker Hub's name is a URL of its own, every other one is the host.
std::string DockerServerName(std::string_view host);

struct DockerConfigOptions {
  // Empty: $DOCKER_CONFIG/config.json, else .docker/config.json in $HOME, else in the home directory of the user's
  // account (a service often has no HOME).
  std::string path;
  std::chrono::milliseconds helper_timeout{5000};
};

std::unique_ptr<CredentialProvider> MakeDockerConfigCredentials(DockerConfigOptions options = {});

}  // namespace soci
