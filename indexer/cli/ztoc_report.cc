#include "indexer/cli/ztoc_report.h"

#include <fmt/format.h>

#include "indexer/cli/format.h"
#include "indexer/index/file_extractor.h"
#include "indexer/oci/json_writer.h"

namespace soci::cli {
namespace {

std::string_view TypeName(tar::EntryType type) {
  switch (type) {
    case tar::EntryType::kRegular:
      return "file";
    case tar::EntryType::kHardLink:
      return "hardlink";
    case tar::EntryType::kSymlink:
      return "symlink";
    case tar::EntryType::kCharDevice:
      return "char";
    case tar::EntryType::kBlockDevice:
      return "block";
    case tar::EntryType::kDirectory:
      return "dir";
    case tar::EntryType::kFifo:
      return "fifo";
  }
  return "?";
}

std::string_view CompressionName(Compression compression) {
  return compression == Compression::kGzip ? "gzip" : "none";
}

// Names are any bytes; on a terminal they must not be more than text.
std::string Printable(const std::string& name) {
  std::string quoted = fmt::format("{:?}", name);
  return quoted.size() == name.size() + 2 ? name : quoted;
}

void WriteEntry(oci::JsonWriter& json, const tar::Entry& entry) {
  json.BeginObject().Member("name", entry.name).Member("type", TypeName(entry.type));
  json.Key("size").Integer(entry.size).Key("mode").Integer(entry.mode);
  json.Key("uid").Integer(entry.uid).Key("gid").Integer(entry.gid);
  json.Key("mtime").Integer(entry.mtime_seconds).Key("mtime_nanoseconds").Integer(entry.mtime_nanoseconds);
  json.Key("offset").Unsigned(entry.header.end);
  if (!entry.link_name.empty()) json.Member("link", entry.link_name);
  json.EndObject();
}

}  // namespace

std::string ZtocText(const FoundZtoc& found, bool with_files) {
  const ZtocView& ztoc = found.ztoc;
  std::string text =
      fmt::format("zTOC {} ({})\n", found.descriptor.digest.ToString(), HumanSize(found.descriptor.size));
  text += fmt::format("layer {}\n", found.layer.digest.ToString());
  text += fmt::format("made by {}, compression {}, span size {}\n", ztoc.build_tool, CompressionName(ztoc.compression),
                      ztoc.span_size);
  text += fmt::format("{} compressed, {} uncompressed, {} spans, {} entries\n", HumanSize(ztoc.compressed_size),
                      HumanSize(ztoc.uncompressed_size), ztoc.span_digests.size(), ztoc.entries->size());
  if (!with_files) return text;
  std::vector<std::vector<std::string>> rows = {{"TYPE", "MODE", "UID", "GID", "SIZE", "MTIME", "NAME"}};
  for (const tar::Entry& entry : *ztoc.entries) {
    std::string name = Printable(entry.name);
    if (!entry.link_name.empty()) name += " -> " + Printable(entry.link_name);
    rows.push_back({std::string(TypeName(entry.type)), fmt::format("{:04o}", entry.mode & 07777),
                    std::to_string(entry.uid), std::to_string(entry.gid), std::to_string(entry.size),
                    std::to_string(entry.mtime_seconds), name});
  }
  return text + Table(rows, {2, 3, 4, 5});
}

std::string ZtocJson(const FoundZtoc& found, bool with_files) {
  const ZtocView& ztoc = found.ztoc;
  oci::JsonWriter json;
  json.BeginObject().Member("digest", found.descriptor.digest.ToString()).Key("size").Integer(found.descriptor.size);
  json.Member("layer", found.layer.digest.ToString()).Member("build_tool", ztoc.build_tool);
  json.Member("compression", CompressionName(ztoc.compression)).Key("span_size").Unsigned(ztoc.span_size);
  json.Key("compressed_size").Unsigned(ztoc.compressed_size).Key("uncompressed_size").Unsigned(ztoc.uncompressed_size);
  json.Key("spans").BeginArray();
  const std::vector<SpanExtent> spans = ztoc.Spans();
  for (size_t id = 0; id < spans.size(); ++id) {
    json.BeginObject().Key("compressed_begin").Unsigned(spans[id].compressed.begin);
    json.Key("compressed_end").Unsigned(spans[id].compressed.end);
    json.Key("uncompressed_begin").Unsigned(spans[id].uncompressed.begin);
    json.Key("uncompressed_end").Unsigned(spans[id].uncompressed.end);
    json.Member("digest", ztoc.span_digests[id].ToString()).EndObject();
  }
  json.EndArray().Key("entries").Unsigned(ztoc.entries->size());
  if (with_files) {
    json.Key("files").BeginArray();
    for (const tar::Entry& entry : *ztoc.entries) WriteEntry(json, entry);
    json.EndArray();
  }
  json.EndObject();
  return json.text() + "\n";
}

std::string ExtractedJson(const FoundZtoc& found, const std::string& path, const std::string& output) {
  oci::JsonWriter json;
  json.BeginObject().Member("layer", found.layer.digest.ToString()).Member("path", path).Member("output", output);
  const Result<tar::Entry> file = FindFile(found.ztoc, path);
  if (file.ok()) {
    json.Key("file");
    WriteEntry(json, *file);
  }
  json.EndObject();
  return json.text() + "\n";
}

}  // namespace soci::cli
