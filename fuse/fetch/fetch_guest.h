// Transfers of someone else that share the scheduler's connections and give way as its own do: a whole layer that is
// downloaded and unpacked, whose bytes belong to no span.
//
// Guests come after read-ahead: a pull waits for them, but no program that runs. They stand still while demand waits
// anywhere. As long as a host has a guest, with transfers or without, its fill stands still, and all but a little of
// its replay: a guest's object lives until its layer is of use. Any thread may call; the listener is told on the
// scheduler's deciding thread, without a lock of the scheduler's, and must be quick.
#pragma once

#include <cstdint>
#include <string>

#include "indexer/base/mutex.h"

namespace soci {

class FetchScheduler;

class FetchGuest {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    // Its transfers are to stand still, or to go on.
    virtual void OnPause(bool paused) = 0;
    // TryEnter, which said no, may succeed now.
    virtual void OnRoom() = 0;
  };

  // Borrows both.
  FetchGuest(FetchScheduler& scheduler, std::string host, Listener& listener);
  // Every connection was left. Waits for a call of the listener that is under way: never with a lock that it takes.
  ~FetchGuest();
  FetchGuest(const FetchGuest&) = delete;
  FetchGuest& operator=(const FetchGuest&) = delete;

  // Takes a connection to the host. False: none is to be had now; the listener is told when that may have changed.
  bool TryEnter();
  // Gives one back.
  void Leave();

 private:
  friend class FetchScheduler;

  FetchScheduler& scheduler_;
  const std::string host_;
  Listener& listener_;
  // Guarded by the scheduler's mutex.
  uint32_t running_ = 0;
  bool waits_ = false;   // TryEnter said no
  bool told_ = false;    // ... and then that there is room
  bool paused_ = false;  // as last told
  uint32_t calls_ = 0;   // of the listener, under way or about to be
  CondVar called_;
};

}  // namespace soci
