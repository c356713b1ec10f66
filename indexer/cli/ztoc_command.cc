#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "indexer/base/file_io.h"
#include "indexer/cli/commands.h"
#include "indexer/cli/session.h"
#include "indexer/cli/ztoc_report.h"
#include "indexer/index/file_extractor.h"

namespace soci::cli {
namespace {

// What both verbs begin with. The home stays open for what comes next; `code` says why there is nothing.
struct OpenedZtoc {
  Connection connection;
  std::unique_ptr<ImageHome> home = nullptr;
  FoundZtoc found = {};

  explicit OpenedZtoc(const ConnectionArguments& arguments) : connection(arguments) {}
};

ExitCode Open(const ZtocArguments& arguments, OpenedZtoc& opened) {
  const auto parsed = ParseArguments(arguments.target, {});
  if (!parsed) return ExitCode::kUsage;
  Result<oci::Digest> digest = oci::Digest::Parse(arguments.digest);
  if (!digest.ok()) {
    PrintError("", digest.status());
    return ExitCode::kUsage;
  }
  Result<std::unique_ptr<ImageHome>> home = opened.connection.Open(parsed->target);
  if (!home.ok()) return Fail(arguments.target, home.status());
  opened.home = *std::move(home);
  Result<FoundZtoc> found = FindZtoc(*opened.home, *digest);
  if (!found.ok()) return Fail(arguments.target, found.status());
  opened.found = *std::move(found);
  return ExitCode::kDone;
}

Status WriteAll(int fd, ByteSpan bytes, std::string_view name) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, name);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return OkStatus();
}

Status Extract(const OpenedZtoc& opened, const std::string& path, int fd, std::string_view name) {
  SOCI_ASSIGN_OR_RETURN(const tar::Entry file, FindFile(opened.found.ztoc, path));
  SOCI_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> layer, opened.home->Open(opened.found.layer));
  auto write = [&](ByteSpan bytes) { return WriteAll(fd, bytes, name); };
  return Annotate(ExtractFile(*layer, opened.found.ztoc, file, write, kLayerContext), path);
}

// The file appears under its name when it is whole.
Status ExtractTo(const OpenedZtoc& opened, const std::string& path, const std::string& output) {
  const std::string temporary = fmt::format("{}.part-{}", output, ::getpid());
  auto write = [&]() -> Status {
    SOCI_ASSIGN_OR_RETURN(UniqueFd file, OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL));
    SOCI_RETURN_IF_ERROR(Extract(opened, path, file.get(), temporary));
    return ::rename(temporary.c_str(), output.c_str()) == 0 ? OkStatus() : ErrnoStatus(errno, output);
  };
  const Status status = write();
  if (!status.ok()) ::unlink(temporary.c_str());
  return status;
}

}  // namespace

ExitCode ZtocInfo(const ZtocArguments& arguments) {
  OpenedZtoc opened(arguments.connection);
  if (const ExitCode code = Open(arguments, opened); code != ExitCode::kDone) return code;
  const std::string text =
      arguments.json ? ZtocJson(opened.found, arguments.files) : ZtocText(opened.found, arguments.files);
  std::fputs(text.c_str(), stdout);
  return ExitCode::kDone;
}

ExitCode ZtocGetFile(const ZtocArguments& arguments) {
  if (arguments.json && arguments.output.empty()) {
    PrintError("--json", absl::InvalidArgumentError("standard output is the file's; name another place with --output"));
    return ExitCode::kUsage;
  }
  OpenedZtoc opened(arguments.connection);
  if (const ExitCode code = Open(arguments, opened); code != ExitCode::kDone) return code;
  const Status status = arguments.output.empty() ? Extract(opened, arguments.path, STDOUT_FILENO, "standard output")
                                                 : ExtractTo(opened, arguments.path, arguments.output);
  if (!status.ok()) return Fail(arguments.target, status);
  if (arguments.json) std::fputs(ExtractedJson(opened.found, arguments.path, arguments.output).c_str(), stdout);
  return ExitCode::kDone;
}

}  // namespace soci::cli
