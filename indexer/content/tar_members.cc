#include "indexer/content/tar_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "indexer/base/units.h"
#include "indexer/tar/header.h"
#include "indexer/tar/reader.h"

namespace soci {
namespace {

constexpr uint64_t kMaxMembers = 1'000'000;
constexpr uint64_t kMaxHeaders = 1_MiB;
constexpr int kMaxLinks = 8;  // from one name to the next

bool IsExtension(char type) {
  return type == tar::kTypePaxHeader || type == tar::kTypePaxGlobalHeader || type == tar::kTypeGnuLongName ||
         type == tar::kTypeGnuLongLink;
}

bool IsZero(ByteSpan block) {
  return std::all_of(block.begin(), block.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

// A stretch of the archive.
class SliceSource : public ByteSource {
 public:
  SliceSource(std::shared_ptr<const ByteSource> whole, uint64_t begin, uint64_t size)
      : whole_(std::move(whole)), begin_(begin), size_(size) {}

  uint64_t size() const override { return size_; }
  Status ReadAt(uint64_t offset, MutableByteSpan out, const FetchContext& context) const override {
    if (offset > size_ || out.size() > size_ - offset) return absl::OutOfRangeError("read past the end of the blob");
    return whole_->ReadAt(begin_ + offset, out, context);
  }

 private:
  const std::shared_ptr<const ByteSource> whole_;
  const uint64_t begin_;
  const uint64_t size_;
};

}  // namespace

std::string CleanMemberName(const std::string& name) {
  return std::filesystem::path("/" + name).lexically_normal().relative_path().string();
}

// The member whose first header block is at `begin`, extension headers included; of no length at the archive's end.
Result<TarMember> TarMembers::ReadMember(uint64_t begin) const {
  TarMember member{.begin = begin, .end = begin};
  for (uint64_t at = begin;;) {
    if (at + tar::kBlockSize > file_->size()) return absl::InvalidArgumentError("cut within a header");
    ByteBuffer block(tar::kBlockSize);
    SOCI_RETURN_IF_ERROR(file_->ReadAt(at, block, {}));
    if (at == begin && IsZero(block)) return member;
    SOCI_ASSIGN_OR_RETURN(const tar::Header header, tar::ParseHeaderBlock(block));
    at += tar::kBlockSize;
    if (IsExtension(header.type)) {
      const int64_t size = header.entry.size;
      if (size < 0 || static_cast<uint64_t>(size) > kMaxHeaders || at - begin > kMaxHeaders) {
        return absl::InvalidArgumentError("a member has impossible headers");
      }
      at += tar::RoundToBlock(static_cast<uint64_t>(size));
      if (header.type != tar::kTypePaxGlobalHeader) continue;
      member.end = member.data = std::min(at, file_->size());  // stands for itself
      return member;
    }
    ByteBuffer headers(at - begin);
    SOCI_RETURN_IF_ERROR(file_->ReadAt(begin, headers, {}));
    SOCI_ASSIGN_OR_RETURN(const tar::Entry entry, tar::ParseHeader(headers, begin));
    member.name = CleanMemberName(entry.name);
    member.link_target = entry.link_name;
    member.is_file = entry.type == tar::EntryType::kRegular;
    member.is_symlink = entry.type == tar::EntryType::kSymlink;
    member.data = at;
    member.size = entry.content.end - entry.content.begin;
    if (member.size > file_->size() - at) return absl::InvalidArgumentError("cut within " + member.name);
    member.end = std::min(at + tar::RoundToBlock(member.size), file_->size());
    return member;
  }
}

Result<TarMembers> TarMembers::Scan(std::shared_ptr<const ByteSource> file) {
  TarMembers members(std::move(file));
  for (uint64_t at = 0; at + tar::kBlockSize <= members.file_->size();) {
    Result<TarMember> member = members.ReadMember(at);
    if (!member.ok()) {
      return Annotate(member.status(), at == 0 ? "not an uncompressed tar archive" : "damaged archive");
    }
    if (member->end == at) break;
    if (members.all_.size() == kMaxMembers) return absl::InvalidArgumentError("too many members");
    if (!member->name.empty()) members.by_name_[member->name] = members.all_.size();
    at = member->end;
    members.all_.push_back(*std::move(member));
  }
  return members;
}

const TarMember* TarMembers::FindFile(const std::string& name) const {
  std::string next = name;
  for (int links = 0; links < kMaxLinks; ++links) {
    const auto found = by_name_.find(next);
    if (found == by_name_.end()) return nullptr;
    const TarMember& member = all_[found->second];
    if (member.is_file) return &member;
    if (member.link_target.empty()) return nullptr;
    const std::filesystem::path folder =
        member.is_symlink ? std::filesystem::path(member.name).parent_path() : std::filesystem::path();
    next = CleanMemberName((folder / member.link_target).string());
  }
  return nullptr;
}

void TarMembers::AddName(const std::string& name, const TarMember& member) {
  by_name_[name] = static_cast<size_t>(&member - all_.data());
}

std::unique_ptr<ByteSource> TarMembers::Open(const TarMember& member) const {
  return std::make_unique<SliceSource>(file_, member.data, member.size);
}

Result<std::string> TarMembers::Read(const std::string& name, uint64_t limit) const {
  const TarMember* member = FindFile(name);
  if (member == nullptr) return absl::NotFoundError(fmt::format("the archive has no file {}", name));
  if (member->size > limit) return absl::ResourceExhaustedError(fmt::format("{} is too large", name));
  std::string bytes(member->size, '\0');
  SOCI_RETURN_IF_ERROR(file_->ReadAt(member->data, std::as_writable_bytes(std::span(bytes.data(), bytes.size())), {}));
  return bytes;
}

}  // namespace soci
