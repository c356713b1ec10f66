// What every scenario of this folder stands on: a scripted registry, and a client whose waits cost no time.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>

#include "indexer/base/thread_pool.h"
#include "indexer/registry/distribution_client.h"
#include "tests/fakes/fake_time_transport.h"
#include "tests/fakes/scripted_registry.h"

namespace soci::test {

// The same bytes for the same size and seed.
inline std::string PatternBytes(size_t size, uint32_t seed = 1) {
  std::string bytes(size, '\0');
  uint32_t state = seed;
  for (char& c : bytes) c = static_cast<char>((state = state * 1664525u + 1013904223u) >> 24);
  return bytes;
}

inline std::string ReadPart(const ByteSource& source, uint64_t offset, uint64_t length, Status* status = nullptr) {
  std::string out(length, '\0');
  Status result = source.ReadAt(offset, std::as_writable_bytes(std::span(out)), {});
  if (status != nullptr) {
    *status = result;
  } else {
    EXPECT_TRUE(result.ok()) << result;
  }
  return result.ok() ? out : "";
}

// Random places, the same in each run.
inline void ExpectRightBytesEverywhere(const ByteSource& source, const std::string& bytes, int reads) {
  std::mt19937 random(7);
  for (int i = 0; i < reads; ++i) {
    uint64_t offset = random() % bytes.size();
    uint64_t length = std::min<uint64_t>(1 + random() % 40'000, bytes.size() - offset);
    ASSERT_TRUE(ReadPart(source, offset, length) == bytes.substr(offset, length)) << offset << "+" << length;
  }
}

// Keeps what a started read brings.
class KeepingSink : public ByteSink {
 public:
  Status OnBytes(ByteSpan bytes) override {
    received_ += AsText(bytes);
    return OkStatus();
  }
  void OnEnd(Status status) override {
    std::lock_guard lock(mutex_);
    status_ = std::move(status);
    ended_ = true;
    changed_.notify_all();
  }
  Result<std::string> Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_; });
    if (!status_.ok()) return std::exchange(status_, OkStatus());
    return received_;
  }

 private:
  std::string received_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  Status status_;
};

// Opened once; whoever waits goes on.
class Gate {
 public:
  void Open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

inline Credential UserAndPassword(const std::string& name, const std::string& password) {
  Credential credential;
  credential.username = name;
  credential.secret = password;
  credential.source = "the test";
  return credential;
}

// Limits that notice a dead server at once; nothing is asserted about how long that takes.
inline RegistryClientOptions ShortLimits() {
  RegistryClientOptions options;
  options.limits.header = std::chrono::milliseconds(500);
  options.limits.stall = std::chrono::milliseconds(300);
  return options;
}

// One machine: a clock, a transport, credentials, a client.
class Machine {
 public:
  explicit Machine(std::unique_ptr<CredentialProvider> who = MakeAnonymousCredentials(),
                   RegistryClientOptions options = {})
      : credentials_(std::move(who)),
        client_(MakeRegistryClient(transport_, *credentials_, WithClock(std::move(options)))) {}

  RegistryClient& client() { return *client_; }
  FakeClock& clock() { return clock_; }
  FakeTimeTransport& transport() { return transport_; }

  std::unique_ptr<ByteSource> Open(const ScriptedRegistry& registry, const std::string& repository,
                                   const oci::Descriptor& blob) {
    auto source = client_->OpenBlob(registry.Reference(repository), blob);
    EXPECT_TRUE(source.ok()) << source.status();
    return source.ok() ? *std::move(source) : nullptr;
  }

 private:
  RegistryClientOptions WithClock(RegistryClientOptions options) {
    options.clock = &clock_;
    options.spool_threads = &spool_threads_;
    return options;
  }

  ThreadPool spool_threads_{"spool", 2};
  FakeClock clock_;
  FakeTimeTransport transport_{clock_};
  std::unique_ptr<CredentialProvider> credentials_;
  std::unique_ptr<RegistryClient> client_;
};

}  // namespace soci::test
