// How often this program has asked for bytes to be on the disk: fsync, fdatasync and syncfs, counted in their place.
#pragma once

namespace soci::test {

int SyncCount();

}  // namespace soci::test
