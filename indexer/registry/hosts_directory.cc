#include "indexer/registry/hosts_directory.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "indexer/base/file_io.h"
#include "indexer/base/log.h"
#include "indexer/base/units.h"

namespace soci {
namespace {

constexpr uint64_t kFileLimit = 1_MiB;

bool IsDirectory(const std::string& path) {
  struct stat attributes {};
  return ::stat(path.c_str(), &attributes) == 0 && S_ISDIR(attributes.st_mode);
}

// A host is part of a path here: it must not lead anywhere else.
bool IsPlainHost(const std::string& host) {
  return !host.empty() && host != "." && host != ".." && host.find('/') == std::string::npos &&
         host.find('\0') == std::string::npos;
}

std::vector<std::string> FolderNames(const std::string& host) {
  std::vector<std::string> names;
  size_t colon = host.rfind(':');
  if (colon != std::string::npos && colon > 0)
    names.push_back(host.substr(0, colon) + "_" + host.substr(colon + 1) + "_");
  names.push_back(host);
  names.emplace_back("_default");
  return names;
}

std::vector<std::string> SortedFiles(const std::string& folder) {
  std::vector<std::string> names;
  if (DIR* open = ::opendir(folder.c_str())) {
    while (const dirent* entry = ::readdir(open)) names.emplace_back(entry->d_name);
    ::closedir(open);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// docker's own layout: ca.crt, client.cert and client.key for the registry's server.
std::shared_ptr<const HostsToml> ReadCertificates(const std::string& folder) {
  TlsOptions tls;
  for (const std::string& name : SortedFiles(folder)) {
    std::string path = folder + "/" + name;
    if (name.ends_with(".crt")) tls.ca_files.push_back(path);
    if (name.ends_with(".cert") && tls.client_certificate.empty()) {
      tls.client_certificate = path;
      tls.client_key = path.substr(0, path.size() - 5) + ".key";
    }
  }
  if (tls == TlsOptions{}) return nullptr;
  auto hosts = std::make_shared<HostsToml>();
  hosts->entries.emplace_back().tls = std::move(tls);
  return hosts;
}

}  // namespace

HostsDirectory::HostsDirectory(const std::string& directories) {
  std::string_view rest = directories;
  while (!rest.empty()) {
    std::string_view one = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    if (!one.empty()) directories_.emplace_back(one);
  }
}

std::optional<HostsDirectory::Version> HostsDirectory::Look(const std::string& path) {
  struct stat attributes {};
  if (::stat(path.c_str(), &attributes) != 0 || !S_ISREG(attributes.st_mode)) return std::nullopt;
  return Version{attributes.st_mtim.tv_sec * 1'000'000'000 + attributes.st_mtim.tv_nsec,
                 static_cast<uint64_t>(attributes.st_size), static_cast<uint64_t>(attributes.st_ino)};
}

Result<std::shared_ptr<const HostsToml>> HostsDirectory::Find(const std::string& host) {
  if (!IsPlainHost(host)) return std::shared_ptr<const HostsToml>();
  for (const std::string& directory : directories_) {
    for (const std::string& name : FolderNames(host)) {
      std::string folder = directory + "/" + name;
      if (!IsDirectory(folder)) continue;
      return ReadFolder(folder);
    }
  }
  return std::shared_ptr<const HostsToml>();
}

Result<std::shared_ptr<const HostsToml>> HostsDirectory::ReadFolder(const std::string& folder) {
  std::string path = folder + "/hosts.toml";
  std::optional<Version> version = Look(path);
  if (!version) return ReadCertificates(folder);
  MutexLock lock(mutex_);
  Read& read = read_[path];
  bool first = read.hosts == nullptr;
  if (read.version != *version || (first && read.status.ok())) {
    Result<std::string> text = ReadFile(path, kFileLimit);
    Result<HostsToml> parsed = text.ok() ? ParseHostsToml(*text, folder) : Result<HostsToml>(text.status());
    read.version = *version;
    read.status = parsed.ok() ? OkStatus() : Annotate(parsed.status(), path);
    if (parsed.ok()) read.hosts = std::make_shared<const HostsToml>(*std::move(parsed));
    if (!read.status.ok() && !first) log::Warning("{}; going on with what it said before", Message(read.status));
  }
  if (read.hosts == nullptr) return read.status;
  return read.hosts;
}

}  // namespace soci
