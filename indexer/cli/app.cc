#include "indexer/cli/app.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "indexer/base/log.h"
#include "indexer/cli/commands.h"
#include "indexer/cli/verb.h"
#include "indexer/table/layer_spans.h"

namespace soci::cli {
namespace {

constexpr uint64_t kLeastSpanSize = uint64_t{4} << 10;   // below it a window costs more than the span it starts
constexpr uint64_t kMostSpanSize = table::kMaxSpanSize;  // the snapshotter unpacks layers with larger ones
constexpr uint64_t kMostLayerSize = uint64_t{1} << 50;

// Help that fits one screen: positionals go under the usage, without a heading.
class ScreenFormatter : public CLI::Formatter {
 public:
  std::string make_positionals(const CLI::App* app) const override {
    std::string lines = CLI::Formatter::make_positionals(app);
    lines.erase(0, lines.find_first_not_of('\n'));
    lines.erase(0, std::min(lines.size(), lines.find('\n') + 1));
    while (lines.ends_with('\n')) lines.pop_back();
    return lines;
  }
};

void AddSize(CLI::App* verb, const std::string& name, uint64_t& value, uint64_t least, uint64_t most,
             const std::string& what) {
  verb->add_option(name, value, what)
      ->transform(CLI::AsSizeValue(false).description(""))
      ->check(CLI::Range(least, most).description(""))
      ->type_name("SIZE")
      ->capture_default_str();
}

void AddJobs(CLI::App* verb, size_t& jobs) {
  verb->add_option("--jobs", jobs, "Layers at once (default: one per core)")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N");
}

void AddCreate(CLI::App& app, CreateArguments& arguments, Run& run) {
  CLI::App* verb = AddVerb(app, "create", "Make the SOCI indexes of an image and store them beside it",
                           "soci-index create registry.example.com/team/app:1.4");
  AddImage(verb, arguments.target);
  AddPlatform(verb, arguments.platforms);
  // For scripts that say so; the help has no line for what happens anyway.
  verb->add_flag("--all-platforms", arguments.all_platforms, "Every platform the image has (the default)")->group("");
  AddSize(verb, "--span-size", arguments.span_size, kLeastSpanSize, kMostSpanSize, "Bytes between checkpoints");
  AddSize(verb, "--min-layer-size", arguments.min_layer_size, 0, kMostLayerSize, "Leave smaller layers out");
  AddRepeatable(verb, "--prefetch-file", arguments.prefetch_files, "Fetch this file at mount; repeatable")
      ->type_name("PATH");
  verb->add_option("--prefetch-from", arguments.prefetch_from, "Fetch at mount what this record says was needed")
      ->type_name("RECORD");
  AddRepeatable(verb, "--optimizations", arguments.optimizations, "xattr: mark layers without any")
      ->check(CLI::IsMember({"xattr"}).description(""))
      ->type_name("NAME");
  AddJobs(verb, arguments.jobs);
  verb->add_option("--cache", arguments.cache, "Keep zTOCs here for the next image with the same layers")
      ->type_name("DIR");
  verb->add_option("-o,--output", arguments.output, "An archive with the index goes here; FILE stays as it is")
      ->type_name("FILE");
  verb->add_option("--tag-index", arguments.index_tag, "Tag the index too, so that clean-up of untagged ones spares it")
      ->type_name("TAG");
  verb->add_flag("--verify", arguments.verify, "Read each layer again and prove its zTOC before storing");
  verb->add_flag("--allow-partial", arguments.allow_partial, "Exit 0 although layers were skipped");
  verb->add_flag("--json", arguments.json, "Report as JSON");
  verb->add_flag("-q,--quiet", arguments.quiet, "No progress; skipped layers are still told");
  AddConnection(verb, arguments.connection);
  verb->callback([&] { run = [&] { return Create(arguments); }; });
}

void AddList(CLI::App& app, ListArguments& arguments, Run& run) {
  CLI::App* verb =
      AddVerb(app, "list", "List the SOCI indexes of an image", "soci-index list registry.example.com/team/app:1.4");
  AddImage(verb, arguments.target);
  AddPlatform(verb, arguments.platforms);
  verb->add_flag("--json", arguments.json, "As JSON");
  AddConnection(verb, arguments.connection);
  verb->callback([&] { run = [&] { return List(arguments); }; });
}

void AddInfo(CLI::App& app, InfoArguments& arguments, Run& run) {
  CLI::App* verb = AddVerb(app, "info", "Show what a SOCI index holds",
                           "soci-index info oci:build/image@sha256:1f0c...\n"
                           "  soci-index info sha256:1f0c... --at oci:build/image");
  verb->add_option("index", arguments.target, "The index (REF@DIGEST, DIGEST), or an image (REF): all of its own")
      ->required()
      ->type_name("");
  verb->add_option("--at", arguments.at, "Where a bare DIGEST is")->type_name("REF");
  verb->add_flag("--json", arguments.json, "As JSON");
  AddConnection(verb, arguments.connection);
  verb->callback([&] { run = [&] { return Info(arguments); }; });
}

void AddVerify(CLI::App& app, VerifyArguments& arguments, Run& run) {
  CLI::App* verb = AddVerb(app, "verify", "Prove the SOCI index of an image right",
                           "soci-index verify registry.example.com/team/app:1.4");
  AddImage(verb, arguments.target);
  AddPlatform(verb, arguments.platforms);
  verb->add_option("--index", arguments.index, "This index, not the one that would be taken")->type_name("DIGEST");
  AddJobs(verb, arguments.jobs);
  verb->add_flag("--json", arguments.json, "Report as JSON");
  verb->add_flag("-q,--quiet", arguments.quiet, "No progress");
  AddConnection(verb, arguments.connection);
  verb->callback([&] { run = [&] { return Verify(arguments); }; });
}

constexpr char kZtocOrLayer[] = "Digest of the zTOC, or of its layer";

void AddZtocInfo(CLI::App& ztoc, ZtocArguments& arguments, Run& run) {
  CLI::App* verb = AddVerb(ztoc, "info", "Show what a zTOC says of its layer",
                           "soci-index ztoc info registry.example.com/team/app:1.4 sha256:9c27...");
  AddImage(verb, arguments.target);
  verb->add_option("digest", arguments.digest, kZtocOrLayer)->required()->type_name("");
  verb->add_flag("--files", arguments.files, "Its entries too");
  verb->add_flag("--json", arguments.json, "As JSON");
  AddConnection(verb, arguments.connection);
  verb->callback([&] { run = [&] { return ZtocInfo(arguments); }; });
}

void AddZtocGetFile(CLI::App& ztoc, ZtocArguments& arguments, Run& run) {
  CLI::App* verb = AddVerb(ztoc, "get-file", "Read one file of a layer, fetching only the spans it lies in",
                           "soci-index ztoc get-file oci:build/image sha256:9c27... etc/os-release");
  AddImage(verb, arguments.target);
  verb->add_option("digest", arguments.digest, kZtocOrLayer)->required()->type_name("");
  verb->add_option("path", arguments.path, "The file's path in the layer")->required()->type_name("");
  verb->add_option("-o,--output", arguments.output, "Write it here, not to standard output")->type_name("FILE");
  verb->add_flag("--json", arguments.json, "Say as JSON what was written to FILE");
  AddConnection(verb, arguments.connection);
  verb->callback([&] { run = [&] { return ZtocGetFile(arguments); }; });
}

void AddZtoc(CLI::App& app, ZtocArguments& arguments, Run& run) {
  CLI::App* ztoc = AddVerb(app, "ztoc", "Look into the zTOC of one layer",
                           "soci-index ztoc info registry.example.com/team/app:1.4 sha256:9c27...");
  ztoc->require_subcommand(1);
  AddZtocInfo(*ztoc, arguments, run);
  AddZtocGetFile(*ztoc, arguments, run);
}

int PrintUsageError(const CLI::ParseError& error) {
  std::string line = error.what();
  if (const size_t end = line.find('\n'); end != std::string::npos) line.resize(end);
  fmt::print(stderr, "soci-index: {} (see --help)\n", line);
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace

int RunApp(int argc, const char* const* argv) {
  log::SetLevel(log::Level::kError);  // what a verb has to say it says itself
  CLI::App app("Makes the index that lets an image start before it is downloaded. Needs no daemon and no root.",
               "soci-index");
  app.require_subcommand(1);
  app.set_version_flag("--version", "soci-index " SOCI_VERSION);
  app.formatter(std::make_shared<ScreenFormatter>());
  app.get_formatter()->column_width(34);
  app.footer(
      "Example:\n  soci-index create registry.example.com/team/app:1.4\n  soci-index list oci:build/image:latest");
  CreateArguments create;
  ListArguments list;
  InfoArguments info;
  VerifyArguments verify;
  ZtocArguments ztoc;
  RecordArguments record;
  Run run;
  AddCreate(app, create, run);
  AddList(app, list, run);
  AddInfo(app, info, run);
  AddVerify(app, verify, run);
  AddZtoc(app, ztoc, run);
  AddRecord(app, record, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // help or version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return PrintUsageError(error);
  }
  return static_cast<int>(run());
}

}  // namespace soci::cli
