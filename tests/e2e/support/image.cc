#include "tests/e2e/support/image.h"

#include <sys/utsname.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "indexer/oci/annotations.h"
#include "tests/e2e/support/http.h"

namespace soci::test {
namespace {

using Json = nlohmann::ordered_json;

std::string Architecture() {
  utsname name{};
  ::uname(&name);
  const std::string machine = name.machine;
  return machine == "x86_64" ? "amd64" : machine == "aarch64" ? "arm64" : machine;
}

Json DescriptorJson(std::string_view media_type, const oci::Digest& digest, size_t size) {
  return {{"mediaType", media_type}, {"digest", digest.ToString()}, {"size", size}};
}

void Expect(const HttpAnswer& answer, int status, const std::string& what) {
  if (answer.status != status) {
    throw std::runtime_error(what + ": " + std::to_string(answer.status) + " " + answer.body);
  }
}

void WriteWhole(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream stream(path, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream.flush()) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace

ImageLayer StoredLayer(std::string blob, const std::string& media_type, std::string_view tar) {
  const oci::Digest digest = oci::Digest::Of(blob);
  return {std::move(blob), media_type, digest, oci::DiffId(oci::Digest::Of(tar))};
}

ImageLayer GzipLayer(std::string_view tar, int level) {
  return StoredLayer(Gzip(tar, level), std::string(oci::kMediaTypeLayerGzip), tar);
}

ImageLayer PlainLayer(std::string_view tar) {
  return StoredLayer(std::string(tar), std::string(oci::kMediaTypeLayerTar), tar);
}

TestImage& TestImage::Add(ImageLayer layer) {
  layers_.push_back(std::move(layer));
  return *this;
}

std::string TestImage::Config() const {
  Json diff_ids = Json::array();
  for (const ImageLayer& layer : layers_) diff_ids.push_back(layer.diff_id.ToString());
  return Json{{"architecture", Architecture()},
              {"os", "linux"},
              {"config", {{"Env", {"PATH=/bin:/usr/bin"}}, {"Cmd", {"/bin/sh"}}}},
              {"rootfs", {{"type", "layers"}, {"diff_ids", diff_ids}}}}
      .dump();
}

std::string TestImage::Manifest() const {
  const std::string config = Config();
  Json layers = Json::array();
  for (const ImageLayer& layer : layers_) {
    layers.push_back(DescriptorJson(layer.media_type, layer.digest, layer.blob.size()));
  }
  return Json{{"schemaVersion", 2},
              {"mediaType", oci::kMediaTypeManifest},
              {"config", DescriptorJson(oci::kMediaTypeImageConfig, oci::Digest::Of(config), config.size())},
              {"layers", layers}}
      .dump();
}

std::string TestImage::Push(const DockerRegistry& registry, const std::string& repository,
                            const std::string& tag) const {
  for (const ImageLayer& layer : layers_) PushBlob(registry, repository, layer.blob);
  PushBlob(registry, repository, Config());
  PushManifest(registry, repository, tag, std::string(oci::kMediaTypeManifest), Manifest());
  return registry.host() + "/" + repository + ":" + tag;
}

void TestImage::WriteLayout(const std::string& folder, const std::string& tag) const {
  const std::filesystem::path blobs = std::filesystem::path(folder) / "blobs/sha256";
  for (const ImageLayer& layer : layers_) WriteWhole(blobs / layer.digest.Hex(), layer.blob);
  WriteWhole(blobs / oci::Digest::Of(Config()).Hex(), Config());
  const std::string manifest = Manifest();
  WriteWhole(blobs / digest().Hex(), manifest);
  WriteWhole(std::filesystem::path(folder) / "oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
  Json entry = DescriptorJson(oci::kMediaTypeManifest, digest(), manifest.size());
  entry["annotations"] = {{oci::kAnnotationRefName, tag}};
  WriteWhole(std::filesystem::path(folder) / "index.json",
             Json{{"schemaVersion", 2}, {"mediaType", oci::kMediaTypeImageIndex}, {"manifests", {entry}}}.dump());
}

TarBuilder BusyboxTar() {
  std::ifstream stream("/bin/busybox", std::ios::binary);
  const std::string busybox(std::istreambuf_iterator<char>(stream), {});
  if (busybox.empty()) throw std::runtime_error("/bin/busybox is missing (package busybox-static)");
  TarBuilder tar;
  for (const char* folder : {"bin", "dev", "etc", "proc", "sys", "tmp"}) tar.Directory(folder);
  tar.File("bin/busybox", busybox, {.mode = 0755});
  for (const char* command : {"sh", "cat", "echo", "ls", "sleep", "stat", "sha256sum", "find", "dd", "true", "wc"}) {
    tar.HardLink(std::string("bin/") + command, "bin/busybox", {.mode = 0755});
  }
  return tar;
}

void PushBlob(const DockerRegistry& registry, const std::string& repository, std::string_view blob) {
  PushBlob(registry, repository, blob, oci::Digest::Of(blob), {});
}

void PushBlob(const DockerRegistry& registry, const std::string& repository, std::string_view blob,
              const oci::Digest& blob_digest, const std::stop_token& stop) {
  const std::string digest = blob_digest.ToString();
  const std::string base = registry.url() + "/v2/" + repository + "/blobs/";
  if (HttpRequest("HEAD", base + digest).status == 200) return;
  const HttpAnswer started = HttpRequest("POST", base + "uploads/");
  Expect(started, 202, "starting an upload");
  const std::string location = started.headers.at("location");
  const std::string separator = location.find('?') == std::string::npos ? "?" : "&";
  Expect(HttpRequest("PUT", location + separator + "digest=" + digest, blob, {"Content-Type: application/octet-stream"},
                     stop),
         201, "uploading " + digest);
}

void PushManifest(const DockerRegistry& registry, const std::string& repository, const std::string& name,
                  const std::string& media_type, std::string_view body) {
  Expect(HttpRequest("PUT", registry.url() + "/v2/" + repository + "/manifests/" + name, body,
                     {"Content-Type: " + media_type}),
         201, "pushing manifest " + name);
}

}  // namespace soci::test
