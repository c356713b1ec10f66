#include "indexer/tar/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/indexer/tar/raw_tar.h"

namespace soci::tar {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  std::vector<Entry> entries;
  Status status;
  uint64_t position = 0;
};

Outcome Read(std::string_view tar, size_t portion = 1 << 20) {
  Outcome outcome;
  Reader reader([&outcome](const Entry& entry) {
    outcome.entries.push_back(entry);
    return OkStatus();
  });
  for (size_t at = 0; at < tar.size() && outcome.status.ok(); at += portion) {
    outcome.status = reader.Push(AsBytes(tar.substr(at, portion)));
  }
  if (outcome.status.ok()) outcome.status = reader.Finish();
  outcome.position = reader.position();
  return outcome;
}

std::string Why(std::string_view tar) { return std::string(Message(Read(tar).status)); }

// One member's entry; the tar must be in order.
Entry Only(const std::string& tar) {
  const Outcome outcome = Read(tar);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.entries.size(), 1u);
  return outcome.entries.empty() ? Entry() : outcome.entries[0];
}

TEST(TarReader, TellsWhereHeadersAndDataLie) {
  const Outcome outcome =
      Read(Member({.name = "a"}, "one") + Pax({{"path", "b"}}) + Member({.name = "x"}, "two!") + End());
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  ASSERT_EQ(outcome.entries.size(), 2u);
  EXPECT_EQ(outcome.entries[0].header, (UncompressedRange{0, 512}));
  EXPECT_EQ(outcome.entries[0].content, (UncompressedRange{512, 515}));
  EXPECT_EQ(outcome.entries[1].name, "b");
  EXPECT_EQ(outcome.entries[1].header, (UncompressedRange{1024, 2560}));
  EXPECT_EQ(outcome.entries[1].content, (UncompressedRange{2560, 2564}));
  EXPECT_EQ(outcome.position, 2560u + 512 + 1024);
}

TEST(TarReader, ReadsTheSameInPortionsOfAnySize) {
  const std::string tar = Member({.name = "a"}, std::string(1000, 'a')) +
                          Member({.name = "long", .type = 'L', .magic = kGnuMagic}, std::string(300, 'n')) +
                          Member({.name = "n", .magic = kGnuMagic}, "data") + Pax({{"SCHILY.xattr.user.x", "y"}}) +
                          Member({.name = "b"}, "") + End() + "ignored";
  const Outcome whole = Read(tar);
  ASSERT_TRUE(whole.status.ok()) << whole.status;
  for (size_t portion : {1, 2, 3, 7, 100, 511, 512, 513, 4096}) {
    const Outcome outcome = Read(tar, portion);
    EXPECT_EQ(outcome.entries, whole.entries) << portion;
    EXPECT_EQ(outcome.position, whole.position) << portion;
  }
}

TEST(TarReader, KnowsEveryTypeThatAnIndexCanTell) {
  const std::pair<char, EntryType> types[] = {{'0', EntryType::kRegular},     {'1', EntryType::kHardLink},
                                              {'2', EntryType::kSymlink},     {'3', EntryType::kCharDevice},
                                              {'4', EntryType::kBlockDevice}, {'5', EntryType::kDirectory},
                                              {'6', EntryType::kFifo},        {'\0', EntryType::kRegular}};
  for (const auto& [type, expected] : types) EXPECT_EQ(Only(Member({.type = type}, "") + End()).type, expected);
  EXPECT_EQ(Only(Member({.name = "d/", .type = '\0'}, "") + End()).type, EntryType::kDirectory);
  EXPECT_EQ(Only(Member({.name = "d/", .type = '0'}, "") + End()).type, EntryType::kRegular);
}

TEST(TarReader, NamesTheMemberThatCannotBeIndexed) {
  EXPECT_THAT(Why(Member({.name = "sp", .type = 'S'}, "") + End()),
              HasSubstr("member type not supported: GNU sparse file"));
  EXPECT_THAT(Why(Member({.name = "c", .type = '7'}, "") + End()), HasSubstr("\"c\""));
  EXPECT_THAT(Why(Member({.name = "z", .type = 'Z'}, "") + End()), HasSubstr("unknown (0x5a)"));
}

