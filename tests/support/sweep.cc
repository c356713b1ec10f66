#include "tests/support/sweep.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "tests/support/disk_limits.h"
#include "tests/support/temporary_directory.h"

namespace soci::test {
namespace {

namespace fs = std::filesystem;

std::string ReadProcFile(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::vector<fs::path> ControlGroups(const std::string& name) {
  std::vector<fs::path> found;
  std::error_code ignored;
  const fs::path top("/sys/fs/cgroup");
  // Version 1 has a tree for each controller, version 2 one for all.
  if (fs::exists(top / name, ignored)) found.push_back(top / name);
  for (const auto& controller : fs::directory_iterator(top, ignored)) {
    const fs::path group = controller.path() / name;
    if (controller.is_directory(ignored) && !controller.is_symlink(ignored) && fs::exists(group, ignored)) {
      found.push_back(group);
    }
  }
  return found;
}

std::set<int> ProcessesIn(const std::vector<fs::path>& groups) {
  std::set<int> pids;
  std::error_code ignored;
  for (const fs::path& group : groups) {
    for (const auto& entry : fs::recursive_directory_iterator(group, ignored)) {
      if (entry.path().filename() != "cgroup.procs") continue;
      std::ifstream stream(entry.path());
      for (int pid; stream >> pid;) pids.insert(pid);
    }
  }
  return pids;
}

void RemoveControlGroups(const std::vector<fs::path>& groups) {
  std::error_code ignored;
  for (const fs::path& group : groups) {
    std::vector<fs::path> folders{group};
    for (const auto& entry : fs::recursive_directory_iterator(group, ignored)) {
      if (entry.is_directory(ignored)) folders.push_back(entry.path());
    }
    std::sort(folders.rbegin(), folders.rend());  // children first
    for (const fs::path& folder : folders) ::rmdir(folder.c_str());
  }
}

bool IsDead(int pid) {
  if (::kill(pid, 0) != 0) return true;
  const std::string stat = ReadProcFile("/proc/" + std::to_string(pid) + "/stat");
  const size_t after_name = stat.rfind(')');
  return after_name != std::string::npos && after_name + 2 < stat.size() && stat[after_name + 2] == 'Z';
}

void KillAndWait(const std::set<int>& pids) {
  for (int pid : pids) ::kill(pid, SIGKILL);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (int pid : pids) {
    while (!IsDead(pid) && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}

// Shims put their sockets below /run/containerd whatever the state directory is; each leaves its address in a file.
void RemoveShimSockets(const std::string& root) {
  std::error_code ignored;
  const std::string scheme = "unix://";
  for (auto entry = fs::recursive_directory_iterator(root, fs::directory_options::skip_permission_denied, ignored);
       entry != fs::recursive_directory_iterator(); entry.increment(ignored)) {
    const std::string name = entry->path().filename();
    if (name == "rootfs" || name == "snapshots" || name == "layers" || name == "m") entry.disable_recursion_pending();
    if (name != "address" && name != "bootstrap.json") continue;
    const std::string text = ReadProcFile(entry->path());
    const size_t start = text.find(scheme + "/run/containerd/s/");
    if (start == std::string::npos) continue;
    const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789/", start + scheme.size());
    fs::remove(text.substr(start + scheme.size(), end == std::string::npos ? end : end - start - scheme.size()),
               ignored);
  }
}

}  // namespace

std::vector<int> ProcessesNaming(const std::string& folder) {
  std::vector<int> pids;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const int pid = std::stoi(name);
    const std::string arguments = ReadProcFile(entry.path() / "cmdline");
    if (pid != ::getpid() && arguments.find(folder + "/") != std::string::npos) pids.push_back(pid);
  }
  return pids;
}

std::vector<std::string> Sweep(const std::string& root, const std::string& name) {
  std::vector<std::string> forced;
  const std::vector<fs::path> groups = ControlGroups(name);
  std::set<int> pids = ProcessesIn(groups);
  for (int pid : ProcessesNaming(root)) pids.insert(pid);
  for (int pid : pids) {
    if (IsDead(pid)) continue;
    std::string arguments = ReadProcFile("/proc/" + std::to_string(pid) + "/cmdline");
    std::replace(arguments.begin(), arguments.end(), '\0', ' ');
    forced.push_back("process " + std::to_string(pid) + ": " + arguments);
  }
  KillAndWait(pids);
  RemoveControlGroups(groups);
  LiftLimitsBelow(root);
  for (const std::string& point : MountPointsBelow(root)) forced.push_back("mount " + point);
  UnmountAllBelow(root);
  RemoveShimSockets(root);
  std::error_code ignored;
  fs::remove_all("/run/containerd/runc/" + name, ignored);  // where ctr leaves runc when it is not told another place
  fs::remove_all(root, ignored);
  if (fs::exists(root, ignored)) forced.push_back("cannot remove " + root);
  return forced;
}

}  // namespace soci::test
