// The verbs of soci-snapshotter: each takes its options, does its work and returns the exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "snapshotter/config/config.h"

namespace soci {

class StopSignals;

struct ServeOptions {
  std::optional<std::string> config_file;
  ConfigOverrides overrides;
};
int Serve(const ServeOptions& options, StopSignals& signals);

struct PullVerbOptions {
  std::string reference;
  std::string containerd = "/run/containerd/containerd.sock";
  std::string containerd_namespace = "default";
  std::string snapshotter = "soci";
  std::string hosts_directory = "/etc/containerd/certs.d";
  bool plain_http = false;
  unsigned patience_seconds = 60;  // with a registry that does not answer
};
int PullVerb(const PullVerbOptions& options, const StopSignals& signals);

struct StatusOptions {
  std::string socket = "/run/soci-snapshotter/admin.sock";
  bool json = false;
};
int StatusVerb(const StatusOptions& options);

struct RecordOptions {
  std::string reference;                    // not with `stop`
  std::vector<std::string> command;         // empty: the image's own
  std::string out;                          // file for the record; empty: only the host keeps it
  std::string ready_line;                   // the program is ready when it prints this; empty: it never says so
  std::optional<uint32_t> silence_seconds;  // no value: the daemon's record.quiet_seconds
  std::string max_size;                     // empty: the daemon's record.max_bytes
  uint32_t grace_seconds = 10;              // between SIGTERM and SIGKILL when the recording is over
  std::vector<std::string> run_flags;       // for `ctr run`
  std::string ctr = "ctr";
  std::string containerd = "/run/containerd/containerd.sock";
  std::string containerd_namespace = "default";
  std::string snapshotter = "soci";
  std::string hosts_directory = "/etc/containerd/certs.d";
  bool plain_http = false;
  std::string socket = "/run/soci-snapshotter/admin.sock";
  bool stop = false;
};
int RecordVerb(const RecordOptions& options, const StopSignals& signals);

struct MountLayerOptions {
  std::string image;  // oci:DIR[:TAG]
  std::string layer;  // digest or number, from 1
  std::string mount_point;
  std::string state;  // empty: a temporary directory that goes afterwards
  bool fill = true;
};
int MountLayer(const MountLayerOptions& options, StopSignals& signals);

}  // namespace soci
