// The verbs of soci-snapshotter: each takes its options, does its work and returns the exit code.
#pragma once

#include <optional>
#include <string>

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
  std::string socket = "/run/soci-snapshotter/admin.sock";
  bool stop = false;
};
int RecordVerb(const RecordOptions& options);

struct MountLayerOptions {
  std::string image;  // oci:DIR[:TAG]
  std::string layer;  // digest or number, from 1
  std::string mount_point;
  std::string state;  // empty: a temporary directory that goes afterwards
  bool fill = true;
};
int MountLayer(const MountLayerOptions& options, StopSignals& signals);

}  // namespace soci
