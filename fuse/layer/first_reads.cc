#include "fuse/layer/first_reads.h"

#include <thread>

namespace soci {
namespace {

// What the kernel reads at once is rarely less, and a bit for each of these is small beside the table.
constexpr uint64_t kBlock = 64 << 10;

}  // namespace

class FirstReads::Bits {
 public:
  explicit Bits(uint64_t count) : words_(count / 64 + 1) {}

  // Whether it was not set before.
  bool Set(uint64_t bit) {
    std::atomic<uint64_t>& word = words_[bit / 64];
    const uint64_t mask = uint64_t{1} << (bit % 64);
    if ((word.load(std::memory_order_relaxed) & mask) != 0) return false;
    return (word.fetch_or(mask, std::memory_order_relaxed) & mask) == 0;
  }

 private:
  std::vector<std::atomic<uint64_t>> words_;
};

FirstReads::FirstReads(std::shared_ptr<const LayerTable> table) : table_(std::move(table)) {}
FirstReads::~FirstReads() = default;

FirstReads::Place& FirstReads::FreePlace() {
  for (Places* places = &places_;; places = places->more) {
    for (Place& place : places->here) {
      if (place.listener.load() == nullptr) return place;
    }
    if (places->more.load() != nullptr) continue;
    more_places_.push_back(std::make_unique<Places>());
    places->more = more_places_.back().get();
  }
}

void FirstReads::Add(Listener& listener) {
  MutexLock lock(changing_);
  Place& place = FreePlace();
  place.files = std::make_unique<Bits>(table_->inode_count() + 1);
  place.blocks = std::make_unique<Bits>(table_->uncompressed_size() / kBlock + 1);
  place.listener.store(&listener);
  listeners_.fetch_add(1);
}

void FirstReads::Remove(Listener& listener) {
  MutexLock lock(changing_);
  for (Places* places = &places_; places != nullptr; places = places->more) {
    for (Place& place : places->here) {
      if (place.listener.load() != &listener) continue;
      listeners_.fetch_sub(1);
      place.listener.store(nullptr);
      while (place.inside.load() != 0) std::this_thread::yield();
      place.files.reset();
      place.blocks.reset();
      return;
    }
  }
}

// A reader first says that it is inside, then looks whether there is a listener; Remove does it the other way round.
void FirstReads::Tell(const Part& part) {
  for (Places* places = &places_; places != nullptr; places = places->more) {
    for (Place& place : places->here) {
      place.inside.fetch_add(1);
      if (Listener* listener = place.listener.load(); listener != nullptr && IsNew(place, part)) {
        listener->OnFirstRead(part);
      }
      place.inside.fetch_sub(1);
    }
  }
}

// A small file is new although its block of the tar is not: its neighbours were read.
bool FirstReads::IsNew(Place& place, const Part& part) const {
  bool is_new = place.files->Set(ToNumber(part.file));
  for (uint64_t block = part.content.begin / kBlock; block * kBlock < part.content.end; ++block) {
    is_new = place.blocks->Set(block) || is_new;
  }
  return is_new;
}

}  // namespace soci
