// The kernel's end of a session: writes raw FUSE requests into one end of a socket pair and reads the replies, so that
// callbacks run without a mount or root. One thread at a time.
#pragma once

#include <linux/fuse.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "fuse/layer/layer_reader.h"
#include "indexer/base/unique_fd.h"

namespace soci::test {

struct KernelReply {
  uint64_t unique = 0;
  int error = 0;  // positive
  std::string body;

  // The body as one of the protocol's structs; zeros where it is shorter.
  template <typename T>
  T As() const {
    T value{};
    std::memcpy(&value, body.data(), std::min(body.size(), sizeof value));
    return value;
  }
};

struct KernelName {
  std::string name;
  uint64_t inode = 0;
  uint64_t next = 0;
  uint32_t type = 0;
  uint64_t entry_node = 0;  // readdirplus
};

class KernelEnd {
 public:
  KernelEnd();

  // The server's end, once.
  UniqueFd TakeServerEnd() { return std::move(server_); }

  // Sends a request, returns its unique.
  uint64_t Send(uint32_t opcode, uint64_t node, std::string_view body);
  template <typename T>
  uint64_t SendStruct(uint32_t opcode, uint64_t node, const T& body) {
    return Send(opcode, node, std::string_view(reinterpret_cast<const char*>(&body), sizeof body));
  }
  // Again, word for word.
  void SendRaw(std::string_view request);

  // The next reply; fails the test after ten seconds.
  KernelReply Receive();
  // Whether nothing has been answered so far.
  bool Silent();

  KernelReply Init();
  KernelReply Lookup(uint64_t parent, std::string_view name);
  KernelReply GetAttributes(uint64_t node);
  KernelReply Read(uint64_t node, uint64_t offset, uint32_t size);
  KernelReply GetXattr(uint64_t node, std::string_view name, uint32_t size);
  KernelReply Seek(uint64_t node, uint64_t offset, uint32_t whence);
  KernelReply ReadDirectory(uint64_t node, uint64_t offset, uint32_t size, bool plus);

  static std::string ReadBody(uint64_t offset, uint32_t size);
  const std::string& last_request() const { return last_request_; }

 private:
  UniqueFd kernel_;
  UniqueFd server_;
  uint64_t unique_ = 0;
  std::string last_request_;
};

std::vector<KernelName> ParseDirectory(std::string_view page, bool plus);

}  // namespace soci::test
