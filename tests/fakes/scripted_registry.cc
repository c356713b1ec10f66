#include "tests/fakes/scripted_registry.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "indexer/oci/annotations.h"
#include "indexer/oci/base64.h"
#include "indexer/oci/manifest.h"

namespace soci::test {
namespace {

using Json = nlohmann::json;

Answer Error(int status, const std::string& code) {
  Answer answer{.status = status};
  answer.body = fmt::format(R"({{"errors":[{{"code":"{}","message":"as scripted"}}]}})", code);
  return answer.With("Content-Type", "application/json");
}

std::string Xml() {
  return "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code><Token>secret-token</Token></Error>";
}

// "bytes=a-b" as numbers; false for anything else.
bool ParseRange(const std::string& header, uint64_t size, uint64_t& begin, uint64_t& end) {
  unsigned long long first = 0, last = 0;
  int count = std::sscanf(header.c_str(), "bytes=%llu-%llu", &first, &last);
  if (count < 1 || first >= size) return false;
  begin = first;
  end = count == 2 ? std::min<uint64_t>(last + 1, size) : size;
  return begin < end;
}

// "/v2/team/image/blobs/sha256:..." -> repository, kind, the rest.
bool SplitPath(const std::string& path, std::string& repository, std::string& kind, std::string& rest) {
  for (const char* word : {"/blobs/uploads/", "/blobs/", "/manifests/", "/referrers/"}) {
    size_t at = path.rfind(word);
    if (!path.starts_with("/v2/") || at == std::string::npos || at < 4) continue;
    repository = path.substr(4, at - 4);
    kind = word;
    rest = path.substr(at + kind.size());
    return true;
  }
  return false;
}

}  // namespace

ScriptedRegistry::ScriptedRegistry(RegistryScript script, const TlsIdentity& identity)
    : script_(std::move(script)),
      storage_([this](const SeenRequest& request) { return AnswerStorage(request); }, identity),
      registry_([this](const SeenRequest& request) { return AnswerRegistry(request); }, identity) {}

oci::Descriptor ScriptedRegistry::AddBlob(const std::string& repository, const std::string& bytes) {
  oci::Descriptor blob;
  blob.media_type = std::string(oci::kMediaTypeLayerTar);
  blob.digest = oci::Digest::Of(bytes);
  blob.size = static_cast<int64_t>(bytes.size());
  std::lock_guard lock(mutex_);
  blobs_[blob.digest.ToString()] = bytes;
  repositories_[repository].blobs.insert(blob.digest.ToString());
  return blob;
}

oci::Descriptor ScriptedRegistry::AddManifest(const std::string& repository, const std::string& name,
                                              std::string_view media_type, const std::string& body) {
  oci::Descriptor manifest;
  manifest.media_type = std::string(media_type);
  manifest.digest = oci::Digest::Of(body);
  manifest.size = static_cast<int64_t>(body.size());
  std::lock_guard lock(mutex_);
  Repository& repo = repositories_[repository];
  repo.manifests[manifest.digest.ToString()] = body;
  repo.media_types[manifest.digest.ToString()] = manifest.media_type;
  if (!name.empty()) repo.tags[name] = manifest.digest.ToString();
  return manifest;
}

void ScriptedRegistry::AddReferrer(const std::string& repository, const oci::Digest& subject,
                                   oci::Descriptor referrer) {
  std::lock_guard lock(mutex_);
  repositories_[repository].referrers[subject.ToString()].push_back(std::move(referrer));
}

void ScriptedRegistry::DeleteUntagged(const std::string& repository) {
  std::lock_guard lock(mutex_);
  Repository& repo = repositories_[repository];
  std::set<std::string> tagged;
  for (const auto& [tag, digest] : repo.tags) tagged.insert(digest);
  std::erase_if(repo.manifests, [&](const auto& entry) { return !tagged.contains(entry.first); });
  for (auto& [subject, listed] : repo.referrers) {
    std::erase_if(listed, [&](const oci::Descriptor& one) { return !tagged.contains(one.digest.ToString()); });
  }
}

void ScriptedRegistry::Change(const std::function<void(RegistryScript&)>& change) {
  std::lock_guard lock(mutex_);
  change(script_);
}

void ScriptedRegistry::ExpireTokens() {
  std::lock_guard lock(mutex_);
  for (auto& [value, token] : tokens_) token.uses_left = 0;
}

void ScriptedRegistry::ExpireUrls() {
  std::lock_guard lock(mutex_);
  for (auto& [url, left] : url_uses_left_) left = 0;
}

oci::Reference ScriptedRegistry::Reference(const std::string& repository) const {
  oci::Reference reference;
  reference.host = registry_.host();
  reference.repository = repository;
  reference.tag = "latest";
  return reference;
}

std::vector<SeenRequest> ScriptedRegistry::Requests(std::string_view method, std::string_view part) const {
  std::vector<SeenRequest> all = registry_.requests();
  for (SeenRequest& request : storage_.requests()) all.push_back(std::move(request));
  std::erase_if(all, [&](const SeenRequest& request) {
    return (!method.empty() && request.method != method) || request.target.find(part) == std::string::npos;
  });
  return all;
}

uint64_t ScriptedRegistry::BlobBytes() const {
  uint64_t bytes = 0;
  for (const SeenRequest& request : Requests("GET", "sha256:")) {
    bool blob = request.path.find("/blobs/") != std::string::npos || request.path.starts_with("/store/");
    if (blob && request.status / 100 == 2) bytes += request.body_sent;
  }
  return bytes;
}

std::string ScriptedRegistry::Manifest(const std::string& repository, const std::string& name) const {
  std::lock_guard lock(mutex_);
  auto repo = repositories_.find(repository);
  if (repo == repositories_.end()) return "";
  auto tag = repo->second.tags.find(name);
  auto found = repo->second.manifests.find(tag == repo->second.tags.end() ? name : tag->second);
  return found == repo->second.manifests.end() ? "" : found->second;
}

std::string ScriptedRegistry::Blob(const oci::Digest& digest) const {
  std::lock_guard lock(mutex_);
  auto found = blobs_.find(digest.ToString());
  return found == blobs_.end() ? "" : found->second;
}

void ScriptedRegistry::MakeTrouble(std::vector<Trouble>& troubles, const SeenRequest& request, Answer& answer) {
  for (Trouble& trouble : troubles) {
    if (!trouble.method.empty() && trouble.method != request.method) continue;
    if (request.target.find(trouble.part) == std::string::npos) continue;
    int number = ++trouble.seen - trouble.from;
    if (number < 0 || number % trouble.every != 0 || trouble.done >= trouble.times) continue;
    ++trouble.done;
    trouble.effect(answer);
  }
}

Answer ScriptedRegistry::AnswerRegistry(const SeenRequest& request) {
  std::lock_guard lock(mutex_);
  Answer answer = Route(request);
  AddDate(answer);
  MakeTrouble(script_.troubles, request, answer);
  return answer;
}

Answer ScriptedRegistry::Route(const SeenRequest& request) {
  if (request.path == "/token") return GiveToken(request);
  if (request.path == "/login") return Answer{.body = "<html>log in</html>"}.With("Content-Type", "text/html");
  std::string repository, kind, rest;
  bool known = SplitPath(request.path, repository, kind, rest);
  bool allowed = true;
  Answer refusal = Authorize(request, repository, allowed);
  if (!allowed) return refusal;
  if (!known) return request.path == "/v2/" ? Answer{} : Error(404, "NOT_FOUND");
  Repository& repo = repositories_[repository];
  if (kind == "/blobs/uploads/") return Upload(request, repository, rest);
  if (kind == "/blobs/") return GetBlob(request, repository, rest);
  if (kind == "/referrers/") return GetReferrers(request, repo, rest);
  return request.method == "PUT" ? PutManifest(request, repo, rest) : GetManifest(request, repo, rest);
}

bool ScriptedRegistry::KnowsUser(const std::string& basic, std::string* user) const {
  std::string decoded = oci::DecodeBase64(basic).value_or("");
  size_t colon = decoded.find(':');
  if (colon == std::string::npos) return false;
  *user = decoded.substr(0, colon);
  auto found = script_.users.find(*user);
  return found != script_.users.end() && found->second == decoded.substr(colon + 1);
}

Answer ScriptedRegistry::Authorize(const SeenRequest& request, const std::string& repository, bool& allowed) {
  if (script_.auth == RegistryScript::Auth::kNone) return {};
  std::string header = request.Header("authorization");
  std::string user;
  bool expired = false;
  if (script_.auth == RegistryScript::Auth::kBasic) {
    if (header.starts_with("Basic ") && KnowsUser(header.substr(6), &user)) return {};
    expired = !header.empty();
  } else if (header.starts_with("Bearer ")) {
    auto token = tokens_.find(header.substr(7));
    bool good = token != tokens_.end() && token->second.uses_left > 0;
    if (good && (repository.empty() || token->second.repositories.contains(repository))) {
      --token->second.uses_left;
      return {};
    }
    expired = true;
  }
  allowed = false;
  Answer answer = Error(expired ? script_.expired_status : script_.unauthorized_status, "UNAUTHORIZED");
  if (script_.auth == RegistryScript::Auth::kBasic) return answer.With("WWW-Authenticate", "Basic realm=\"scripted\"");
  std::string scope = repository.empty() ? "" : fmt::format(",scope=\"repository:{}:pull\"", repository);
  return answer.With("WWW-Authenticate",
                     fmt::format("Bearer realm=\"{}/token\",service=\"scripted\"{}", registry_.url(), scope));
}

Answer ScriptedRegistry::GiveToken(const SeenRequest& request) {
  std::string header = request.Header("authorization"), user;
  bool known = header.starts_with("Basic ") && KnowsUser(header.substr(6), &user);
  bool anonymous = header.empty() && request.method == "GET" && script_.anonymous_tokens;
  SeenRequest form;
  form.target = "?" + request.body;
  bool refresh = request.method == "POST" && script_.identity_tokens.contains(form.Query("refresh_token"));
  if (!known && !anonymous && !refresh) return Error(401, "UNAUTHORIZED");

  Token token;
  if (script_.token_uses > 0) token.uses_left = script_.token_uses;
  std::vector<std::string> scopes = refresh ? std::vector{form.Query("scope")} : request.Queries("scope");
  if (refresh) {
    std::string all = scopes.front();
    scopes.clear();
    for (size_t at = 0, space; at <= all.size(); at = space + 1) {
      space = std::min(all.find(' ', at), all.size());
      scopes.push_back(all.substr(at, space - at));
    }
  }
  for (const std::string& scope : scopes) {
    size_t begin = scope.find(':') + 1;
    token.repositories.insert(scope.substr(begin, scope.rfind(':') - begin));
    if (!script_.several_scopes) break;
  }
  std::string value = fmt::format("secret-token-{}", ++next_id_);
  tokens_[value] = std::move(token);
  Answer answer;
  answer.body = fmt::format(R"({{"token":"{}","expires_in":{}}})", value, script_.token_lifetime_s);
  return answer.With("Content-Type", "application/json");
}

Answer ScriptedRegistry::GetBlob(const SeenRequest& request, const std::string& repository, const std::string& digest) {
  auto blob = blobs_.find(digest);
  if (blob == blobs_.end() || !repositories_[repository].blobs.contains(digest)) return Error(404, "BLOB_UNKNOWN");
  if (request.method == "HEAD") return Answer{}.With("Content-Length", std::to_string(blob->second.size()));
  if (!script_.redirect_blobs) return BlobBytes(request, blob->second);
  std::string path = SignedPath(digest);
  url_uses_left_[path] = script_.url_uses > 0 ? script_.url_uses : INT_MAX;
  return Answer{.status = 307}.With("Location", storage_.url() + path);
}

std::string ScriptedRegistry::SignedPath(const std::string& digest) {
  using Signature = RegistryScript::Signature;
  std::time_t now = script_.wall_clock ? std::chrono::system_clock::to_time_t(script_.wall_clock()) : 0;
  std::string life;
  if (script_.signs_with == Signature::kExpires) {
    life = fmt::format("Expires={}", now + script_.url_lifetime_s);
  } else {
    life = fmt::format("X-Amz-Expires={}", script_.url_lifetime_s);
    if (script_.signs_with == Signature::kAmz) life += fmt::format("&X-Amz-Date={:%Y%m%dT%H%M%SZ}", fmt::gmtime(now));
  }
  return fmt::format("/store/{}?{}&X-Amz-Security-Token=secret-session&X-Amz-Signature=secret-{}", digest, life,
                     ++next_id_);
}

void ScriptedRegistry::AddDate(Answer& answer) const {
  if (!script_.wall_clock) return;
  std::time_t now = std::chrono::system_clock::to_time_t(script_.wall_clock());
  answer.With("Date", fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(now)));
}

