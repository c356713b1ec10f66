#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "fuse/session/serving_threads.h"
#include "fuse/session/session.h"
#include "tests/fakes/fake_layer_reader.h"
#include "tests/unit/fuse/session/kernel_end.h"

namespace soci::test {
namespace {

using ::testing::ElementsAre;

class Callbacks : public ::testing::Test {
 protected:
  ~Callbacks() override { Stop(); }

  // After the table was built.
  void Start(InitExchange init = InitExchange::Fresh({}), SessionOptions options = {}) {
    reader_ = std::make_unique<FakeLayerReader>(table_);
    threads_ = std::move(*ServingThreads::Start(2));
    session_ = *Session::Make(*reader_, options, kernel_.TakeServerEnd(), std::move(init));
    if (session_->init().resumed()) {
      RequestBuffer buffer;
      ASSERT_EQ(session_->ServeOne(buffer), Session::Turn::kServed);
    }
    ticket_ = *threads_->Serve(session_);
  }
  void StartAndInit() {
    Start();
    ASSERT_EQ(kernel_.Init().error, 0);
  }
  void Stop() {
    if (threads_) threads_->Withdraw(ticket_);
    session_.reset();
    threads_.reset();
  }
  uint64_t Node(std::string_view name) { return kernel_.Lookup(1, name).As<fuse_entry_out>().nodeid; }

