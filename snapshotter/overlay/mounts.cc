#include "snapshotter/overlay/mounts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "indexer/base/file_io.h"

namespace soci {
namespace {

constexpr char kParameters[] = "/sys/module/overlay/parameters/";

bool HasParameter(const char* name) { return ::access((std::string(kParameters) + name).c_str(), F_OK) == 0; }

// The first namespace maps every user to itself: "0 0 4294967295".
bool InUserNamespace() {
  Result<std::string> map = ReadFile("/proc/self/uid_map", 1 << 16);
  if (!map.ok()) return false;
  unsigned long long inside = 0, outside = 0, count = 0;
  const int fields = std::sscanf(map->c_str(), "%llu %llu %llu", &inside, &outside, &count);
  return fields != 3 || inside != 0 || outside != 0 || count != 4294967295ull;
}

std::vector<Mount> Bind(const std::string& source, bool writable) {
  return {Mount{"bind", source, {writable ? "rw" : "ro", "rbind"}}};
}

std::vector<std::string> FixedOptions(const OverlayFlags& flags) {
  std::vector<std::string> options;
  if (flags.index) options.emplace_back("index=off");
  // With userxattr the kernel turns these two off itself and refuses to be told so.
  if (flags.metacopy && !flags.userxattr) options.emplace_back("metacopy=off");
  if (flags.redirect_dir && !flags.userxattr) options.emplace_back("redirect_dir=off");
  if (flags.xino) options.emplace_back("xino=off");
  if (flags.userxattr) options.emplace_back("userxattr");
  return options;
}

}  // namespace

OverlayFlags DetectOverlayFlags() {
  OverlayFlags flags;
  flags.userxattr = InUserNamespace();
  // Not loaded yet: every kernel we promise to run on knows all four.
  if (::access(kParameters, F_OK) != 0) return flags;
  flags.index = HasParameter("index");
  flags.metacopy = HasParameter("metacopy");
  flags.redirect_dir = HasParameter("redirect_dir");
  flags.xino = HasParameter("xino_auto");
  return flags;
}

std::vector<Mount> MakeMounts(SnapshotKind kind, const SnapshotFolder& own, const std::vector<std::string>& lowers,
                              const OverlayFlags& flags) {
  const bool writable = kind == SnapshotKind::kActive;
  if (lowers.empty()) return Bind(own.fs, writable);
  if (!writable && lowers.size() == 1) return Bind(lowers.front(), false);

  Mount overlay{"overlay", "overlay", FixedOptions(flags)};
  if (writable) {
    overlay.options.push_back("workdir=" + own.work);
    overlay.options.push_back("upperdir=" + own.fs);
  }
  overlay.options.push_back(fmt::format("lowerdir={}", fmt::join(lowers, ":")));
  return {std::move(overlay)};
}

size_t OptionBytes(const std::vector<Mount>& mounts) {
  size_t bytes = 0;
  for (const Mount& mount : mounts) {
    if (mount.type != "overlay") continue;
    for (const std::string& option : mount.options) bytes += option.size() + 1;
  }
  return bytes;
}

}  // namespace soci
