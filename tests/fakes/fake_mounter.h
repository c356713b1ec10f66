// A Mounter that mounts nothing: remembers what would be mounted, and lets a test read through it. Any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "fuse/session/mounter.h"

namespace soci {

class FakeMounter : public Mounter {
 public:
  Status next_error = OkStatus();  // what the next Mount answers

  Result<std::unique_ptr<MountHandle>> Mount(LayerReader& layer, const std::string& mount_point) override {
    std::lock_guard lock(mutex_);
    if (!next_error.ok()) return std::exchange(next_error, OkStatus());
    mounts_[mount_point] = &layer;
    ++mounted_;
    return std::unique_ptr<MountHandle>(new Handle(*this, mount_point));
  }

  bool IsMounted(const std::string& mount_point) const { return LayerAt(mount_point) != nullptr; }
  LayerReader* LayerAt(const std::string& mount_point) const {
    std::lock_guard lock(mutex_);
    auto found = mounts_.find(mount_point);
    return found == mounts_.end() ? nullptr : found->second;
  }
  size_t mounted() const {
    std::lock_guard lock(mutex_);
    return mounted_;
  }

 private:
  class Handle : public MountHandle {
   public:
    Handle(FakeMounter& mounter, std::string mount_point) : mounter_(mounter), mount_point_(std::move(mount_point)) {}
    ~Handle() override { Detach(); }
    void Detach() override {
      std::lock_guard lock(mounter_.mutex_);
      mounter_.mounts_.erase(mount_point_);
    }
    const std::string& mount_point() const override { return mount_point_; }

   private:
    FakeMounter& mounter_;
    const std::string mount_point_;
  };

  mutable std::mutex mutex_;
  std::map<std::string, LayerReader*> mounts_;
  size_t mounted_ = 0;
};

}  // namespace soci
