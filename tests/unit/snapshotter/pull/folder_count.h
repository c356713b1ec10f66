// How often this program has asked for a folder to be made: mkdir, counted in its place.
#pragma once

namespace soci::test {

int FolderCount();

}  // namespace soci::test
