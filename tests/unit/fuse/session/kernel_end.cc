#include "tests/unit/fuse/session/kernel_end.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

namespace soci::test {
namespace {

template <typename T>
std::string Raw(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

KernelEnd::KernelEnd() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) ADD_FAILURE();
  int room = 4 << 20;
  ::setsockopt(ends[1], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
  ::setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  kernel_.Reset(ends[0]);
  server_.Reset(ends[1]);
}

uint64_t KernelEnd::Send(uint32_t opcode, uint64_t node, std::string_view body) {
  fuse_in_header header{};
  header.len = static_cast<uint32_t>(sizeof header + body.size());
  header.opcode = opcode;
  header.unique = unique_ += 2;
  header.nodeid = node;
  last_request_ = Raw(header).append(body);
  SendRaw(last_request_);
  return header.unique;
}

void KernelEnd::SendRaw(std::string_view request) {
  EXPECT_EQ(::write(kernel_.get(), request.data(), request.size()), static_cast<ssize_t>(request.size()));
}

KernelReply KernelEnd::Receive() {
  pollfd entry{kernel_.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&entry, 1, 10'000), 1) << "no reply";
  std::string packet(2 << 20, '\0');
  ssize_t got = ::recv(kernel_.get(), packet.data(), packet.size(), MSG_DONTWAIT);
  EXPECT_GE(got, static_cast<ssize_t>(sizeof(fuse_out_header)));
  if (got < static_cast<ssize_t>(sizeof(fuse_out_header))) return {};
  fuse_out_header header;
  std::memcpy(&header, packet.data(), sizeof header);
  EXPECT_EQ(header.len, static_cast<uint32_t>(got));
  return {header.unique, -header.error, packet.substr(sizeof header, static_cast<size_t>(got) - sizeof header)};
}

bool KernelEnd::Silent() {
  pollfd entry{kernel_.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) == 0;
}

KernelReply KernelEnd::Init() {
  fuse_init_in init{};
  init.major = 7;
  init.minor = 38;
  init.max_readahead = 131072;
  init.flags = ~FUSE_WRITEBACK_CACHE;
  init.flags2 = 0;
  SendStruct(FUSE_INIT, 0, init);
  return Receive();
}

KernelReply KernelEnd::Lookup(uint64_t parent, std::string_view name) {
  Send(FUSE_LOOKUP, parent, std::string(name) + '\0');
  return Receive();
}

KernelReply KernelEnd::GetAttributes(uint64_t node) {
  SendStruct(FUSE_GETATTR, node, fuse_getattr_in{});
  return Receive();
}

std::string KernelEnd::ReadBody(uint64_t offset, uint32_t size) {
  fuse_read_in read{};
  read.offset = offset;
  read.size = size;
  return Raw(read);
}

KernelReply KernelEnd::Read(uint64_t node, uint64_t offset, uint32_t size) {
  Send(FUSE_READ, node, ReadBody(offset, size));
  return Receive();
}

KernelReply KernelEnd::GetXattr(uint64_t node, std::string_view name, uint32_t size) {
  fuse_getxattr_in get{};
  get.size = size;
  Send(FUSE_GETXATTR, node, Raw(get).append(name) + '\0');
  return Receive();
}

KernelReply KernelEnd::Seek(uint64_t node, uint64_t offset, uint32_t whence) {
  fuse_lseek_in seek{};
  seek.offset = offset;
  seek.whence = whence;
  SendStruct(FUSE_LSEEK, node, seek);
  return Receive();
}

KernelReply KernelEnd::ReadDirectory(uint64_t node, uint64_t offset, uint32_t size, bool plus) {
  Send(plus ? FUSE_READDIRPLUS : FUSE_READDIR, node, ReadBody(offset, size));
  return Receive();
}

std::vector<KernelName> ParseDirectory(std::string_view page, bool plus) {
  std::vector<KernelName> names;
  while (!page.empty()) {
    KernelName name;
    size_t head = 0;
    if (plus) {
      fuse_entry_out entry;
      std::memcpy(&entry, page.data(), sizeof entry);
      name.entry_node = entry.nodeid;
      head = sizeof entry;
    }
    fuse_dirent entry;
    std::memcpy(&entry, page.data() + head, FUSE_NAME_OFFSET);
    name.name = std::string(page.substr(head + FUSE_NAME_OFFSET, entry.namelen));
    name.inode = entry.ino;
    name.next = entry.off;
    name.type = entry.type;
    names.push_back(name);
    page.remove_prefix(std::min(page.size(), head + FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + entry.namelen)));
  }
  return names;
}

}  // namespace soci::test
