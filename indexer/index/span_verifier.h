// Decodes every span of a layer by itself, as a reader that starts there would, while the layer's bytes pass by in
// order.
//
// The digest of what each span decodes to is kept, to be compared with what the layer holds there. Holds one span,
// compressed and decoded. One thread at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "indexer/base/bytes.h"
#include "indexer/index/layer_faults.h"
#include "indexer/ztoc/ztoc.h"

namespace soci {

class SpanVerifier {
 public:
  // Borrows both.
  SpanVerifier(const ZtocView& ztoc, LayerFaults& faults);

  // The next bytes of the layer as stored.
  void OnCompressed(ByteSpan bytes);
  // No more bytes will come.
  void Finish();

  // What each span decodes to; nothing for one that is at fault.
  const std::vector<std::optional<oci::Digest>>& decoded() const { return decoded_; }

 private:
  void VerifySpan(size_t id, ByteSpan compressed);

  const ZtocView& ztoc_;
  const std::vector<SpanExtent> spans_;
  LayerFaults& faults_;
  std::string pending_;  // bytes of the layer from pending_begin_ on
  uint64_t pending_begin_ = 0;
  size_t next_ = 0;  // the span that is waited for
  std::vector<std::optional<oci::Digest>> decoded_;
};

}  // namespace soci
