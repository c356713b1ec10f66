// Every media type, label and annotation key of the project, spelled once.
#pragma once

#include <string_view>

namespace soci::oci {

// Media types.
inline constexpr std::string_view kMediaTypeManifest = "application/vnd.oci.image.manifest.v1+json";
inline constexpr std::string_view kMediaTypeImageIndex = "application/vnd.oci.image.index.v1+json";
inline constexpr std::string_view kMediaTypeImageConfig = "application/vnd.oci.image.config.v1+json";
inline constexpr std::string_view kMediaTypeDockerManifest = "application/vnd.docker.distribution.manifest.v2+json";
inline constexpr std::string_view kMediaTypeDockerManifestList =
    "application/vnd.docker.distribution.manifest.list.v2+json";
inline constexpr std::string_view kMediaTypeDockerConfig = "application/vnd.docker.container.image.v1+json";
inline constexpr std::string_view kMediaTypeLayerPrefix = "application/vnd.oci.image.layer.";
inline constexpr std::string_view kMediaTypeLayerTar = "application/vnd.oci.image.layer.v1.tar";
inline constexpr std::string_view kMediaTypeLayerGzip = "application/vnd.oci.image.layer.v1.tar+gzip";
inline constexpr std::string_view kMediaTypeLayerZstd = "application/vnd.oci.image.layer.v1.tar+zstd";
inline constexpr std::string_view kMediaTypeForeignLayerGzip =
    "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip";
inline constexpr std::string_view kMediaTypeDockerLayer = "application/vnd.docker.image.rootfs.diff.tar";
inline constexpr std::string_view kMediaTypeDockerLayerGzip = "application/vnd.docker.image.rootfs.diff.tar.gzip";
inline constexpr std::string_view kMediaTypeDockerForeignLayer = "application/vnd.docker.image.rootfs.foreign.diff.tar";
inline constexpr std::string_view kMediaTypeDockerForeignLayerGzip =
    "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip";
inline constexpr std::string_view kMediaTypeZtoc = "application/octet-stream";
inline constexpr std::string_view kMediaTypeSociIndexV1 = "application/vnd.amazon.soci.index.v1+json";
inline constexpr std::string_view kMediaTypeSociIndexV2 = "application/vnd.amazon.soci.index.v2+json";
inline constexpr std::string_view kMediaTypePrefetch = "application/vnd.amazon.soci.prefetch.v1+json";
// Our own: a record beside its image. Another format has another version here, so that old programs do not find it.
inline constexpr std::string_view kArtifactTypeRecord = "application/vnd.soci-snapshotter.record.v1";
inline constexpr std::string_view kMediaTypeRecord = "application/vnd.soci-snapshotter.record.v1.protobuf+zstd";
inline constexpr std::string_view kMediaTypeEmptyConfig = "application/vnd.oci.empty.v1+json";

// The empty config blob of an artifact.
inline constexpr std::string_view kEmptyConfig = "{}";

// Says of an entry of an image index that it is no image: what BuildKit puts on attestations.
inline constexpr std::string_view kAnnotationReferenceType = "vnd.docker.reference.type";

// Annotations of a SOCI index.
inline constexpr std::string_view kAnnotationLayerDigest = "com.amazon.soci.image-layer-digest";
inline constexpr std::string_view kAnnotationLayerMediaType = "com.amazon.soci.image-layer-mediaType";
inline constexpr std::string_view kAnnotationSpanSize = "com.amazon.soci.span-size";
inline constexpr std::string_view kAnnotationDisableXattrs = "com.amazon.soci.disable-xattrs";
inline constexpr std::string_view kAnnotationBuildTool = "com.amazon.soci.build-tool-identifier";
inline constexpr std::string_view kAnnotationIndexDigest = "com.amazon.soci.index-digest";
inline constexpr std::string_view kAnnotationManifestDigest = "com.amazon.soci.image-manifest-digest";

// Of a record's manifest: of how many runs it was merged.
inline constexpr std::string_view kAnnotationRecordRuns = "vnd.soci-snapshotter.record.runs";

// The tool string that goes into zTOCs and indexes; another one would change every digest.
inline constexpr std::string_view kBuildTool = "AWS SOCI CLI v0.2";

// Names of an image in an OCI layout's index.json: the standard's (mostly a tag), and containerd's (the whole
// reference).
inline constexpr std::string_view kAnnotationRefName = "org.opencontainers.image.ref.name";
inline constexpr std::string_view kAnnotationContainerdName = "io.containerd.image.name";

// Labels that containerd, CRI and nerdctl put on snapshots.
inline constexpr std::string_view kLabelSnapshotRef = "containerd.io/snapshot.ref";
inline constexpr std::string_view kLabelInheritedPrefix = "containerd.io/snapshot/";
inline constexpr std::string_view kLabelImageRef = "containerd.io/snapshot/cri.image-ref";
inline constexpr std::string_view kLabelManifestDigest = "containerd.io/snapshot/cri.manifest-digest";
inline constexpr std::string_view kLabelLayerDigest = "containerd.io/snapshot/cri.layer-digest";
inline constexpr std::string_view kLabelImageLayers = "containerd.io/snapshot/cri.image-layers";
inline constexpr std::string_view kLabelLayerSize = "containerd.io/snapshot/remote/soci.size";
inline constexpr std::string_view kLabelSociIndexDigest = "containerd.io/snapshot/remote/soci.index.digest";
inline constexpr std::string_view kLabelUidMapping = "containerd.io/snapshot/uidmapping";
inline constexpr std::string_view kLabelGidMapping = "containerd.io/snapshot/gidmapping";
// Ours, on the snapshot of a container that shall be recorded: the recording's name.
inline constexpr std::string_view kLabelRecording = "containerd.io/snapshot/soci.recording";

// Labels that we put on the snapshots we commit.
inline constexpr std::string_view kLabelRemote = "containerd.io/snapshot/remote";
inline constexpr std::string_view kLabelRemoteValue = "remote snapshot";
inline constexpr std::string_view kLabelHasSociIndex = "containerd.io/snapshot/remote/has.soci.index.digest";
inline constexpr std::string_view kLabelRemoteNamespace = "containerd.io/snapshot/remote/namespace";

}  // namespace soci::oci
