// What a process has in memory, by the kernel's count.
//
// Sanitizers put borders around what is allocated, keep what was freed and have shadows of it all: a count says nothing
// of our code there. Tests of memory run under them for what they find, and compare bytes only where kMemoryIsOurs.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace soci::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kMemoryIsOurs = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kMemoryIsOurs = false;
#else
inline constexpr bool kMemoryIsOurs = true;
#endif
#else
inline constexpr bool kMemoryIsOurs = true;
#endif

// Pages of no file, in bytes; of this process unless another is named. The largest number if that cannot be read.
uint64_t AnonymousBytes(pid_t process = 0);

// Pages of any kind that this process has, in bytes.
uint64_t ResidentBytes();

}  // namespace soci::test
