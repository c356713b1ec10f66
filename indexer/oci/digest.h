// A blob's name: "sha256:" and 64 lower-case hexadecimal digits. Only sha256 exists here; Parse refuses the rest.
//
// LayerDigest, DiffId and ChainId are digests that do not mix. Values; no thread rules.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "indexer/base/bytes.h"
#include "indexer/base/result.h"

namespace soci::oci {

class Digest {
 public:
  using Raw = std::array<std::byte, 32>;

  Digest() = default;  // all zero: names nothing
  explicit Digest(const Raw& raw) : raw_(raw) {}
  // kInvalidArgument unless it is exactly sha256:<64 hex>.
  static Result<Digest> Parse(std::string_view text);
  // The digest of these bytes.
  static Digest Of(ByteSpan bytes);
  static Digest Of(std::string_view text) { return Of(AsBytes(text)); }

  const Raw& raw() const { return raw_; }
  bool empty() const { return raw_ == Raw{}; }
  std::string Hex() const;
  std::string ToString() const;  // with the "sha256:"
  auto operator<=>(const Digest&) const = default;

 private:
  Raw raw_{};
};

template <typename Tag>
class NamedDigest : public Digest {
 public:
  NamedDigest() = default;
  explicit NamedDigest(const Digest& digest) : Digest(digest) {}
  static Result<NamedDigest> Parse(std::string_view text) {
    SOCI_ASSIGN_OR_RETURN(Digest digest, Digest::Parse(text));
    return NamedDigest(digest);
  }
  auto operator<=>(const NamedDigest&) const = default;
};

using LayerDigest = NamedDigest<struct LayerDigestTag>;  // of a layer as stored
using DiffId = NamedDigest<struct DiffIdTag>;            // of a layer's uncompressed tar
using ChainId = NamedDigest<struct ChainIdTag>;          // of a stack of layers

// The name of the stack `parent` (empty for the first layer) with `layer` on top.
ChainId Stack(const ChainId& parent, const DiffId& layer);

// SHA-256 over bytes that come in pieces. One thread at a time.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher& other);  // goes on from the same bytes
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(const Hasher&) = delete;
  Hasher& operator=(Hasher&&) noexcept;

  void Update(ByteSpan bytes);
  // The digest of everything so far; the hasher then starts anew.
  Digest Finish();

 private:
  void* context_;  // EVP_MD_CTX
};

}  // namespace soci::oci

template <>
struct std::hash<soci::oci::Digest> {
  size_t operator()(const soci::oci::Digest& digest) const noexcept;
};
template <typename Tag>
struct std::hash<soci::oci::NamedDigest<Tag>> : std::hash<soci::oci::Digest> {};
