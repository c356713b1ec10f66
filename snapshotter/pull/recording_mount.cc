#include "snapshotter/pull/recording_mount.h"

#include "fuse/fetch/layer_fetcher.h"
#include "fuse/layer/make_layer_reader.h"

namespace soci {
namespace {

// Of a layer that is here as a whole: there is nothing to fetch.
class NothingToFetch final : public LayerFetcher {
 public:
  void Get(SpanId /*span*/, FetchClass /*fetch_class*/, Callback done) override {
    done(absl::AlreadyExistsError("the layer is here as a whole"));
  }
  void Foresee(const std::vector<SpanId>& /*spans*/) override {}
  void StartFill(std::function<void()> complete) override {
    if (complete) complete();
  }
  void StopFill() override {}
  FillState fill_state() const override { return FillState::kComplete; }
};

}  // namespace

Result<std::unique_ptr<RecordingMount>> RecordingMount::Make(const Layer& layer, const Parts& parts,
                                                             const std::string& mount_point) {
  std::unique_ptr<RecordingMount> made(new RecordingMount(layer));
  if (layer.fetcher == nullptr) made->own_fetcher_ = std::make_unique<NothingToFetch>();
  made->reader_ = MakeLayerReader(layer.table, layer.store, made->fetcher(), parts.io, parts.read_ahead,
                                  {&made->first_reads_, parts.program_clock});
  SOCI_ASSIGN_OR_RETURN(made->mount_, parts.mounter.Mount(*made->reader_, mount_point));
  return made;
}

RecordingMount::RecordingMount(const Layer& layer)
    : digest_(layer.digest),
      table_(layer.table),
      store_(layer.store),
      fetcher_(layer.fetcher),
      first_reads_(layer.table) {}

RecordingMount::~RecordingMount() = default;

}  // namespace soci
