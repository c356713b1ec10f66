// Our service under a real containerd: it has to behave like the snapshotter containerd brings itself, and containers
// have to run on what it gives, lazy layers (from a fake provider) and deferred ones.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "indexer/base/file_io.h"
#include "indexer/oci/annotations.h"
#include "proto/containerd/leases.grpc.pb.h"
#include "proto/containerd/snapshots.grpc.pb.h"
#include "snapshotter/core/snapshotter.h"
#include "snapshotter/service/grpc_server.h"
#include "tests/e2e/support/containerd.h"
#include "tests/e2e/support/image.h"
#include "tests/e2e/support/sandbox.h"
#include "tests/fakes/fake_layer_provider.h"

namespace soci::test {
namespace {

namespace wire = containerd::services::snapshots::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// containerd's own snapshots API, which checks and renames before it asks a snapshotter. What is made is held by a
// lease, or containerd's collector would take it away.
class SnapshotsClient {
 public:
  SnapshotsClient(const Containerd& containerd, std::string snapshotter, std::string name_space)
      : snapshotter_(std::move(snapshotter)),
        namespace_(std::move(name_space)),
        channel_(grpc::CreateChannel("unix:" + containerd.address(), grpc::InsecureChannelCredentials())),
        stub_(wire::Snapshots::NewStub(channel_)) {
    containerd::services::leases::v1::CreateRequest request;
    request.set_id(snapshotter_);
    containerd::services::leases::v1::CreateResponse response;
    grpc::ClientContext context;
    context.AddMetadata("containerd-namespace", namespace_);
    (void)containerd::services::leases::v1::Leases::NewStub(channel_)->Create(&context, request, &response);
  }

  grpc::Status Prepare(const std::string& key, const std::string& parent, const Labels& labels = {}) {
    wire::PrepareSnapshotRequest request;
    request.set_key(key);
    request.set_parent(parent);
    request.mutable_labels()->insert(labels.begin(), labels.end());
    wire::PrepareSnapshotResponse response;
    grpc::Status status = Call(&wire::Snapshots::Stub::Prepare, request, response);
    mounts_ = Shape(response.mounts());
    return status;
  }
  grpc::Status View(const std::string& key, const std::string& parent) {
    wire::ViewSnapshotRequest request;
    request.set_key(key);
    request.set_parent(parent);
    wire::ViewSnapshotResponse response;
    grpc::Status status = Call(&wire::Snapshots::Stub::View, request, response);
    mounts_ = Shape(response.mounts());
    return status;
  }
  grpc::Status Mounts(const std::string& key) {
    wire::MountsRequest request;
    request.set_key(key);
    wire::MountsResponse response;
    grpc::Status status = Call(&wire::Snapshots::Stub::Mounts, request, response);
    mounts_ = Shape(response.mounts());
    return status;
  }
  grpc::Status Commit(const std::string& name, const std::string& key, const Labels& labels = {}) {
    wire::CommitSnapshotRequest request;
    request.set_name(name);
    request.set_key(key);
    request.mutable_labels()->insert(labels.begin(), labels.end());
    google::protobuf::Empty response;
    return Call(&wire::Snapshots::Stub::Commit, request, response);
  }
  grpc::Status Remove(const std::string& key) {
    wire::RemoveSnapshotRequest request;
    request.set_key(key);
    google::protobuf::Empty response;
    return Call(&wire::Snapshots::Stub::Remove, request, response);
  }
  grpc::Status Usage(const std::string& key) {
    wire::UsageRequest request;
    request.set_key(key);
    wire::UsageResponse response;
    return Call(&wire::Snapshots::Stub::Usage, request, response);
  }
  grpc::Status Update(const std::string& key, const Labels& labels, const std::string& path) {
    wire::UpdateSnapshotRequest request;
    request.mutable_info()->set_name(key);
    request.mutable_info()->mutable_labels()->insert(labels.begin(), labels.end());
    if (!path.empty()) request.mutable_update_mask()->add_paths(path);
    wire::UpdateSnapshotResponse response;
    grpc::Status status = Call(&wire::Snapshots::Stub::Update, request, response);
    info_ = Text(response.info());
    return status;
  }
  grpc::Status Stat(const std::string& key) {
    wire::StatSnapshotRequest request;
    request.set_key(key);
    wire::StatSnapshotResponse response;
    grpc::Status status = Call(&wire::Snapshots::Stub::Stat, request, response);
    info_ = Text(response.info());
    return status;
  }
  std::vector<std::string> List(const std::vector<std::string>& filters) {
    wire::ListSnapshotsRequest request;
    request.set_snapshotter(snapshotter_);
    for (const std::string& filter : filters) request.add_filters(filter);
    grpc::ClientContext context;
    context.AddMetadata("containerd-namespace", namespace_);
    auto reader = stub_->List(&context, request);
    std::vector<std::string> infos;
    wire::ListSnapshotsResponse response;
    while (reader->Read(&response)) {
      for (const wire::Info& info : response.info()) infos.push_back(Text(info));
    }
    const grpc::Status status = reader->Finish();
    if (!status.ok()) infos.push_back("code " + std::to_string(status.error_code()));
    std::sort(infos.begin(), infos.end());
    return infos;
  }

