#include "indexer/ztoc/tar_thread.h"

namespace soci {

TarThread::TarThread(TarObserver* observer)
    : toc_(observer),
      blocks_({[this](ByteSpan bytes) { return toc_.Push(bytes); },
               [this](ByteSpan bytes) {
                 diff_id_.Update(bytes);
                 return OkStatus();
               }}) {}

Status TarThread::Finish() {
  SOCI_RETURN_IF_ERROR(Drain());
  return toc_.Finish();
}

}  // namespace soci