Answer ScriptedRegistry::AnswerStorage(const SeenRequest& request) {
  std::lock_guard lock(mutex_);
  auto left = url_uses_left_.find(request.target);
  bool good = left != url_uses_left_.end() && left->second > 0;
  if (script_.storage_wants_referer) good = good && request.Header("referer").starts_with(registry_.url());
  Answer answer{.status = script_.storage_refusal, .body = Xml()};
  if (good) {
    --left->second;
    answer = BlobBytes(request, blobs_[request.path.substr(std::string_view("/store/").size())]);
  } else {
    answer.With("WWW-Authenticate", "Basic realm=\"storage\"");
  }
  AddDate(answer);
  MakeTrouble(script_.storage_troubles, request, answer);
  return answer;
}

Answer ScriptedRegistry::BlobBytes(const SeenRequest& request, const std::string& bytes) {
  using Ranges = RegistryScript::Ranges;
  std::string range = request.Header("range");
  auto whole = [&] { return Answer{.body = bytes}.With("Content-Type", "application/octet-stream"); };
  if (range.empty()) return whole();
  if (range.find(',') != std::string::npos && script_.several_ranges_refused) return Error(400, "UNSUPPORTED");
  bool ignores =
      script_.ranges == Ranges::kIgnored || (script_.ranges == Ranges::kHonouredOnce && partial_answers_ > 0);
  if (ignores) return whole();
  uint64_t begin = 0, end = 0;
  if (!ParseRange(range, bytes.size(), begin, end)) return Error(416, "RANGE_INVALID");
  ++partial_answers_;
  if (script_.ranges == Ranges::kShifted) {
    begin = std::min<uint64_t>(begin + 1, bytes.size() - 1);
    end = std::min<uint64_t>(end + 1, bytes.size());
  }
  if (script_.ranges == Ranges::kShort) end = std::min(end, begin + 1000);
  Answer answer{.status = 206, .body = bytes.substr(begin, end - begin)};
  std::string content_range = fmt::format("bytes {}-{}/{}", begin, end - 1, bytes.size());
  if (script_.ranges == Ranges::kMultipart) {
    answer.body = "--cut\r\nContent-Range: " + content_range + "\r\n\r\n" + answer.body + "\r\n--cut--\r\n";
    return answer.With("Content-Type", "multipart/byteranges; boundary=cut");
  }
  if (script_.ranges != Ranges::kWithoutContentRange) answer.With("Content-Range", content_range);
  if (script_.ranges != Ranges::kWithoutContentType) answer.With("Content-Type", "application/octet-stream");
  return answer;
}

