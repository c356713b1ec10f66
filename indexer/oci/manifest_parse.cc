#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "indexer/oci/annotations.h"
#include "indexer/oci/base64.h"
#include "indexer/oci/manifest.h"

namespace soci::oci {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 64;
constexpr size_t kMaxValues = 400'000;  // bounds memory: a parsed value may take fifty times the text of "[],"

struct Malformed {
  std::string reason;
};

// A value of a document and where it stands in it. Every accessor throws Malformed, naming the member, for what is not
// there or of another type. A null member counts as absent, as for the reference tools.
class Node {
 public:
  Node(const json& value, std::string path) : value_(&value), path_(std::move(path)) {}

  std::optional<Node> Find(const char* name) const {
    if (!value_->is_object()) Refuse("is not an object");
    auto member = value_->find(name);
    if (member == value_->end() || member->is_null()) return std::nullopt;
    return Node(*member, path_.empty() ? std::string(name) : path_ + "." + name);
  }

  Node Need(const char* name) const {
    if (std::optional<Node> member = Find(name)) return *member;
    throw Malformed{fmt::format("{}{}{} is missing", path_, path_.empty() ? "" : ".", name)};
  }

  std::string Text() const {
    if (!value_->is_string()) Refuse("is not a string");
    return value_->get_ref<const std::string&>();
  }

  int64_t Number() const {
    if (!value_->is_number_integer()) Refuse("is not a whole number");
    if (value_->is_number_unsigned() && value_->get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}) {
      Refuse("is out of range");
    }
    return value_->get<int64_t>();
  }

  std::vector<Node> Items() const {
    if (!value_->is_array()) Refuse("is not a list");
    std::vector<Node> items;
    items.reserve(value_->size());
    for (const json& item : *value_) items.emplace_back(item, fmt::format("{}[{}]", path_, items.size()));
    return items;
  }

  std::string TextOf(const char* name) const {
    std::optional<Node> member = Find(name);
    return member ? member->Text() : std::string();
  }

  std::vector<std::string> TextsOf(const char* name) const {
    std::vector<std::string> texts;
    if (std::optional<Node> member = Find(name)) {
      for (const Node& item : member->Items()) texts.push_back(item.Text());
    }
    return texts;
  }

  Annotations AnnotationsOf(const char* name) const {
    Annotations annotations;
    std::optional<Node> member = Find(name);
    if (!member) return annotations;
    if (!member->value_->is_object()) member->Refuse("is not an object");
    for (const auto& [key, value] : member->value_->items()) {
      if (!value.is_string())
        member->Refuse(fmt::format("has a value that is not a string (\"{}\")", key.substr(0, 100)));
      annotations.emplace(key, value.get_ref<const std::string&>());
    }
    return annotations;
  }

  template <typename DigestType = Digest>
  DigestType Name() const {
    Result<DigestType> digest = DigestType::Parse(Text());
    if (!digest.ok()) throw Malformed{fmt::format("{}: {}", path_, Message(digest.status()))};
    return *digest;
  }

  [[noreturn]] void Refuse(std::string_view what) const {
    throw Malformed{fmt::format("{} {}", path_.empty() ? "the document" : path_, what)};
  }

 private:
  const json* value_;
  std::string path_;
};

Platform ReadPlatform(const Node& node) {
  return {.architecture = node.TextOf("architecture"),
          .os = node.TextOf("os"),
          .os_version = node.TextOf("os.version"),
          .os_features = node.TextsOf("os.features"),
          .variant = node.TextOf("variant")};
}

Descriptor ReadDescriptor(const Node& node) {
  Descriptor descriptor;
  descriptor.media_type = node.TextOf("mediaType");
  descriptor.digest = node.Need("digest").Name();
  const Node size = node.Need("size");
  descriptor.size = size.Number();
  if (descriptor.size < 0) size.Refuse("is negative");
  descriptor.urls = node.TextsOf("urls");
  descriptor.annotations = node.AnnotationsOf("annotations");
  if (std::optional<Node> data = node.Find("data")) {
    std::optional<std::string> bytes = DecodeBase64(data->Text());
    if (!bytes) data->Refuse("is not base64");
    descriptor.data = *std::move(bytes);
  }
  if (std::optional<Node> platform = node.Find("platform")) descriptor.platform = ReadPlatform(*platform);
  descriptor.artifact_type = node.TextOf("artifactType");
  return descriptor;
}

