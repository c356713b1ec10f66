#include "indexer/cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "indexer/base/clock.h"
#include "indexer/base/mutex.h"
#include "indexer/cli/format.h"

namespace soci::cli {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);

std::string EndLine(LayerTask task, const oci::Descriptor& layer, LayerOutcome outcome, const std::string& reason) {
  const std::string name = fmt::format("layer {}  {}", ShortDigest(layer.digest.ToString()), HumanSize(layer.size));
  if (outcome == LayerOutcome::kIgnored) return "";
  if (task == LayerTask::kVerifying) {
    return outcome == LayerOutcome::kIndexed ? name + "  verified\n" : fmt::format("{}  wrong: {}\n", name, reason);
  }
  if (outcome == LayerOutcome::kIndexed) return name + "  indexed\n";
  return fmt::format("{}  skipped ({}): {}\n", name, ToString(outcome), reason);
}

class SkipsProgress : public LayerProgress {
 public:
  explicit SkipsProgress(LayerTask task) : task_(task) {}
  void OnStart(const oci::Descriptor&) override {}
  void OnBytes(const oci::Descriptor&, uint64_t) override {}
  void OnEnd(const oci::Descriptor& layer, LayerOutcome outcome, const std::string& reason) override {
    if (outcome != LayerOutcome::kIndexed) std::fputs(EndLine(task_, layer, outcome, reason).c_str(), stderr);
  }

 private:
  const LayerTask task_;
};

class LinesProgress : public LayerProgress {
 public:
  explicit LinesProgress(LayerTask task) : task_(task) {}
  void OnStart(const oci::Descriptor& layer) override {
    fmt::print(stderr, "layer {}  {}  reading\n", ShortDigest(layer.digest.ToString()), HumanSize(layer.size));
  }
  void OnBytes(const oci::Descriptor&, uint64_t) override {}
  void OnEnd(const oci::Descriptor& layer, LayerOutcome outcome, const std::string& reason) override {
    std::fputs(EndLine(task_, layer, outcome, reason).c_str(), stderr);
  }

 private:
  const LayerTask task_;
};

class BarsProgress : public LayerProgress {
 public:
  explicit BarsProgress(LayerTask task) : task_(task) {}
  ~BarsProgress() override {
    MutexLock lock(mutex_);
    Erase();
  }

  void OnStart(const oci::Descriptor& layer) override {
    MutexLock lock(mutex_);
    running_[layer.digest] = {layer, 0};
    Redraw("");
  }

  void OnBytes(const oci::Descriptor& layer, uint64_t bytes) override {
    MutexLock lock(mutex_);
    auto bar = running_.find(layer.digest);
    if (bar != running_.end()) bar->second.done = bytes;
    if (SystemClock().Now() - drawn_at_ >= kRedraw) Redraw("");
  }

  void OnEnd(const oci::Descriptor& layer, LayerOutcome outcome, const std::string& reason) override {
    if (outcome == LayerOutcome::kIgnored) return;
    MutexLock lock(mutex_);
    running_.erase(layer.digest);
    Redraw(EndLine(task_, layer, outcome, reason));
  }

 private:
  struct Bar {
    oci::Descriptor layer;
    uint64_t done = 0;
  };

  void Erase() SOCI_REQUIRES(mutex_) {
    if (lines_ > 0) fmt::print(stderr, "\x1b[{}A\r\x1b[J", lines_);
    lines_ = 0;
  }

  // Puts `finished` above the bars.
  void Redraw(const std::string& finished) SOCI_REQUIRES(mutex_) {
    Erase();
    std::string text = finished;
    for (const auto& [digest, bar] : running_) {
      text +=
          RenderBar(ShortDigest(digest.ToString()), bar.done, static_cast<uint64_t>(bar.layer.size), Width()) + "\n";
      ++lines_;
    }
    std::fputs(text.c_str(), stderr);
    drawn_at_ = SystemClock().Now();
  }

  static size_t Width() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  }

  const LayerTask task_;

  Mutex mutex_;  // a leaf
  std::map<oci::Digest, Bar> running_ SOCI_GUARDED_BY(mutex_);
  size_t lines_ SOCI_GUARDED_BY(mutex_) = 0;
  Clock::TimePoint drawn_at_ SOCI_GUARDED_BY(mutex_) = {};
};

}  // namespace

ProgressStyle StyleForStandardError() {
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return ::isatty(STDERR_FILENO) == 1 && !dumb ? ProgressStyle::kBars : ProgressStyle::kLines;
}

std::unique_ptr<LayerProgress> MakeProgress(ProgressStyle style, LayerTask task) {
  switch (style) {
    case ProgressStyle::kBars:
      return std::make_unique<BarsProgress>(task);
    case ProgressStyle::kLines:
      return std::make_unique<LinesProgress>(task);
    case ProgressStyle::kSkipsOnly:
      break;
  }
  return std::make_unique<SkipsProgress>(task);
}

std::string RenderBar(const std::string& name, uint64_t done, uint64_t total, size_t width) {
  constexpr size_t kLongest = 40, kShortest = 5;
  done = std::min(done, total);
  const double part = total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total);
  const std::string tail = fmt::format("{:>4.0f}%  {} of {}", 100 * part, HumanSize(done), HumanSize(total));
  const size_t fixed = name.size() + tail.size() + 4;  // blanks and brackets
  const size_t bar = width > fixed + kShortest ? std::min(kLongest, width - fixed - 1) : 0;
  if (bar == 0) return fmt::format("{} {}", name, tail).substr(0, width > 0 ? width - 1 : 0);
  const size_t filled = static_cast<size_t>(part * static_cast<double>(bar));
  return fmt::format("{} [{}{}]{}", name, std::string(filled, '#'), std::string(bar - filled, ' '), tail);
}

}  // namespace soci::cli
