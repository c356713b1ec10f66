#include "tests/e2e/differential/generated_layers.h"

#include <stdexcept>

#include "tests/e2e/support/process.h"
#include "tests/support/tar_builder.h"

namespace soci::test {
namespace {

// Field report D7.
TarBuilder OddNames() {
  return TarBuilder()
      .Directory("./", {.mode = 0700, .uid = 5})
      .Directory("/")
      .Directory(".")
      .File("./a", "1")
      .File("/b", "2")
      .File("c//d", "3")
      .File("e/./f", "4")
      .File("g/../../h", "5")
      .Directory("../i/", {.mode = 0711})
      .File("./.././j", "6");
}

// Field report D4: what a layer may say about those below it.
TarBuilder Whiteouts() {
  return TarBuilder()
      .Whiteout("a")
      .File("dir/.wh..wh..opq", "", {.uid = 3})
      .Directory("dir", {.mode = 0755, .mtime_nanoseconds = 3})
      .File("dir/kept", "kept")
      .Whiteout("none/below/this")
      .File(".wh.again", "", {.mode = 0600, .uid = 7, .gid = 8})
      .File("again", "made again")
      .File("only/.wh.one", "", {.mode = 0777, .uid = 70000, .gid = 80000})
      .Whiteout(std::string(150, 'w'))
      .Whiteout("folder-again")
      .Directory("folder-again")
      .File("folder-again/f", "x");
}

TarBuilder WhiteoutBeforeItsFolder() {  // field report D9
  return TarBuilder().Whiteout("root/a/b/x").Directory("root/a", {.mode = 0750, .uid = 4}).File("root/a/c", "1");
}

// Field report A20 and more.
TarBuilder HardLinks() {
  return TarBuilder()
      .File("file", "data", {.mode = 0600, .xattrs = {{"user.k", "v"}}})
      .HardLink("d/link", "file", {.mode = 0640, .uid = 9, .mtime_nanoseconds = 7})
      .HardLink("./other", "./d/link", {.mode = 0640, .uid = 9, .xattrs = {{"user.more", "w"}}})
      .Symlink("sym", "file", {.uid = 3})
      .HardLink("sym2", "/sym", {.uid = 4})
      .Fifo("fifo", {.mode = 0622})
      .HardLink("fifo2", "fifo", {.mode = 0622})
      .CharDevice("null", 1, 3, {.mode = 0666})
      .HardLink("null2", "null", {.mode = 0666})
      .File("was", "first")
      .HardLink("still", "was")
      .File("was", "second");
}

TarBuilder LongNames(bool gnu) {
  const std::string folder = std::string(100, 'd') + "/" + std::string(99, 'e');
  TarBuilder tar;
  if (gnu) tar.GnuLongNames();
  tar.Directory(folder, {.mode = 0751})
      .File(folder + "/" + std::string(100, 'f'), "300 bytes of path")
      .File(std::string(255, 'n'), "the longest name")
      .File("1234567890/" + std::string(89, 'x'), "exactly 100")
      .Symlink("l1", "t")
      .Symlink("l60", std::string(60, 't'))
      .Symlink("l255", std::string(255, 't'))
      .Symlink("l300", folder + "/" + std::string(100, 'f'))
      .Symlink("l4000", std::string(4000, 't'))
      .HardLink("hard", folder + "/" + std::string(100, 'f'));
  return tar;
}

TarBuilder NamesOfAnyBytes() {
  TarBuilder tar;
  std::string all;
  for (int byte = 1; byte < 256; ++byte) {
    if (byte != '/' && byte != '.') all += static_cast<char>(byte);
  }
  tar.File("n\new\tline", "1").File("caf\xe9", "2").File("\xff\xfe", "3").File(all.substr(0, 95), "4");
  tar.File(" ", "5").File("...", "6").File("a..b", "7").File("-rf", "8").Symlink("odd\x80link", "\xc3\x28\n");
  tar.File("caf\xc3\xa9", "9").File("back\\slash", "10").File("%2e%2e", "11");
  return tar;
}

TarBuilder Xattrs() {  // field report D3
  const std::string capability("\1\0\0\2\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
  return TarBuilder()
      .File("ping", "x", {.mode = 0755, .xattrs = {{"security.capability", capability}}})
      .File("empty", "x", {.xattrs = {{"user.x", ""}, {"trusted.y", "1"}, {"user.bytes", std::string("\0\1\n=", 4)}}})
      .File("big", "x", {.xattrs = {{"user.big", NoiseBytes(3000, 5)}}})
      .Directory("folder", {.mode = 0755, .xattrs = {{"user.f", "1"}}})
      .Directory("folder", {.mode = 0700, .xattrs = {{"user.g", "2"}}})
      .File("odd", "x", {.xattrs = {{"unknown.family", "1"}}})
      .File("owned", "x", {.mode = 0755, .uid = 12, .xattrs = {{"security.capability", capability}}});
}

TarBuilder Devices() {
  return TarBuilder()
      .CharDevice("null", 1, 3, {.mode = 0666})
      .CharDevice("whiteout-like", 0, 0, {.mode = 0644, .uid = 1})
      .CharDevice("big", 4000, 200'000, {.mode = 0600, .gid = 5})
      .BlockDevice("disk", 8, 1, {.mode = 0660, .gid = 6})
      .Fifo("pipe", {.mode = 0604, .uid = 65534});
}

TarBuilder Attributes() {
  return TarBuilder()
      .File("setuid", "x", {.mode = 04755, .uid = 1})
      .File("setgid", "x", {.mode = 02755, .gid = 2})
      .File("none", "x", {.mode = 0})
      .File("type-bits", "x", {.mode = 0100644})
      .Directory("sticky", {.mode = 01777})
      .Directory("setgid-dir", {.mode = 02775, .gid = 50})
      .Directory("closed", {.mode = 0})
      .File("closed/inside", "x")
      .File("ns", "x", {.mtime = 1'500'000'000, .mtime_nanoseconds = 123'456'789})
      .File("epoch", "x", {.mtime = 0})
      .File("before", "x", {.mtime = -100'000})
      .File("before-ns", "x", {.mtime = -5, .mtime_nanoseconds = 250'000'000})
      .File("late", "x", {.mtime = 8'000'000'000})
      .File("too-late", "x", {.mtime = 20'000'000'000})
      .File("big-ids", "x", {.uid = 2'000'000'000, .gid = 4'294'967'294})
      .Symlink("link", "nowhere", {.mode = 0644, .uid = 77, .mtime_nanoseconds = 9});
}

TarBuilder Duplicates() {  // field report A18
  return TarBuilder()
      .File("a", "first", {.mode = 0600})
      .File("a", "second!", {.mode = 0644})
      .File("file-then-folder", "x")
      .Directory("file-then-folder")
      .File("file-then-folder/f", "x")
      .Directory("folder-then-link")
      .File("folder-then-link/gone", "x")
      .Symlink("folder-then-link", "a")
      .Symlink("link-then-file", "a")
      .File("link-then-file", "own data")
      .Directory("folder", {.mode = 0700, .mtime = 1'400'000'000})
      .File("folder/kept", "x")
      .Directory("folder", {.mode = 0755, .uid = 6, .mtime = 1'450'000'000});
}

TarBuilder SymlinksInPaths() {
  return TarBuilder()
      .Directory("usr/lib")
      .Symlink("lib", "usr/lib")
      .File("lib/one", "1")
      .Symlink("absolute", "/usr")
      .File("absolute/two", "2")
      .Symlink("out", "../../../usr")
      .File("out/three", "3")
      .Symlink("usr/up", "..")
      .File("usr/up/four", "4")
      .Directory("lib/sub", {.mode = 0711});
}

TarBuilder LinkTargets() {  // field report D11
  return TarBuilder().Symlink("a", "/bin/touch").Symlink("b", "../x").Symlink("c", "//y").Symlink("d", ".");
}

// Field report D6: sizes around a border of spans; the last file ends with its last block.
TarBuilder SizesAround(size_t span) {
  TarBuilder tar;
  for (const size_t size : {size_t{0}, size_t{1}, span - 1, span, span + 1, 5 * span, size_t{511}, size_t{512}}) {
    tar.File("size-" + std::to_string(size), NoiseBytes(size, size));
  }
  return tar.File("last", NoiseBytes(3 * 512, 1));
}

TarBuilder ManyFiles() {
  TarBuilder tar;
  for (int i = 0; i < 3000; ++i) {
    tar.File("d" + std::to_string(i % 37) + "/f" + std::to_string(i), NoiseBytes(static_cast<size_t>(i % 700), i),
             {.uid = i % 5, .mtime = 1'600'000'000 + i});
  }
  return tar;
}

// What a program of the machine's own makes of its own files: GNU tar, with the hard links, symlinks and times of a
// real userland.
std::string RealTree() {
  const CommandResult tar = RunCommand({"tar", "-C", "/usr", "--format=gnu", "-cf", "-", "share/zoneinfo",
                                        "lib/python3.11/json", "lib/python3.11/email"});
  if (!tar.ok()) throw std::runtime_error("tar: " + tar.err);
  return tar.out;
}

}  // namespace

std::vector<GeneratedLayer> GeneratedLayers() {
  constexpr Compression kPlain = Compression::kUncompressed;
  return {
      {"nothing", TarBuilder().Finish()},
      {"one-empty-file", TarBuilder().File("empty", "").Finish()},
      {"odd-names", OddNames().Finish()},
      {"whiteouts", Whiteouts().Finish()},
      {"whiteout-before-its-folder", WhiteoutBeforeItsFolder().Finish()},
      {"hard-links", HardLinks().Finish()},
      {"long-names-pax", LongNames(false).Finish()},
      {"long-names-gnu", LongNames(true).Finish(8192)},
      {"names-of-any-bytes", NamesOfAnyBytes().Finish()},
      {"xattrs", Xattrs().Finish()},
      {"devices", Devices().Finish()},
      {"attributes", Attributes().Finish()},
      {"duplicates", Duplicates().Finish()},
      {"symlinks-in-paths", SymlinksInPaths().Finish()},
      {"link-targets", LinkTargets().Finish()},
      {"sizes-gzip", SizesAround(4096).Finish()},
      {"sizes-plain", SizesAround(4096).Finish(), {.compression = kPlain}},
      {"sizes-one-span", SizesAround(4096).Finish(), {.span_size = 4 << 20, .block_size = 0}},
      {"many-files", ManyFiles().Finish(), {.span_size = 65536, .block_size = 0}},
      {"real-tree", RealTree(), {.span_size = 1 << 18, .block_size = 0}},
      {"many-files-plain", ManyFiles().Finish(7680), {.compression = kPlain, .span_size = 100'000}},
  };
}

}  // namespace soci::test
