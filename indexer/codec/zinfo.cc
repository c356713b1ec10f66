#include "indexer/codec/zinfo.h"

#include <fmt/format.h>

#include <cstring>
#include <type_traits>

#include "indexer/base/bytes.h"
#include "indexer/base/memory.h"

namespace soci {
namespace {

constexpr size_t kHeaderSize = 12;
constexpr size_t kEntrySize = 8 + 8 + 1 + kWindowSize;
constexpr size_t kMaxCheckpoints = 65502;  // the reference writer's own limit: its blob size is a signed 32-bit number
constexpr size_t kWindowsBetweenReturns = 256;  // 8 MiB

// Fixed-width little-endian numbers, whatever the machine.
template <typename T>
void Put(std::string& out, T number) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out += static_cast<char>(static_cast<std::make_unsigned_t<T>>(number) >> (8 * i) & 0xff);
  }
}

template <typename T>
T Take(std::string_view& in) {
  std::make_unsigned_t<T> number = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    number |= static_cast<std::make_unsigned_t<T>>(static_cast<uint8_t>(in[i])) << (8 * i);
  }
  in.remove_prefix(sizeof(T));
  return static_cast<T>(number);
}

Status Malformed(std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("checkpoints malformed: {}", what));
}

}  // namespace

Result<size_t> ZinfoSize(size_t checkpoints) {
  if (checkpoints > kMaxCheckpoints) {
    return absl::InvalidArgumentError(fmt::format("{} checkpoints are more than a zTOC can hold ({}); use larger spans",
                                                  checkpoints, kMaxCheckpoints));
  }
  return kHeaderSize + kEntrySize * checkpoints;
}

void AppendZinfo(uint64_t span_size, const std::vector<Checkpoint>& checkpoints, Windows windows, std::string& out) {
  Put<int32_t>(out, static_cast<int32_t>(checkpoints.size()));
  Put<int64_t>(out, static_cast<int64_t>(span_size));
  for (size_t i = 0; i < checkpoints.size(); ++i) {
    Put<int64_t>(out, static_cast<int64_t>(checkpoints[i].compressed));
    Put<int64_t>(out, static_cast<int64_t>(checkpoints[i].uncompressed));
    Put<uint8_t>(out, checkpoints[i].bits);
    out.append(reinterpret_cast<const char*>(windows.front().data()), kWindowSize);
    windows.pop_front();
    if (i % kWindowsBetweenReturns == kWindowsBetweenReturns - 1) ReturnFreedMemory();
  }
}

Result<ZinfoView> ViewZinfo(std::string_view bytes) {
  if (bytes.size() < kHeaderSize) return Malformed(fmt::format("only {} bytes", bytes.size()));
  const int32_t count = Take<int32_t>(bytes);
  const int64_t span_size = Take<int64_t>(bytes);
  if (count < 0 || span_size < 0) return Malformed("negative count or span size");
  const size_t stored = bytes.size() / kEntrySize;
  const size_t expected = static_cast<size_t>(count);
  const bool leaves_out_first = stored + 1 == expected;
  if (bytes.size() % kEntrySize != 0 || (stored != expected && !leaves_out_first)) {
    return Malformed(fmt::format("{} checkpoints in {} bytes", count, bytes.size() + kHeaderSize));
  }
  static constexpr Window kNoHistory = {};
  ZinfoView zinfo{.span_size = static_cast<uint64_t>(span_size), .checkpoints = {}, .windows = {}};
  zinfo.checkpoints.reserve(expected);
  zinfo.windows.reserve(expected);
  if (leaves_out_first) {
    zinfo.checkpoints.push_back(
        {.compressed = 10, .uncompressed = 0, .bits = 0});  // after a gzip header without extras
    zinfo.windows.emplace_back(kNoHistory);
  }
  for (size_t i = 0; i < stored; ++i) {
    const int64_t compressed = Take<int64_t>(bytes);
    const int64_t uncompressed = Take<int64_t>(bytes);
    const uint8_t bits = Take<uint8_t>(bytes);
    if (compressed < 0 || uncompressed < 0) return Malformed(fmt::format("checkpoint {} has a negative offset", i));
    if (bits > 7) return Malformed(fmt::format("checkpoint {} has {} bits of a byte", i, bits));
    zinfo.checkpoints.push_back({.compressed = static_cast<uint64_t>(compressed),
                                 .uncompressed = static_cast<uint64_t>(uncompressed),
                                 .bits = bits});
    zinfo.windows.push_back(AsBytes(bytes.substr(0, kWindowSize)));
    bytes.remove_prefix(kWindowSize);
  }
  return zinfo;
}

Result<Zinfo> DecodeZinfo(std::string_view bytes) {
  SOCI_ASSIGN_OR_RETURN(ZinfoView view, ViewZinfo(bytes));
  Zinfo zinfo{.span_size = view.span_size, .checkpoints = std::move(view.checkpoints), .windows = {}};
  for (const ByteSpan window : view.windows) {
    std::memcpy(zinfo.windows.emplace_back().data(), window.data(), kWindowSize);
  }
  return zinfo;
}

}  // namespace soci
