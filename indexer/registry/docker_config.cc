#include "indexer/registry/docker_config.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "indexer/base/file_io.h"
#include "indexer/base/log.h"
#include "indexer/base/units.h"
#include "indexer/oci/base64.h"
#include "indexer/registry/credential_helper.h"

namespace soci {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kDockerHub = "docker.io";
constexpr std::string_view kDockerHubServer = "https://index.docker.io/v1/";

// Docker itself leaves line breaks and NULs at the end.
std::optional<std::string> DecodeAuth(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  std::optional<std::string> decoded = oci::DecodeBase64(text);
  while (decoded && !decoded->empty() && decoded->back() == '\0') decoded->pop_back();
  return decoded;
}

std::string Text(const Json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// One entry of "auths". A user name ends at the first colon; the password may hold more of them.
Credential ReadAuth(const Json& entry) {
  Credential credential;
  credential.source = "docker config";
  credential.username = Text(entry, "username");
  credential.secret = Text(entry, "password");
  credential.identity_token = Text(entry, "identitytoken");
  credential.registry_token = Text(entry, "registrytoken");
  if (std::optional<std::string> decoded = DecodeAuth(Text(entry, "auth"))) {
    size_t colon = decoded->find(':');
    if (colon != std::string::npos) {
      credential.username = decoded->substr(0, colon);
      credential.secret = decoded->substr(colon + 1);
    }
  }
  return credential;
}

bool IsEmpty(const Credential& credential) {
  return credential.username.empty() && credential.secret.empty() && credential.identity_token.empty() &&
         credential.registry_token.empty();
}

// "https://host/v1/" and "host/" are ways to write "host".
std::string_view HostOfKey(std::string_view key) {
  for (std::string_view scheme : {"https://", "http://"}) {
    if (key.starts_with(scheme)) key.remove_prefix(scheme.size());
  }
  return key.substr(0, key.find('/'));
}

std::string HomeDirectory() {
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return home;
  std::array<char, 4096> buffer;
  struct passwd entry {};
  struct passwd* found = nullptr;
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return "";
  return entry.pw_dir;
}

class DockerConfigCredentials final : public CredentialProvider {
 public:
  explicit DockerConfigCredentials(DockerConfigOptions options) : options_(std::move(options)) {}

  CredentialAnswer Find(const CredentialQuery& query) override {
    CredentialAnswer answer;
    Result<DockerConfig> config = Load();
    if (!config.ok()) {
      if (config.status().code() != absl::StatusCode::kNotFound) answer.problem = std::string(Message(config.status()));
      return answer;
    }
    if (std::string helper = config->HelperFor(query.host); !helper.empty()) AskHelper(helper, query.host, answer);
    if (const Credential* credential = config->FindAuth(query.host)) answer.candidates.push_back(*credential);
    return answer;
  }

 private:
  std::string Path() const {
    if (!options_.path.empty()) return options_.path;
    if (const char* folder = std::getenv("DOCKER_CONFIG"); folder != nullptr && *folder != '\0') {
      return std::string(folder) + "/config.json";
    }
    std::string home = HomeDirectory();
    return home.empty() ? "" : home + "/.docker/config.json";
  }

  Result<DockerConfig> Load() const {
    std::string path = Path();
    if (path.empty()) return absl::NotFoundError("no HOME and no DOCKER_CONFIG");
    SOCI_ASSIGN_OR_RETURN(std::string json, ReadFile(path, 4_MiB));
    Result<DockerConfig> config = DockerConfig::Parse(json);
    if (!config.ok()) return Annotate(config.status(), path);
    return config;
  }

  void AskHelper(const std::string& helper, const std::string& host, CredentialAnswer& answer) const {
    CredentialHelperOptions how;
    how.timeout = options_.helper_timeout;
    how.home = HomeDirectory();
    Result<std::optional<Credential>> found = RunCredentialHelper(helper, DockerServerName(host), how);
    if (!found.ok()) {
      answer.problem = std::string(Message(found.status()));
      log::Warning("{}; going on without it", answer.problem);
    } else if (*found) {
      answer.candidates.push_back(std::move(**found));
    }
  }

  const DockerConfigOptions options_;
};

}  // namespace

Result<DockerConfig> DockerConfig::Parse(std::string_view json) {
  Json document = Json::parse(json.begin(), json.end(), nullptr, false);
  if (!document.is_object()) return absl::InvalidArgumentError("docker config: not a JSON object");
  DockerConfig config;
  config.creds_store = Text(document, "credsStore");
  if (auto helpers = document.find("credHelpers"); helpers != document.end() && helpers->is_object()) {
    for (const auto& [host, name] : helpers->items()) {
      if (name.is_string()) config.cred_helpers.emplace(host, name.get<std::string>());
    }
  }
  if (auto auths = document.find("auths"); auths != document.end() && auths->is_object()) {
    for (const auto& [key, entry] : auths->items()) {
      if (!entry.is_object()) continue;
      // An empty entry only marks that a helper holds the secret.
      if (Credential credential = ReadAuth(entry); !IsEmpty(credential))
        config.auths.emplace(key, std::move(credential));
    }
  }
  return config;
}

const Credential* DockerConfig::FindAuth(std::string_view host) const {
  if (auto exact = auths.find(DockerServerName(host)); exact != auths.end()) return &exact->second;
  for (const auto& [key, credential] : auths) {
    std::string_view key_host = HostOfKey(key);
    if (key_host == host) return &credential;
    if (host == kDockerHub && (key_host == "index.docker.io" || key_host == "registry-1.docker.io")) return &credential;
  }
  return nullptr;
}

std::string DockerConfig::HelperFor(std::string_view host) const {
  for (const std::string& name : {DockerServerName(host), std::string(host)}) {
    if (auto found = cred_helpers.find(name); found != cred_helpers.end()) return found->second;
  }
  return creds_store;
}

std::string DockerServerName(std::string_view host) {
  return std::string(host == kDockerHub ? kDockerHubServer : host);
}

std::unique_ptr<CredentialProvider> MakeDockerConfigCredentials(DockerConfigOptions options) {
  return std::make_unique<DockerConfigCredentials>(std::move(options));
}

}  // namespace soci
