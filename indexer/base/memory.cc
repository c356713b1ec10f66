#include "indexer/base/memory.h"

#include <cstdlib>  // defines __GLIBC__
#ifdef __GLIBC__
#include <malloc.h>
#endif

// A sanitizer's allocator takes glibc's place, and trimming an allocator that was never used is not safe from two
// threads at once.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SOCI_FOREIGN_ALLOCATOR 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SOCI_FOREIGN_ALLOCATOR 1
#endif
#endif

namespace soci {

void ReturnFreedMemory() {
#if defined(__GLIBC__) && !defined(SOCI_FOREIGN_ALLOCATOR)
  ::malloc_trim(0);
#endif
}

}  // namespace soci
