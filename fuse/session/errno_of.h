// The one translation from a status to the errno a filesystem's caller sees. Pure.
#pragma once

#include "indexer/base/result.h"

namespace soci {

// The errno that the status carries, else one chosen by its code; EIO for whatever a file's reader cannot act on. Never
// EINTR, EAGAIN or ENOSYS: the kernel would take each of them for something else than a failed read.
int ErrnoOf(const Status& status);

}  // namespace soci
