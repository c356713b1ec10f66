// Tells the service supervisor, if there is one that listens (NOTIFY_SOCKET), how the daemon is doing.
#pragma once

#include <string_view>

namespace soci {

// Such as "READY=1" or "STOPPING=1". Errors do not matter.
void NotifySupervisor(std::string_view state);

}  // namespace soci
