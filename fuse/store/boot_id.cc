#include "fuse/store/boot_id.h"

#include <charconv>
#include <random>
#include <string>

#include "indexer/base/file_io.h"

namespace soci {
namespace {

BootId Read() {
  std::string digits;
  if (auto text = ReadFile("/proc/sys/kernel/random/boot_id", 64); text.ok()) {
    for (char c : *text) {
      if (c != '-' && c != '\n') digits += c;
    }
  }
  BootId boot{};
  bool sound = digits.size() == 2 * boot.size();
  for (size_t i = 0; sound && i < boot.size(); ++i) {
    unsigned value = 0;
    const char* begin = digits.data() + 2 * i;
    const auto [end, error] = std::from_chars(begin, begin + 2, value, 16);
    sound = error == std::errc() && end == begin + 2;
    boot[i] = static_cast<std::byte>(value);
  }
  if (sound) return boot;
  std::random_device random;
  for (std::byte& byte : boot) byte = static_cast<std::byte>(random());
  return boot;
}

}  // namespace

BootId ThisBoot() {
  static const BootId boot = Read();
  return boot;
}

}  // namespace soci
