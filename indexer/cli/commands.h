// The verbs of soci-index, each with the values of its command line. A verb prints its result to standard output,
// everything else to standard error, and returns the exit code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "indexer/cli/exit_code.h"

namespace soci::cli {

struct ConnectionArguments {
  bool plain_http = false;
  std::vector<std::string> ca_files = {};
  std::string hosts_directory = "/etc/containerd/certs.d";  // may be missing
};

struct CreateArguments {
  std::string target = {};
  std::vector<std::string> platforms = {};
  bool all_platforms = false;  // says what an empty list says
  uint64_t span_size = uint64_t{4} << 20;
  uint64_t min_layer_size = uint64_t{10} << 20;
  std::vector<std::string> prefetch_files = {};
  std::string prefetch_from = {};  // a record; empty: none
  std::vector<std::string> optimizations = {};
  size_t jobs = 0;
  std::string cache = {};      // a directory
  std::string output = {};     // archives only: a file; empty: the archive itself
  std::string index_tag = {};  // empty: the index has no tag
  bool verify = false;
  bool allow_partial = false;
  bool json = false;
  bool quiet = false;
  ConnectionArguments connection = {};
};
ExitCode Create(const CreateArguments& arguments);

struct ListArguments {
  std::string target = {};
  std::vector<std::string> platforms = {};
  bool json = false;
  ConnectionArguments connection = {};
};
ExitCode List(const ListArguments& arguments);

struct InfoArguments {
  std::string target = {};
  std::string at = {};  // where a bare digest is
  bool json = false;
  ConnectionArguments connection = {};
};
ExitCode Info(const InfoArguments& arguments);

struct VerifyArguments {
  std::string target = {};
  std::vector<std::string> platforms = {};
  std::string index = {};  // a digest; empty: the one that would be taken
  size_t jobs = 0;
  bool json = false;
  bool quiet = false;
  ConnectionArguments connection = {};
};
ExitCode Verify(const VerifyArguments& arguments);

struct ZtocArguments {
  std::string target = {};
  std::string digest = {};  // of a zTOC or of a layer
  std::string path = {};    // get-file only
  std::string output = {};  // get-file only; empty: standard output
  bool files = false;       // info only
  bool json = false;
  ConnectionArguments connection = {};
};
ExitCode ZtocInfo(const ZtocArguments& arguments);
ExitCode ZtocGetFile(const ZtocArguments& arguments);

struct RecordArguments {
  std::string target = {};              // an image; show: a file too
  std::vector<std::string> files = {};  // records
  std::string output = {};              // pull: empty is standard output
  std::vector<std::string> platforms = {};
  bool extents = false;  // show only
  bool json = false;
  ConnectionArguments connection = {};
};
ExitCode RecordPush(const RecordArguments& arguments);
ExitCode RecordPull(const RecordArguments& arguments);
ExitCode RecordShow(const RecordArguments& arguments);
ExitCode RecordMerge(const RecordArguments& arguments);
ExitCode RecordTransfer(const RecordArguments& arguments);

}  // namespace soci::cli
