#include "indexer/record/assemble.h"

#include <algorithm>
#include <tuple>

namespace soci {
namespace {

constexpr uint64_t kLongestThink = uint64_t{86'400} * 1'000'000;  // what CheckRecord allows

using FileKey = std::pair<uint32_t, std::string>;

// A range of a file within which nothing changes.
struct Atom {
  const FileKey* file = nullptr;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t at_us = 0;
  uint64_t order = 0;
  uint64_t runs = 0;
  bool some = false;  // not every run needs it
};

// Cuts the parts of one file where any of them begins or ends.
void CutFile(const FileKey& file, const std::vector<const RecordPart*>& parts, std::vector<Atom>& atoms) {
  std::map<uint64_t, Atom> cuts;  // by where they begin; what nobody needs has no end
  for (const RecordPart* part : parts) {
    cuts.try_emplace(part->begin);
    cuts.try_emplace(part->end);
  }
  for (const RecordPart* part : parts) {
    for (auto cut = cuts.find(part->begin); cut->first < part->end; ++cut) {
      Atom& atom = cut->second;
      const bool first = atom.end == 0;
      if (first || std::tie(part->at_us, part->order) < std::tie(atom.at_us, atom.order)) {
        atom.at_us = part->at_us;
        atom.order = part->order;
      }
      atom.runs |= part->runs;
      atom.file = &file;
      atom.begin = cut->first;
      atom.end = std::next(cut)->first;
    }
  }
  for (const auto& [begin, atom] : cuts) {
    if (atom.end != 0) atoms.push_back(atom);
  }
}

std::vector<Atom> Cut(const Assembly& assembly, std::map<FileKey, std::vector<const RecordPart*>>& files) {
  std::vector<Atom> atoms;
  for (const auto& [file, parts] : files) CutFile(file, parts, atoms);
  const size_t count = assembly.runs.size();
  const uint64_t all = count >= kMostRecordRuns ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  for (Atom& atom : atoms) atom.some = atom.runs != all;
  std::sort(atoms.begin(), atoms.end(), [](const Atom& a, const Atom& b) {
    return std::tie(a.some, a.at_us, a.order, *a.file, a.begin) < std::tie(b.some, b.at_us, b.order, *b.file, b.begin);
  });
  return atoms;
}

// Neighbours that were cut for nothing are one again.
void Join(std::vector<Atom>& atoms) {
  size_t kept = 0;
  for (const Atom& atom : atoms) {
    Atom* const last = kept == 0 ? nullptr : &atoms[kept - 1];
    if (last != nullptr && last->file == atom.file && last->end == atom.begin && last->at_us == atom.at_us &&
        last->runs == atom.runs) {
      last->end = atom.end;
    } else {
      atoms[kept++] = atom;
    }
  }
  atoms.resize(std::min(kept, kMostRecordExtents));
}

}  // namespace

Record Assemble(const Assembly& assembly) {
  std::map<FileKey, std::vector<const RecordPart*>> files;
  for (const RecordPart& part : assembly.parts) {
    if (assembly.runs.empty() || part.runs != 0) files[{part.layer, part.path}].push_back(&part);
  }
  std::vector<Atom> atoms = Cut(assembly, files);
  Join(atoms);
  Record record{
      .manifest = assembly.manifest, .layers = assembly.layers, .files = {}, .runs = assembly.runs, .extents = {}};
  std::map<const FileKey*, uint32_t> numbers;
  for (const Atom& atom : atoms) numbers[atom.file] = 0;
  for (const auto& [file, parts] : files) {
    const auto number = numbers.find(&file);
    if (number == numbers.end()) continue;
    number->second = static_cast<uint32_t>(record.files.size());
    record.files.push_back({file.first, file.second, assembly.sizes.at(file)});
  }
  uint64_t now = 0;
  bool some = false;
  for (const Atom& atom : atoms) {
    if (atom.some && !some) now = 0;
    some = atom.some;
    const uint64_t think = std::min(atom.at_us - now, kLongestThink);
    now = atom.at_us;
    record.extents.push_back({numbers.at(atom.file), atom.begin, atom.end - atom.begin, think, atom.runs});
  }
  return record;
}

Record FirstExtents(const Record& record, size_t count) {
  Record cut = record;
  cut.extents.resize(std::min(count, record.extents.size()));
  std::vector<uint32_t> numbers(record.files.size(), 0);
  for (const RecordedExtent& extent : cut.extents) numbers[extent.file] = 1;
  cut.files.clear();
  for (size_t file = 0; file < record.files.size(); ++file) {
    if (numbers[file] == 0) continue;
    numbers[file] = static_cast<uint32_t>(cut.files.size());
    cut.files.push_back(record.files[file]);
  }
  for (RecordedExtent& extent : cut.extents) extent.file = numbers[extent.file];
  return cut;
}

}  // namespace soci