  // Of the last call that answers with one.
  const std::string& mounts() const { return mounts_; }
  const std::string& info() const { return info_; }

 private:
  template <typename Method, typename Request, typename Response>
  grpc::Status Call(Method method, Request& request, Response& response) {
    request.set_snapshotter(snapshotter_);
    grpc::ClientContext context;
    context.AddMetadata("containerd-namespace", namespace_);
    context.AddMetadata("containerd-lease", snapshotter_);
    return ((*stub_).*method)(&context, request, &response);
  }

  // What must agree between snapshotters: not paths, not the fixed overlay options.
  template <typename List>
  static std::string Shape(const List& mounts) {
    std::string text;
    for (const auto& mount : mounts) {
      text += mount.type() + ":";
      for (const std::string& option : mount.options()) {
        const std::string name = option.substr(0, option.find('='));
        if (name == "lowerdir") text += fmt::format("lowerdir*{},", std::count(option.begin(), option.end(), ':') + 1);
        if (name == "upperdir" || name == "workdir" || name == option) text += name + ",";
      }
    }
    return text;
  }
  static std::string Text(const wire::Info& info) {
    const std::map<std::string, std::string> labels(info.labels().begin(), info.labels().end());
    std::string text = fmt::format("{} on '{}' kind {}", info.name(), info.parent(), static_cast<int>(info.kind()));
    for (const auto& [key, value] : labels) text += fmt::format(" {}={}", key, value);
    return text;
  }

  const std::string snapshotter_;
  const std::string namespace_;
  const std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<wire::Snapshots::Stub> stub_;
  std::string mounts_;
  std::string info_;
};

class ServiceUnderContainerd : public ::testing::Test {
 protected:
  ServiceUnderContainerd() { Serve(); }

  void Serve() {
    metastore_ = *Metastore::Open(State("metadata.db"));
    snapshotter_ = std::make_unique<Snapshotter>(
        *metastore_, provider_, Snapshotter::Options{State(""), sandbox_ / "run", DetectOverlayFlags(), 2});
    EXPECT_TRUE(snapshotter_->Restore().ok());
    Result<std::unique_ptr<GrpcServer>> started = GrpcServer::Start(*snapshotter_, socket_);
    EXPECT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
  }
  void Restart() {
    server_.reset();
    snapshotter_.reset();
    metastore_.reset();
    Serve();
  }
  std::string State(const std::string& name) {
    EXPECT_TRUE(MakeDirectories(sandbox_ / "state").ok());
    return name.empty() ? sandbox_ / "state" : sandbox_ / ("state/" + name);
  }
  SnapshotsClient Client(const std::string& snapshotter) {
    return SnapshotsClient(containerd_, snapshotter, containerd_.name_space());
  }

  // The image's name in containerd.
  std::string Import(const TestImage& image, bool unpack) {
    image.WriteLayout(sandbox_ / "layout", "app:1");
    RunCommand({"tar", "-C", sandbox_ / "layout", "-cf", sandbox_ / "image.tar", "."});
    std::vector<std::string> arguments = {"images", "import", "--snapshotter", "soci"};
    // containerd 2 would let its transfer service import, with the snapshotters of its own configuration only.
    if (containerd_.major_version() >= 2) arguments.push_back("--local");
    if (!unpack) arguments.push_back("--no-unpack");
    arguments.insert(arguments.end(), {"--index-name", "example/app:1", sandbox_ / "image.tar"});
    const CommandResult result = containerd_.Ctr(arguments);
    EXPECT_TRUE(result.ok()) << result.err;
    return "example/app:1";
  }
  // As an unpacker that passes CRI's labels would.
  grpc::Status PrepareLayer(SnapshotsClient& client, const ImageLayer& layer, const std::string& parent,
                            const std::string& chain) {
    return client.Prepare(
        "extract-" + layer.digest.Hex(), parent,
        {{std::string(oci::kLabelSnapshotRef), chain}, {std::string(oci::kLabelLayerDigest), layer.digest.ToString()}});
  }