// Field report A19.
TEST(TarReader, RefusesAPaxGlobalHeaderByName) {
  EXPECT_THAT(Why(Pax({{"comment", "0123abcd"}}, 'g') + Member({.name = "a"}, "a") + End()),
              HasSubstr("PAX global header"));
}

// Field report A18.
TEST(TarReader, GivesAPathThatOccursTwiceTwice) {
  const Outcome outcome =
      Read(Member({.name = "a"}, "1") + Member({.name = "a", .type = '5'}, "") + Member({.name = "a"}, "2") + End());
  ASSERT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.entries.size(), 3u);
}

// Field report A21.
TEST(TarReader, TellsFilesOfMoreThanFourAndEightGiB) {
  for (const int64_t size : {int64_t{5} << 30, int64_t{9} << 30, int64_t{1} << 50}) {
    Outcome outcome;
    Reader reader([&outcome](const Entry& entry) {
      outcome.entries.push_back(entry);
      return OkStatus();
    });
    ASSERT_TRUE(reader.Push(AsBytes(RawHeader{.name = "big", .size = size}.Block())).ok());
    ASSERT_EQ(outcome.entries.size(), 1u);
    EXPECT_EQ(outcome.entries[0].size, size);
    EXPECT_EQ(outcome.entries[0].content.end, 512 + static_cast<uint64_t>(size));
  }
}

TEST(TarReader, LetsPaxRecordsOverrideTheHeader) {
  const Entry entry = Only(Pax({{"path", "real"},
                                {"linkpath", "to"},
                                {"uid", "3000000"},
                                {"gid", "-1"},
                                {"uname", "u"},
                                {"gname", "g"},
                                {"mtime", "-1.5"},
                                {"VENDOR.k", "a=b\nc"}}) +
                           Member({.name = "short"}, "") + End());
  EXPECT_EQ(entry.name, "real");
  EXPECT_EQ(entry.link_name, "to");
  EXPECT_EQ(entry.uid, 3000000);
  EXPECT_EQ(entry.gid, -1);
  EXPECT_EQ(entry.uname, "u");
  EXPECT_EQ(entry.gname, "g");
  EXPECT_EQ(entry.mtime_seconds, -2);
  EXPECT_EQ(entry.mtime_nanoseconds, 500'000'000u);
  EXPECT_EQ(entry.pax.at("VENDOR.k"), "a=b\nc");
  EXPECT_EQ(entry.pax.size(), 8u);
}

TEST(TarReader, LetsAPaxSizeDecideWhereTheNextMemberIs) {
  const Outcome outcome = Read(Pax({{"size", "1300"}}) + RawHeader{.name = "a", .size = 5}.Block() +
                               Padded(std::string(1300, 'x')) + Member({.name = "b"}, "") + End());
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.entries.at(0).size, 1300);
  EXPECT_EQ(outcome.entries.at(1).name, "b");
}

TEST(TarReader, KeepsTheHeadersFieldWhenAPaxRecordIsEmpty) {
  const Entry entry = Only(Pax({{"uname", ""}}) + Member({.uname = "header"}, "") + End());
  EXPECT_EQ(entry.uname, "header");
  EXPECT_EQ(entry.pax.at("uname"), "");
}

TEST(TarReader, ReadsTheUstarPrefixAndTheOldGoPrefixInGnuHeaders) {
  EXPECT_EQ(Only(Member({.name = "name", .prefix = "dir/sub"}, "") + End()).name, "dir/sub/name");
  EXPECT_EQ(Only(Member({.name = "name", .magic = kGnuMagic, .prefix = "dir"}, "") + End()).name, "dir/name");
  EXPECT_EQ(Only(Member({.name = "name", .magic = kGnuMagic, .prefix = Octal(1, 12) + Octal(2, 12)}, "") + End()).name,
            "name");
  EXPECT_EQ(Only(Member({.name = "name", .magic = "", .prefix = "no"}, "") + End()).name, "name");
}

