// A record as a stranger may write it: every field as told, sound or not. And how it gets into a registry.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "indexer/record/record.h"
#include "tests/e2e/support/docker_registry.h"
#include "tests/e2e/support/image.h"

namespace soci::test {

struct RawExtent {
  uint64_t file = 0;
  uint64_t page = 0;
  uint64_t pages = 1;
  uint64_t think = 0;  // in kThinkStep
};

struct RawRecord {
  std::string manifest = {};
  std::vector<std::string> layers = {};
  std::vector<RecordedFile> files = {};
  std::vector<RawExtent> extents = {};

  std::string Message() const;
  std::string Encode() const;  // the message in a frame
};

// One zstd frame.
std::string ZstdFrame(const std::string& bytes);

// Lists a record of these bytes among the image's referrers, by the tag.
void PublishBytes(const DockerRegistry& registry, const std::string& repository, const TestImage& image,
                  const std::string& bytes);

}  // namespace soci::test
