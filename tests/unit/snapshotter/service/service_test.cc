#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <future>

#include "indexer/base/file_io.h"
#include "indexer/oci/annotations.h"
#include "proto/containerd/snapshots.grpc.pb.h"
#include "snapshotter/core/snapshotter.h"
#include "snapshotter/service/grpc_server.h"
#include "snapshotter/service/grpc_status.h"
#include "snapshotter/service/socket_path.h"
#include "tests/fakes/fake_layer_provider.h"
#include "tests/support/temporary_directory.h"

namespace soci {
namespace {

namespace wire = containerd::services::snapshots::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

oci::LayerDigest Layer(int number) { return oci::LayerDigest(oci::Digest::Of(std::to_string(number))); }

class ServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    metastore_ = *Metastore::Open(folder_ / "metadata.db");
    snapshotter_ = std::make_unique<Snapshotter>(*metastore_, provider_,
                                                 Snapshotter::Options{folder_.path(), folder_ / "run", {}, 1});
    Result<std::unique_ptr<GrpcServer>> started = GrpcServer::Start(*snapshotter_, socket_);
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
    stub_ = wire::Snapshots::NewStub(grpc::CreateChannel("unix:" + socket_, grpc::InsecureChannelCredentials()));
  }

  grpc::Status Prepare(const std::string& key, const std::string& parent, const Labels& labels = {},
                       wire::PrepareSnapshotResponse* response = nullptr) {
    wire::PrepareSnapshotRequest request;
    request.set_snapshotter("soci");
    request.set_key(key);
    request.set_parent(parent);
    request.mutable_labels()->insert(labels.begin(), labels.end());
    grpc::ClientContext context;
    if (!name_space_.empty()) context.AddMetadata("containerd-namespace", name_space_);
    wire::PrepareSnapshotResponse unused;
    return stub_->Prepare(&context, request, response != nullptr ? response : &unused);
  }
  grpc::Status View(const std::string& key, const std::string& parent) {
    wire::ViewSnapshotRequest request;
    request.set_key(key);
    request.set_parent(parent);
    grpc::ClientContext context;
    wire::ViewSnapshotResponse response;
    return stub_->View(&context, request, &response);
  }
  grpc::Status Commit(const std::string& name, const std::string& key, const Labels& labels = {}) {
    wire::CommitSnapshotRequest request;
    request.set_name(name);
    request.set_key(key);
    request.mutable_labels()->insert(labels.begin(), labels.end());
    grpc::ClientContext context;
    google::protobuf::Empty response;
    return stub_->Commit(&context, request, &response);
  }
  grpc::Status Remove(const std::string& key) {
    wire::RemoveSnapshotRequest request;
    request.set_key(key);
    grpc::ClientContext context;
    google::protobuf::Empty response;
    return stub_->Remove(&context, request, &response);
  }
  grpc::Status Mounts(const std::string& key) {
    wire::MountsRequest request;
    request.set_key(key);
    grpc::ClientContext context;
    wire::MountsResponse response;
    return stub_->Mounts(&context, request, &response);
  }
  grpc::Status Stat(const std::string& key, wire::Info* info = nullptr) {
    wire::StatSnapshotRequest request;
    request.set_key(key);
    grpc::ClientContext context;
    wire::StatSnapshotResponse response;
    grpc::Status status = stub_->Stat(&context, request, &response);
    if (info != nullptr) *info = response.info();
    return status;
  }
  std::vector<std::string> List(const std::vector<std::string>& filters, grpc::Status* status = nullptr) {
    wire::ListSnapshotsRequest request;
    for (const std::string& filter : filters) request.add_filters(filter);
    grpc::ClientContext context;
    auto reader = stub_->List(&context, request);
    std::vector<std::string> names;
    wire::ListSnapshotsResponse response;
    while (reader->Read(&response)) {
      for (const wire::Info& info : response.info()) names.push_back(info.name());
    }
    grpc::Status finished = reader->Finish();
    if (status != nullptr) *status = finished;
    return names;
  }

  std::string name_space_ = "k8s.io";
  test::TemporaryDirectory folder_;
  const std::string socket_ = folder_ / "run/s.sock";
  test::FakeLayerProvider provider_{folder_ / "m"};
  std::unique_ptr<Metastore> metastore_;
  std::unique_ptr<Snapshotter> snapshotter_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<wire::Snapshots::Stub> stub_;
};

