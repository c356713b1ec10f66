#include "fuse/session/session_pool.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "indexer/base/file_io.h"
#include "indexer/base/log.h"

namespace soci {

// One of the mounts that there may be.
class SessionPool::Place {
 public:
  explicit Place(std::atomic<size_t>& taken) : taken_(&taken), number_(taken.fetch_add(1) + 1) {}
  Place(Place&& other) noexcept : taken_(std::exchange(other.taken_, nullptr)), number_(other.number_) {}
  ~Place() {
    if (taken_ != nullptr) taken_->fetch_sub(1);
  }
  size_t number() const { return number_; }

 private:
  std::atomic<size_t>* taken_;
  const size_t number_;
};

class SessionPool::Mounted : public MountHandle {
 public:
  Mounted(SessionPool& pool, Place place, std::string mount_point, std::shared_ptr<Session> session,
          ServingThreads::Ticket ticket)
      : pool_(pool),
        place_(std::move(place)),
        mount_point_(std::move(mount_point)),
        session_(std::move(session)),
        ticket_(ticket) {}

  ~Mounted() override {
    if (!session_) return;
    Detach();
    StopServing();
    // The keeper's copy goes first, or the connection would live on and its callers wait.
    pool_.keeper_.Forget(mount_point_);
    SeverDevice(session_->device());
  }

  void Detach() override {
    if (std::exchange(detached_, true)) return;
    DetachMount(mount_point_);
    ::rmdir(mount_point_.c_str());
  }

  const std::string& mount_point() const override { return mount_point_; }

  void LeaveToSuccessor() override {
    if (!session_) return;
    StopServing();
    session_.reset();
  }

 private:
  void StopServing() {
    bool answered = session_->WaitForReads(std::chrono::steady_clock::now() + pool_.options_.reply_grace);
    if (!answered) log::Warning("{} goes away while reads of it wait", mount_point_);
    pool_.threads_->Withdraw(ticket_);
  }

  SessionPool& pool_;
  const Place place_;
  const std::string mount_point_;
  std::shared_ptr<Session> session_;
  const ServingThreads::Ticket ticket_;
  bool detached_ = false;
};

Result<std::unique_ptr<SessionPool>> SessionPool::Start(DescriptorKeeper& keeper, const Options& options) {
  SOCI_ASSIGN_OR_RETURN(std::unique_ptr<ServingThreads> threads, ServingThreads::Start(options.threads));
  return std::unique_ptr<SessionPool>(new SessionPool(keeper, options, std::move(threads)));
}

SessionPool::SessionPool(DescriptorKeeper& keeper, const Options& options, std::unique_ptr<ServingThreads> threads)
    : keeper_(keeper), options_(options), threads_(std::move(threads)) {}

Result<std::unique_ptr<MountHandle>> SessionPool::Mount(LayerReader& layer, const std::string& mount_point) {
  Place place(mounts_);
  if (place.number() > options_.most_mounts) {
    return absl::ResourceExhaustedError(
        fmt::format("{} layers are mounted, no more descriptors may be open (LimitNOFILE)", options_.most_mounts));
  }
  SOCI_ASSIGN_OR_RETURN(std::shared_ptr<Session> session, TakeOver(layer, mount_point));
  bool fresh = session == nullptr;
  if (fresh) {
    SOCI_ASSIGN_OR_RETURN(session, MountAnew(layer, mount_point));
  }
  Result<ServingThreads::Ticket> ticket = threads_->Serve(session);
  if (!ticket.ok()) {
    if (fresh) {
      DetachMount(mount_point);
      keeper_.Forget(mount_point);
    }
    return Annotate(ticket.status(), "serving " + mount_point);
  }
  auto mounted = std::make_unique<Mounted>(*this, std::move(place), mount_point, session, *ticket);
  SetReadAhead(mount_point, options_.read_ahead_kib);
  return mounted;
}

// Nothing if there is no mount to go on with.
Result<std::shared_ptr<Session>> SessionPool::TakeOver(LayerReader& layer, const std::string& mount_point) {
  SOCI_ASSIGN_OR_RETURN(std::optional<KeptMount> kept, keeper_.Take(mount_point));
  if (!kept) return std::shared_ptr<Session>();
  // Without INIT nothing was ever answered, and the request may be lost: a new mount takes nothing from anyone.
  if (kept->init_request.empty() || kept->layout != LayerTable::kLayout || !IsConnected(kept->device.get())) {
    log::Warning("the mount at {} cannot be gone on with; mounting anew", mount_point);
    DetachMount(mount_point);
    keeper_.Forget(mount_point);
    return std::shared_ptr<Session>();
  }
  SOCI_ASSIGN_OR_RETURN(std::shared_ptr<Session> session,
                        Session::Make(layer, options_.session, std::move(kept->device),
                                      InitExchange::Resumed(std::move(kept->init_request))));
  RequestBuffer buffer;
  if (session->ServeOne(buffer) != Session::Turn::kServed) {
    return absl::InternalError("libfuse refuses the kept INIT request of " + mount_point);
  }
  return session;
}

Result<std::shared_ptr<Session>> SessionPool::MountAnew(LayerReader& layer, const std::string& mount_point) {
  SOCI_RETURN_IF_ERROR(ClearMountPoint(mount_point));
  SOCI_RETURN_IF_ERROR(MakeDirectories(mount_point, 0700));
  SOCI_ASSIGN_OR_RETURN(UniqueFd device, OpenFuseDevice());
  int number = device.get();
  auto save = [this, mount_point](std::string_view init_request) {
    Status saved = keeper_.SaveInit(mount_point, init_request);
    if (!saved.ok()) log::Warning("saving the INIT request of {}: {}", mount_point, Message(saved));
  };
  SOCI_ASSIGN_OR_RETURN(std::shared_ptr<Session> session,
                        Session::Make(layer, options_.session, std::move(device), InitExchange::Fresh(save)));
  SOCI_RETURN_IF_ERROR(MountFuse(number, layer.table().layer().ToString(), mount_point));
  Status kept = keeper_.Keep(mount_point, number, LayerTable::kLayout);
  if (!kept.ok()) log::Warning("the mount at {} ends with this process: {}", mount_point, Message(kept));
  return session;
}

}  // namespace soci
