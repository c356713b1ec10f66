// Blobs in containerd's content store: written whole or streamed, read, and given labels. Any thread.
//
// Everything is written with the digest that is expected, and containerd checks it too. A blob that exists already is
// fine: it gets the labels and the lease as if it had been written.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "indexer/base/byte_stream.h"
#include "indexer/content/containerd_channel.h"
#include "indexer/oci/descriptor.h"

namespace soci {

class ContainerdContent {
 public:
  using Labels = std::map<std::string, std::string>;
  using Progress = std::function<void(uint64_t)>;  // bytes written so far

  explicit ContainerdContent(const ContainerdChannel& channel) : channel_(channel) {}

  Result<bool> Has(const oci::Digest& digest);
  // kResourceExhausted if it is larger than `limit`.
  Result<std::string> Read(const oci::Digest& digest, uint64_t limit);
  Status Put(const oci::Descriptor& blob, std::string_view bytes, const Labels& labels);
  // kDataLoss if the stream's bytes are not the blob's.
  Status Copy(const oci::Descriptor& blob, ByteStream& bytes, const Labels& labels, const Progress& progress = {});

 private:
  Status SetLabels(const oci::Digest& digest, const Labels& labels);
  // What an interrupted write left; containerd would go on with it.
  void Abort(const std::string& ref);

  const ContainerdChannel& channel_;
};

}  // namespace soci
