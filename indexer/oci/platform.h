// Platforms as people and containerd write them, and which manifest of an image index fits one.
//
// Two spellings of one machine ("x86_64", "arm64/v8") are made equal by Normalize; matching compares normalised values.
// Pure.
#pragma once

#include <string_view>
#include <vector>

#include "indexer/oci/manifest.h"

namespace soci::oci {

// "os/arch[/variant]", or "arch" or "os" alone with the rest taken from the host; normalised. kInvalidArgument
// otherwise.
Result<Platform> ParsePlatform(std::string_view text);

// The machine this program was built for, normalised.
Platform HostPlatform();

Platform Normalize(Platform platform);

// Same os, architecture and variant after Normalize; os.version only if `wanted` has one.
bool Matches(const Platform& wanted, const Platform& offered);

// False for what stands beside images in an image index: attestations ("unknown" platforms), SOCI indexes, other
// artifacts.
bool IsImageEntry(const Descriptor& entry);

// The first image entry of this platform; null if there is none. Entries without a platform are no match.
const Descriptor* FindPlatform(const ImageIndex& index, const Platform& wanted);

// Every platform with an image entry, once each, in the order of the list.
std::vector<Platform> Platforms(const ImageIndex& index);

}  // namespace soci::oci
