// Makes gzip streams the way the compressors of the field do: several libraries, flushes, primed blocks, members split
// anywhere, every header field. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace soci::test {

struct GzipHeaderFields {
  std::optional<std::string> extra = {};
  std::optional<std::string> name = {};
  std::optional<std::string> comment = {};
  bool checksum = false;
};

enum class Compressor {
  kZlib,
  kZlibFlushing,  // a sync or full flush every so often
  kPigz,          // blocks primed with the 32 KiB in front of them, as parallel compressors write
  kGo,            // ends with an empty stored block
  kLibdeflate,
  kIgzip,
  kStored,  // by hand: stored blocks of given sizes
};

struct GzipRecipe {
  Compressor compressor = Compressor::kZlib;
  int level = 6;
  int strategy = 0;         // zlib's
  int memory = 8;           // zlib's
  bool full_flush = false;  // instead of sync
  bool flush_first = false;
  size_t block = 16384;  // between flushes, primed blocks or stored blocks
  GzipHeaderFields header = {};

  std::string ToString() const;
};

// A header with these fields.
std::string GzipHeader(const GzipHeaderFields& fields = {});
// CRC and length.
std::string GzipTrailer(std::string_view bytes);
// A raw DEFLATE stream.
std::string Deflate(std::string_view bytes, const GzipRecipe& recipe = {});
// One member.
std::string GzipMember(std::string_view bytes, const GzipRecipe& recipe = {});

// Recipes that differ in everything.
GzipRecipe RandomRecipe(std::mt19937& random);

// Text, noise, runs and repeats in changing proportions.
std::string RandomBytes(size_t size, std::mt19937& random);

}  // namespace soci::test
