// One way to bring an image to a host, as data: which snapshotter, how its daemon is started, how it is told to pull,
// and how one sees that all is local. What takes part in a benchmark is a list of these.
//
// Command lines may use the names that Host::values() gives: {containerd} {namespace} {ctr} {snapshotter} {image}
// {registry} {scheme} {plain} {folder} {state} {run} {socket} {port} {programs} {local}.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "indexer/base/result.h"

namespace soci::bench {

struct Contestant {
  enum class Local {
    kAtPullEnd,  // the pull brings everything
    kByStatus,   // our daemon's admin socket says so
    kByCommand,  // `local_command` succeeds
    kNever,      // nobody can tell
  };

  std::string mode;                          // its column in reports
  std::string snapshotter;                   // as containerd knows it
  std::string daemon = {};                   // command line; empty: none of its own
  std::string socket = {};                   // of the snapshotter, for containerd
  std::map<std::string, std::string> files;  // written before the daemon starts: path and contents, both filled in
  std::string pull = {};
  std::string image_suffix = {};        // what its own image of the same contents is called in the registry
  std::string version = {};             // a command line whose first line of output tells it
  std::vector<std::string> setup = {};  // once per image, before anything is measured
  Local local = Local::kAtPullEnd;
  std::string local_command = {};
  // Runs once before anything is measured; what the daemon recorded then it has in the measured runs.
  bool recorded = false;
  bool pulled_before = false;  // the pull is not measured: the image is there already, nothing of it in memory
};

// "containerd", "lazy", "lazy+replay", "full", "local", and snapshotters of others that are known by name: "soci",
// "stargz". kInvalidArgument names those that are known.
soci::Result<Contestant> KnownContestant(const std::string& name);
// The names of snapshotters of others whose programs are in PATH.
std::vector<std::string> PeersInPath();
// Where a program is; empty if it is not in PATH.
std::string FindInPath(const std::string& program);

// From TOML: mode, snapshotter, daemon, socket, pull, version, image_suffix, setup (an array), local ("pull-end",
// "never", or a command line), and a table of files. kInvalidArgument names file and key.
soci::Result<Contestant> ReadContestant(const std::string& path);

}  // namespace soci::bench
