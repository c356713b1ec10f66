// The named scenarios: what each of the twelve metrics needs to be seen. Data, and who asks for it by name.
//
// A scenario is an image, links, a workload, and modes; "peers" stands for every snapshotter of others in PATH. Images
// are named as their folders: "S", "M", "L" (soci-bench image make), "demo", "pytorch" (recipes in bench/).
#pragma once

#include <string>
#include <vector>

#include "bench/run/workload.h"
#include "indexer/base/result.h"

namespace soci::bench {

struct CatalogEntry {
  std::string name;
  std::string question;  // what it answers, for people
  std::string image;
  std::vector<std::string> links;  // --link stands for all of them, unless `keeps_link`
  std::string workload;            // a name that NamedWorkload() knows
  std::vector<std::string> modes;
  std::string daemon_flags = {};  // of our daemon, for this scenario only
  bool wait_until_local = false;
  bool keeps_link = false;  // the link is what it is about
  int hosts = 1;            // that start at once, behind one link
  // When the work says this, our daemon is killed and started again; or ended in order and started again; or the
  // registry is out of reach for some seconds.
  std::string kill_daemon_at = {}, upgrade_daemon_at = {}, registry_down_at = {};
  std::string note = {};  // what to know when reading the figures
  // Part of `./dev bench`, with these modes; the others need --full. Its time is ten minutes: no peers, and containerd
  // and the floor only where they say most.
  std::vector<std::string> short_modes = {};
};

const std::vector<CatalogEntry>& Catalog();

// kInvalidArgument names those that exist. "all", "short" and the name of a sweep ("density") stand for several.
soci::Result<std::vector<CatalogEntry>> FindScenarios(const std::vector<std::string>& names);

// kInvalidArgument for a workload nobody knows.
soci::Result<Workload> NamedWorkload(const std::string& name);

}  // namespace soci::bench
