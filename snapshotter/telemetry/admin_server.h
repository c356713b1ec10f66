// The status and admin socket: one line of JSON in, one line of JSON out, for root only.
//
// One thread answers, one request at a time: operators ask, machines scrape metrics. A client that stays silent is cut
// off after a few seconds. The handler must not block for long.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "indexer/base/result.h"
#include "indexer/base/unique_fd.h"

namespace soci {

class AdminServer {
 public:
  using Handler = std::function<std::string(std::string_view request)>;  // a line each, without its newline

  // Takes the place of a socket that nobody listens on. kAlreadyExists if somebody does.
  static Result<std::unique_ptr<AdminServer>> Start(const std::string& socket_path, Handler handler);
  ~AdminServer();  // waits for the answer under way; removes the socket

 private:
  AdminServer(std::string socket_path, Handler handler, UniqueFd listener, UniqueFd stop);
  void Serve();
  void Answer(const UniqueFd& client);

  const std::string socket_path_;
  const Handler handler_;
  const UniqueFd listener_;
  const UniqueFd stop_;  // an eventfd
  std::thread thread_;
};

// Asks a server. kUnavailable, naming the socket, if nobody answers; kPermissionDenied without the right to.
Result<std::string> AskAdmin(const std::string& socket_path, std::string_view request);

}  // namespace soci
