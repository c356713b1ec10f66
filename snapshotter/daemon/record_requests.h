// What the admin socket answers about recordings that `soci-snapshotter record` asked for; and how the verb asks.
//
// record-begin {image, manifest, quiet_ms, max_bytes} gives {recording}; record-state {recording} gives {state, end,
// layers}; record-take {recording, keep} gives {record}, as Base64. Anything may come, and gets {error} at worst.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/base/result.h"
#include "indexer/oci/digest.h"
#include "indexer/record/record.h"

namespace soci {

class ImageRecords;

// `defaults`: the limits of a recording that names none.
struct RecordingLimits {
  std::chrono::milliseconds quiet{20'000};
  uint64_t max_bytes = 0;
};
// The answer to one of these requests; nothing if it is another's.
std::optional<std::string> AnswerRecordRequest(ImageRecords& records, std::string_view request,
                                               const RecordingLimits& defaults);

// The verb's side: asks a daemon's admin socket.
class RecordingClient {
 public:
  struct Begin {
    std::string image;
    oci::Digest manifest;
    std::optional<std::chrono::milliseconds> quiet;
    std::optional<uint64_t> max_bytes;
  };
  static Result<RecordingClient> Ask(const std::string& socket, const Begin& begin);

  const std::string& name() const { return name_; }

  struct State {
    bool over = false;                // while the container goes on: its end is for who started it to tell
    std::string end;                  // why, in words
    std::vector<std::string> layers;  // that are watched
  };
  Result<State> Look() const;
  Result<Record> Take(bool keep) const;
  // Its container is gone, and its mounts go.
  Status Release() const;

 private:
  RecordingClient(std::string socket, std::string name) : socket_(std::move(socket)), name_(std::move(name)) {}

  std::string socket_;
  std::string name_;
};

}  // namespace soci
