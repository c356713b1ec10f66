// Memory for spans, compressed and decoded: blocks of megabytes that come and go a hundred times a second. They are
// kept for the next span instead of going through malloc, which shreds its arenas with them (a fill held three times
// what its spans took) or maps and zeroes each one anew.
//
// What lies idle is bounded (16 MiB, and 64 MiB together with what is taken), and given back to the system when no span
// is in memory at all. Any thread.
#pragma once

#include <cstddef>
#include <memory>

namespace soci {

struct SpanMemoryDeleter {
  SpanMemoryDeleter() = default;
  explicit SpanMemoryDeleter(size_t block) : block_size(block) {}
  SpanMemoryDeleter(std::default_delete<std::byte[]>) {}  // NOLINT: memory that a test made
  void operator()(std::byte* bytes) const;

  size_t block_size = 0;  // 0: from new
};

using SpanMemory = std::unique_ptr<std::byte[], SpanMemoryDeleter>;

// At least `size` bytes, with any content; null: there is no memory.
SpanMemory TakeSpanMemory(size_t size);

// Blocks that wait for a next use, in bytes.
size_t IdleSpanMemory();

}  // namespace soci
