// The layer table: our one mapped form of a layer's files, spans and windows. Nothing to the right of this room sees a
// zTOC.
//
// Opened from a file that CompileTable made (docs/formats.md); everything is checked once at Open, so that reading it
// later is only arithmetic. Immutable; any thread. The views it returns live as long as the table.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "indexer/base/bytes.h"
#include "indexer/base/ranges.h"
#include "indexer/base/result.h"
#include "indexer/codec/checkpoint.h"
#include "indexer/oci/digest.h"

namespace soci {

// nodeid = inode number: rank in breadth-first order over byte-sorted names, root 1 ("layout 1", frozen: a mount that
// outlives us depends on it). Names of one hard-link group share the id of the first of them in that order.
enum class InodeId : uint64_t { kRoot = 1 };

constexpr uint64_t ToNumber(InodeId inode) { return static_cast<uint64_t>(inode); }

struct InodeAttributes {
  uint32_t mode = 0;  // with the type bits of st_mode
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint32_t link_count = 1;
  uint64_t size = 0;
  int64_t mtime_seconds = 0;
  uint32_t mtime_nanoseconds = 0;
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  // Of a regular file: where its bytes lie in the tar. Its begin names the backing file.
  UncompressedRange content;
};

struct DirectoryChild {
  std::string_view name;
  InodeId inode = InodeId::kRoot;
};

struct Xattr {
  std::string_view name;  // full, such as security.capability
  std::string_view value;
};

// A regular file's data, in tar order.
struct FileContent {
  InodeId inode{};  // 0 if the member is not visible (replaced by a later one): its bytes are residue
  UncompressedRange range;
};

// A tar member's header blocks and the fingerprint of what the table says they hold.
struct MemberHeader {
  UncompressedRange range;
  std::array<std::byte, 16> fingerprint{};  // see MemberFingerprint
};

class LayerTable {
 public:
  static constexpr uint32_t kLayout = 1;

  virtual ~LayerTable() = default;

  // Maps the file. kInvalidArgument if it is not a sound table of this version, kDataLoss if it is damaged,
  // kFailedPrecondition if it is of another layer or format version (then compile it again).
  static Result<std::shared_ptr<const LayerTable>> Open(const std::string& path, const oci::LayerDigest& layer);
  // The same from memory.
  static Result<std::shared_ptr<const LayerTable>> FromBytes(std::string bytes, const oci::LayerDigest& layer);

  virtual const oci::LayerDigest& layer() const = 0;
  virtual Compression compression() const = 0;
  virtual uint64_t compressed_size() const = 0;
  virtual uint64_t uncompressed_size() const = 0;  // end of the last span
  virtual bool has_xattrs() const = 0;             // any inode at all
  // Whether a folder has no member of its own. Where a layer below has that folder, containerd gives it that one's
  // owner, mode, time and xattrs, which this table does not know.
  virtual bool has_implied_directories() const = 0;

  // Files.
  virtual uint64_t inode_count() const = 0;
  virtual std::optional<InodeAttributes> Attributes(InodeId inode) const = 0;  // nothing: no such inode
  virtual std::optional<InodeId> Lookup(InodeId directory, std::string_view name) const = 0;
  virtual InodeId Parent(InodeId directory) const = 0;
  virtual uint64_t ChildCount(InodeId directory) const = 0;
  virtual DirectoryChild Child(InodeId directory, uint64_t rank) const = 0;  // byte-sorted
  virtual std::string_view LinkTarget(InodeId symlink) const = 0;
  virtual uint64_t XattrCount(InodeId inode) const = 0;
  virtual Xattr XattrAt(InodeId inode, uint64_t index) const = 0;

  // Spans. They cover [0, uncompressed_size) without gap or overlap.
  virtual uint32_t span_count() const = 0;
  virtual SpanExtent Extent(SpanId span) const = 0;
  virtual oci::Digest SpanDigest(SpanId span) const = 0;
  virtual Status LoadWindow(SpanId span, Window& out) const = 0;  // zeros for a plain tar
  virtual SpanId SpanAt(uint64_t uncompressed) const = 0;         // the last one for positions beyond

  // What lies in the tar, in its order, for whoever cuts decoded spans apart. Indexes into two sorted lists.
  virtual uint64_t content_count() const = 0;
  virtual FileContent Content(uint64_t index) const = 0;
  virtual uint64_t FirstContentEndingAfter(uint64_t uncompressed) const = 0;  // content_count() if none
  virtual uint64_t header_count() const = 0;
  virtual MemberHeader Header(uint64_t index) const = 0;
  virtual uint64_t FirstHeaderEndingAfter(uint64_t uncompressed) const = 0;  // header_count() if none
};

}  // namespace soci