Answer ScriptedRegistry::GetManifest(const SeenRequest&, Repository& repository, const std::string& name) {
  auto tag = repository.tags.find(name);
  std::string digest = tag == repository.tags.end() ? name : tag->second;
  auto found = repository.manifests.find(digest);
  if (found == repository.manifests.end()) return Error(404, "MANIFEST_UNKNOWN");
  Answer answer{.body = found->second};
  if (script_.compares_etags) answer.With("ETag", "\"" + digest + "\"");
  return answer.With("Content-Type", repository.media_types[digest]).With("Docker-Content-Digest", digest);
}

Answer ScriptedRegistry::PutManifest(const SeenRequest& request, Repository& repository, const std::string& name) {
  Json document = Json::parse(request.body, nullptr, false);
  if (!document.is_object()) return Error(400, "MANIFEST_INVALID");
  bool has_subject = document.contains("subject");
  if (has_subject && script_.refuses_subject) return Error(400, "MANIFEST_INVALID");
  if ((has_subject || document.contains("artifactType")) && script_.refuses_artifacts) return Error(405, "UNSUPPORTED");
  auto tag = repository.tags.find(name);
  std::string current = tag == repository.tags.end() ? "" : "\"" + tag->second + "\"";
  if (script_.compares_etags) {
    std::string match = request.Header("if-match");
    bool exists_but_must_not = request.Header("if-none-match") == "*" && !current.empty();
    if (exists_but_must_not || (!match.empty() && match != current)) return Error(412, "PRECONDITION_FAILED");
  }
  std::string digest = oci::Digest::Of(request.body).ToString();
  repository.manifests[digest] = request.body;
  repository.media_types[digest] = request.Header("content-type");
  if (name != digest) repository.tags[name] = digest;
  Answer answer{.status = 201};
  if (has_subject && script_.takes_subject) {
    oci::Descriptor entry;
    entry.media_type = request.Header("content-type");
    entry.digest = oci::Digest::Of(request.body);
    entry.size = static_cast<int64_t>(request.body.size());
    entry.artifact_type = document.value("artifactType", document["config"].value("mediaType", ""));
    std::string subject = document["subject"].value("digest", "");
    repository.referrers[subject].push_back(entry);
    answer.With("OCI-Subject", subject);
  }
  return answer.With("Docker-Content-Digest", digest);
}

