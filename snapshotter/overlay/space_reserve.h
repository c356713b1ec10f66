// A little room on the disk, kept for the moment when there is no other: to remove something the database has to write.
//
// Any thread.
#pragma once

#include <string>

namespace soci {

class SpaceReserve {
 public:
  explicit SpaceReserve(std::string path) : path_(std::move(path)) {}

  // Takes the room again if it is not held; best effort.
  void Hold() const;
  // False: there was none.
  bool GiveUp() const;

 private:
  const std::string path_;
};

}  // namespace soci
