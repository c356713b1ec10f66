// A layer is used as soon as it is unpacked, before its bytes have reached the disk; until then a mark in its folder
// says in which run of the kernel it was written. After another boot a folder with a mark is worth nothing.
//
// containerd does not sync at all, so waiting for the disk here would make our pull the slower one. The mark itself is
// not waited for either: it is the first name in its folder, and file systems keep the order of names. Torn, it is a
// mark of another boot.
#pragma once

#include <string>

#include "fuse/store/boot_id.h"
#include "indexer/base/result.h"

namespace soci {

// Before anything is written to the folder.
Status MarkUnsynced(const std::string& layer_folder, const BootId& boot = ThisBoot());

enum class UnsyncedMark { kNone, kOfThisBoot, kOfAnotherBoot };
UnsyncedMark ReadUnsyncedMark(const std::string& layer_folder, const BootId& boot = ThisBoot());

// The file system was synced since the layer was unpacked.
Status UnmarkSynced(const std::string& layer_folder);

}  // namespace soci
