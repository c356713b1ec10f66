// Unix stream sockets as the admin side uses them: listen for root only, connect, send and receive one line.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "indexer/base/result.h"
#include "indexer/base/unique_fd.h"

namespace soci {

// Mode 0600. A stale socket file is replaced; kAlreadyExists if somebody answers there.
Result<UniqueFd> ListenUnix(const std::string& path);
Result<UniqueFd> ConnectUnix(const std::string& path);

// Both give up with kDeadlineExceeded when the other side does nothing for `patience`.
Status SendLine(const UniqueFd& socket, std::string_view line, std::chrono::milliseconds patience);
// Without the newline; kResourceExhausted beyond `limit` bytes.
Result<std::string> ReceiveLine(const UniqueFd& socket, size_t limit, std::chrono::milliseconds patience);

}  // namespace soci