std::vector<Descriptor> ReadDescriptors(const Node& list) {
  std::vector<Descriptor> descriptors;
  for (const Node& item : list.Items()) descriptors.push_back(ReadDescriptor(item));
  return descriptors;
}

// A document that is a manifest to one reader and an image index to another must be neither.
void RefuseMember(const Node& root, const char* name, const char* kind) {
  if (root.Find(name)) throw Malformed{fmt::format("{} has no place in an {}", name, kind)};
}

template <typename Document>
void ReadCommon(const Node& root, Document& document) {
  if (std::optional<Node> version = root.Find("schemaVersion"); version && version->Number() != 2) {
    version->Refuse(fmt::format("is {}; only 2 is supported", version->Number()));
  }
  document.media_type = root.TextOf("mediaType");
  document.artifact_type = root.TextOf("artifactType");
  if (std::optional<Node> subject = root.Find("subject")) document.subject = ReadDescriptor(*subject);
  document.annotations = root.AnnotationsOf("annotations");
}

json ParseBounded(std::string_view text) {
  if (text.size() > kMaxDocumentBytes) throw Malformed{fmt::format("larger than {} bytes", kMaxDocumentBytes)};
  size_t values = 0;
  return json::parse(text.begin(), text.end(), [&](int depth, json::parse_event_t, json&) {
    if (depth > kMaxDepth) throw Malformed{fmt::format("nested deeper than {}", kMaxDepth)};
    if (++values > kMaxValues) throw Malformed{fmt::format("more than {} values", kMaxValues)};
    return true;
  });
}

// Runs `read` on the parsed document; the only place that turns exceptions into a status.
template <typename Read>
auto ReadDocument(std::string_view text, const char* kind, Read read)
    -> Result<decltype(read(std::declval<const Node&>()))> {
  std::string reason;
  try {
    const json document = ParseBounded(text);
    return read(Node(document, ""));
  } catch (const Malformed& malformed) {
    reason = malformed.reason;
  } catch (const json::parse_error& error) {
    reason = fmt::format("not JSON (byte {})", error.byte);
  } catch (const json::exception& error) {
    reason = error.what();
  }
  return absl::InvalidArgumentError(fmt::format("not an {}: {}", kind, reason));
}

}  // namespace

Result<Manifest> Manifest::Parse(std::string_view text) {
  return ReadDocument(text, "image manifest", [](const Node& root) {
    Manifest manifest;
    ReadCommon(root, manifest);
    RefuseMember(root, "manifests", "image manifest");
    manifest.config = ReadDescriptor(root.Need("config"));
    manifest.layers = ReadDescriptors(root.Need("layers"));
    return manifest;
  });
}

Result<ImageIndex> ImageIndex::Parse(std::string_view text) {
  return ReadDocument(text, "image index", [](const Node& root) {
    ImageIndex index;
    ReadCommon(root, index);
    RefuseMember(root, "layers", "image index");
    RefuseMember(root, "config", "image index");
    index.manifests = ReadDescriptors(root.Need("manifests"));
    return index;
  });
}

Result<ImageConfig> ImageConfig::Parse(std::string_view text) {
  return ReadDocument(text, "image config", [](const Node& root) {
    ImageConfig config;
    config.platform = ReadPlatform(root);
    for (const Node& item : root.Need("rootfs").Need("diff_ids").Items())
      config.diff_ids.push_back(item.Name<DiffId>());
    return config;
  });
}

Result<std::string> DocumentMediaType(std::string_view text) {
  return ReadDocument(text, "image manifest or index", [](const Node& root) {
    std::string media_type = root.TextOf("mediaType");
    if (!media_type.empty()) return media_type;
    if (root.Find("manifests")) return std::string(kMediaTypeImageIndex);
    if (root.Find("layers")) return std::string(kMediaTypeManifest);
    return std::string();
  });
}

}  // namespace soci::oci
