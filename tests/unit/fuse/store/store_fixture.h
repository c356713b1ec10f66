// What the tests of the store share: a folder of their own, a cache, and layers small enough to be written span by
// span.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fuse/store/layer_store.h"
#include "indexer/base/file_io.h"
#include "tests/layers/indexed_layer.h"
#include "tests/layers/tree.h"
#include "tests/support/tar_builder.h"
#include "tests/support/temporary_directory.h"

namespace soci::test {

// Files of every size around a span, small ones, replaced ones, links, and a long header that straddles spans. No
// member needs root.
inline TarBuilder SampleTar() {
  const uint32_t uid = ::geteuid(), gid = ::getegid();
  TarBuilder tar;
  tar.Directory("d", {.mode = 0750, .uid = uid, .gid = gid, .mtime = 1'600'000'000, .mtime_nanoseconds = 5});
  tar.File("d/big", NoiseBytes(60'000, 1), {.mode = 0644, .uid = uid, .gid = gid, .mtime_nanoseconds = 999});
  for (int i = 0; i < 40; ++i) {
    tar.File("d/small" + std::to_string(i), NoiseBytes(static_cast<size_t>(i) * 37, 100 + static_cast<uint32_t>(i)),
             {.uid = uid, .gid = gid});
  }
  tar.File("replaced", NoiseBytes(5'000, 3), {.uid = uid, .gid = gid});
  tar.File("replaced", "second", {.uid = uid, .gid = gid});
  tar.Symlink("link", "d/big", {.uid = uid, .gid = gid})
      .HardLink("hard", "d/big", {.mode = 0640, .uid = uid, .gid = gid});
  tar.File(std::string(200, 'l') + "/" + std::string(250, 'n'), "long name", {.uid = uid, .gid = gid});
  tar.Directory("empty", {.mode = 0700, .uid = uid, .gid = gid}).File("nothing", "", {.uid = uid, .gid = gid});
  tar.File("last", NoiseBytes(9'000, 4), {.uid = uid, .gid = gid});
  return tar;
}

inline std::vector<SpanId> ShuffledSpans(const IndexedLayer& layer, uint32_t seed) {
  std::vector<SpanId> spans;
  for (uint32_t i = 0; i < layer.table->span_count(); ++i) spans.push_back(SpanId{i});
  std::shuffle(spans.begin(), spans.end(), std::mt19937(seed));
  return spans;
}

class StoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<LayerStore> Open(const IndexedLayer& layer, LayerStoreOptions options = {}) {
    auto store = LayerStore::Open(folder_, layer.table, files_, std::move(options));
    if (!store.ok()) throw std::runtime_error(std::string(Message(store.status())));
    return *std::move(store);
  }

  // As the fetcher does it: checked, then written.
  static Status Put(LayerStore& store, const IndexedLayer& layer, SpanId span) {
    SOCI_RETURN_IF_ERROR(store.CheckSpan(span, layer.Decoded(span)));
    return store.WriteSpan(span, layer.Decoded(span));
  }
  static Status PutAll(LayerStore& store, const IndexedLayer& layer, uint32_t seed = 1) {
    for (const SpanId span : ShuffledSpans(layer, seed)) SOCI_RETURN_IF_ERROR(Put(store, layer, span));
    return OkStatus();
  }

  static std::string ReadAll(LayerStore& store, const IndexedLayer& layer, InodeId file) {
    std::string bytes(layer.table->Attributes(file)->size, '\0');
    const auto count = store.ReadFile(file, 0, std::as_writable_bytes(std::span(bytes)), true);
    return count.ok() ? bytes.substr(0, *count) : "error: " + std::string(Message(count.status()));
  }

  // Every regular file reads as the tar has it.
  static void ExpectAllReadable(LayerStore& store, const IndexedLayer& layer) {
    for (uint64_t number = 1; number <= layer.table->inode_count(); ++number) {
      const InodeAttributes attributes = *layer.table->Attributes(InodeId{number});
      if (!S_ISREG(attributes.mode)) continue;
      EXPECT_TRUE(ReadAll(store, layer, InodeId{number}) == layer.tar.substr(attributes.content.begin, attributes.size))
          << "inode " << number;
    }
  }

  // What sealing must have made.
  static void ExpectSealed(LayerStore& store, const IndexedLayer& layer) {
    EXPECT_TRUE(store.sealed());
    Tree expected = WalkTable(*layer.table, layer.tar);
    EXPECT_EQ(Differences(expected, WalkDirectory(store.sealed_path())), "");
  }

  const TemporaryDirectory root_;
  const std::string folder_ = root_ / "layer";
  FdCache files_{8};
};

}  // namespace soci::test
