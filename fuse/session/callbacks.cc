#define FUSE_USE_VERSION 312
#include "fuse/session/callbacks.h"

#include <fuse3/fuse_lowlevel.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuse/session/attributes.h"
#include "fuse/session/errno_of.h"
#include "fuse/session/pending_read.h"
#include "fuse/session/session.h"

namespace soci {
namespace {

Session& SessionOf(fuse_req_t request) { return *static_cast<Session*>(fuse_req_userdata(request)); }
const LayerTable& TableOf(fuse_req_t request) { return SessionOf(request).layer().table(); }
double CacheSeconds(fuse_req_t request) { return static_cast<double>(SessionOf(request).options().cache_time.count()); }

// The attributes of an inode; if the kernel names one that is not in the layer, ESTALE is replied and nothing returned.
std::optional<InodeAttributes> AttributesOr(fuse_req_t request, fuse_ino_t inode) {
  std::optional<InodeAttributes> attributes = TableOf(request).Attributes(InodeId{inode});
  if (!attributes) fuse_reply_err(request, ESTALE);
  return attributes;
}

// The same for a directory; ENOTDIR for anything else.
bool IsDirectoryOr(fuse_req_t request, fuse_ino_t inode) {
  std::optional<InodeAttributes> attributes = AttributesOr(request, inode);
  if (!attributes) return false;
  if (!S_ISDIR(attributes->mode)) fuse_reply_err(request, ENOTDIR);
  return S_ISDIR(attributes->mode);
}

fuse_entry_param EntryOf(InodeId inode, const InodeAttributes& attributes, double cache_seconds) {
  fuse_entry_param entry{};
  entry.ino = ToNumber(inode);
  entry.attr = StatOf(inode, attributes);
  entry.attr_timeout = entry.entry_timeout = cache_seconds;
  return entry;
}

void OnInit(void* session, fuse_conn_info* connection) {
  const SessionOptions& options = static_cast<Session*>(session)->options();
  unsigned wanted = FUSE_CAP_ASYNC_READ | FUSE_CAP_ASYNC_DIO | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_CACHE_SYMLINKS |
                    FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_EXPORT_SUPPORT |
                    FUSE_CAP_NO_OPENDIR_SUPPORT;
  if (options.never_open) wanted |= FUSE_CAP_NO_OPEN_SUPPORT;
  connection->want = wanted & connection->capable;
  connection->max_background = options.max_background;
  connection->congestion_threshold = options.max_background * 3 / 4;
}

void OnLookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  if (!IsDirectoryOr(request, parent)) return;
  const LayerTable& table = TableOf(request);
  std::optional<InodeId> found;
  // The kernel asks for these two when it has only a node's number left.
  if (std::string_view(name) == ".") {
    found = InodeId{parent};
  } else if (std::string_view(name) == "..") {
    found = table.Parent(InodeId{parent});
  } else {
    found = table.Lookup(InodeId{parent}, name);
  }
  std::optional<InodeAttributes> attributes = found ? table.Attributes(*found) : std::nullopt;
  fuse_entry_param entry{};
  entry.entry_timeout = CacheSeconds(request);  // node 0: the name is missing, and may be remembered as missing
  if (attributes) entry = EntryOf(*found, *attributes, CacheSeconds(request));
  fuse_reply_entry(request, &entry);
}

void OnForget(fuse_req_t request, fuse_ino_t, uint64_t) { fuse_reply_none(request); }
void OnForgetMulti(fuse_req_t request, size_t, fuse_forget_data*) { fuse_reply_none(request); }

void OnGetAttributes(fuse_req_t request, fuse_ino_t inode, fuse_file_info*) {
  std::optional<InodeAttributes> attributes = AttributesOr(request, inode);
  if (!attributes) return;
  struct stat answer = StatOf(InodeId{inode}, *attributes);
  fuse_reply_attr(request, &answer, CacheSeconds(request));
}

void OnReadLink(fuse_req_t request, fuse_ino_t inode) {
  std::optional<InodeAttributes> attributes = AttributesOr(request, inode);
  if (!attributes) return;
  if (!S_ISLNK(attributes->mode)) return void(fuse_reply_err(request, EINVAL));
  std::string_view target = TableOf(request).LinkTarget(InodeId{inode});
  fuse_reply_buf(request, target.data(), target.size());
}

void OnOpen(fuse_req_t request, fuse_ino_t inode, fuse_file_info* file) {
  if (SessionOf(request).options().never_open) return void(fuse_reply_err(request, ENOSYS));
  if (!AttributesOr(request, inode)) return;
  file->fh = inode;
  file->keep_cache = 1;
  file->noflush = 1;
  fuse_reply_open(request, file);
}

void OnOpenDirectory(fuse_req_t request, fuse_ino_t, fuse_file_info*) { fuse_reply_err(request, ENOSYS); }
void OnRelease(fuse_req_t request, fuse_ino_t, fuse_file_info*) { fuse_reply_err(request, 0); }

void OnRead(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset, fuse_file_info*) {
  if (offset < 0) return void(fuse_reply_err(request, EINVAL));
  Session& session = SessionOf(request);
  auto read = std::make_shared<PendingRead>(session.shared_from_this(), request, InodeId{inode}, size);
  session.layer().Read(InodeId{inode}, static_cast<uint64_t>(offset), size,
                       [read = std::move(read)](Result<ByteSpan> bytes) { read->Reply(bytes); });
}

// Offsets in a directory: 1 lies after ".", 2 after "..", 3 + rank after the child of that rank.
void ReadDirectory(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset, bool plus) {
  if (!IsDirectoryOr(request, inode)) return;
  const LayerTable& table = TableOf(request);
  InodeId directory{inode};
  thread_local std::vector<char> page;
  thread_local std::string name;
  page.resize(size);
  size_t used = 0;
  uint64_t end = table.ChildCount(directory) + 2;
  for (uint64_t place = offset < 0 ? end : static_cast<uint64_t>(offset); place < end; ++place) {
    DirectoryChild child;
    if (place < 2) {
      child = {place == 0 ? "." : "..", place == 0 ? directory : table.Parent(directory)};
    } else {
      child = table.Child(directory, place - 2);
    }
    name = child.name;
    std::optional<InodeAttributes> attributes = table.Attributes(child.inode);
    fuse_entry_param entry = EntryOf(child.inode, attributes.value_or(InodeAttributes{}), CacheSeconds(request));
    off_t next = static_cast<off_t>(place + 1);
    size_t room = size - used;
    size_t length;
    if (plus) {
      if (place < 2) entry.ino = 0;  // not a lookup
      length = fuse_add_direntry_plus(request, page.data() + used, room, name.c_str(), &entry, next);
    } else {
      length = fuse_add_direntry(request, page.data() + used, room, name.c_str(), &entry.attr, next);
    }
    if (length > room) break;
    used += length;
  }
  fuse_reply_buf(request, page.data(), used);
}

void OnReadDirectory(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset, fuse_file_info*) {
  ReadDirectory(request, inode, size, offset, false);
}

void OnReadDirectoryPlus(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset, fuse_file_info*) {
  ReadDirectory(request, inode, size, offset, true);
}

// The answer to getxattr and listxattr: how long the value is, if no room was given, else the value.
void ReplyValue(fuse_req_t request, std::string_view value, size_t size) {
  if (size == 0) return void(fuse_reply_xattr(request, value.size()));
  if (value.size() > size) return void(fuse_reply_err(request, ERANGE));
  fuse_reply_buf(request, value.data(), value.size());
}

void OnGetXattr(fuse_req_t request, fuse_ino_t inode, const char* name, size_t size) {
  const LayerTable& table = TableOf(request);
  // The kernel never asks this mount again; overlayfs would ask once for each inode.
  if (!table.has_xattrs()) return void(fuse_reply_err(request, ENOSYS));
  if (!AttributesOr(request, inode)) return;
  uint64_t count = table.XattrCount(InodeId{inode});
  for (uint64_t i = 0; i < count; ++i) {
    Xattr xattr = table.XattrAt(InodeId{inode}, i);
    if (xattr.name == name) return ReplyValue(request, xattr.value, size);
  }
  fuse_reply_err(request, ENODATA);
}

void OnListXattr(fuse_req_t request, fuse_ino_t inode, size_t size) {
  const LayerTable& table = TableOf(request);
  if (!table.has_xattrs()) return void(fuse_reply_err(request, ENOSYS));
  if (!AttributesOr(request, inode)) return;
  std::string names;
  uint64_t count = table.XattrCount(InodeId{inode});
  for (uint64_t i = 0; i < count; ++i) names.append(table.XattrAt(InodeId{inode}, i).name).push_back('\0');
  ReplyValue(request, names, size);
}

void OnStatFilesystem(fuse_req_t request, fuse_ino_t) {
  const LayerTable& table = TableOf(request);
  struct statvfs answer {};
  answer.f_bsize = answer.f_frsize = 4096;
  answer.f_blocks = table.uncompressed_size() / 4096 + 1;
  answer.f_files = table.inode_count();
  answer.f_namemax = 255;
  fuse_reply_statfs(request, &answer);
}

void OnSeek(fuse_req_t request, fuse_ino_t inode, off_t offset, int whence, fuse_file_info*) {
  std::optional<InodeAttributes> attributes = AttributesOr(request, inode);
  if (!attributes) return;
  Result<off_t> place = SeekInData(offset, whence, attributes->size);
  if (!place.ok()) return void(fuse_reply_err(request, ErrnoOf(place.status())));
  fuse_reply_lseek(request, *place);
}

fuse_lowlevel_ops MakeCallbacks() {
  fuse_lowlevel_ops calls{};
  calls.init = OnInit;
  calls.lookup = OnLookup;
  calls.forget = OnForget;
  calls.forget_multi = OnForgetMulti;
  calls.getattr = OnGetAttributes;
  calls.readlink = OnReadLink;
  calls.open = OnOpen;
  calls.opendir = OnOpenDirectory;
  calls.release = OnRelease;
  calls.read = OnRead;
  calls.readdir = OnReadDirectory;
  calls.readdirplus = OnReadDirectoryPlus;
  calls.getxattr = OnGetXattr;
  calls.listxattr = OnListXattr;
  calls.statfs = OnStatFilesystem;
  calls.lseek = OnSeek;
  return calls;
}

}  // namespace

const fuse_lowlevel_ops& Callbacks() {
  static const fuse_lowlevel_ops calls = MakeCallbacks();
  return calls;
}

}  // namespace soci
