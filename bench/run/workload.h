// What runs in the container, and when it counts as ready.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "indexer/base/result.h"

namespace soci::bench {

// A point by this name is taken when a line of the output contains the text.
struct Mark {
  std::string name, line;
};

struct Workload {
  enum class Ready { kEnd, kLine, kPort, kHttp };

  std::string name;  // for reports
  std::vector<std::string> command;
  Ready ready = Ready::kEnd;
  std::string line = {};                 // kLine: in one of its output lines
  uint16_t port = 0;                     // kPort, kHttp: of the host, whose network the container shares
  std::string path = "/";                // kHttp
  bool stop_when_ready = false;          // a server does not end by itself
  std::vector<Mark> marks = {};          // points of its own, between "first output" and "work finished"
  std::vector<std::string> mounts = {};  // as ctr's --mount takes them

  bool shares_network() const { return ready == Ready::kPort || ready == Ready::kHttp; }
};

// "http://127.0.0.1:PORT/PATH" (or localhost): where readiness is asked for. kInvalidArgument for others.
Status SetReadyUrl(const std::string& url, Workload& workload);

// Whether somebody listens on the port, and whether GET of the path is answered with 200. Neither takes longer than a
// second.
bool PortIsOpen(uint16_t port);
bool AnswersWith200(uint16_t port, const std::string& path);

}  // namespace soci::bench
