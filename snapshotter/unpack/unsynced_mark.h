// A layer is used as soon as it is unpacked, before its bytes have reached the disk; until then a mark in its folder
// says in which run of the kernel it was written. After another boot a folder with a mark is worth nothing.
//
// containerd does not sync at all, so waiting for the disk here would make our pull the slower one.
#pragma once

#include <string>

#include "fuse/store/boot_id.h"
#include "indexer/base/result.h"

namespace soci {

// Before anything is written to the folder. The mark itself is on the disk when this returns.
Status MarkUnsynced(const std::string& layer_folder, const BootId& boot = ThisBoot());

enum class UnsyncedMark { kNone, kOfThisBoot, kOfAnotherBoot };
UnsyncedMark ReadUnsyncedMark(const std::string& layer_folder, const BootId& boot = ThisBoot());

// Waits until everything is on the disk, then takes the mark away. Blocks for as long as the disk needs.
Status SyncAndUnmark(const std::string& layer_folder);

}  // namespace soci
