// The place where an end-to-end test happens: a root directory and a name, both its own, and a guardian process that
// sweeps up after the test program whatever ends it.
//
// Keep it the first member: everything started in it must be stopped before. The destructor reports, as a test failure
// unless told otherwise, each process or mount that was not undone in order.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>

#include "indexer/base/unique_fd.h"

namespace soci::test {

class Sandbox {
 public:
  using Report = std::function<void(const std::string& left_behind)>;

  explicit Sandbox(Report report = {});
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  const std::string& root() const { return root_; }
  std::string operator/(std::string_view name) const { return root_ + "/" + std::string(name); }
  // Unique on the machine; containerd's namespace.
  const std::string& name() const { return name_; }

 private:
  const Report report_;
  std::string root_;
  std::string name_;
  UniqueFd guardian_input_;
  pid_t guardian_ = -1;
};

}  // namespace soci::test
