// Images made by tests: layers from tars, a config, a manifest; pushed to a registry or written as an OCI layout
// directory.
//
// Values in memory. Pushing uses plain HTTP requests of its own, so that what tests pull was not made by what they
// test.
#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/oci/digest.h"
#include "tests/e2e/support/docker_registry.h"
#include "tests/support/tar_builder.h"

namespace soci::test {

struct ImageLayer {
  std::string blob;  // as stored
  std::string media_type;
  oci::Digest digest;
  oci::DiffId diff_id;
};

ImageLayer GzipLayer(std::string_view tar, int level = 6);
ImageLayer PlainLayer(std::string_view tar);
// A blob that is compressed already, by pigz for example.
ImageLayer StoredLayer(std::string blob, const std::string& media_type, std::string_view tar);

class TestImage {
 public:
  TestImage& Add(ImageLayer layer);

  const std::vector<ImageLayer>& layers() const { return layers_; }
  std::string Config() const;
  std::string Manifest() const;
  oci::Digest digest() const { return oci::Digest::Of(Manifest()); }

  // Returns "HOST/repository:tag".
  std::string Push(const DockerRegistry& registry, const std::string& repository, const std::string& tag) const;
  void WriteLayout(const std::string& folder, const std::string& tag) const;

 private:
  std::vector<ImageLayer> layers_;
};

// A layer with a static busybox and links for the commands that tests call, plus the directories a container needs.
TarBuilder BusyboxTar();

void PushBlob(const DockerRegistry& registry, const std::string& repository, std::string_view blob);
// The same where the digest is known; it may be stopped.
void PushBlob(const DockerRegistry& registry, const std::string& repository, std::string_view blob,
              const oci::Digest& digest, const std::stop_token& stop);
void PushManifest(const DockerRegistry& registry, const std::string& repository, const std::string& name,
                  const std::string& media_type, std::string_view body);

}  // namespace soci::test
