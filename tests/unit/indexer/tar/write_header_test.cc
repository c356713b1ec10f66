#include "indexer/tar/write_header.h"

#include <gtest/gtest.h>

#include "indexer/tar/header.h"
#include "indexer/tar/reader.h"

namespace soci::tar {
namespace {

TEST(FileHeaderBlock, IsReadBackAsItWasWritten) {
  for (uint64_t size : {uint64_t{0}, uint64_t{1}, (uint64_t{1} << 33) - 1, uint64_t{1} << 33, uint64_t{1} << 50}) {
    const std::string name = "blobs/sha256/" + std::string(64, 'a');
    const ByteBuffer block = FileHeaderBlock(name, size);
    ASSERT_EQ(block.size(), kBlockSize);
    const Result<Entry> entry = ParseHeader(block, 0);
    ASSERT_TRUE(entry.ok()) << entry.status();
    EXPECT_EQ(entry->name, name);
    EXPECT_EQ(entry->size, static_cast<int64_t>(size));
    EXPECT_EQ(entry->mode, 0644);
    EXPECT_EQ(entry->type, EntryType::kRegular);
  }
}

}  // namespace
}  // namespace soci::tar