TEST_F(ServiceTest, TheSequenceOfAnUnpackHasTheCodesContainerdExpects) {
  wire::PrepareSnapshotResponse prepared;
  ASSERT_TRUE(Prepare("extract", "", {}, &prepared).ok());
  ASSERT_EQ(prepared.mounts_size(), 1);
  EXPECT_EQ(prepared.mounts(0).type(), "bind");
  EXPECT_EQ(prepared.mounts(0).source(), folder_ / "snapshots/1/fs");
  EXPECT_THAT(prepared.mounts(0).options(), ElementsAre("rw", "rbind"));
  EXPECT_EQ(Prepare("extract", "").error_code(), grpc::ALREADY_EXISTS);
  EXPECT_EQ(Prepare("x", "none").error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(Prepare("x", "extract").error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(Prepare("", "").error_code(), grpc::INVALID_ARGUMENT);
  ASSERT_TRUE(Commit("layer", "extract", {{"l", "v"}}).ok());
  ASSERT_TRUE(Prepare("again", "").ok());
  EXPECT_EQ(Commit("layer", "again").error_code(), grpc::ALREADY_EXISTS);
  EXPECT_EQ(Commit("other", "extract").error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(Commit("other", "layer").error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_EQ(Mounts("layer").error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_EQ(Mounts("none").error_code(), grpc::NOT_FOUND);
  EXPECT_EQ(Stat("none").error_code(), grpc::NOT_FOUND);
  ASSERT_TRUE(View("view", "layer").ok());
  EXPECT_EQ(Commit("other", "view").error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_EQ(Remove("layer").error_code(), grpc::FAILED_PRECONDITION);
  EXPECT_TRUE(Remove("view").ok());
  EXPECT_TRUE(Remove("layer").ok());
  EXPECT_EQ(Remove("layer").error_code(), grpc::NOT_FOUND);
}

TEST_F(ServiceTest, InfoCarriesKindParentLabelsAndTimes) {
  ASSERT_TRUE(Prepare("a", "").ok());
  ASSERT_TRUE(Commit("base", "a", {{"x", "1"}}).ok());
  ASSERT_TRUE(Prepare("b", "base").ok());
  wire::Info info;
  ASSERT_TRUE(Stat("base", &info).ok());
  EXPECT_EQ(info.kind(), wire::COMMITTED);
  EXPECT_EQ(info.labels().at("x"), "1");
  EXPECT_GT(info.created_at().seconds(), 1'600'000'000);
  ASSERT_TRUE(Stat("b", &info).ok());
  EXPECT_EQ(info.kind(), wire::ACTIVE);
  EXPECT_EQ(info.parent(), "base");
}

TEST_F(ServiceTest, UpdateUsesTheMask) {
  ASSERT_TRUE(Prepare("a", "", {{"keep", "1"}}).ok());
  wire::UpdateSnapshotRequest request;
  request.mutable_info()->set_name("a");
  (*request.mutable_info()->mutable_labels())["new"] = "2";
  request.mutable_update_mask()->add_paths("labels.new");
  wire::UpdateSnapshotResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->Update(&context, request, &response).ok());
  EXPECT_THAT(response.info().labels(), SizeIs(2));
  request.mutable_update_mask()->add_paths("kind");
  grpc::ClientContext again;
  EXPECT_EQ(stub_->Update(&again, request, &response).error_code(), grpc::INVALID_ARGUMENT);
}

TEST_F(ServiceTest, ARemoteLayerAnswersAlreadyExistsAndIsFoundByTheFilter) {
  provider_.Add(Layer(1));
  const Labels labels = {{std::string(oci::kLabelSnapshotRef), "chain-1"},
                         {std::string(oci::kLabelLayerDigest), Layer(1).ToString()}};
  EXPECT_EQ(Prepare("k", "", labels).error_code(), grpc::ALREADY_EXISTS);
  EXPECT_THAT(List({R"(labels."containerd.io/snapshot.ref"==chain-1,parent=="")"}), ElementsAre("chain-1"));
  EXPECT_THAT(provider_.namespaces(), ElementsAre("k8s.io"));
  wire::UsageRequest request;
  request.set_key("chain-1");
  wire::UsageResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->Usage(&context, request, &response).ok());
  EXPECT_EQ(response.size(), 12'345);
  EXPECT_EQ(response.inodes(), 6);
}

TEST_F(ServiceTest, WithoutMetadataTheNamespaceIsReadFromTheKey) {
  const Labels labels = {{std::string(oci::kLabelSnapshotRef), "chain-1"}};
  name_space_.clear();
  for (const char* key : {"moby/12/extract-1", "plain", "a/b/c", "/1/x", "x//y", "tenant/3/a/4/b"}) {
    ASSERT_TRUE(Prepare(key, "", labels).ok());
  }
  EXPECT_THAT(provider_.namespaces(), ElementsAre("default", "moby", "tenant"));
}

TEST_F(ServiceTest, ListStreamsMoreThanOneMessageAndRefusesNonsense) {
  for (int i = 0; i < 250; ++i) ASSERT_TRUE(metastore_->Create(SnapshotKind::kActive, std::to_string(i), "", {}).ok());
  EXPECT_THAT(List({}), SizeIs(250));
  grpc::Status status;
  List({"kind=="}, &status);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
}

TEST_F(ServiceTest, CleanupWaitsForWhatWasRemoved) {
  ASSERT_TRUE(Prepare("a", "").ok());
  ASSERT_TRUE(Remove("a").ok());
  wire::CleanupRequest request;
  google::protobuf::Empty response;
  grpc::ClientContext context;
  ASSERT_TRUE(stub_->Cleanup(&context, request, &response).ok());
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "snapshots"));
}

TEST_F(ServiceTest, TheSocketIsForItsOwnerAloneAndGoesWithTheServer) {
  struct stat attributes {};
  ASSERT_EQ(::stat(socket_.c_str(), &attributes), 0);
  EXPECT_EQ(attributes.st_mode & 0777, 0600u);
  server_->Stop();
  EXPECT_FALSE(std::filesystem::exists(socket_));
  EXPECT_EQ(Stat("x").error_code(), grpc::UNAVAILABLE);
}

TEST_F(ServiceTest, ASocketThatIsServedIsNotTaken) {
  const Status status = GrpcServer::Start(*snapshotter_, socket_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Message(status), socket_ + ": in use by another process");
  EXPECT_TRUE(Prepare("still works", "").ok());
}

TEST_F(ServiceTest, ASocketLeftByADeadProcessIsReplaced) {
  const std::string path = folder_ / "run/dead.sock";
  {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    UniqueFd dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  EXPECT_TRUE(GrpcServer::Start(*snapshotter_, path).ok());
}

TEST_F(ServiceTest, APathThatCannotBeASocketIsOneClearError) {
  ASSERT_TRUE(WriteFileAtomic(folder_ / "run/file", "x").ok());
  EXPECT_THAT(std::string(Message(ClaimSocketPath(folder_ / "run/file"))), HasSubstr("is not a socket"));
  const Status too_long = ClaimSocketPath(folder_ / std::string(120, 'x'));
  EXPECT_EQ(too_long.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(*ReadFile(folder_ / "run/file"), "x");
}

TEST_F(ServiceTest, StopLetsACallThatIsUnderWayEnd) {
  provider_.Add(Layer(1));
  std::promise<void> inside, go_on;
  provider_.on_provide = [&](const Labels&) {
    inside.set_value();
    go_on.get_future().wait();
  };
  const Labels labels = {{std::string(oci::kLabelSnapshotRef), "chain-1"},
                         {std::string(oci::kLabelLayerDigest), Layer(1).ToString()}};
  auto call = std::async(std::launch::async, [&] { return Prepare("k", "", labels); });
  inside.get_future().wait();
  auto stopped = std::async(std::launch::async, [&] { server_->Stop(std::chrono::seconds(20)); });
  go_on.set_value();
  EXPECT_EQ(call.get().error_code(), grpc::ALREADY_EXISTS);
  stopped.get();
}

TEST(GrpcStatus, CodesAndTextStayAndLongTextsAreCut) {
  EXPECT_TRUE(ToGrpc(OkStatus()).ok());
  const grpc::Status status = ToGrpc(absl::DataLossError("bad digest"));
  EXPECT_EQ(status.error_code(), grpc::DATA_LOSS);
  EXPECT_EQ(status.error_message(), "bad digest");
  EXPECT_EQ(ToGrpc(absl::UnavailableError(std::string(9000, 'x'))).error_message().size(), 2000u);
}

}  // namespace
}  // namespace soci
