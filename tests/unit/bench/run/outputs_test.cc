// What others say in text: a daemon's status and metrics, a workload's output, a URL.
#include <gtest/gtest.h>

#include "bench/run/child.h"
#include "bench/run/local_watch.h"
#include "bench/run/metrics_text.h"
#include "bench/run/workload.h"
#include "bench/run/workload_output.h"

namespace soci::bench {
namespace {

TEST(Status, AnImageIsLocalWhenNoLayerIsWaitedFor) {
  EXPECT_TRUE(StatusSaysLocal(R"({"images":[{"layers":[{"state":"sealed"},{"state":"deferred"}]}]})"));
  EXPECT_FALSE(StatusSaysLocal(R"({"images":[{"layers":[{"state":"sealed"},{"state":"filling"}]}]})"));
  EXPECT_TRUE(StatusSaysLocal(R"({"images":[]})"));
}

TEST(Status, WhatIsNoStatusIsNotLocal) {
  for (const char* text : {"", "[]", "{", R"({"images":3})", R"({"images":[{}]})"}) {
    EXPECT_FALSE(StatusSaysLocal(text)) << text;
  }
}

TEST(Metrics, SamplesAreReadWithTheirLabels) {
  const auto values =
      ParseMetrics("# HELP soci_layers x\nsoci_layers{state=\"a b\"} 3\nsoci_x 1.5e3\nother 1\nsoci_y\n", "soci_");
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values.at("soci_layers{state=\"a b\"}"), 3);
  EXPECT_EQ(values.at("soci_x"), 1500);
}

TEST(WorkloadOutput, LatenciesAndCountsAreTakenFromTheirLines) {
  bench::Run run;
  ReadWorkloadOutput("hello\nreads_ms 1.5 2\ncount failed_reads 3\nreads_ms 4\ncount x\nreads_msx 9\n", run);
  EXPECT_EQ(run.read_milliseconds, (std::vector<double>{1.5, 2, 4}));
  ASSERT_EQ(run.counts.size(), 1u);
  EXPECT_EQ(run.counts.at("failed_reads"), 3);
}

TEST(WorkloadOutput, ALineCountsWhenItIsWhole) {
  EXPECT_FALSE(HasLineWith("server rea", "ready"));
  EXPECT_FALSE(HasLineWith("server ready", "ready"));
  EXPECT_TRUE(HasLineWith("server ready on 80\n", "ready"));
}

TEST(Workload, AUrlIsOneOfThisMachine) {
  Workload workload;
  ASSERT_TRUE(SetReadyUrl("http://localhost:8080/health?x=1", workload).ok());
  EXPECT_EQ(workload.port, 8080);
  EXPECT_EQ(workload.path, "/health?x=1");
  ASSERT_TRUE(SetReadyUrl("http://127.0.0.1", workload).ok());
  EXPECT_EQ(workload.port, 80);
  EXPECT_EQ(workload.path, "/");
  for (const char* url : {"https://127.0.0.1/", "http://example.com/", "http://127.0.0.1:x/", "http://127.0.0.1:0/",
                          "http://127.0.0.1:99999/", "127.0.0.1", "http://127.0.0.12/"}) {
    EXPECT_FALSE(SetReadyUrl(url, workload).ok()) << url;
  }
}

TEST(Child, TheLastLineIsWhatAProgramHasToSay) {
  EXPECT_EQ(LastLine("a\nctr: it broke\n \n"), "ctr: it broke");
  EXPECT_EQ(LastLine("one"), "one");
  EXPECT_EQ(LastLine("\n"), "it said nothing");
}

TEST(Child, OutputEndAndCodeAreSeen) {
  Child child({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"});
  while (!child.ended()) child.Wait(std::chrono::milliseconds(100));
  EXPECT_EQ(child.output(), "out\nerr\n");
  EXPECT_EQ(child.exit_code(), 3);
  EXPECT_THROW(Child({"/no/such/program"}), std::runtime_error);
}

}  // namespace
}  // namespace soci::bench
