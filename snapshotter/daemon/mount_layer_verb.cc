// `soci-snapshotter mount-layer`: one layer of an OCI layout directory as files, by the daemon's own parts.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "fuse/fetch/fetch_scheduler.h"
#include "fuse/session/null_keeper.h"
#include "fuse/session/session_pool.h"
#include "fuse/store/fd_cache.h"
#include "indexer/base/file_io.h"
#include "indexer/base/log.h"
#include "indexer/base/thread_pool.h"
#include "indexer/content/oci_layout.h"
#include "indexer/content/read_blob.h"
#include "indexer/oci/annotations.h"
#include "indexer/oci/platform.h"
#include "snapshotter/daemon/exit_code.h"
#include "snapshotter/daemon/layout_registry.h"
#include "snapshotter/daemon/stop_signals.h"
#include "snapshotter/daemon/verbs.h"
#include "snapshotter/pull/image_session.h"
#include "snapshotter/pull/layer_folders.h"
#include "snapshotter/pull/live_layer.h"

namespace soci {
namespace {

constexpr std::string_view kLayoutPrefix = "oci:";

struct LayoutName {
  std::string folder;
  std::string tag;
};

// "oci:DIR" or "oci:DIR:TAG".
Result<LayoutName> ParseLayoutName(std::string_view text) {
  if (text.substr(0, kLayoutPrefix.size()) != kLayoutPrefix) {
    return absl::InvalidArgumentError(fmt::format("{} is not oci:DIR[:TAG]", text));
  }
  text.remove_prefix(kLayoutPrefix.size());
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.find('/', colon) != std::string_view::npos) {
    return LayoutName{std::string(text), ""};
  }
  return LayoutName{std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

// The layout's image for this machine.
Result<oci::Descriptor> FindManifest(OciLayout& layout, const std::string& tag) {
  SOCI_ASSIGN_OR_RETURN(std::vector<oci::Descriptor> images, layout.FindImages(tag));
  if (images.empty()) return absl::NotFoundError(fmt::format("the layout has no image {}", tag));
  oci::ImageIndex entries;
  entries.manifests = std::move(images);
  if (entries.manifests.size() == 1) {
    const oci::Descriptor only = entries.manifests[0];
    if (only.media_type != oci::kMediaTypeImageIndex && only.media_type != oci::kMediaTypeDockerManifestList) {
      return only;
    }
    SOCI_ASSIGN_OR_RETURN(std::string json, ReadBlob(layout, only));
    SOCI_ASSIGN_OR_RETURN(entries, oci::ImageIndex::Parse(json));
  }
  const oci::Platform host = oci::HostPlatform();
  const oci::Descriptor* found = oci::FindPlatform(entries, host);
  if (found == nullptr) return absl::NotFoundError(fmt::format("it has no image for {}", host.ToString()));
  return *found;
}

// `name`: a digest, or a number from 1.
Result<oci::Descriptor> FindLayer(const oci::Manifest& manifest, const std::string& name) {
  size_t number = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && end == name.data() + name.size() && number >= 1 && number <= manifest.layers.size()) {
    return manifest.layers[number - 1];
  }
  for (const oci::Descriptor& layer : manifest.layers) {
    if (layer.digest.ToString() == name) return layer;
  }
  return absl::NotFoundError(fmt::format("the image has {} layers, none is {}", manifest.layers.size(), name));
}

// A state directory for one run, unless the user named one to keep.
class StateFolder {
 public:
  static Result<std::unique_ptr<StateFolder>> Make(const std::string& wanted) {
    if (!wanted.empty()) {
      SOCI_RETURN_IF_ERROR(MakeDirectories(wanted, 0700));
      return std::unique_ptr<StateFolder>(new StateFolder(wanted, false));
    }
    std::string path = std::filesystem::temp_directory_path().string() + "/soci-mount-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return ErrnoStatus(errno, "making " + path);
    return std::unique_ptr<StateFolder>(new StateFolder(path, true));
  }
  ~StateFolder() {
    if (!temporary_) return;
    if (Status removed = RemoveTree(path_); !removed.ok()) log::Warning("{}", Message(removed));
  }
  const std::string& path() const { return path_; }

 private:
  StateFolder(std::string path, bool temporary) : path_(std::move(path)), temporary_(temporary) {}
  const std::string path_;
  const bool temporary_;
};

Status Run(const MountLayerOptions& options, StopSignals& signals) {
  SOCI_ASSIGN_OR_RETURN(LayoutName name, ParseLayoutName(options.image));
  SOCI_ASSIGN_OR_RETURN(auto layout, OciLayout::Open(name.folder));
  SOCI_ASSIGN_OR_RETURN(oci::Descriptor target, FindManifest(*layout, name.tag));
  SOCI_ASSIGN_OR_RETURN(std::string json, ReadBlob(*layout, target));
  SOCI_ASSIGN_OR_RETURN(oci::Manifest manifest, oci::Manifest::Parse(json));
  SOCI_ASSIGN_OR_RETURN(oci::Descriptor wanted, FindLayer(manifest, options.layer));
  const oci::LayerDigest layer(wanted.digest);

  SOCI_ASSIGN_OR_RETURN(auto state, StateFolder::Make(options.state));
  LayoutRegistry registry(*layout);
  FetchScheduler scheduler(SystemClock());
  NullKeeper keeper;
  SOCI_ASSIGN_OR_RETURN(auto mounter, SessionPool::Start(keeper));
  FdCache files;
  ThreadPool io("cold-read", 2);
  LayerFolders folders({state->path(), state->path()});
  folders.KeepAll();
  ImageSessions sessions(registry, folders, SystemClock(), {});

  LayerRequest request{oci::Reference::Parse("layout/image:latest").value(), target.digest, layer, std::nullopt};
  SOCI_ASSIGN_OR_RETURN(auto image, sessions.Get(request));
  if (!image->soci_index) return absl::NotFoundError(image->reason);
  const PreparedLayer& prepared = image->layers.at(layer);
  if (!prepared.origin) return absl::NotFoundError(prepared.reason);

  const LiveLayer::Parts parts{registry, scheduler, *mounter, files, io, {}};
  const LiveLayer::Place place{folders.paths().LayerFolder(layer), options.mount_point, ""};
  struct stat before {};
  const bool existed = ::stat(options.mount_point.c_str(), &before) == 0;
  {
    SOCI_ASSIGN_OR_RETURN(auto live,
                          LiveLayer::Open(parts, place, layer, *prepared.origin, prepared.hold, prepared.table));
    if (options.fill) live->StartFill([&] { log::Info("layer {}: every byte is here", layer.ToString()); });
    fmt::print("{} is mounted at {}; Ctrl-C ends it\n", layer.ToString(), options.mount_point);
    std::fflush(stdout);
    signals.Wait();
    live->CloseFiles();
  }
  if (existed) ::mkdir(options.mount_point.c_str(), before.st_mode & 07777);  // unmounting took it away
  return OkStatus();
}

}  // namespace

int MountLayer(const MountLayerOptions& options, StopSignals& signals) {
  if (::geteuid() != 0) {
    Fail(absl::PermissionDeniedError("mount-layer: it mounts a file system and has to run as root"));
    return kExitFailed;
  }
  Status status = Run(options, signals);
  if (!status.ok()) return Fail(Annotate(status, "mount-layer " + options.image));
  return kExitDone;
}

}  // namespace soci