Answer ScriptedRegistry::GetReferrers(const SeenRequest& request, Repository& repository, const std::string& subject) {
  using Referrers = RegistryScript::Referrers;
  switch (script_.referrers) {
    case Referrers::kMissing:
      return Error(404, "NOT_FOUND");
    case Referrers::kNotAllowed:
      return Error(405, "UNSUPPORTED");
    case Referrers::kLoginPage:
      return Answer{.status = 302}.With("Location", "/login");
    case Referrers::kWrongType:
      return Answer{.body = R"({"hello":"world"})"}.With("Content-Type", "application/json");
    default:
      break;
  }
  oci::ImageIndex index{.media_type = std::string(oci::kMediaTypeImageIndex)};
  if (script_.referrers != Referrers::kAlwaysEmpty) index.manifests = repository.referrers[subject];
  Answer answer;
  if (script_.referrers == Referrers::kPaged) {
    size_t page = std::strtoul(request.Query("page").c_str(), nullptr, 10);
    if (page + 1 < index.manifests.size()) {
      answer.With("Link", fmt::format("<{}?page={}>; rel=\"next\"", request.path, page + 1));
    }
    if (page < index.manifests.size()) index.manifests = {index.manifests[page]};
  } else if (script_.referrers == Referrers::kApi) {
    std::string type = request.Query("artifactType");
    std::erase_if(index.manifests, [&](const oci::Descriptor& one) { return one.artifact_type != type; });
    answer.With("OCI-Filters-Applied", "artifactType");
  }
  answer.body = index.ToJson();
  return answer.With("Content-Type", std::string(oci::kMediaTypeImageIndex));
}

