// Keeps nothing: mounts end with the process, and the next start mounts anew. Any thread.
#pragma once

#include "fuse/session/descriptor_keeper.h"

namespace soci {

class NullKeeper : public DescriptorKeeper {
 public:
  Status Keep(const std::string&, int, uint32_t) override { return OkStatus(); }
  Status SaveInit(const std::string&, std::string_view) override { return OkStatus(); }
  Result<std::optional<KeptMount>> Take(const std::string&) override { return std::optional<KeptMount>(); }
  void Forget(const std::string&) override {}
};

}  // namespace soci
