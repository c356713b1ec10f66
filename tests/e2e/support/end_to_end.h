// The fixture of end-to-end tests: a sandbox with a registry, a link in front of it and a containerd; all up when the
// test begins, all gone when it ends.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "bench/link/link.h"
#include "tests/e2e/support/containerd.h"
#include "tests/e2e/support/docker_registry.h"
#include "tests/e2e/support/image.h"
#include "tests/e2e/support/sandbox.h"

namespace soci::test {

class EndToEnd : public ::testing::Test {
 protected:
  EndToEnd();

  // The image's name as pulled through the link.
  std::string Push(const TestImage& image, const std::string& repository, const std::string& tag = "v1");

  Sandbox sandbox_;  // first: everything else lives in it
  DockerRegistry registry_;
  std::unique_ptr<Link> link_;
  Containerd containerd_;
};

// "" or what the command said, for EXPECT_EQ(Failure(result), "").
std::string Failure(const CommandResult& result);

}  // namespace soci::test
