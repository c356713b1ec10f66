#include "indexer/tar/entry_list.h"

#include <gtest/gtest.h>

#include <vector>

namespace soci::tar {
namespace {

// Every field set, to values that need many bytes and few, and some that are below zero.
Entry Example(uint64_t i) {
  Entry entry;
  entry.name = "file" + std::to_string(i) + std::string(i % 300, 'x');
  entry.link_name = i % 3 == 0 ? std::string("a\0b\xff", 4) : "";
  entry.type = static_cast<EntryType>(i % 7);
  entry.mode = 0100644;
  entry.uid = i % 2 == 0 ? -5 : INT64_MAX;
  entry.gid = INT64_MIN;
  entry.uname = "root";
  entry.gname = "wheel";
  entry.size = static_cast<int64_t>(i) << 40;
  entry.mtime_seconds = -static_cast<int64_t>(i);
  entry.mtime_nanoseconds = 999'999'999;
  entry.device_major = 8;
  entry.device_minor = -1;
  if (i % 5 == 0) entry.pax = {{"SCHILY.xattr.user.a", std::string("\0", 1)}, {"mtime", "1.5"}, {"path", ""}};
  entry.header = {i * 1024, i * 1024 + 512};
  entry.content = {i * 1024 + 512, UINT64_MAX};
  return entry;
}

std::vector<Entry> Listed(const Entries& entries) {
  std::vector<Entry> listed;
  for (const Entry& entry : entries) listed.push_back(entry);
  return listed;
}

TEST(EntryList, GivesBackWhatWasAppendedInOrder) {
  EntryList list;
  EXPECT_TRUE(list.empty());
  EXPECT_TRUE(list.begin() == list.end());
  std::vector<Entry> expected;
  for (uint64_t i = 0; i < 20'000; ++i) {  // some chunks
    expected.push_back(Example(i));
    list.Append(expected.back());
  }
  EXPECT_EQ(list.size(), expected.size());
  EXPECT_EQ(Listed(list), expected);
}

TEST(EntryList, IsTakenFromTheBackUntilItIsEmptyAndCanGrowAgain) {
  EntryList list;
  constexpr uint64_t kCount = 20'000;
  for (uint64_t i = 0; i < kCount; ++i) list.Append(Example(i));
  EntryList copy = list;
  copy.Append(Example(7));
  for (uint64_t i = kCount; i-- > 0;) {
    ASSERT_EQ(list.Back(), Example(i));
    ASSERT_EQ(list.TakeBack(), Example(i));
  }
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.text_bytes(), 0u);
  EXPECT_EQ(list.records(), 0u);
  list.Append(Example(5));
  EXPECT_EQ(*list.begin(), Example(5));
  EXPECT_EQ(list.records(), 3u);
  EXPECT_EQ(copy.size(), kCount + 1);
  EXPECT_EQ(copy.TakeBack(), Example(7));
  EXPECT_EQ(copy.TakeBack(), Example(kCount - 1));
}

TEST(EntryList, AnEntryMayBeLargerThanAChunk) {
  EntryList list;
  Entry large = Example(0);
  large.pax["comment"] = std::string(3 << 20, 'c');
  list.Append(Example(1));
  list.Append(large);
  list.Append(Example(2));
  EXPECT_EQ(Listed(list), (std::vector<Entry>{Example(1), large, Example(2)}));
  EXPECT_EQ(list.TakeBack(), Example(2));
  EXPECT_EQ(list.TakeBack(), large);
  EXPECT_EQ(list.TakeBack(), Example(1));
}

}  // namespace
}  // namespace soci::tar
