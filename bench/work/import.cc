#include <dirent.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <unordered_map>

#include "bench/image/trace.h"
#include "bench/work/image.h"
#include "bench/work/report.h"
#include "bench/work/verbs.h"

namespace soci::bench {
namespace {

class Player {
 public:
  explicit Player(const ImageRoot& root) : root_(root) {}

  void Play(const TraceStep& step) {
    switch (step.kind) {
      case TraceStep::Kind::kStat:
        return Stat(step);
      case TraceStep::Kind::kMissing:
        return Missing(step);
      case TraceStep::Kind::kList:
        return List(step);
      case TraceStep::Kind::kRead:
        return Read(step);
      case TraceStep::Kind::kMap:
        return Map(step);
      case TraceStep::Kind::kTouch:
        return Touch(step);
      case TraceStep::Kind::kThink:
        return Think(std::chrono::microseconds(step.first));
    }
  }

  const Latencies& latencies() const { return latencies_; }

 private:
  std::string Path(const TraceStep& step) const { return root_.folder + step.path; }

  void Stat(const TraceStep& step) {
    struct stat status {};
    if (::stat(Path(step).c_str(), &status) != 0) FailWithErrno(Path(step), "stat");
    if (static_cast<uint64_t>(status.st_size) != step.first) Fail(Path(step), "has another size");
  }

  void Missing(const TraceStep& step) {
    struct stat status {};
    if (::stat(Path(step).c_str(), &status) == 0) Fail(Path(step), "should not be there");
    if (errno != ENOENT) FailWithErrno(Path(step), "stat");
  }

  void List(const TraceStep& step) {
    DIR* const folder = ::opendir(Path(step).c_str());
    if (folder == nullptr) FailWithErrno(Path(step), "opendir");
    while (::readdir(folder) != nullptr) {
    }
    ::closedir(folder);
  }

  void Read(const TraceStep& step) {
    const SteadyTime begin = Now();
    CheckedFile file(root_, step.path);
    file.ExpectSize(step.first);
    file.Read(0, step.first);
    latencies_.Add(Now() - begin);
  }

  void Map(const TraceStep& step) {
    std::unique_ptr<CheckedFile>& file = mapped_[step.path];
    if (!file) file = std::make_unique<CheckedFile>(root_, step.path);
    file->ExpectSize(step.first);
    file->Map();
    current_ = file.get();
  }

  void Touch(const TraceStep& step) {
    if (current_ == nullptr) Fail(kTracePath, "touches before it maps");
    const SteadyTime begin = Now();
    current_->TouchPages(step.first, step.second);
    latencies_.Add(Now() - begin);
  }

  const ImageRoot& root_;
  std::unordered_map<std::string, std::unique_ptr<CheckedFile>> mapped_;
  CheckedFile* current_ = nullptr;
  Latencies latencies_;
};

}  // namespace

void PlayImport(const ImageRoot& root) {
  const auto trace = TraceFromText(ReadWhole(root.folder + kTracePath));
  if (!trace) Fail(kTracePath, "is no trace");
  Player player(root);
  for (const TraceStep& step : *trace) player.Play(step);
  PrintLine("imported");
  player.latencies().Print();
}

}  // namespace soci::bench