TEST(TarReader, CountsDataOfNoTypeButRegularFiles) {
  const Outcome outcome =
      Read(RawHeader{.name = "h", .size = 777, .type = '1', .link_name = "a"}.Block() +
           RawHeader{.name = "d", .size = -5, .type = '5'}.Block() + Member({.name = "z"}, "z") + End());
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  ASSERT_EQ(outcome.entries.size(), 3u);
  EXPECT_EQ(outcome.entries[0].size, 777);
  EXPECT_TRUE(outcome.entries[0].content.empty());
  EXPECT_EQ(outcome.entries[1].size, -5);
}

TEST(TarReader, AcceptsAnArchiveWithoutItsEnd) {
  const std::string tar = Member({.name = "a"}, "one");
  EXPECT_TRUE(Read(tar).status.ok());
  EXPECT_EQ(Read(tar).position, 1024u);
  EXPECT_TRUE(Read(tar + std::string(512, '\0')).status.ok());
  EXPECT_EQ(Read(tar.substr(0, 515)).position, 515u);
  EXPECT_TRUE(Read(tar.substr(0, 515)).status.ok()) << "only padding is missing";
  EXPECT_TRUE(Read("").status.ok());
}

TEST(TarReader, RefusesAnArchiveThatIsCutShort) {
  const std::string tar = Member({.name = "a"}, "one") + Pax({{"path", "b"}}) + Member({.name = "x"}, "two") + End();
  for (const size_t size : {size_t{100}, size_t{514}, size_t{1024 + 100}, size_t{1024 + 515}, tar.size() - 100}) {
    EXPECT_THAT(Why(tar.substr(0, size)), HasSubstr("tar truncated")) << size;
  }
}

TEST(TarReader, RefusesDamagedHeaders) {
  EXPECT_THAT(Why("this is no tar" + std::string(1000, 'x')), HasSubstr("not a tar archive"));
  EXPECT_THAT(Why(Member({}, "a") + RawHeader{.wrong_checksum = true}.Block()), HasSubstr("wrong checksum"));
  EXPECT_THAT(Why(Member({}, "a") + std::string(512, '\0') + Member({}, "b")), HasSubstr("one zero block"));
  EXPECT_THAT(Why(Member({}, "a") + RawHeader{.raw = {{100, "0x0644\0\0"}}}.Block()), HasSubstr("mode"));
  EXPECT_THAT(Why(RawHeader{.size = -5}.Block()), HasSubstr("negative size"));
  EXPECT_THAT(Why(Pax({{"mtime", "soon"}}) + Member({}, "")), HasSubstr("\"mtime\""));
  EXPECT_THAT(Why(Pax({{"size", "-1"}}) + Member({}, "")), HasSubstr("negative size"));
}

TEST(TarReader, RefusesMalformedPaxRecords) {
  for (const std::string& data :
       {std::string("99 path=x\n"), std::string("x"), std::string("5 a=b"), std::string("6 a=bc"), std::string("4 =\n"),
        std::string("7 a=b\0\n", 7) + "q", std::string("11 path=\0\0\n", 11)}) {
    EXPECT_THAT(Why(Member({.type = 'x'}, data) + Member({}, "")), HasSubstr("malformed PAX record")) << data;
  }
}

TEST(TarReader, RefusesExtendedHeadersOfMoreThanAMiB) {
  for (const char type : {'x', 'L', 'K'}) {
    EXPECT_THAT(Why(RawHeader{.size = (1 << 20) + 1, .type = type}.Block()), HasSubstr("too large"));
  }
}

