// A LayerProvider whose layers are ordinary folders below one directory; a test says which layers it has.
//
// Layers that were not added are deferred. Any thread, except for the members that a test sets before it starts.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "indexer/base/file_io.h"
#include "indexer/base/mutex.h"
#include "indexer/oci/annotations.h"
#include "snapshotter/pull/layer_provider.h"

namespace soci::test {

class FakeLayerProvider : public LayerProvider {
 public:
  explicit FakeLayerProvider(std::string folder) : folder_(std::move(folder)) {}

  // Called by Provide before anything else; may block.
  std::function<void(const Labels&)> on_provide = [](const Labels&) {};
  // What Restore answers; from_disk_status first, when it may only use the disk.
  Status restore_status;
  Status from_disk_status;

  // The layer can be provided; its folder is there from now on.
  void Add(const oci::LayerDigest& layer) {
    MutexLock lock(mutex_);
    known_.insert(layer);
    EXPECT_TRUE(MakeDirectories(Folder(layer)).ok());
  }
  std::string Folder(const oci::LayerDigest& layer) const { return folder_ + "/" + layer.Hex().substr(0, 12); }

  Result<ProvideOutcome> Provide(const Labels& labels, const std::string& containerd_namespace,
                                 const std::stop_token&) override {
    on_provide(labels);
    MutexLock lock(mutex_);
    ++provides_;
    namespaces_.insert(containerd_namespace);
    const auto label = labels.find(std::string(oci::kLabelLayerDigest));
    if (label == labels.end()) return LayerDeferred{fmt::format("label {} is missing", oci::kLabelLayerDigest)};
    SOCI_ASSIGN_OR_RETURN(oci::LayerDigest layer, oci::LayerDigest::Parse(label->second));
    if (known_.count(layer) == 0) return LayerDeferred{"the image has no SOCI index"};
    live_.insert(layer);
    return LayerProvided{layer, true, {{std::string(oci::kLabelHasSociIndex), "true"}}};
  }
  Status Restore(const oci::LayerDigest& layer, const Labels&, RestoreFrom from) override {
    MutexLock lock(mutex_);
    ++restores_;
    restored_.NotifyAll();
    if (from == RestoreFrom::kDisk && !from_disk_status.ok()) return from_disk_status;
    if (!restore_status.ok()) return restore_status;
    live_.insert(layer);
    return OkStatus();
  }
  Result<std::string> LowerDirectory(const oci::LayerDigest& layer) override {
    MutexLock lock(mutex_);
    if (live_.count(layer) == 0) return absl::NotFoundError(fmt::format("{} is not mounted", layer.ToString()));
    return Folder(layer);
  }
  Result<LayerUsage> Usage(const oci::LayerDigest& layer) override {
    MutexLock lock(mutex_);
    if (live_.count(layer) == 0) return absl::NotFoundError("not mounted");
    return LayerUsage{12'345, 6};
  }
  Status Release(const oci::LayerDigest& layer) override {
    MutexLock lock(mutex_);
    live_.erase(layer);
    released_.push_back(layer);
    return OkStatus();
  }
  void CollectUnused() override {
    MutexLock lock(mutex_);
    ++collections_;
  }

  void WaitForRestores(int count) {
    MutexLock lock(mutex_);
    while (restores_ < count) restored_.Wait(mutex_);
  }
  std::set<oci::LayerDigest> live() const { return Locked(live_); }
  std::vector<oci::LayerDigest> released() const { return Locked(released_); }
  std::set<std::string> namespaces() const { return Locked(namespaces_); }
  int provides() const { return Locked(provides_); }
  int restores() const { return Locked(restores_); }
  int collections() const { return Locked(collections_); }

 private:
  template <typename T>
  T Locked(const T& value) const {
    MutexLock lock(mutex_);
    return value;
  }

  const std::string folder_;
  mutable Mutex mutex_;
  std::set<oci::LayerDigest> known_;
  std::set<oci::LayerDigest> live_;
  std::vector<oci::LayerDigest> released_;
  std::set<std::string> namespaces_;
  int provides_ = 0;
  CondVar restored_;
  int restores_ = 0;
  int collections_ = 0;
};

}  // namespace soci::test
