// Published records that lie, each of an image of its own: refused or harmless, and said to be.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "tests/e2e/lazy/published_record.h"
#include "tests/e2e/lazy/raw_record.h"

namespace soci::test {
namespace {

using ::testing::AnyOf;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr uint32_t kFiles = 12;
constexpr uint64_t kSize = 80'000;
constexpr uint64_t kPages = kSize / kRecordPage + 1;
constexpr uint32_t kApp = 1;  // the layer with the files; 0 is that of the commands
constexpr uint64_t kSpan = 64 << 10;
constexpr size_t kLinks = 5'000;  // further names of the file app/0

struct Lie {
  std::string name;  // of the image's repository
  std::function<std::string(const TestImage&)> record;
  std::string told;         // by status
  uint64_t most_bytes = 0;  // of the layer, by replay
};

std::string PathOf(uint32_t file) { return "app/" + std::string(1, static_cast<char>('a' + file)); }

// What such a record has in common with a true one.
RawRecord About(const TestImage& image) {
  RawRecord record;
  record.manifest = image.digest().ToString();
  for (const ImageLayer& layer : image.layers()) record.layers.push_back(layer.digest.ToString());
  return record;
}

RawRecord WithExtents(const TestImage& image, std::vector<RawExtent> extents) {
  RawRecord record = About(image);
  for (uint32_t file = 0; file < kFiles; ++file) record.files.push_back({kApp, PathOf(file), kSize});
  record.extents = std::move(extents);
  return record;
}

std::vector<RawExtent> FirstPages() {
  std::vector<RawExtent> extents;
  for (uint64_t file = 0; file < kFiles; ++file) extents.push_back({file, 0, 1});
  return extents;
}

RawRecord WithFiles(const TestImage& image, std::vector<RecordedFile> files) {
  RawRecord record = About(image);
  std::sort(files.begin(), files.end());
  record.files = std::move(files);
  for (uint64_t file = 0; file < record.files.size(); ++file) record.extents.push_back({file, 0, 1, 1});
  return record;
}

std::vector<Lie> Unsound() {
  // Behind a sound one of each file.
  const auto extents = [](const std::vector<RawExtent>& lie) {
    return [lie](const TestImage& image) {
      RawRecord record = WithExtents(image, FirstPages());
      record.extents.insert(record.extents.end(), lie.begin(), lie.end());
      return record.Encode();
    };
  };
  return {
      {"beyond", extents({{1, kPages - 1, 2}}), "beyond its end"},
      {"overflow", extents({{1, 1, ~uint64_t{0}}}), "makes no sense"},
      {"overlap", extents({{1, 1, 4}, {2, 1, 1}, {1, 3, 4}}), "twice"},
      {"toomany", extents(std::vector<RawExtent>(kMostRecordExtents, {1, 0, 1})), "too many numbers"},
      {"terminal",
       [](const TestImage& image) {
         RawRecord record = WithFiles(image, {{kApp, "app\x1b[2J\nimage: 1 of 1 layers ours", kSize}});
         record.extents[0].page = kPages;
         return record.Encode();
       },
       "app [2J image"},
      {"another",
       [](const TestImage& image) {
         RawRecord record = WithExtents(image, FirstPages());
         record.manifest = oci::Digest::Of("another image").ToString();
         return record.Encode();
       },
       "the record is about"},
      {"large", [](const TestImage&) { return NoiseBytes(kMostRecordBytes + 1, 1); }, "more than 1048576"},
      {"bomb", [](const TestImage&) { return ZstdFrame(std::string(size_t{1} << 30, '\0')); }, "it would be"},
  };
}

std::vector<Lie> Sound() {
  return {
      {"files",
       [](const TestImage& image) {
         return WithFiles(image, {{kApp, "app/a", uint64_t{200} << 30},
                                  {kApp, "app/b", kSize - 1},
                                  {kApp, "app/c/d", kSize},
                                  {kApp, "app", kSize},
                                  {kApp, "not/there", kSize},
                                  {0, "app/d", kSize}})
             .Encode();
       },
       "6 of its 6 extents are of files that the image does not have"},
      {"layers",
       [](const TestImage& image) {
         RawRecord record = WithExtents(image, {{0, 0, 1}, {1, 0, 1}});
         record.layers[kApp] = oci::Digest::Of("another layer").ToString();
         record.files.resize(2);
         return record.Encode();
       },
       "2 of its 2 extents are of layers that are not lazy here"},
      {"nothing",
       [](const TestImage& image) {
         std::vector<RecordedFile> files = {{kApp, PathOf(3), kSize}};
         for (int i = 0; i < 99'999; ++i) files.push_back({kApp, "app/not/" + std::to_string(i), kSize});
         return WithFiles(image, std::move(files)).Encode();
       },
       "99999 of its 100000 extents are of files", 2 * kSpan},
      // One file by all its names, page by page, backwards, and days between them.
      {"links",
       [](const TestImage& image) {
         std::vector<RecordedFile> files;
         for (size_t i = 0; i < kLinks; ++i) files.push_back({kApp, "app/link" + std::to_string(i), kSize});
         RawRecord record = WithFiles(image, std::move(files));
         record.extents.clear();
         for (uint64_t page = kPages; page-- > 0;) {
           for (uint64_t link = kLinks; link-- > 0;) record.extents.push_back({link, page, 1, link % 2 * 864'000'000});
         }
         return record.Encode();
       },
       "replay done", kSize + 2 * kSpan},
      // Everything, in the order that suits a registry least.
      {"everything",
       [](const TestImage& image) {
         std::vector<RawExtent> extents;
         for (uint64_t i = 0; i < kFiles * kPages; ++i) {
           const uint64_t place = i * 89 % (kFiles * kPages);
           extents.push_back({place / kPages, place % kPages, 1});
         }
         return WithExtents(image, std::move(extents)).Encode();
       },
       "replay done", kFiles * kSize + 2 * kSpan},
  };
}

class HostileRecord : public PublishedRecord {
 protected:
  static std::string ContentOf(const Lie& lie, uint32_t file) {
    return NoiseBytes(kSize, std::hash<std::string>()(lie.name) % 1'000'000 + file);
  }
  static TestImage ImageOf(const Lie& lie) {
    TarBuilder tar;
    tar.Directory("app");
    for (uint32_t file = 0; file < kFiles; ++file) tar.File(PathOf(file), ContentOf(lie, file));
    for (size_t i = 0; lie.name == "links" && i < kLinks; ++i) tar.HardLink("app/link" + std::to_string(i), PathOf(0));
    return TestImage().Add(GzipLayer(BusyboxTar().Finish(), 1)).Add(GzipLayer(tar.Finish(), 1));
  }
  // What status says of one image.
  std::string StatusOf(const std::string& reference) const {
    const std::string all = Status();
    const size_t begin = all.find(reference + ": ");
    if (begin == std::string::npos) return "";
    size_t end = all.find('\n', begin);
    while (end != std::string::npos && all.substr(end, 3) == "\n  ") end = all.find('\n', end + 1);
    return all.substr(begin, end - begin);
  }
  uint64_t LayerBytes(const TestImage& image) const {
    uint64_t bytes = 0;
    for (const LoggedRequest& request : registry_.BlobGets(image.layers()[kApp].digest.ToString())) {
      bytes += request.bytes;
    }
    return bytes;
  }

  void Try(const Lie& lie) {
    SCOPED_TRACE(lie.name);
    const TestImage image = ImageOf(lie);
    const std::string reference = PushIndexed(image, lie.name);
    const std::string record = lie.record(image);
    PublishBytes(registry_, lie.name, image, record);
    registry_.ForgetRequests();
    PullLazily(reference);
    ASSERT_TRUE(WaitUntil([&] { return StatusOf(reference).find(lie.told) != std::string::npos; }))
        << Status() << daemon_.Log();
    EXPECT_LE(LayerBytes(image), lie.most_bytes);
    if (record.size() > kMostRecordBytes) {
      EXPECT_THAT(registry_.BlobGets(oci::Digest::Of(record).ToString()), IsEmpty());
    }

    std::vector<std::string> command = {"cat"};
    std::string content;
    for (uint32_t file = 0; file < kFiles; ++file) {
      command.push_back("/" + PathOf(file));
      content += ContentOf(lie, file);
    }
    EXPECT_TRUE(Output(reference, command) == content);
    EXPECT_LE(LayerBytes(image), image.layers()[kApp].blob.size() * 3 / 2) << "some twice at most: hedges";
    EXPECT_THAT(registry_.BlobGets(image.layers()[kApp].digest.ToString()),
                Each(Field(&LoggedRequest::status, AnyOf(200, 206))));
  }
};

TEST_F(HostileRecord, ThatIsNotSoundIsRefusedAndFetchesNothing) {
  for (const Lie& lie : Unsound()) Try(lie);
  EXPECT_THAT(Status(), Not(HasSubstr("published")));
  EXPECT_LE(Replayed(), 0);
  EXPECT_THAT(Status() + daemon_.Log(), Not(HasSubstr("\x1b")));
}

TEST_F(HostileRecord, ThatIsSoundFetchesWhatItNamesOfTheImageOnceAndNothingElse) {
  for (const Lie& lie : Sound()) Try(lie);
}

}  // namespace
}  // namespace soci::test
