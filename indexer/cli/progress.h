// Shows on standard error how far the layers are: bars on a terminal, else a line at the start and end of each layer.
//
// Any thread may report; the writing is done by whoever reports, at most ten times a second.
#pragma once

#include <memory>
#include <string>

#include "indexer/index/image_indexer.h"

namespace soci::cli {

enum class ProgressStyle {
  kBars,
  kLines,
  kSkipsOnly,  // nothing but the layers that were skipped
};

// What standard error can show.
ProgressStyle StyleForStandardError();

enum class LayerTask { kIndexing, kVerifying };

std::unique_ptr<LayerProgress> MakeProgress(ProgressStyle style, LayerTask task);

// One bar, `width` columns at most; pure.
std::string RenderBar(const std::string& name, uint64_t done, uint64_t total, size_t width);

}  // namespace soci::cli
