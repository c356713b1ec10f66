#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "indexer/base/file_io.h"
#include "indexer/cli/commands.h"
#include "indexer/cli/record_file.h"
#include "indexer/cli/record_report.h"
#include "indexer/cli/session.h"
#include "indexer/index/list_indexes.h"
#include "indexer/index/record_artifact.h"
#include "indexer/index/transfer_by_index.h"
#include "indexer/record/merge_records.h"
#include "indexer/record/record_codec.h"

namespace soci::cli {
namespace {

// An image and what leads to it.
struct Opened {
  std::unique_ptr<Connection> connection;
  std::unique_ptr<ImageHome> home;
  SelectedImages selected;
};

Result<Opened> Open(const ParsedArguments& parsed, const ConnectionArguments& arguments) {
  Opened opened;
  opened.connection = std::make_unique<Connection>(arguments);
  SOCI_ASSIGN_OR_RETURN(opened.home, opened.connection->Open(parsed.target));
  SOCI_ASSIGN_OR_RETURN(opened.selected, SelectPlatforms(*opened.home, parsed.platforms, kDocumentContext));
  return opened;
}

// The records of the chosen platforms; kNotFound if there is none, kInvalidArgument if there are several.
Result<FoundRecord> FindOne(const Opened& opened) {
  std::optional<FoundRecord> found;
  for (const PlatformImage& image : opened.selected.images) {
    SOCI_ASSIGN_OR_RETURN(std::optional<FoundRecord> one,
                          FindRecord(*opened.home, image.descriptor.digest, kDocumentContext));
    if (one && found) return absl::InvalidArgumentError("several platforms have a record; name one with --platform");
    if (one) found = std::move(one);
  }
  if (!found) return absl::NotFoundError("the image has no record");
  return *std::move(found);
}

Result<FoundRecord> Push(const Opened& opened, Record record) {
  const auto& images = opened.selected.images;
  const auto image = std::find_if(images.begin(), images.end(),
                                  [&](const PlatformImage& one) { return one.descriptor.digest == record.manifest; });
  if (image == images.end()) {
    return absl::InvalidArgumentError(fmt::format(
        "the record is about {}, which is not this image; `record transfer` makes it one for the next version",
        record.manifest.ToString()));
  }
  SOCI_RETURN_IF_ERROR(CheckRecordFits(record, *image));
  Result<std::optional<FoundRecord>> before = FindRecord(*opened.home, record.manifest, kDocumentContext);
  if (!before.ok() && !IsRecordDamage(before.status())) return before.status();
  const bool has_before = before.ok() && before->has_value();
  // One that others made and that contradicts ours is left where it is.
  Result<Record> merged = has_before ? MergeRecords({(*before)->record, record}) : record;
  SOCI_ASSIGN_OR_RETURN(Record cut, CutRecord(merged.ok() ? *std::move(merged) : std::move(record)));
  if (has_before && cut == (*before)->record) return **std::move(before);
  SOCI_ASSIGN_OR_RETURN(const oci::Digest artifact, PutRecord(*opened.home, *image, cut));
  SOCI_RETURN_IF_ERROR(opened.home->Commit());
  return FoundRecord{artifact, std::move(cut)};
}

ExitCode SayWritten(const RecordArguments& arguments, const Record& record,
                    const std::optional<oci::Digest>& artifact = std::nullopt) {
  const std::string text = arguments.json ? RecordJson(record, artifact, false) : RecordText(record, false);
  std::fputs(text.c_str(), stdout);
  return ExitCode::kDone;
}

ExitCode WriteResult(const RecordArguments& arguments, const Record& record,
                     const std::optional<oci::Digest>& artifact = std::nullopt) {
  const Status written = WriteRecordFile(arguments.output, record);
  return written.ok() ? SayWritten(arguments, record, artifact) : Fail(arguments.output, written);
}

}  // namespace

ExitCode RecordPush(const RecordArguments& arguments) {
  const auto parsed = ParseArguments(arguments.target, {});
  if (!parsed) return ExitCode::kUsage;
  Result<Record> record = ReadRecordFile(arguments.files.front());
  if (!record.ok()) return Fail(arguments.files.front(), record.status());
  const Result<Opened> opened = Open(*parsed, arguments.connection);
  if (!opened.ok()) return Fail(arguments.target, opened.status());
  const Result<FoundRecord> pushed = Push(*opened, *std::move(record));
  if (!pushed.ok()) return Fail(arguments.target, pushed.status());
  if (arguments.json) return SayWritten(arguments, pushed->record, pushed->artifact);
  fmt::print("{}\n", pushed->artifact.ToString());
  return ExitCode::kDone;
}

ExitCode RecordPull(const RecordArguments& arguments) {
  const auto parsed = ParseArguments(arguments.target, arguments.platforms);
  if (!parsed) return ExitCode::kUsage;
  if (arguments.json && arguments.output.empty()) {
    PrintError("--json", absl::InvalidArgumentError("the record goes to standard output; give --output too"));
    return ExitCode::kUsage;
  }
  const Result<Opened> opened = Open(*parsed, arguments.connection);
  if (!opened.ok()) return Fail(arguments.target, opened.status());
  const Result<FoundRecord> found = FindOne(*opened);
  if (!found.ok()) return Fail(arguments.target, found.status());
  if (!arguments.output.empty()) return WriteResult(arguments, found->record, found->artifact);
  const Result<std::string> bytes = EncodeRecord(found->record);
  if (!bytes.ok()) return Fail(arguments.target, bytes.status());
  const bool written =
      std::fwrite(bytes->data(), 1, bytes->size(), stdout) == bytes->size() && std::fflush(stdout) == 0;
  return written ? ExitCode::kDone : Fail("standard output", absl::UnknownError("cannot be written"));
}

ExitCode RecordShow(const RecordArguments& arguments) {
  FoundRecord found;
  std::optional<oci::Digest> artifact;
  std::error_code ignored;
  if (std::filesystem::exists(arguments.target, ignored)) {
    Result<Record> record = ReadRecordFile(arguments.target);
    if (!record.ok()) return Fail(arguments.target, record.status());
    found.record = *std::move(record);
  } else {
    const auto parsed = ParseArguments(arguments.target, arguments.platforms);
    if (!parsed) return ExitCode::kUsage;
    const Result<Opened> opened = Open(*parsed, arguments.connection);
    if (!opened.ok()) return Fail(arguments.target, opened.status());
    Result<FoundRecord> one = FindOne(*opened);
    if (!one.ok()) return Fail(arguments.target, one.status());
    found = *std::move(one);
    artifact = found.artifact;
  }
  const std::string text = arguments.json ? RecordJson(found.record, artifact, arguments.extents)
                                          : RecordText(found.record, arguments.extents);
  std::fputs(text.c_str(), stdout);
  return ExitCode::kDone;
}

ExitCode RecordMerge(const RecordArguments& arguments) {
  std::vector<Record> records;
  for (const std::string& file : arguments.files) {
    Result<Record> record = ReadRecordFile(file);
    if (!record.ok()) return Fail(file, record.status());
    records.push_back(*std::move(record));
  }
  Result<Record> merged = MergeRecords(records);
  if (!merged.ok()) return Fail("merge", merged.status());
  const Result<Record> cut = CutRecord(*std::move(merged));
  return cut.ok() ? WriteResult(arguments, *cut) : Fail("merge", cut.status());
}

ExitCode RecordTransfer(const RecordArguments& arguments) {
  const auto parsed = ParseArguments(arguments.target, arguments.platforms);
  if (!parsed) return ExitCode::kUsage;
  const Result<Record> record = ReadRecordFile(arguments.files.front());
  if (!record.ok()) return Fail(arguments.files.front(), record.status());
  const Result<Opened> opened = Open(*parsed, arguments.connection);
  if (!opened.ok()) return Fail(arguments.target, opened.status());
  if (opened->selected.images.size() != 1) {
    return Fail(arguments.target, absl::InvalidArgumentError("it has several platforms; name one with --platform"));
  }
  const PlatformImage& image = opened->selected.images.front();
  const Result<std::vector<SociIndex>> indexes = ListIndexes(*opened->home, image, kDocumentContext);
  if (!indexes.ok()) return Fail(arguments.target, indexes.status());
  if (indexes->empty()) {
    return Fail(arguments.target, absl::NotFoundError("the image has no SOCI index to find its files in"));
  }
  const Result<TransferredRecord> next =
      TransferByIndex(*opened->home, image, indexes->front(), *record, kLayerContext);
  if (!next.ok()) return Fail(arguments.target, next.status());
  fmt::print(stderr, "{} bytes in equal layers, {} in equal files, {} left out\n", next->kept_bytes, next->moved_bytes,
             next->lost_bytes);
  const Status written = WriteRecordFile(arguments.output, next->record);
  if (!written.ok()) return Fail(arguments.output, written);
  if (!arguments.json) return SayWritten(arguments, next->record);
  std::fputs(RecordJson(next->record, std::nullopt, false, &*next).c_str(), stdout);
  return ExitCode::kDone;
}

}  // namespace soci::cli