TEST(TarReader, ReadsSparseFilesOfThePaxFormatsAsTheReferenceDoes) {
  const std::string data(1024, 's');
  const Entry in_records = Only(Pax({{"GNU.sparse.size", "10240"},
                                     {"GNU.sparse.numblocks", "2"},
                                     {"GNU.sparse.name", "sp"},
                                     {"GNU.sparse.map", "0,512,9728,512"}}) +
                                Member({.name = "x"}, data) + End());
  EXPECT_EQ(in_records.name, "sp");
  EXPECT_EQ(in_records.size, 10240);
  const Outcome in_data =
      Read(Pax({{"GNU.sparse.major", "1"}, {"GNU.sparse.minor", "0"}, {"GNU.sparse.realsize", "10240"}}) +
           Member({.name = "x"}, Padded("2\n0\n512\n9728\n512\n") + data) + Member({.name = "b"}, "") + End());
  ASSERT_TRUE(in_data.status.ok()) << in_data.status;
  EXPECT_EQ(in_data.entries.at(0).header.end, 1024u + 512 + 512) << "after the map";
  EXPECT_EQ(in_data.entries.at(1).name, "b");
}

TEST(TarReader, FoldsTheOldestSparseRecordsIntoOneMap) {
  const Entry entry = Only(Pax({{"GNU.sparse.offset", "0"},
                                {"GNU.sparse.numbytes", "1"},
                                {"GNU.sparse.offset", "9"},
                                {"GNU.sparse.numbytes", "1"},
                                {"GNU.sparse.numblocks", "2"},
                                {"GNU.sparse.size", "10"}}) +
                           Member({}, "ab") + End());
  EXPECT_EQ(entry.pax.at("GNU.sparse.map"), "0,1,9,1");
  EXPECT_EQ(entry.pax.count("GNU.sparse.offset"), 0u);
}

TEST(TarReader, RefusesSparseMapsThatAreWrong) {
  const auto why = [](const std::string& map, const std::string& count) {
    return Why(Pax({{"GNU.sparse.size", "10"}, {"GNU.sparse.numblocks", count}, {"GNU.sparse.map", map}}) +
               Member({}, "ab") + End());
  };
  EXPECT_THAT(why("0,1,9", "2"), HasSubstr("sparse map"));
  EXPECT_THAT(why("0,1,9,1", "1"), HasSubstr("sparse map"));
  EXPECT_THAT(why("5,1,2,1", "2"), HasSubstr("sparse map"));
  EXPECT_THAT(why("0,11", "1"), HasSubstr("sparse map"));
  EXPECT_THAT(why("0,x", "1"), HasSubstr("sparse map"));
}

TEST(TarReader, EndsWithTheStatusOfItsCaller) {
  Reader reader([](const Entry&) { return absl::CancelledError("enough"); });
  EXPECT_EQ(reader.Push(AsBytes(Member({}, ""))).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(reader.Push(AsBytes(Member({}, ""))).code(), absl::StatusCode::kCancelled);
}

TEST(ParseHeader, GivesTheEntryThatTheReaderGave) {
  const std::string tar = Member({.name = "a"}, "one") + Pax({{"SCHILY.xattr.user.x", "y"}}) +
                          Member({.name = "k", .type = 'K', .magic = kGnuMagic}, std::string(200, 'k')) +
                          Member({.name = "s", .type = '2', .magic = kGnuMagic}, "") + Member({.name = "b"}, "two") +
                          End();
  for (const Entry& entry : Read(tar).entries) {
    const Result<Entry> parsed =
        ParseHeader(AsBytes(tar).subspan(entry.header.begin, entry.header.size()), entry.header.begin);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, entry);
  }
}

TEST(ParseHeader, RefusesBlocksThatAreNotExactlyOneHeader) {
  const std::string block = RawHeader{.name = "a", .size = 5}.Block();
  EXPECT_TRUE(ParseHeader(AsBytes(block), 0).ok());
  EXPECT_FALSE(ParseHeader(AsBytes(block + block), 0).ok());
  EXPECT_FALSE(ParseHeader(AsBytes(block).first(500), 0).ok());
  EXPECT_FALSE(ParseHeader({}, 0).ok());
  EXPECT_FALSE(ParseHeader(AsBytes(End()), 0).ok());
}

}  // namespace
}  // namespace soci::tar
