// Downloads of an image's layers into containerd's content store, several at once.
//
// Started early for layers that will surely be unpacked, so that one layer is unpacked while the next ones arrive.
// Start and Finish belong to one thread. The destructor cancels what is under way.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <stop_token>

#include "indexer/base/thread_pool.h"
#include "indexer/content/containerd_content.h"
#include "indexer/oci/manifest.h"
#include "indexer/oci/reference.h"

namespace soci {

class RegistryClient;

class LayerDownloads {
 public:
  using Progress = std::function<void(size_t layer, uint64_t bytes)>;  // from any thread

  // Borrows registry, content and manifest.
  LayerDownloads(RegistryClient& registry, ContainerdContent& content, oci::Reference image,
                 const oci::Manifest& manifest, std::stop_token stop, Progress progress);
  ~LayerDownloads();

  void Start(size_t layer);
  // Waits until the layer is in the store; starts it if nobody did.
  Status Finish(size_t layer);

 private:
  Status Download(size_t layer);

  RegistryClient& registry_;
  ContainerdContent& content_;
  const oci::Reference image_;
  const oci::Manifest& manifest_;
  const Progress progress_;
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> outer_stop_;
  std::map<size_t, std::shared_future<Status>> started_;
  ThreadPool pool_;  // last: its tasks use the rest
};

}  // namespace soci
