#include "tests/model/ztoc/layer_plan.h"

#include <fmt/format.h>

#include "tests/support/tar_builder.h"

namespace soci::test {

std::string LayerPlan::Tar() const {
  TarBuilder tar;
  if (gnu_names) tar.GnuLongNames();
  size_t number = 0;
  for (const PlannedFile& file : files) {
    std::string name = fmt::format("{}-", number++);
    while (name.size() < file.name_size)
      name += name.size() % 60 == 59 ? '/' : static_cast<char>('a' + (file.seed + name.size()) % 26);
    TarAttributes attributes{.uid = file.seed % 5 == 0 ? int64_t{3'000'000} : 1000,
                             .mtime = static_cast<int64_t>(file.seed),
                             .mtime_nanoseconds = file.seed % 3 == 0 ? file.seed % 1'000'000'000 : 0};
    if (file.has_xattr)
      attributes.xattrs = {{"user.note", std::string(file.seed % 300, '=')}, {"user.bin", std::string("\\0\\xff", 2)}};
    std::mt19937 random(file.seed);
    switch (file.kind) {
      case 'd':
        tar.Directory(name, attributes);
        break;
      case 'l':
        tar.Symlink(name, std::string(1 + file.size % 300, 't'), attributes);
        break;
      case 'h':
        tar.HardLink(name, "0-", attributes);
        break;
      case 'p':
        tar.Fifo(name, attributes);
        break;
      case 'c':
        tar.CharDevice(name, 1, 3, attributes);
        break;
      case 'b':
        tar.BlockDevice(name, 7, file.seed % 256, attributes);
        break;
      case 'w':
        tar.Whiteout(name);
        break;
      default:
        tar.File(name, RandomBytes(file.size, random), attributes);
    }
  }
  return tar.Finish() + std::string(padding, '\0');
}

std::string LayerPlan::Blob(const std::string& tar) const {
  if (plain) return tar;
  std::string blob;
  std::string_view rest = tar;
  for (const PlannedMember& member : members) {
    blob += GzipMember(rest.substr(0, member.size), member.recipe);
    rest.remove_prefix(std::min(rest.size(), member.size));
  }
  if (!rest.empty() || blob.empty()) blob += GzipMember(rest);
  return blob;
}

std::string LayerPlan::ToString() const {
  std::string text =
      fmt::format("span {} read {} padding {} gnu {} plain {}\n", span_size, read_size, padding, gnu_names, plain);
  for (const PlannedFile& file : files) {
    text += fmt::format("  {} name {} size {} seed {} xattr {}\n", file.kind, file.name_size, file.size, file.seed,
                        file.has_xattr);
  }
  for (const PlannedMember& member : members)
    text += fmt::format("  member {}: {}\n", member.size, member.recipe.ToString());
  return text;
}

LayerPlan RandomPlan(unsigned seed) {
  std::mt19937 random(seed);
  LayerPlan plan;
  plan.span_size = uint64_t{1} << (random() % 17);
  plan.read_size = size_t{1} << (random() % 17);
  if (random() % 4 == 0) plan.padding = random() % 20'000;
  plan.gnu_names = random() % 3 == 0;
  plan.plain = random() % 10 == 0;
  const size_t files = random() % 40;
  for (size_t i = 0; i < files; ++i) {
    PlannedFile file;
    file.kind = "ffffdlhpcbw"[random() % 11];
    file.name_size = 3 + random() % (random() % 4 == 0 ? 250 : 20);
    file.size = random() % (random() % 5 == 0 ? 200'000 : 3'000);
    file.seed = static_cast<unsigned>(random());
    file.has_xattr = random() % 5 == 0;
    plan.files.push_back(file);
  }
  const size_t members = random() % 3 == 0 ? random() % 12 : 1;
  for (size_t i = 0; i < members; ++i) {
    plan.members.push_back({members == 1 ? size_t{1} << 30 : random() % 60'000, RandomRecipe(random)});
  }
  return plan;
}

std::vector<LayerPlan> SmallerPlans(const LayerPlan& plan) {
  std::vector<LayerPlan> smaller;
  const auto add = [&](auto change) {
    LayerPlan one = plan;
    change(one);
    smaller.push_back(std::move(one));
  };
  const auto halve = [&](auto list) {
    const size_t size = (plan.*list).size();
    if (size > 1) {
      add([&](LayerPlan& p) { (p.*list).resize(size / 2); });
      add([&](LayerPlan& p) {
        (p.*list).erase((p.*list).begin(), (p.*list).begin() + static_cast<ptrdiff_t>(size / 2));
      });
    }
    for (size_t i = 0; i < size; ++i)
      add([&](LayerPlan& p) { (p.*list).erase((p.*list).begin() + static_cast<ptrdiff_t>(i)); });
  };
  halve(&LayerPlan::files);
  halve(&LayerPlan::members);
  for (size_t i = 0; i < plan.files.size(); ++i) {
    if (plan.files[i].size > 0) add([i](LayerPlan& p) { p.files[i].size /= 2; });
    if (plan.files[i].has_xattr) add([i](LayerPlan& p) { p.files[i].has_xattr = false; });
    if (plan.files[i].name_size > 3) add([i](LayerPlan& p) { p.files[i].name_size /= 2; });
  }
  for (size_t i = 0; i < plan.members.size(); ++i) {
    if (plan.members[i].size > 0) add([i](LayerPlan& p) { p.members[i].size /= 2; });
  }
  if (plan.gnu_names) add([](LayerPlan& p) { p.gnu_names = false; });
  if (plan.padding > 0) add([](LayerPlan& p) { p.padding /= 2; });
  return smaller;
}

}  // namespace soci::test