  Sandbox sandbox_;
  const std::string socket_ = sandbox_ / "run/soci.sock";
  FakeLayerProvider provider_{sandbox_ / "m"};
  std::unique_ptr<Metastore> metastore_;
  std::unique_ptr<Snapshotter> snapshotter_;
  std::unique_ptr<GrpcServer> server_;
  Containerd containerd_{sandbox_, socket_};
};

TestImage TwoLayers() {
  return TestImage()
      .Add(GzipLayer(BusyboxTar().File("etc/greeting", "hello\n").File("etc/gone", "x").Finish()))
      .Add(GzipLayer(TarBuilder().Directory("etc").Whiteout("etc/gone").Symlink("etc/link", "greeting").Finish()));
}

// One line a step: the code, what was answered, and what containerd lists after it.
std::vector<std::string> RunSequence(SnapshotsClient client) {
  std::vector<std::string> lines;
  auto note = [&](const std::string& step, const grpc::Status& status, const std::string& answer = "") {
    std::string line = fmt::format("{}: code {} {}", step, static_cast<int>(status.error_code()), answer);
    for (const std::string& info : client.List({})) line += "\n    " + info;
    lines.push_back(line);
  };
  const Labels labels = {{"containerd.io/snapshot/x", "1"}, {"other", "2"}};
  note("prepare", client.Prepare("a", "", labels), client.mounts());
  note("prepare again", client.Prepare("a", ""));
  note("prepare on nothing", client.Prepare("b", "none"));
  note("prepare on active", client.Prepare("b", "a"));
  note("mounts", client.Mounts("a"), client.mounts());
  note("usage", client.Usage("a"));
  note("commit", client.Commit("layer-1", "a", {{"containerd.io/snapshot/y", "3"}}));
  note("commit again", client.Commit("layer-1", "a"));
  note("mounts of committed", client.Mounts("layer-1"));
  note("usage of committed", client.Usage("layer-1"));
  note("usage of nothing", client.Usage("none"));
  note("stat", client.Stat("layer-1"), client.info());
  note("stat of nothing", client.Stat("none"));
  note("view of one", client.View("v", "layer-1"), client.mounts());
  note("commit of view", client.Commit("layer-2", "v"));
  note("prepare second", client.Prepare("b", "layer-1"), client.mounts());
  note("commit onto a taken name", client.Commit("layer-1", "b"));
  note("commit second", client.Commit("layer-2", "b", {{"containerd.io/snapshot.ref", "layer-2"}}));
  note("view of two", client.View("w", "layer-2"), client.mounts());
  note("prepare on two", client.Prepare("c", "layer-2"), client.mounts());
  note("remove a parent", client.Remove("layer-1"));
  note("update",
       client.Update("layer-1", {{"containerd.io/snapshot/y", "4"}, {"lost", "5"}}, "labels.containerd.io/snapshot/y"),
       client.info());
  note("update all", client.Update("layer-1", {{"all", "6"}}, ""), client.info());
  note("update a field that is fixed", client.Update("layer-1", {}, "parent"));
  note("update of nothing", client.Update("none", {}, ""));
  for (const std::string filter : {"kind==active", "kind!=active", "parent==layer-1", "name~=/^layer/",
                                   "labels.\"containerd.io/snapshot.ref\"==layer-2,parent==\"layer-1\"", "kind=="}) {
    std::string line = "list " + filter;
    for (const std::string& info : client.List({filter})) line += "\n    " + info;
    lines.push_back(line);
  }
  for (const std::string key : {"c", "w", "v", "layer-2", "layer-1", "layer-1"}) {
    note("remove " + key, client.Remove(key));
  }
  return lines;
}

TEST_F(ServiceUnderContainerd, BehavesLikeContainerdsOwnSnapshotterStepByStep) {
  const std::vector<std::string> expected = RunSequence(Client("overlayfs"));
  const std::vector<std::string> actual = RunSequence(Client("soci"));
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(actual[i], expected[i]);
}

TEST_F(ServiceUnderContainerd, DeferredLayersAreUnpackedByContainerdAndTheContainerRuns) {
  const std::string image = Import(TwoLayers(), true);
  const CommandResult result = containerd_.Run("soci", image, "c1", {"cat", "/etc/link"});
  ASSERT_TRUE(result.ok()) << result.err;
  EXPECT_EQ(result.out, "hello\n");
  EXPECT_FALSE(containerd_.Run("soci", image, "c2", {"cat", "/etc/gone"}).ok());
  EXPECT_THAT(provider_.live(), IsEmpty());
}

// Field report C16.
TEST_F(ServiceUnderContainerd, C16_TheRootOfAContainerHasTheModeAndOwnerItHasOnOverlayfs) {
  TestImage odd;
  odd.Add(GzipLayer(BusyboxTar().Directory("./", {.mode = 0711, .uid = 12, .gid = 34}).Finish()))
      .Add(GzipLayer(TarBuilder().Directory("etc").File("etc/f", "x").Finish()));
  const std::string image = Import(odd, true);
  const CommandResult ours = containerd_.Run("soci", image, "c1", {"stat", "-c", "%a %u %g", "/"});
  const CommandResult theirs = containerd_.Run("overlayfs", image, "c2", {"stat", "-c", "%a %u %g", "/"});
  ASSERT_TRUE(ours.ok()) << ours.err;
  ASSERT_TRUE(theirs.ok()) << theirs.err;
  EXPECT_EQ(ours.out, theirs.out);
}

TEST_F(ServiceUnderContainerd, LazyAndDeferredLayersMixAndSurviveARestart) {
  const TestImage image = TwoLayers();
  const std::string name = Import(image, false);
  const ImageLayer& base = image.layers()[0];
  const oci::ChainId chain_1(base.diff_id);
  // The base is "mounted" by the provider; the layer on it is left to containerd.
  provider_.Add(oci::LayerDigest(base.digest));
  const std::string folder = provider_.Folder(oci::LayerDigest(base.digest));
  ASSERT_TRUE(WriteFileAtomic(sandbox_ / "base.tgz", base.blob).ok());
  ASSERT_TRUE(RunCommand({"tar", "-xzf", sandbox_ / "base.tgz", "-C", folder}).ok());

  SnapshotsClient client = Client("soci");
  EXPECT_EQ(PrepareLayer(client, base, "", chain_1.ToString()).error_code(), grpc::ALREADY_EXISTS);
  ASSERT_TRUE(client.Stat(chain_1.ToString()).ok());
  EXPECT_THAT(client.info(), HasSubstr("kind 3"));
  EXPECT_THAT(client.info(), HasSubstr("containerd.io/snapshot/remote=remote snapshot"));
  EXPECT_THAT(provider_.namespaces(), ElementsAre(containerd_.name_space()));

  const CommandResult result = containerd_.Run("soci", name, "c1", {"cat", "/etc/link"});
  ASSERT_TRUE(result.ok()) << result.err;
  EXPECT_EQ(result.out, "hello\n");
  Restart();
  const CommandResult again = containerd_.Run("soci", name, "c2", {"ls", "/etc"});
  ASSERT_TRUE(again.ok()) << again.err;
  EXPECT_EQ(again.out, "greeting\nlink\n");
}

TEST_F(ServiceUnderContainerd, ARemovedImageLeavesNothingInTheStateDirectory) {
  const TestImage image = TwoLayers();
  const std::string name = Import(image, false);
  provider_.Add(oci::LayerDigest(image.layers()[0].digest));
  SnapshotsClient client = Client("soci");
  const oci::ChainId chain_1(image.layers()[0].diff_id);
  ASSERT_EQ(PrepareLayer(client, image.layers()[0], "", chain_1.ToString()).error_code(), grpc::ALREADY_EXISTS);
  ASSERT_TRUE(client.Prepare("plain", chain_1.ToString()).ok());
  ASSERT_TRUE(client.Remove("plain").ok());
  ASSERT_TRUE(client.Remove(chain_1.ToString()).ok());
  ASSERT_TRUE(containerd_.RemoveImage(name).ok());
  EXPECT_TRUE(WaitUntil([&] { return metastore_->List({})->empty(); }));
  ASSERT_TRUE(snapshotter_->Cleanup().ok());
  EXPECT_TRUE(std::filesystem::is_empty(State("snapshots")));
  EXPECT_THAT(provider_.released(), ElementsAre(oci::LayerDigest(image.layers()[0].digest)));
}

}  // namespace
}  // namespace soci::test
