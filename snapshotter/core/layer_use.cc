#include "snapshotter/core/layer_use.h"

#include <utility>

namespace soci {

LayerUse::Hold::Hold(LayerUse& use, std::string layer) : use_(use), layer_(std::move(layer)) {
  MutexLock lock(use_.mutex_);
  ++use_.states_[layer_].holders;
  while (use_.states_[layer_].releasing) use_.released_.Wait(use_.mutex_);
}

LayerUse::Hold::~Hold() {
  MutexLock lock(use_.mutex_);
  const auto state = use_.states_.find(layer_);
  if (--state->second.holders == 0 && !state->second.releasing) use_.states_.erase(state);
}

void LayerUse::ReleaseIf(const std::string& layer, const std::function<bool()>& unused,
                         const std::function<void()>& release) {
  {
    MutexLock lock(mutex_);
    State& state = states_[layer];
    if (state.holders > 0 || state.releasing) return;
    state.releasing = true;
  }
  if (unused()) release();
  MutexLock lock(mutex_);
  const auto state = states_.find(layer);
  state->second.releasing = false;
  if (state->second.holders == 0) states_.erase(state);
  released_.NotifyAll();
}

}  // namespace soci
