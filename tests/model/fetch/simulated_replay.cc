#include "tests/model/fetch/simulated_replay.h"

#include <algorithm>

#include "indexer/record/record_builder.h"

namespace soci::test {

Record RecordOf(const std::vector<ProgramRead>& reads, const std::vector<std::vector<UncompressedRange>>& files) {
  std::vector<oci::LayerDigest> layers;
  for (uint32_t layer = 0; layer < files.size(); ++layer) layers.push_back(SimulatedLayer::DigestOf(layer));
  RecordBuilder builder(oci::Digest::Of("image"), layers);
  std::chrono::microseconds now(0);
  for (const ProgramRead& read : reads) {
    now += read.think;
    builder.Add(layers[read.layer], SimulatedLayer::NameOf(ToNumber(read.file) - 2), read.content.size(),
                read.wanted.begin - read.content.begin, read.wanted.size(), static_cast<uint64_t>(now.count()));
  }
  return builder.Build();
}

Record InOrderOfOffset(Record record, const std::vector<std::vector<UncompressedRange>>& files) {
  const auto place = [&](const RecordedExtent& extent) {
    const RecordedFile& file = record.files[extent.file];
    return std::pair(file.layer, files[file.layer].at(std::stoul(file.path)).begin + extent.offset);
  };
  std::sort(record.extents.begin(), record.extents.end(),
            [&](const RecordedExtent& a, const RecordedExtent& b) { return place(a) < place(b); });
  for (RecordedExtent& extent : record.extents) extent.think_us = 0;
  return record;
}

class SimulatedReplay::NotingFetcher final : public LayerFetcher {
 public:
  NotingFetcher(LayerFetcher& fetcher, uint32_t layer, std::vector<Span>& came)
      : fetcher_(fetcher), layer_(layer), came_(came) {}

  void Get(SpanId span, FetchClass fetch_class, Callback done) override {
    fetcher_.Get(span, fetch_class, std::move(done));
  }
  void Replay(const std::vector<SpanId>& spans, int64_t due, const Arrived& arrived) override {
    fetcher_.Replay(spans, due, [this, arrived](SpanId span, const Status& status) {
      came_.emplace_back(layer_, ToIndex(span));
      arrived(span, status);
    });
  }
  void Foresee(const std::vector<SpanId>& spans) override { fetcher_.Foresee(spans); }
  void StartFill(std::function<void()> complete) override { fetcher_.StartFill(std::move(complete)); }
  void StopFill() override { fetcher_.StopFill(); }
  FillState fill_state() const override { return fetcher_.fill_state(); }

 private:
  LayerFetcher& fetcher_;
  const uint32_t layer_;
  std::vector<Span>& came_;
};

SimulatedReplay::SimulatedReplay(Simulation& simulation, Record record, const ImageReplay::Options& options)
    : simulation_(simulation),
      replay_(std::make_shared<ImageReplay>("image", std::move(record), simulation.clock(), simulation.program_clock(),
                                            options)) {}

SimulatedReplay::~SimulatedReplay() {
  for (uint32_t layer = 0; layer < fetchers_.size(); ++layer) replay_->Leave(SimulatedLayer::DigestOf(layer));
  // Answers that are under way come while the fetchers are closed.
  for (auto& layer : simulation_.layers()) layer->Close();
}

void SimulatedReplay::Join() {
  for (auto& layer : simulation_.layers()) {
    const auto number = static_cast<uint32_t>(fetchers_.size());
    fetchers_.push_back(std::make_unique<NotingFetcher>(layer->fetcher(), number, came_));
    replay_->Join({SimulatedLayer::DigestOf(number), layer->shared_table(), &layer->store(), fetchers_.back().get(),
                   &layer->first_reads()});
  }
}

}  // namespace soci::test
