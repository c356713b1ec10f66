// Runs docker's credential helpers: programs named docker-credential-<name> that answer with JSON on standard output.
//
// No shell, no inherited descriptors, a time limit after which the helper is killed and collected. Blocks; any thread.
// What the helper printed goes into no message unless it is the protocol's own plain-text error.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "indexer/registry/credentials.h"

namespace soci {

struct CredentialHelperOptions {
  std::chrono::milliseconds timeout{5000};
  // Given to the helper as HOME where the environment has none (a service started by systemd).
  std::string home;
};

// None: the helper knows nothing of this server. kDeadlineExceeded: it took too long; kNotFound: no such program.
Result<std::optional<Credential>> RunCredentialHelper(const std::string& name, const std::string& server,
                                                      const CredentialHelperOptions& options);

// The helper's answer: {"ServerURL", "Username", "Secret"}; the user "<token>" marks an identity token.
Result<Credential> ParseHelperAnswer(std::string_view json);

}  // namespace soci
