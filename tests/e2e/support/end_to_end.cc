#include "tests/e2e/support/end_to_end.h"

#include <stdexcept>

namespace soci::test {
namespace {

std::unique_ptr<Link> StartLink(uint16_t upstream) {
  auto link = Link::Start({.upstream_port = upstream});
  if (!link.ok()) throw std::runtime_error(std::string(Message(link.status())));
  return *std::move(link);
}

}  // namespace

EndToEnd::EndToEnd()
    : registry_(sandbox_),
      link_(StartLink(registry_.port())),
      containerd_(sandbox_, sandbox_ / "run/soci-snapshotter.sock") {}

std::string EndToEnd::Push(const TestImage& image, const std::string& repository, const std::string& tag) {
  image.Push(registry_, repository, tag);
  return "127.0.0.1:" + std::to_string(link_->port()) + "/" + repository + ":" + tag;
}

std::string Failure(const CommandResult& result) {
  if (result.ok()) return "";
  return "exit code " + std::to_string(result.exit_code) + "\n" + result.out + result.err;
}

}  // namespace soci::test
