#include "indexer/index/files_at.h"

#include <string_view>
#include <utility>
#include <vector>

#include "indexer/index/prefetch.h"
#include "indexer/tar/whiteout.h"

namespace soci {
namespace {

constexpr int kMostPasses = 8;

struct Found {
  MemberAt member;
  std::string link_target = {};  // of a hard link
};

// The path whose deletion a member stands for; empty if it is no whiteout.
std::string DeletedBy(const std::string& name) {
  const size_t begin = name.rfind('/') == std::string::npos ? 0 : name.rfind('/') + 1;
  if (!std::string_view(name).substr(begin).starts_with(tar::kWhiteoutPrefix)) return {};
  return name.substr(0, begin) + name.substr(begin + tar::kWhiteoutPrefix.size());
}

std::map<std::string, Found> OnePass(const tar::Entries& entries, const std::set<std::string>& paths) {
  std::map<std::string, Found> found;
  for (const tar::Entry& entry : entries) {
    const std::string name = CleanPath(entry.name);
    if (paths.contains(name)) {
      Found& place = found[name] = {};
      if (entry.type == tar::EntryType::kRegular) place.member.content = entry.content;
      if (entry.type == tar::EntryType::kHardLink) place.link_target = CleanPath(entry.link_name);
      continue;
    }
    const std::string deleted = DeletedBy(name);
    if (!deleted.empty() && paths.contains(deleted)) found.try_emplace(deleted);  // unless the layer has it itself
  }
  return found;
}

}  // namespace

std::map<std::string, MemberAt> FilesAt(const tar::Entries& entries, const std::set<std::string>& paths) {
  std::map<std::string, MemberAt> members;
  if (paths.empty()) return members;
  std::multimap<std::string, std::string> waiting;  // target -> the paths that lead to it
  std::set<std::string> wanted = paths;
  for (int pass = 0; pass < kMostPasses && !wanted.empty(); ++pass) {
    std::multimap<std::string, std::string> next;
    for (auto& [name, found] : OnePass(entries, wanted)) {
      // Those who asked: in the first pass the path itself, then whoever is linked to it.
      const auto [first, last] = waiting.equal_range(name);
      std::vector<std::string> askers;
      for (auto asker = first; asker != last; ++asker) askers.push_back(asker->second);
      if (pass == 0) askers.push_back(name);
      for (const std::string& asker : askers) {
        members[asker] = found.member;
        if (!found.link_target.empty()) next.emplace(found.link_target, asker);
      }
    }
    waiting = std::move(next);
    wanted.clear();
    for (const auto& [target, asker] : waiting) wanted.insert(target);
  }
  return members;
}

}  // namespace soci
