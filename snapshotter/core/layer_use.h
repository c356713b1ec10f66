// Keeps a layer from being released while somebody is between asking for it and recording that it is used.
//
// Asking may take as long as the network does, so that no lock can be held meanwhile: users are counted instead, and a
// release in progress makes new ones wait. Any thread.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "indexer/base/mutex.h"

namespace soci {

class LayerUse {
 public:
  // From here on nobody releases the layer; waits for a release that is under way.
  class Hold {
   public:
    Hold(LayerUse& use, std::string layer);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    LayerUse& use_;
    const std::string layer_;
  };

  // Runs `release` unless the layer is held or already being released; `unused` is asked first, under the same
  // protection.
  void ReleaseIf(const std::string& layer, const std::function<bool()>& unused, const std::function<void()>& release);

 private:
  struct State {
    int holders = 0;
    bool releasing = false;
  };

  Mutex mutex_;  // a leaf; not held while anything is called
  CondVar released_;
  std::map<std::string, State> states_ SOCI_GUARDED_BY(mutex_);
};

}  // namespace soci
