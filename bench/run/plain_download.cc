#include "bench/run/plain_download.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "indexer/base/mutex.h"
#include "tests/e2e/support/http.h"

namespace soci::bench {
namespace {

constexpr uint64_t kPieceBytes = 16 << 20;
constexpr int kAttempts = 5;  // of a piece: links may have faults

struct Piece {
  std::string url, range;
  uint64_t bytes = 0;
};

std::vector<Piece> PiecesOf(const ImageAddress& image) {
  const size_t slash = image.reference.find('/'), colon = image.reference.rfind(':');
  const std::string repository =
      "http://" + image.host() + "/v2/" + image.reference.substr(slash + 1, colon - slash - 1);
  const auto answer = test::HttpRequest("GET", repository + "/manifests/" + image.reference.substr(colon + 1), {},
                                        {"Accept: application/vnd.oci.image.manifest.v1+json",
                                         "Accept: application/vnd.docker.distribution.manifest.v2+json"});
  const auto manifest = nlohmann::json::parse(answer.body, nullptr, false);
  if (answer.status != 200 || !manifest.is_object() || !manifest.contains("layers")) {
    throw std::runtime_error("the plain download finds no manifest of " + image.reference);
  }
  std::vector<Piece> pieces;
  for (const auto& layer : manifest["layers"]) {
    const uint64_t size = layer.value("size", uint64_t{0});
    for (uint64_t begin = 0; begin < size; begin += kPieceBytes) {
      const uint64_t end = std::min(begin + kPieceBytes, size);
      pieces.push_back({repository + "/blobs/" + layer.value("digest", ""),
                        fmt::format("Range: bytes={}-{}", begin, end - 1), end - begin});
    }
  }
  return pieces;
}

void Download(const Piece& piece, const std::stop_token& stop) {
  for (int attempt = 1;; ++attempt) {
    std::string what;
    try {
      auto answer = test::HttpRequest("GET", piece.url, {}, {piece.range}, stop);
      if (answer.status == 307)
        answer = test::HttpRequest("GET", answer.headers.at("location"), {}, {piece.range}, stop);
      if (answer.status == 206 && answer.body.size() == piece.bytes) return;
      what = fmt::format("status {}", answer.status);
    } catch (const std::exception& error) {
      what = error.what();
    }
    if (stop.stop_requested() || attempt == kAttempts) throw std::runtime_error("the plain download: " + what);
  }
}

// Some more than fill the link: a request's delay is not seen behind the others' bytes.
size_t Connections(const LinkOptions& link) {
  if (link.connection_bytes_per_second == 0 || link.total_bytes_per_second == 0) return 8;
  return std::clamp<size_t>(2 * link.total_bytes_per_second / link.connection_bytes_per_second + 2, 4, 32);
}

}  // namespace

double PlainDownload(const ImageAddress& image, const LinkOptions& link, const std::stop_token& stop) {
  const std::vector<Piece> pieces = PiecesOf(image);
  std::atomic<size_t> next{0};
  Mutex mutex;
  std::exception_ptr failure;
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (size_t i = 0; i < std::min(Connections(link), pieces.size()); ++i) {
    threads.emplace_back([&] {
      try {
        for (size_t mine; !stop.stop_requested() && (mine = next++) < pieces.size();) Download(pieces[mine], stop);
      } catch (...) {
        next = pieces.size();
        MutexLock lock(mutex);
        failure = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  if (stop.stop_requested()) return 0;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace soci::bench
