#include "indexer/oci/platform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "indexer/oci/annotations.h"

namespace soci::oci {
namespace {

constexpr std::string_view kUnknown = "unknown";

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

bool IsOs(std::string_view text) {
  for (std::string_view os : {"linux", "windows", "darwin", "freebsd", "macos"}) {
    if (text == os) return true;
  }
  return false;
}

// "7" is "v7".
std::string NormalVariant(std::string variant) {
  if (variant.size() == 1 && std::isdigit(static_cast<unsigned char>(variant[0])) != 0) return "v" + variant;
  return variant;
}

std::vector<std::string> SplitSlashes(std::string_view text) {
  std::vector<std::string> parts;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find('/', start), text.size());
    parts.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

bool IsPlatformWord(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
}

}  // namespace

std::string Platform::ToString() const {
  std::string text = os + "/" + architecture;
  if (!variant.empty()) text += "/" + variant;
  return text;
}

Platform Normalize(Platform platform) {
  platform.os = Lower(platform.os);
  if (platform.os == "macos") platform.os = "darwin";
  std::string& architecture = platform.architecture;
  std::string& variant = platform.variant;
  architecture = Lower(architecture);
  variant = NormalVariant(Lower(variant));
  if (architecture == "i386") {
    architecture = "386";
    variant.clear();
  } else if (architecture == "x86_64" || architecture == "x86-64" || architecture == "amd64") {
    architecture = "amd64";
    if (variant == "v1") variant.clear();
  } else if (architecture == "aarch64" || architecture == "arm64") {
    architecture = "arm64";
    if (variant == "v8") variant.clear();
  } else if (architecture == "armhf") {
    architecture = "arm";
    variant = "v7";
  } else if (architecture == "armel") {
    architecture = "arm";
    variant = "v6";
  } else if (architecture == "arm" && variant.empty()) {
    variant = "v7";
  }
  return platform;
}

Platform HostPlatform() {
  Platform host;
  host.os = "linux";
#if defined(__x86_64__)
  host.architecture = "amd64";
#elif defined(__aarch64__)
  host.architecture = "arm64";
#else
#error "unknown architecture: name it here as image indexes do"
#endif
  return host;
}

Result<Platform> ParsePlatform(std::string_view text) {
  const std::vector<std::string> parts = SplitSlashes(text);
  Platform platform = HostPlatform();
  const bool words = std::all_of(parts.begin(), parts.end(), IsPlatformWord);
  if (!words || parts.size() > 3) {
    return absl::InvalidArgumentError(fmt::format("\"{}\" is not a platform (os/arch[/variant])", text.substr(0, 100)));
  }
  if (parts.size() == 1) {
    (IsOs(Lower(parts[0])) ? platform.os : platform.architecture) = parts[0];
  } else {
    platform.os = parts[0];
    platform.architecture = parts[1];
  }
  if (parts.size() == 3) platform.variant = parts[2];
  return Normalize(std::move(platform));
}

bool Matches(const Platform& wanted, const Platform& offered) {
  const Platform a = Normalize(wanted), b = Normalize(offered);
  return a.os == b.os && a.architecture == b.architecture && a.variant == b.variant &&
         (a.os_version.empty() || a.os_version == b.os_version);
}

bool IsImageEntry(const Descriptor& entry) {
  if (entry.media_type != kMediaTypeManifest && entry.media_type != kMediaTypeDockerManifest) return false;
  if (!entry.artifact_type.empty() && entry.artifact_type != kMediaTypeImageConfig) return false;
  if (entry.annotations.contains(std::string(kAnnotationReferenceType))) return false;
  return !entry.platform || (entry.platform->os != kUnknown && entry.platform->architecture != kUnknown);
}

const Descriptor* FindPlatform(const ImageIndex& index, const Platform& wanted) {
  for (const Descriptor& entry : index.manifests) {
    if (entry.platform && IsImageEntry(entry) && Matches(wanted, *entry.platform)) return &entry;
  }
  return nullptr;
}

std::vector<Platform> Platforms(const ImageIndex& index) {
  std::vector<Platform> platforms;
  for (const Descriptor& entry : index.manifests) {
    if (!entry.platform || !IsImageEntry(entry)) continue;
    const bool known = std::any_of(platforms.begin(), platforms.end(),
                                   [&](const Platform& platform) { return Matches(platform, *entry.platform); });
    if (!known) platforms.push_back(*entry.platform);
  }
  return platforms;
}

}  // namespace soci::oci
