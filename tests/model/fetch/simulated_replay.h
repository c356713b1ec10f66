// The replay of a program's record in a simulation, by the daemon's own parts; and in which order the spans came.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "indexer/record/record.h"
#include "snapshotter/replay/image_replay.h"
#include "tests/model/fetch/programs.h"
#include "tests/model/fetch/simulation.h"

namespace soci::test {

// What the daemon would have recorded of a program with these reads.
Record RecordOf(const std::vector<ProgramRead>& reads, const std::vector<std::vector<UncompressedRange>>& files);

// The same extents in the order in which they lie in the image, all of them at once.
Record InOrderOfOffset(Record record, const std::vector<std::vector<UncompressedRange>>& files);

class SimulatedReplay {
 public:
  using Span = std::pair<uint32_t, uint32_t>;  // layer, span

  // The simulation's layers are there, with files, and outlive it.
  SimulatedReplay(Simulation& simulation, Record record, const ImageReplay::Options& options = {});
  ~SimulatedReplay();

  void Join();
  ReplayReport Report() const { return replay_->Report(); }
  const std::vector<Span>& came() const { return came_; }

 private:
  class NotingFetcher;

  Simulation& simulation_;
  std::vector<Span> came_;
  std::vector<std::unique_ptr<NotingFetcher>> fetchers_;
  std::shared_ptr<ImageReplay> replay_;
};

}  // namespace soci::test