  FakeLayerTable table_;
  KernelEnd kernel_;
  std::unique_ptr<FakeLayerReader> reader_;
  std::unique_ptr<ServingThreads> threads_;
  std::shared_ptr<Session> session_;
  ServingThreads::Ticket ticket_ = 0;
};

TEST_F(Callbacks, InitAsksForWhatTheDataPathNeeds) {
  Start();
  auto init = kernel_.Init().As<fuse_init_out>();
  uint32_t wanted = FUSE_ASYNC_READ | FUSE_PARALLEL_DIROPS | FUSE_CACHE_SYMLINKS | FUSE_DO_READDIRPLUS |
                    FUSE_READDIRPLUS_AUTO | FUSE_EXPORT_SUPPORT | FUSE_MAX_PAGES;
  EXPECT_EQ(init.flags & wanted, wanted);
  EXPECT_EQ(init.flags & (FUSE_SPLICE_READ | FUSE_SPLICE_WRITE | FUSE_SPLICE_MOVE | FUSE_AUTO_INVAL_DATA), 0u);
  EXPECT_EQ(init.max_pages, 256);
  EXPECT_EQ(init.max_background, 128);
}

TEST_F(Callbacks, ANodeIsItsInodeNumberOfGenerationZero) {
  table_.Directory("etc");
  table_.File("a", "hello").attributes.uid = 7;
  StartAndInit();
  auto entry = kernel_.Lookup(1, "a").As<fuse_entry_out>();
  EXPECT_EQ(entry.nodeid, 2u);
  EXPECT_EQ(entry.attr.ino, 2u);
  EXPECT_EQ(entry.generation, 0u);
  EXPECT_EQ(entry.attr.size, 5u);
  EXPECT_EQ(entry.attr.blocks, 1u);
  EXPECT_EQ(entry.attr.blksize, 4096u);
  EXPECT_EQ(entry.attr.uid, 7u);
  EXPECT_EQ(entry.attr.mtime, 1'700'000'000u);
  EXPECT_EQ(entry.attr.mtimensec, 123'456'789u);
  EXPECT_GE(entry.entry_valid, 3600u);
  EXPECT_GE(entry.attr_valid, 3600u);
  EXPECT_EQ(Node("etc"), 3u);
}

TEST_F(Callbacks, AMissingNameIsRememberedForHours) {
  StartAndInit();
  KernelReply reply = kernel_.Lookup(1, "nothing");
  EXPECT_EQ(reply.error, 0);
  EXPECT_EQ(reply.As<fuse_entry_out>().nodeid, 0u);
  EXPECT_GE(reply.As<fuse_entry_out>().entry_valid, 3600u);
}

TEST_F(Callbacks, DotsLeadFromANumberToItsPlace) {
  table_.Directory("a");
  table_.Directory("a/b");
  StartAndInit();
  uint64_t a = Node("a");
  uint64_t b = kernel_.Lookup(a, "b").As<fuse_entry_out>().nodeid;
  EXPECT_EQ(kernel_.Lookup(b, ".").As<fuse_entry_out>().nodeid, b);
  EXPECT_EQ(kernel_.Lookup(b, "..").As<fuse_entry_out>().nodeid, a);
  EXPECT_EQ(kernel_.Lookup(1, "..").As<fuse_entry_out>().nodeid, 1u);
}

TEST_F(Callbacks, ANodeOutOfRangeIsStale) {
  table_.File("a", "x");
  StartAndInit();
  for (uint64_t node : {uint64_t{0}, uint64_t{3}, ~uint64_t{0}}) {
    EXPECT_EQ(kernel_.GetAttributes(node).error, ESTALE);
    EXPECT_EQ(kernel_.Lookup(node, "x").error, ESTALE);
    EXPECT_EQ(kernel_.ReadDirectory(node, 0, 4096, false).error, ESTALE);
    EXPECT_EQ(kernel_.Read(node, 0, 10).error, ESTALE);
    EXPECT_EQ(kernel_.Seek(node, 0, SEEK_DATA).error, ESTALE);
    kernel_.Send(FUSE_READLINK, node, std::string_view());
    EXPECT_EQ(kernel_.Receive().error, ESTALE);
  }
}

TEST_F(Callbacks, ALookupInAFileFindsNoDirectory) {
  table_.File("a", "x");
  StartAndInit();
  EXPECT_EQ(kernel_.Lookup(2, "x").error, ENOTDIR);
  EXPECT_EQ(kernel_.ReadDirectory(2, 0, 4096, true).error, ENOTDIR);
}

TEST_F(Callbacks, OpenIsAnsweredOnceForAll) {
  table_.File("a", "x");
  StartAndInit();
  kernel_.SendStruct(FUSE_OPEN, 2, fuse_open_in{});
  EXPECT_EQ(kernel_.Receive().error, ENOSYS);
  kernel_.SendStruct(FUSE_OPENDIR, 1, fuse_open_in{});
  EXPECT_EQ(kernel_.Receive().error, ENOSYS);
}

TEST_F(Callbacks, InBigFileModeOpenKeepsTheCache) {
  table_.File("a", "x");
  SessionOptions options;
  options.never_open = false;
  Start(InitExchange::Fresh({}), options);
  kernel_.Init();
  kernel_.SendStruct(FUSE_OPEN, 2, fuse_open_in{});
  KernelReply reply = kernel_.Receive();
  EXPECT_EQ(reply.error, 0);
  EXPECT_TRUE(reply.As<fuse_open_out>().open_flags & FOPEN_KEEP_CACHE);
  EXPECT_EQ(reply.As<fuse_open_out>().fh, 2u);
}

TEST_F(Callbacks, AReadEndsWhereTheFileEnds) {
  table_.File("a", "hello world");
  StartAndInit();
  EXPECT_EQ(kernel_.Read(2, 0, 5).body, "hello");
  EXPECT_EQ(kernel_.Read(2, 6, 100).body, "world");
  EXPECT_EQ(kernel_.Read(2, 11, 100).body, "");
  EXPECT_EQ(kernel_.Read(2, 1 << 20, 100).body, "");
}

TEST_F(Callbacks, AReadOfAMebibyteIsOneReply) {
  std::string content(1 << 20, 'x');
  table_.File("a", content);
  StartAndInit();
  EXPECT_EQ(kernel_.Read(2, 0, 1 << 20).body, content);
}

TEST_F(Callbacks, AReadThatFailsIsEio) {
  table_.File("a", "x");
  StartAndInit();
  reader_->Break(InodeId{2});
  EXPECT_EQ(kernel_.Read(2, 0, 1).error, EIO);
}

TEST_F(Callbacks, AWaitingReadBlocksNoThread) {
  for (char name = 'a'; name <= 'h'; ++name) table_.File(std::string(1, name), "content");
  StartAndInit();
  reader_->Hold(InodeId{2});
  std::vector<uint64_t> waiting;
  for (int i = 0; i < 8; ++i) waiting.push_back(kernel_.Send(FUSE_READ, 2, KernelEnd::ReadBody(0, 7)));
  reader_->WaitForHeld(8);
  EXPECT_EQ(kernel_.Read(3, 0, 7).body, "content");
  EXPECT_TRUE(kernel_.Silent());
  reader_->Release();
  for (size_t i = 0; i < waiting.size(); ++i) EXPECT_EQ(kernel_.Receive().body, "content");
}

TEST_F(Callbacks, AReadThatNobodyAnswersIsEioAndNotSilence) {
  table_.File("a", "x");
  StartAndInit();
  reader_->Hold(InodeId{2});
  kernel_.Send(FUSE_READ, 2, KernelEnd::ReadBody(0, 1));
  reader_->WaitForHeld(1);
  reader_->Drop();
  EXPECT_EQ(kernel_.Receive().error, EIO);
}

TEST_F(Callbacks, AnInterruptedReadIsStillAnsweredOnce) {
  table_.File("a", "content");
  StartAndInit();
  reader_->Hold(InodeId{2});
  uint64_t read = kernel_.Send(FUSE_READ, 2, KernelEnd::ReadBody(0, 7));
  reader_->WaitForHeld(1);
  fuse_interrupt_in interrupt{};
  interrupt.unique = read;
  uint64_t interruption = kernel_.SendStruct(FUSE_INTERRUPT, 0, interrupt);
  reader_->Release();
  KernelReply reply = kernel_.Receive();
  EXPECT_EQ(reply.unique, read);
  EXPECT_EQ(reply.body, "content");

  uint64_t next = kernel_.Send(FUSE_READ, 2, KernelEnd::ReadBody(0, 3));
  reply = kernel_.Receive();
  // libfuse answers an interrupt that came after its read with EAGAIN, when the next request comes.
  if (reply.unique == interruption) {
    EXPECT_EQ(reply.error, EAGAIN);
    reply = kernel_.Receive();
  }
  EXPECT_EQ(reply.unique, next);
  EXPECT_EQ(reply.body, "con");
}

TEST_F(Callbacks, ARequestBearsASecondExecution) {
  table_.Directory("d");
  table_.File("d/f", "content");
  StartAndInit();
  auto twice = [&](auto request) {
    KernelReply first = request();
    kernel_.SendRaw(kernel_.last_request());
    KernelReply second = kernel_.Receive();
    EXPECT_EQ(first.unique, second.unique);
    EXPECT_EQ(first.body, second.body);
    EXPECT_EQ(first.error, second.error);
  };
  twice([&] { return kernel_.Lookup(1, "d"); });
  twice([&] { return kernel_.Read(3, 0, 7); });
  twice([&] { return kernel_.ReadDirectory(1, 0, 4096, true); });
  kernel_.SendStruct(FUSE_FORGET, 2, fuse_forget_in{1});
  kernel_.SendRaw(kernel_.last_request());
  EXPECT_EQ(kernel_.GetAttributes(2).error, 0);
}

TEST_F(Callbacks, AReadOutlivesItsSession) {
  table_.File("a", "content");
  StartAndInit();
  reader_->Hold(InodeId{2});
  kernel_.Send(FUSE_READ, 2, KernelEnd::ReadBody(0, 7));
  reader_->WaitForHeld(1);
  EXPECT_FALSE(session_->WaitForReads(std::chrono::steady_clock::now()));
  Stop();
  reader_->Release();
  EXPECT_EQ(kernel_.Receive().body, "content");
}

TEST_F(Callbacks, LinkTargetsAndStatfsAreAnswered) {
  table_.Symlink("link", "../target");
  table_.File("z", "x");
  StartAndInit();
  kernel_.Send(FUSE_READLINK, 2, std::string_view());
  EXPECT_EQ(kernel_.Receive().body, "../target");
  EXPECT_EQ(kernel_.GetAttributes(2).As<fuse_attr_out>().attr.size, 9u);
  kernel_.Send(FUSE_READLINK, 3, std::string_view());
  EXPECT_EQ(kernel_.Receive().error, EINVAL);
  kernel_.Send(FUSE_STATFS, 1, std::string_view());
  auto answer = kernel_.Receive().As<fuse_statfs_out>();
  EXPECT_EQ(answer.st.files, 3u);
  EXPECT_EQ(answer.st.namelen, 255u);
}

TEST_F(Callbacks, ALayerWithoutXattrsIsNeverAskedAgain) {
  table_.File("a", "x");
  StartAndInit();
  EXPECT_EQ(kernel_.GetXattr(2, "security.capability", 0).error, ENOSYS);
  kernel_.SendStruct(FUSE_LISTXATTR, 2, fuse_getxattr_in{});
  EXPECT_EQ(kernel_.Receive().error, ENOSYS);
}

TEST_F(Callbacks, XattrsMayHoldAnyBytes) {
  std::string capability("\0\1\2binary\0tail", 14);
  table_.File("a", "x").xattrs = {{"security.capability", capability}, {"user.empty", ""}};
  table_.File("b", "x");
  StartAndInit();
  EXPECT_EQ(kernel_.GetXattr(2, "security.capability", 0).As<fuse_getxattr_out>().size, 14u);
  EXPECT_EQ(kernel_.GetXattr(2, "security.capability", 14).body, capability);
  EXPECT_EQ(kernel_.GetXattr(2, "security.capability", 13).error, ERANGE);
  EXPECT_EQ(kernel_.GetXattr(2, "user.empty", 10).body, "");
  EXPECT_EQ(kernel_.GetXattr(2, "user.none", 10).error, ENODATA);
  EXPECT_EQ(kernel_.GetXattr(3, "security.capability", 14).error, ENODATA);
  fuse_getxattr_in list{};
  list.size = 100;
  kernel_.SendStruct(FUSE_LISTXATTR, 2, list);
  EXPECT_EQ(kernel_.Receive().body, std::string("security.capability\0user.empty\0", 31));
}

TEST_F(Callbacks, AListingGoesOnFromAnyOffset) {
  for (int i = 0; i < 500; ++i) table_.File("name" + std::to_string(1000 + i), "");
  table_.Directory("zz");
  StartAndInit();
  for (bool plus : {false, true}) {
    std::vector<std::string> names;
    uint64_t offset = 0;
    for (;;) {
      std::vector<KernelName> page = ParseDirectory(kernel_.ReadDirectory(1, offset, 1024, plus).body, plus);
      if (page.empty()) break;
      for (const KernelName& entry : page) names.push_back(entry.name);
      offset = page.back().next;
    }
    ASSERT_EQ(names.size(), 503u);
    EXPECT_EQ(names[0], ".");
    EXPECT_EQ(names[1], "..");
    EXPECT_EQ(names[2], "name1000");
    EXPECT_EQ(names[502], "zz");
    auto middle = ParseDirectory(kernel_.ReadDirectory(1, 3 + 100, 1024, plus).body, plus);
    EXPECT_EQ(middle.front().name, "name1101");
    EXPECT_EQ(middle.front().entry_node, plus ? middle.front().inode : 0u);
    EXPECT_EQ(kernel_.ReadDirectory(1, 503, 1024, plus).body, "");
    EXPECT_EQ(kernel_.ReadDirectory(1, ~uint64_t{0}, 1024, plus).body, "");
  }
}

TEST_F(Callbacks, AListingKnowsTypesAndHardLinks) {
  FakeInode& file = table_.File("b", "x");
  table_.HardLink("c", file);
  table_.Symlink("a", "b");
  table_.Whiteout("gone");
  StartAndInit();
  auto names = ParseDirectory(kernel_.ReadDirectory(1, 2, 4096, false).body, false);
  ASSERT_EQ(names.size(), 4u);
  EXPECT_EQ(names[0].type, static_cast<uint32_t>(S_IFLNK >> 12));
  EXPECT_EQ(names[1].inode, names[2].inode);
  EXPECT_EQ(names[3].type, static_cast<uint32_t>(S_IFCHR >> 12));
  auto attributes = kernel_.GetAttributes(names[1].inode).As<fuse_attr_out>().attr;
  EXPECT_EQ(attributes.nlink, 2u);
  auto whiteout = kernel_.GetAttributes(names[3].inode).As<fuse_attr_out>().attr;
  EXPECT_EQ(whiteout.rdev, 0u);
}

TEST_F(Callbacks, D1_SeekingForDataAndHolesAnswersAsExt4Does) {
  table_.File("f", std::string(1'437'832, 'x'));
  table_.File("g", "");
  StartAndInit();
  constexpr uint64_t kSize = 1'437'832;
  for (uint64_t offset : {uint64_t{0}, kSize / 2, kSize - 1}) {
    EXPECT_EQ(kernel_.Seek(2, offset, SEEK_DATA).As<fuse_lseek_out>().offset, offset);
    EXPECT_EQ(kernel_.Seek(2, offset, SEEK_HOLE).As<fuse_lseek_out>().offset, kSize);
  }
  for (uint64_t offset : {kSize, kSize + 1, ~uint64_t{0}}) {
    EXPECT_EQ(kernel_.Seek(2, offset, SEEK_DATA).error, ENXIO);
    EXPECT_EQ(kernel_.Seek(2, offset, SEEK_HOLE).error, ENXIO);
  }
  EXPECT_EQ(kernel_.Seek(3, 0, SEEK_DATA).error, ENXIO);
  EXPECT_GE(kernel_.GetAttributes(2).As<fuse_attr_out>().attr.blocks * 512, kSize);
}

TEST_F(Callbacks, ASessionThatTakesOverSaysNothingToTheKernelAboutInit) {
  table_.File("a", "content");
  std::string saved;
  Start(InitExchange::Fresh([&](std::string_view init) { saved = init; }));
  kernel_.Init();
  Stop();
  EXPECT_EQ(saved, kernel_.last_request());

  KernelEnd next;
  kernel_ = std::move(next);
  Start(InitExchange::Resumed(saved));
  EXPECT_TRUE(kernel_.Silent());
  EXPECT_EQ(kernel_.Read(2, 0, 7).body, "content");
}

TEST_F(Callbacks, AClosedConnectionEndsItsSessionOnly) {
  table_.File("a", "content");
  StartAndInit();
  KernelEnd other;
  FakeLayerTable table;
  table.File("b", "other");
  FakeLayerReader reader(table);
  auto session = *Session::Make(reader, {}, other.TakeServerEnd(), InitExchange::Fresh({}));
  ServingThreads::Ticket ticket = *threads_->Serve(session);
  other.Init();
  kernel_ = KernelEnd();
  EXPECT_EQ(other.Read(2, 0, 5).body, "other");
  threads_->Withdraw(ticket);
}

}  // namespace
}  // namespace soci::test
