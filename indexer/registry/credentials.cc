#include "indexer/registry/credentials.h"

#include <utility>

#include "indexer/oci/digest.h"

namespace soci {
namespace {

class FixedCredentials final : public CredentialProvider {
 public:
  explicit FixedCredentials(std::vector<Credential> candidates) : candidates_(std::move(candidates)) {}
  CredentialAnswer Find(const CredentialQuery&) override { return {candidates_, true, ""}; }

 private:
  const std::vector<Credential> candidates_;
};

class ChainedCredentials final : public CredentialProvider {
 public:
  explicit ChainedCredentials(std::vector<std::unique_ptr<CredentialProvider>> providers)
      : providers_(std::move(providers)) {}

  CredentialAnswer Find(const CredentialQuery& query) override {
    CredentialAnswer all;
    for (const auto& provider : providers_) {
      CredentialAnswer one = provider->Find(query);
      for (Credential& candidate : one.candidates) all.candidates.push_back(std::move(candidate));
      all.whole_host = all.whole_host && one.whole_host;
      if (!one.problem.empty()) all.problem += (all.problem.empty() ? "" : "; ") + one.problem;
    }
    return all;
  }

 private:
  const std::vector<std::unique_ptr<CredentialProvider>> providers_;
};

}  // namespace

std::string Credential::Identity() const {
  std::string all;
  for (const std::string* part : {&username, &secret, &identity_token, &registry_token}) {
    all += std::to_string(part->size()) + ":" + *part;
  }
  return oci::Digest::Of(all).Hex();
}

std::unique_ptr<CredentialProvider> MakeAnonymousCredentials() {
  return std::make_unique<FixedCredentials>(std::vector<Credential>{});
}

std::unique_ptr<CredentialProvider> MakeStaticCredentials(Credential credential) {
  return std::make_unique<FixedCredentials>(std::vector<Credential>{std::move(credential)});
}

std::unique_ptr<CredentialProvider> MakeChainedCredentials(std::vector<std::unique_ptr<CredentialProvider>> providers) {
  return std::make_unique<ChainedCredentials>(std::move(providers));
}

}  // namespace soci