Answer ScriptedRegistry::Upload(const SeenRequest& request, const std::string& name, const std::string& upload) {
  auto location = [&](const std::string& id) {
    return fmt::format("/v2/{}/blobs/uploads/{}?_state=secret-state", name, id);
  };
  if (request.method == "POST") {
    std::string id = fmt::format("upload-{}", ++next_id_);
    uploads_[id] = "";
    return Answer{.status = 202}.With("Location", location(id));
  }
  auto found = uploads_.find(upload);
  if (found == uploads_.end()) return Error(404, "BLOB_UPLOAD_UNKNOWN");
  std::string& bytes = found->second;
  std::string range = fmt::format("0-{}", bytes.empty() ? 0 : bytes.size() - 1);
  if (request.method == "GET") return Answer{.status = 204}.With("Location", location(upload)).With("Range", range);
  if (request.method == "PATCH") {
    if (script_.refuses_pieces) return Error(405, "UNSUPPORTED");
    unsigned long long first = 0;
    std::sscanf(request.Header("content-range").c_str(), "%llu-", &first);
    if (first != bytes.size()) return Error(416, "RANGE_INVALID").With("Range", range);
    bytes += request.body;
    return Answer{.status = 202}
        .With("Location", location(upload))
        .With("Range", fmt::format("0-{}", bytes.size() - 1));
  }
  bytes += request.body;
  std::string digest = request.Query("digest");
  if (oci::Digest::Of(bytes).ToString() != digest) return Error(400, "DIGEST_INVALID");
  blobs_[digest] = bytes;
  repositories_[name].blobs.insert(digest);
  uploads_.erase(found);
  return Answer{.status = 201}.With("Docker-Content-Digest", digest);
}

}  // namespace soci::test
