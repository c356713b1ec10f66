#include "indexer/oci/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <cstring>
#include <utility>

namespace soci::oci {
namespace {

constexpr std::string_view kPrefix = "sha256:";
constexpr char kDigits[] = "0123456789abcdef";

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Result<Digest> Digest::Parse(std::string_view text) {
  auto refuse = [&] {
    return absl::InvalidArgumentError(
        fmt::format("\"{}\" is not a digest (sha256: and 64 lower-case hexadecimal digits)", text.substr(0, 100)));
  };
  if (!text.starts_with(kPrefix)) return refuse();
  std::string_view hex = text.substr(kPrefix.size());
  Raw raw;
  if (hex.size() != 2 * raw.size()) return refuse();
  for (size_t i = 0; i < raw.size(); ++i) {
    const int high = HexValue(hex[2 * i]), low = HexValue(hex[2 * i + 1]);
    if (high < 0 || low < 0) return refuse();
    raw[i] = static_cast<std::byte>(high << 4 | low);
  }
  return Digest(raw);
}

Digest Digest::Of(ByteSpan bytes) {
  Hasher hasher;
  hasher.Update(bytes);
  return hasher.Finish();
}

std::string Digest::Hex() const {
  std::string hex;
  hex.reserve(2 * raw_.size());
  for (std::byte byte : raw_) {
    hex.push_back(kDigits[static_cast<unsigned>(byte) >> 4]);
    hex.push_back(kDigits[static_cast<unsigned>(byte) & 15]);
  }
  return hex;
}

std::string Digest::ToString() const { return std::string(kPrefix) + Hex(); }

ChainId Stack(const ChainId& parent, const DiffId& layer) {
  if (parent.empty()) return ChainId(layer);
  return ChainId(Digest::Of(parent.ToString() + " " + layer.ToString()));
}

Hasher::Hasher() : context_(EVP_MD_CTX_new()) {
  EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_), EVP_sha256(), nullptr);
}
Hasher::~Hasher() { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_)); }
Hasher::Hasher(const Hasher& other) : context_(EVP_MD_CTX_new()) {
  EVP_MD_CTX_copy_ex(static_cast<EVP_MD_CTX*>(context_), static_cast<const EVP_MD_CTX*>(other.context_));
}
Hasher::Hasher(Hasher&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
Hasher& Hasher::operator=(Hasher&& other) noexcept {
  std::swap(context_, other.context_);
  return *this;
}

void Hasher::Update(ByteSpan bytes) {
  EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_), bytes.data(), bytes.size());
}

Digest Hasher::Finish() {
  Digest::Raw raw;
  EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(context_), reinterpret_cast<unsigned char*>(raw.data()), nullptr);
  EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_), EVP_sha256(), nullptr);
  return Digest(raw);
}

}  // namespace soci::oci

size_t std::hash<soci::oci::Digest>::operator()(const soci::oci::Digest& digest) const noexcept {
  size_t value;
  std::memcpy(&value, digest.raw().data(), sizeof value);
  return value;
}
