// soci-demo LAYERS RESULT: pushes the demo's image to a registry, indexes it, pulls and runs it lazily and then as
// containerd itself does, over the same link. Prints a table and writes it to RESULT.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>

#include "bench/demo/course.h"
#include "bench/demo/image.h"
#include "bench/demo/report.h"
#include "bench/link/calibration.h"
#include "bench/link/link.h"
#include "bench/link/options.h"
#include "tests/e2e/support/daemon.h"
#include "tests/e2e/support/docker_registry.h"
#include "tests/e2e/support/sandbox.h"

namespace soci::demo {
namespace {

constexpr char kProfile[] = "A";  // a registry in the region

void Say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

std::string Index(const std::string& reference) {
  const auto start = std::chrono::steady_clock::now();
  const test::CommandResult indexed = test::CreateIndex(reference);
  if (!indexed.ok()) throw std::runtime_error("soci-index create failed: " + indexed.err);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  return fmt::format("indexed in {:.1f} s", time.count());
}

void Run(const std::string& layers, const std::string& result) {
  test::Sandbox sandbox;
  test::DockerRegistry registry(sandbox);
  uint64_t image_bytes = 0;
  {
    const test::TestImage image = ReadImage(layers);
    for (const test::ImageLayer& layer : image.layers()) image_bytes += layer.blob.size();
    image.Push(registry, "demo", "v1");
  }
  ::malloc_trim(0);  // the machine's memory is for the page cache now
  const std::string indexed = Index(registry.host() + "/demo:v1");
  const std::string image_text =
      fmt::format("{:.0f} MB compressed, {}", static_cast<double>(image_bytes) / 1e6, indexed);
  LinkOptions options = ParseLink(kProfile).value();
  const auto calibration = Calibrate(options);
  if (!calibration.ok()) throw std::runtime_error(std::string(Message(calibration.status())));
  const std::string link_text = fmt::format("{}; by plain downloads: {}", LinkText(options), calibration->ToText());
  Say("image: " + image_text + "\nlink:  " + link_text);

  options.upstream_port = registry.port();
  auto link = Link::Start(options);
  if (!link.ok()) throw std::runtime_error(std::string(Message(link.status())));
  const std::string reference = fmt::format("127.0.0.1:{}/demo:v1", (*link)->port());
  Say("lazy pull and run ...");
  const Course lazy = RunLazy(**link, reference);
  Say("ordinary pull and run ...");
  const Course ordinary = RunOrdinary(**link, reference);

  Say("\n" + Table(lazy, ordinary) + "\n" + Conclusion(lazy, ordinary));
  std::ofstream stream(result);
  stream << "Image: " << image_text << ". Link: " << link_text << ".\n\n"
         << MarkdownTable(lazy, ordinary) << "\n"
         << Conclusion(lazy, ordinary) << "\n";
  if (!stream.flush()) throw std::runtime_error("cannot write " + result);
}

}  // namespace
}  // namespace soci::demo

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: soci-demo LAYERS RESULT\n");
    return 2;
  }
  try {
    soci::demo::Run(argv[1], argv[2]);
    // Sandboxes report what was left behind in them, as tests do.
    return ::testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed() ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "soci-demo: %s\n", error.what());
    return 1;
  }
}
