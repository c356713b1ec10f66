#include "snapshotter/pull/image_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

#include "indexer/base/log.h"
#include "indexer/index/find_index.h"
#include "indexer/oci/manifest.h"
#include "indexer/registry/registry_client.h"
#include "snapshotter/pull/parallel_for.h"
#include "snapshotter/pull/prepare_layer.h"

namespace soci {
namespace {

std::string KeyOf(const LayerRequest& request) {
  return fmt::format("{}/{}@{}#{}", request.image.host, request.image.repository, request.manifest.ToString(),
                     request.soci_index ? request.soci_index->ToString() : "");
}

struct ImageDocuments {
  oci::Manifest manifest;
  oci::ImageConfig config;
};

Result<oci::Manifest> FetchManifest(RegistryClient& registry, const LayerRequest& request,
                                    const FetchContext& context) {
  SOCI_ASSIGN_OR_RETURN(FetchedDocument document,
                        registry.FetchManifest(request.image, request.manifest.ToString(), context));
  return oci::Manifest::Parse(document.body);
}

// Manifest and config: sizes and DiffIDs of the layers.
Result<ImageDocuments> FetchDocuments(RegistryClient& registry, const LayerRequest& request,
                                      Result<oci::Manifest> manifest, const FetchContext& context) {
  ImageDocuments documents;
  SOCI_ASSIGN_OR_RETURN(documents.manifest, std::move(manifest));
  SOCI_ASSIGN_OR_RETURN(std::string config, registry.FetchBlob(request.image, documents.manifest.config, context));
  SOCI_ASSIGN_OR_RETURN(documents.config, oci::ImageConfig::Parse(config));
  if (documents.config.diff_ids.size() != documents.manifest.layers.size()) {
    return absl::InvalidArgumentError(fmt::format("manifest {} has {} layers, its config names {}",
                                                  request.manifest.ToString(), documents.manifest.layers.size(),
                                                  documents.config.diff_ids.size()));
  }
  return documents;
}

bool MayWorkLater(const Status& status) {
  return !absl::IsInvalidArgument(status) && !absl::IsDataLoss(status) && !absl::IsNotFound(status);
}

}  // namespace

ImageSessions::ImageSessions(RegistryClient& registry, LayerFolders& folders, const Clock& clock, Options options,
                             LayerUnpacks* unpacks)
    : registry_(registry), folders_(folders), clock_(clock), options_(options), unpacks_(unpacks) {}

ImageSessions::Answer ImageSessions::Get(const LayerRequest& request) {
  const std::string key = KeyOf(request);
  std::shared_ptr<Session> session;
  std::shared_ptr<Session> expired;  // goes after the lock is let go: folders may go with it
  {
    MutexLock lock(mutex_);
    while (true) {
      auto& place = sessions_[key];
      if (place != nullptr && !place->searching && place->expires && *place->expires <= clock_.Now()) {
        expired = std::exchange(place, nullptr);
      }
      if (place == nullptr) break;
      place->asked = clock_.Now();
      if (!place->searching) return place->answer;
      found_.Wait(mutex_);
    }
    session = std::make_shared<Session>();
    session->asked = clock_.Now();
    sessions_[key] = session;
  }
  Answer answer = Search(request);
  MutexLock lock(mutex_);
  session->answer = answer;
  session->searching = false;
  if (!answer.ok()) {
    ++counts_.failed;
  } else if ((*answer)->soci_index) {
    ++counts_.found;
  } else {
    ++(SearchesFreely() ? counts_.no_index : counts_.not_looked_for);
  }
  const bool settled = answer.ok() && (*answer)->settled;
  if (!settled) session->expires = clock_.Now() + options_.remember_no;
  found_.NotifyAll();
  return answer;
}

ImageSessions::Counts ImageSessions::counts() const {
  MutexLock lock(mutex_);
  return counts_;
}

ImageSessions::Answer ImageSessions::Search(const LayerRequest& request) {
  auto image = std::make_shared<PreparedImage>();
  if (Status prepared = PrepareLayers(request, *image); !prepared.ok()) {
    return Annotate(prepared, fmt::format("preparing {}", request.image.ToString()));
  }
  return std::shared_ptr<const PreparedImage>(std::move(image));
}

Status ImageSessions::PrepareLayers(const LayerRequest& request, PreparedImage& image) {
  FetchContext context;
  context.budget = options_.budget;
  context.stop = stop_.get_token();

  // Both at once: on a slow link every round trip is felt. Manifest and referrers, then config and index.
  Result<ImageDocuments> documents = absl::UnknownError("not fetched");
  Result<std::optional<SociIndex>> found = absl::UnknownError("not searched");
  std::promise<Result<oci::Manifest>> manifest;
  const FindOptions find{request.soci_index, options_.bound_only, options_.referrers,
                         [&manifest] { return manifest.get_future().get(); }};
  ParallelFor(2, 2, [&](size_t i) {
    if (i == 0) {
      found = FindSociIndex(registry_, request.image, request.manifest, find, context);
    } else {
      Result<oci::Manifest> fetched = FetchManifest(registry_, request, context);
      manifest.set_value(fetched);
      documents = FetchDocuments(registry_, request, std::move(fetched), context);
    }
  });
  if (!found.ok()) return Annotate(found.status(), "looking for a SOCI index");
  if (!found->has_value()) {
    image.reason = options_.bound_only  ? "the image names no SOCI index (index.trust is \"bound\")"
                   : options_.referrers ? "the image has no SOCI index"
                                        : "the image names no SOCI index (index.referrers is off)";
    image.settled = false;
    if (SearchesFreely()) {
      log::Info("image {} is not lazy: no SOCI index for {} was found beside it (was it copied without?)",
                request.image.ToString(), request.manifest.ToString());
    } else {
      log::Warning("image {} is not lazy: {}", request.image.ToString(), image.reason);
    }
    if (unpacks_ == nullptr) return OkStatus();
    if (!documents.ok()) return documents.status();
    for (size_t i = 0; i < documents->manifest.layers.size(); ++i) {
      const oci::Descriptor& descriptor = documents->manifest.layers[i];
      auto [place, is_new] = image.layers.try_emplace(oci::LayerDigest(descriptor.digest));
      if (is_new) StartUnpack(request, descriptor, documents->config.diff_ids[i], i == 0, place->second);
    }
    return OkStatus();
  }
  if (!documents.ok()) return documents.status();

  const SociIndex& index = **found;
  image.soci_index = index.digest;
  std::vector<std::pair<PreparedLayer*, LayerToPrepare>> work;
  for (size_t i = 0; i < documents->manifest.layers.size(); ++i) {
    const oci::Descriptor& descriptor = documents->manifest.layers[i];
    const oci::LayerDigest layer(descriptor.digest);
    auto [place, is_new] = image.layers.try_emplace(layer);
    if (!is_new) continue;  // the same layer twice in one image
    const oci::Descriptor* ztoc = index.ZtocFor(layer);
    if (ztoc == nullptr) {
      place->second.reason = fmt::format("SOCI index {} has no zTOC for this layer", index.digest.ToString());
      if (unpacks_ != nullptr) {
        StartUnpack(request, descriptor, documents->config.diff_ids[i], i == 0, place->second);
        image.settled = false;  // it may fail, and work later
      }
      continue;
    }
    place->second.has_ztoc = true;
    SOCI_ASSIGN_OR_RETURN(place->second.hold, folders_.Take(layer));
    work.emplace_back(&place->second, LayerToPrepare{request.image, request.manifest, descriptor,
                                                     documents->config.diff_ids[i], *ztoc, i == 0});
  }

  ParallelFor(work.size(), options_.parallel, [&](size_t i) {
    auto& [place, wanted] = work[i];
    const oci::LayerDigest layer(wanted.layer.digest);
    auto ready = PrepareLayer(registry_, wanted, folders_.paths().LayerFolder(layer), folders_.numbers(), context);
    if (ready.ok()) {
      place->origin = std::move(ready->origin);
      place->table = std::move(ready->table);
    } else {
      place->reason = std::string(Message(ready.status()));
      place->retry = MayWorkLater(ready.status());
      if (!absl::IsCancelled(ready.status()))
        log::Warning("layer {} of {}: {}", layer.ToString(), wanted.image.ToString(), place->reason);
    }
  });
  for (auto& [layer, prepared] : image.layers) {
    if (!prepared.origin) prepared.hold.reset();
    if (prepared.retry) image.settled = false;
  }
  return OkStatus();
}

void ImageSessions::StartUnpack(const LayerRequest& request, const oci::Descriptor& descriptor,
                                const oci::DiffId& diff_id, bool lowest, PreparedLayer& place) {
  const oci::LayerDigest layer(descriptor.digest);
  const std::string folder = folders_.paths().LayerFolder(layer);
  if (auto adopted = AdoptLayer(layer, folder); adopted.ok()) {
    const LayerOrigin& here = adopted->origin;
    if (!IsSealed(folder) || here.diff_id != diff_id || here.disable_xattrs) {
      place.reason = fmt::format("the layer is being loaded by a SOCI index of {}", here.image.ToString());
      return;
    }
    if (Status fits = CheckPlaceInImage(*adopted->table, lowest); !fits.ok()) {
      place.reason = std::string(Message(fits));
      return;
    }
    auto hold = folders_.Take(layer);
    if (hold.ok()) {
      place.hold = *std::move(hold);
      place.origin = std::move(adopted->origin);
      place.table = std::move(adopted->table);
      return;
    }
  }
  LayerOrigin wanted;
  wanted.image = request.image;
  wanted.manifest = request.manifest;
  wanted.media_type = descriptor.media_type;
  wanted.layer_size = static_cast<uint64_t>(descriptor.size);
  wanted.diff_id = diff_id;
  place.unpack = unpacks_->Start(layer, wanted, lowest);
}

void ImageSessions::ForgetIf(const std::function<bool(const Session&)>& goes) {
  std::vector<std::shared_ptr<Session>> gone;  // their folders are deleted after the lock is let go
  MutexLock lock(mutex_);
  for (auto it = sessions_.begin(); it != sessions_.end();) {
    if (it->second == nullptr || (!it->second->searching && goes(*it->second))) {
      gone.push_back(std::move(it->second));
      it = sessions_.erase(it);
    } else {
      ++it;
    }
  }
}

void ImageSessions::Forget(const oci::LayerDigest& layer) {
  ForgetIf([&](const Session& session) { return session.answer.ok() && (*session.answer)->layers.count(layer) > 0; });
}

void ImageSessions::Forget(const PreparedImage& image) {
  ForgetIf([&](const Session& session) { return session.answer.ok() && session.answer->get() == &image; });
}

void ImageSessions::ForgetIdle(std::chrono::milliseconds idle,
                               const std::function<bool(const oci::LayerDigest&)>& in_use) {
  const Clock::TimePoint now = clock_.Now();
  ForgetIf([&](const Session& session) {
    if (now - session.asked < idle) return false;
    if (!session.answer.ok()) return true;
    const auto& layers = (*session.answer)->layers;
    return std::none_of(layers.begin(), layers.end(), [&](const auto& entry) { return in_use(entry.first); });
  });
}

}  // namespace soci
