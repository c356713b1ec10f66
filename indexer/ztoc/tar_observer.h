// Told what a layer's tar holds while the layer is scanned: each member, and all bytes in order.
//
// Called by one thread at a time, which may be another one than the scanner's. A status that is not ok ends the scan.
#pragma once

#include <cstdint>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"
#include "indexer/tar/entry.h"

namespace soci {

class TarObserver {
 public:
  virtual ~TarObserver() = default;
  // Before the bytes of its data: they are in the piece that holds its header, or in later ones.
  virtual Status OnMember(const tar::Entry& member) = 0;
  // The next bytes of the tar, from `position` on; its members that begin in them were told before.
  virtual Status OnTar(uint64_t position, ByteSpan bytes) = 0;
};

}  // namespace soci
