#include "indexer/content/read_blob.h"

#include <fmt/format.h>

#include "indexer/base/byte_stream.h"
#include "indexer/base/units.h"

namespace soci {
namespace {

Result<std::string> Read(ContentStore& store, const oci::Descriptor& blob, uint64_t limit) {
  SOCI_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, store.Open(blob.digest));
  if (source->size() > limit) {
    return absl::ResourceExhaustedError(fmt::format("{} bytes, more than {}", source->size(), limit));
  }
  if (source->size() != static_cast<uint64_t>(blob.size)) {
    return absl::DataLossError(fmt::format("{} bytes, but {} are promised", source->size(), blob.size));
  }
  std::string bytes(source->size(), '\0');
  SOCI_RETURN_IF_ERROR(source->ReadAt(0, std::as_writable_bytes(std::span(bytes.data(), bytes.size())), {}));
  if (oci::Digest::Of(bytes) != blob.digest) return absl::DataLossError("the bytes do not match the digest");
  return bytes;
}

}  // namespace

Result<std::string> ReadBlob(ContentStore& store, const oci::Descriptor& blob, uint64_t limit) {
  Result<std::string> bytes = Read(store, blob, limit);
  if (!bytes.ok()) return Annotate(bytes.status(), fmt::format("blob {}", blob.digest.ToString()));
  return bytes;
}

Result<oci::Digest> HashAll(const ByteSource& source) {
  const std::unique_ptr<ByteStream> stream = MakeSourceStream(source, {});
  oci::Hasher hasher;
  ByteBuffer buffer(1_MiB);
  while (true) {
    SOCI_ASSIGN_OR_RETURN(const size_t count, stream->Read(buffer));
    if (count == 0) return hasher.Finish();
    hasher.Update(ByteSpan(buffer).first(count));
  }
}

bool HoldsBlob(ContentStore& store, const oci::Descriptor& blob) {
  const Result<std::unique_ptr<ByteSource>> source = store.Open(blob.digest);
  if (!source.ok() || (*source)->size() != static_cast<uint64_t>(blob.size)) return false;
  const Result<oci::Digest> digest = HashAll(**source);
  return digest.ok() && *digest == blob.digest;
}

}  // namespace soci
