// How the program reaches images: opens what a target names, with the user's own credentials for registries.
//
// The network is set up when the first registry is opened. One thread opens; the homes may be used from any thread and
// must not outlive the connection.
#pragma once

#include <memory>

#include "indexer/cli/commands.h"
#include "indexer/cli/target.h"
#include "indexer/index/image_home.h"

namespace soci::cli {

class Connection {
 public:
  explicit Connection(const ConnectionArguments& arguments);
  ~Connection();

  // An archive that gets an index is written to `output`; empty: in its own place.
  Result<std::unique_ptr<ImageHome>> Open(const Target& target, const std::string& output = {});

 private:
  struct Network;

  const ConnectionArguments arguments_;
  std::unique_ptr<Network> network_;
};

}  // namespace soci::cli
