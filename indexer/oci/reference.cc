#include "indexer/oci/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace soci::oci {
namespace {

constexpr std::string_view kDefaultHost = "docker.io";
constexpr std::string_view kDefaultHostOldName = "index.docker.io";
constexpr std::string_view kDefaultTag = "latest";
constexpr size_t kMaxNameLength = 255;
constexpr size_t kMaxTagLength = 128;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || IsDigit(c); }
bool IsLetterOrDigit(char c) { return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z'); }

template <typename Predicate>
bool EachPart(std::string_view text, char separator, Predicate predicate) {
  for (;;) {
    const size_t end = text.find(separator);
    if (!predicate(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

// Lower-case letters and digits, parted by one dot, one or two underscores, or any number of dashes.
bool IsPathPart(std::string_view part) {
  if (part.empty() || !IsLowerOrDigit(part.front()) || !IsLowerOrDigit(part.back())) return false;
  for (size_t i = 0; i < part.size();) {
    if (IsLowerOrDigit(part[i])) {
      ++i;
      continue;
    }
    const size_t end = std::min(part.find_first_not_of(part[i], i), part.size());
    const size_t limit = part[i] == '.' ? 1 : part[i] == '_' ? 2 : part[i] == '-' ? part.size() : 0;
    if (end - i > limit || !IsLowerOrDigit(part[end])) return false;
    i = end;
  }
  return true;
}

bool IsHostPart(std::string_view part) {
  return !part.empty() && part.front() != '-' && part.back() != '-' &&
         std::all_of(part.begin(), part.end(), [](char c) { return IsLetterOrDigit(c) || c == '-'; });
}

bool IsPort(std::string_view port) {
  return !port.empty() && port.size() <= 5 && std::all_of(port.begin(), port.end(), IsDigit);
}

// A DNS name, IPv4 address or bracketed IPv6 address, with an optional port.
bool IsHost(std::string_view host) {
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    if (end == std::string_view::npos || end < 3) return false;
    const std::string_view address = host.substr(1, end - 1), rest = host.substr(end + 1);
    const bool hex =
        std::all_of(address.begin(), address.end(), [](unsigned char c) { return std::isxdigit(c) || c == ':'; });
    return hex && (rest.empty() || (rest.front() == ':' && IsPort(rest.substr(1))));
  }
  const size_t colon = host.find(':');
  if (colon != std::string_view::npos && !IsPort(host.substr(colon + 1))) return false;
  return EachPart(host.substr(0, colon), '.', IsHostPart);
}

bool IsTag(std::string_view tag) {
  auto word = [](char c) { return IsLetterOrDigit(c) || c == '_'; };
  return !tag.empty() && tag.size() <= kMaxTagLength && word(tag.front()) &&
         std::all_of(tag.begin(), tag.end(), [&](char c) { return word(c) || c == '.' || c == '-'; });
}

// Whether what stands before the first slash is a host, and not the first part of a repository on the default host.
bool LooksLikeHost(std::string_view first) {
  return first.find_first_of(".:") != std::string_view::npos || first == "localhost" ||
         std::any_of(first.begin(), first.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool IsImageId(std::string_view name) {
  return name.size() == 64 &&
         std::all_of(name.begin(), name.end(), [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); });
}

}  // namespace

Result<Reference> Reference::Parse(std::string_view text) {
  auto refuse = [&](std::string_view why) {
    return absl::InvalidArgumentError(fmt::format("\"{}\" is not an image reference: {}", text.substr(0, 300), why));
  };
  Reference reference;
  std::string_view rest = text;
  if (const size_t at = rest.find('@'); at != std::string_view::npos) {
    Result<Digest> digest = Digest::Parse(rest.substr(at + 1));
    if (!digest.ok()) return refuse(Message(digest.status()));
    reference.digest = *digest;
    rest = rest.substr(0, at);
  }
  if (IsImageId(rest)) return refuse("64 hexadecimal digits are an image id");
  const size_t slash = rest.find('/');
  if (slash != std::string_view::npos && LooksLikeHost(rest.substr(0, slash))) {
    reference.host = rest.substr(0, slash);
    rest.remove_prefix(slash + 1);
  } else {
    reference.host = kDefaultHost;
  }
  if (reference.host == kDefaultHostOldName) reference.host = kDefaultHost;
  if (const size_t colon = rest.find(':'); colon != std::string_view::npos) {
    reference.tag = rest.substr(colon + 1);
    if (!IsTag(reference.tag)) return refuse(fmt::format("\"{}\" is not a tag", reference.tag.substr(0, 140)));
    rest = rest.substr(0, colon);
  } else if (!reference.digest) {
    reference.tag = kDefaultTag;
  }
  reference.repository = rest;
  if (reference.host == kDefaultHost && rest.find('/') == std::string_view::npos) {
    reference.repository = "library/" + reference.repository;
  }
  if (!IsHost(reference.host)) return refuse(fmt::format("\"{}\" is not a host", reference.host.substr(0, 100)));
  if (rest.empty()) return refuse("the repository is missing");
  if (!EachPart(reference.repository, '/', IsPathPart)) {
    return refuse(
        fmt::format("\"{}\" is not a repository name (lower case letters, digits, separators)", rest.substr(0, 260)));
  }
  if (reference.host.size() + 1 + reference.repository.size() > kMaxNameLength) return refuse("the name is too long");
  return reference;
}

std::string Reference::ToString() const {
  std::string text = host + "/" + repository;
  if (!tag.empty()) text += ":" + tag;
  if (digest) text += "@" + digest->ToString();
  return text;
}

std::string Reference::ManifestName() const { return digest ? digest->ToString() : tag; }

}  // namespace soci::oci
