#include "indexer/tar/entry_list.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "indexer/base/memory.h"

namespace soci::tar {
namespace {

constexpr size_t kChunkSize = 1 << 20;  // what is given back at once
constexpr size_t kTrailerSize = 4;      // behind each entry: its size, by which the last one is found

uint64_t Raw(int64_t number) { return static_cast<uint64_t>(number); }

// Seven bits a byte, the least first: nearly all numbers of a member are small.
void PutNumber(uint64_t number, std::string& out) {
  for (; number >= 0x80; number >>= 7) out.push_back(static_cast<char>(number | 0x80));
  out.push_back(static_cast<char>(number));
}

void PutText(std::string_view text, std::string& out) {
  PutNumber(text.size(), out);
  out.append(text);
}

void Pack(const Entry& entry, std::string& out) {
  PutText(entry.name, out);
  PutText(entry.link_name, out);
  PutText(entry.uname, out);
  PutText(entry.gname, out);
  out.push_back(static_cast<char>(entry.type));
  for (const int64_t number :
       {entry.mode, entry.uid, entry.gid, entry.size, entry.mtime_seconds, entry.device_major, entry.device_minor}) {
    PutNumber(Raw(number), out);
  }
  PutNumber(entry.mtime_nanoseconds, out);
  PutNumber(entry.header.begin, out);
  PutNumber(entry.header.end - entry.header.begin, out);
  PutNumber(entry.content.begin - entry.header.end, out);
  PutNumber(entry.content.end - entry.content.begin, out);
  PutNumber(entry.pax.size(), out);
  for (const auto& [key, value] : entry.pax) {
    PutText(key, out);
    PutText(value, out);
  }
}

// Reads what Pack wrote.
class Unpacker {
 public:
  explicit Unpacker(std::string_view packed) : rest_(packed) {}

  void Take(Entry& entry) {
    TakeText(entry.name);
    TakeText(entry.link_name);
    TakeText(entry.uname);
    TakeText(entry.gname);
    entry.type = static_cast<EntryType>(rest_.front());
    rest_.remove_prefix(1);
    for (int64_t* number : {&entry.mode, &entry.uid, &entry.gid, &entry.size, &entry.mtime_seconds, &entry.device_major,
                            &entry.device_minor}) {
      *number = static_cast<int64_t>(TakeNumber());
    }
    entry.mtime_nanoseconds = static_cast<uint32_t>(TakeNumber());
    entry.header.begin = TakeNumber();
    entry.header.end = entry.header.begin + TakeNumber();
    entry.content.begin = entry.header.end + TakeNumber();
    entry.content.end = entry.content.begin + TakeNumber();
    entry.pax.clear();
    for (uint64_t left = TakeNumber(); left > 0; --left) {
      std::string key, value;
      TakeText(key);
      TakeText(value);
      entry.pax.emplace_hint(entry.pax.end(), std::move(key), std::move(value));
    }
  }

  size_t left() const { return rest_.size(); }

 private:
  uint64_t TakeNumber() {
    uint64_t number = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      number |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return number;
    }
  }

  void TakeText(std::string& out) {
    const size_t size = TakeNumber();
    out.assign(rest_.substr(0, size));
    rest_.remove_prefix(size);
  }

  std::string_view rest_;
};

std::string_view LastOf(std::string_view chunk) {
  uint32_t size = 0;
  chunk.remove_suffix(kTrailerSize);
  std::memcpy(&size, chunk.data() + chunk.size(), kTrailerSize);
  return chunk.substr(chunk.size() - size);
}

uint64_t TextBytes(const Entry& entry) {
  uint64_t size = entry.name.size() + entry.link_name.size() + entry.uname.size() + entry.gname.size();
  for (const auto& [key, value] : entry.pax) size += key.size() + value.size();
  return size;
}

}  // namespace

void EntryList::Append(const Entry& entry) {
  text_bytes_ += TextBytes(entry);
  records_ += entry.pax.size();
  ++size_;
  std::string packed;
  Pack(entry, packed);
  const auto packed_size = static_cast<uint32_t>(packed.size());  // the tar reader takes no names or records near 4 GiB
  packed.append(reinterpret_cast<const char*>(&packed_size), kTrailerSize);
  if (chunks_.empty() || chunks_.back().capacity() - chunks_.back().size() < packed.size()) {
    chunks_.emplace_back().reserve(std::max(kChunkSize, packed.size()));
  }
  chunks_.back() += packed;
}

Entry EntryList::Back() const {
  Entry entry;
  Unpacker(LastOf(chunks_.back())).Take(entry);
  return entry;
}

Entry EntryList::TakeBack() {
  Entry entry = Back();
  std::string& chunk = chunks_.back();
  chunk.resize(chunk.size() - kTrailerSize - LastOf(chunk).size());
  if (chunk.empty()) {
    chunks_.pop_back();
    ReturnFreedMemory();
  }
  text_bytes_ -= TextBytes(entry);
  records_ -= entry.pax.size();
  --size_;
  return entry;
}

class EntryList::PackedCursor final : public Cursor {
 public:
  explicit PackedCursor(const EntryList& list) : list_(list) {}

  const Entry* Next() override {
    if (chunk_ == list_.chunks_.size()) return nullptr;
    const std::string_view chunk = list_.chunks_[chunk_];
    Unpacker unpacker(chunk.substr(next_));
    unpacker.Take(entry_);
    next_ = chunk.size() - unpacker.left() + kTrailerSize;
    if (next_ == chunk.size()) {
      ++chunk_;
      next_ = 0;
    }
    return &entry_;
  }

 private:
  const EntryList& list_;
  size_t chunk_ = 0;  // that the next entry is in
  size_t next_ = 0;   // where it begins there
  Entry entry_;
};

std::unique_ptr<Entries::Cursor> EntryList::Open() const { return std::make_unique<PackedCursor>(*this); }

}  // namespace soci::tar
