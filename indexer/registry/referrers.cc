#include "indexer/registry/referrers.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <utility>

#include "indexer/base/log.h"
#include "indexer/base/units.h"
#include "indexer/net/link_header.h"
#include "indexer/net/text.h"
#include "indexer/oci/annotations.h"
#include "indexer/oci/manifest.h"
#include "indexer/registry/collected_call.h"
#include "indexer/registry/referrers_tag.h"
#include "indexer/registry/registry_error.h"

namespace soci {
namespace {

constexpr size_t kListLimit = 4_MiB;
constexpr int kMostPages = 64;

using Descriptors = std::vector<oci::Descriptor>;

// Registries answer what they do not know in many ways: 404, 405, 400, a redirect to a login page. Only trouble with
// the network, with credentials or with the server's health is a failure.
bool MeansNotSupported(const Status& status) {
  std::optional<int> http = HttpStatusOf(status);
  if (http) return *http >= 400 && *http < 500 && *http != 401 && *http != 403 && *http != 408 && *http != 429;
  return status.code() == absl::StatusCode::kFailedPrecondition ||
         status.code() == absl::StatusCode::kResourceExhausted;
}

Result<CallResult> FetchPage(const std::shared_ptr<RegistryCore>& core, const oci::Reference& repository,
                             const oci::Digest& subject, const std::string& path, const std::string& next,
                             const FetchContext& context) {
  CallSpec spec;
  spec.repository = repository;
  spec.path = path;
  spec.absolute_url = next;
  spec.capability = HostCapability::kResolve;
  spec.absence_counts = true;
  spec.what =
      fmt::format("finding referrers of {} in {}/{}", subject.ToString(), repository.host, repository.repository);
  CallContent content;
  content.headers.Add("Accept", std::string(oci::kMediaTypeImageIndex));
  content.answer_limit = kListLimit;
  return CollectCall(core, std::move(spec), std::move(content), context);
}

// None: what came is no list of referrers.
std::optional<Descriptors> ReadPage(const CallResult& page) {
  std::string type = page.head.headers.MediaType();
  if (type != oci::kMediaTypeImageIndex && type != "application/json" && !type.empty()) return std::nullopt;
  Result<oci::ImageIndex> index = oci::ImageIndex::Parse(page.body);
  if (!index.ok()) return std::nullopt;
  return std::move(index->manifests);
}

std::string NextPage(const CallResult& page) {
  for (std::string_view header : page.head.headers.FindAll("Link")) {
    std::optional<std::string> link = ParseNextLink(header);
    if (!link) continue;
    Result<Url> url = ResolveUrl(page.url, *link);
    // A list that leads to another server is not followed: our authorization belongs to this one.
    if (url.ok() && SameOrigin(*url, page.url)) return url->ToString();
  }
  return "";
}

// None: this registry has no (usable) referrers API.
Result<std::optional<Descriptors>> AskApi(const std::shared_ptr<RegistryCore>& core, const oci::Reference& repository,
                                          const oci::Digest& subject, std::string_view artifact_type,
                                          const FetchContext& context) {
  Descriptors all;
  std::set<std::string> seen;
  std::string path = fmt::format("referrers/{}?artifactType={}", subject.ToString(), PercentEncode(artifact_type));
  std::string next;
  for (int pages = 0; pages < kMostPages; ++pages) {
    Result<CallResult> page = FetchPage(core, repository, subject, path, next, context);
    if (!page.ok()) {
      if (MeansNotSupported(page.status())) return std::optional<Descriptors>();
      return page.status();
    }
    std::optional<Descriptors> found = ReadPage(*page);
    if (!found) return std::optional<Descriptors>();
    for (oci::Descriptor& one : *found) all.push_back(std::move(one));
    next = NextPage(*page);
    if (next.empty() || !seen.insert(next).second) break;
  }
  return std::optional<Descriptors>(std::move(all));
}

Result<Descriptors> ReadTag(const std::shared_ptr<RegistryCore>& core, const oci::Reference& repository,
                            const oci::Digest& subject, const FetchContext& context) {
  Result<CallResult> answer = FetchPage(core, repository, subject, "manifests/" + ReferrersTag(subject), "", context);
  if (!answer.ok()) {
    if (MeansNotSupported(answer.status())) return Descriptors();
    return answer.status();
  }
  std::optional<Descriptors> found = ReadPage(*answer);
  return found ? std::move(*found) : Descriptors();
}

}  // namespace

Result<Descriptors> FindReferrersOf(const std::shared_ptr<RegistryCore>& core, const oci::Reference& repository,
                                    const oci::Digest& subject, std::string_view artifact_type,
                                    const FetchContext& context) {
  std::string prefix = NegativePrefix(repository);
  std::string no_api = prefix + "api";
  std::string no_list = fmt::format("{}{} {}", prefix, subject.ToString(), artifact_type);
  if (core->negative.Knows(no_list)) return Descriptors();
  // The filter may or may not have been applied; whatever else is listed is not asked for.
  auto other_type = [artifact_type](const oci::Descriptor& one) { return one.artifact_type != artifact_type; };

  if (!core->negative.Knows(no_api)) {
    SOCI_ASSIGN_OR_RETURN(std::optional<Descriptors> listed, AskApi(core, repository, subject, artifact_type, context));
    if (!listed) core->negative.Remember(no_api);
    Descriptors found = listed ? std::move(*listed) : Descriptors();
    std::erase_if(found, other_type);
    if (!found.empty()) return found;
  }
  // An empty list also comes from registries that do not look at tags, or list only what was pushed after they learnt
  // to.
  SOCI_ASSIGN_OR_RETURN(Descriptors tagged, ReadTag(core, repository, subject, context));
  std::erase_if(tagged, other_type);
  if (tagged.empty()) core->negative.Remember(no_list);
  return tagged;
}

std::string NegativePrefix(const oci::Reference& repository) {
  return repository.host + "/" + repository.repository + " ";
}

}  // namespace soci
