// Where the members of an image archive lie in its file. Scanned once, header by header: contents are not read.
//
// Immutable after Scan but for the names that are added; any thread may read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "indexer/base/byte_source.h"
#include "indexer/base/result.h"

namespace soci {

// One member: its blocks from the first header to the padding, and its data in them.
struct TarMember {
  std::string name = {};         // cleaned; empty for a global header
  std::string link_target = {};  // of a symbolic or hard link, as written
  bool is_file = false;
  bool is_symlink = false;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t data = 0;
  uint64_t size = 0;
};

class TarMembers {
 public:
  // kInvalidArgument if the file is no uncompressed tar, or a damaged one.
  static Result<TarMembers> Scan(std::shared_ptr<const ByteSource> file);

  const std::vector<TarMember>& all() const { return all_; }
  // The last member of this cleaned name, through links; null if there is no such file.
  const TarMember* FindFile(const std::string& name) const;
  // The member can be found under this name too.
  void AddName(const std::string& name, const TarMember& member);

  std::unique_ptr<ByteSource> Open(const TarMember& member) const;
  // kResourceExhausted beyond `limit`, kNotFound if there is no such file.
  Result<std::string> Read(const std::string& name, uint64_t limit) const;
  const ByteSource& file() const { return *file_; }

 private:
  explicit TarMembers(std::shared_ptr<const ByteSource> file) : file_(std::move(file)) {}
  Result<TarMember> ReadMember(uint64_t begin) const;

  std::shared_ptr<const ByteSource> file_;  // shared with the sources that were opened
  std::vector<TarMember> all_;              // in the file's order
  std::map<std::string, size_t> by_name_;
};

// A path inside an archive without "./", "//" and a slash at its front.
std::string CleanMemberName(const std::string& name);

}  // namespace soci
