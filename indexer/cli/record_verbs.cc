#include <CLI/CLI.hpp>

#include "indexer/cli/verb.h"

namespace soci::cli {
namespace {

void AddFile(CLI::App* verb, std::vector<std::string>& files) {
  verb->add_option("file", files, "A record, as the snapshotter or `record pull` wrote it")
      ->required()
      ->type_name("")
      ->expected(1);
}

void AddOutput(CLI::App* verb, std::string& output, const std::string& what) {
  verb->add_option("-o,--output", output, what)->type_name("FILE");
}

void AddPush(CLI::App& record, RecordArguments& arguments, Run& run) {
  CLI::App* verb = AddVerb(record, "push", "Store a record beside its image, merged with the one that is there",
                           "soci-index record push registry.example.com/team/app:1.4 app.record");
  AddImage(verb, arguments.target);
  AddFile(verb, arguments.files);
  verb->add_flag("--json", arguments.json, "As JSON");
  AddConnection(verb, arguments.connection);
  verb->callback([&] { run = [&] { return RecordPush(arguments); }; });
}

void AddPull(CLI::App& record, RecordArguments& arguments, Run& run) {
  CLI::App* verb = AddVerb(record, "pull", "Get the record of an image",
                           "soci-index record pull registry.example.com/team/app:1.4 -o app.record");
  AddImage(verb, arguments.target);
  AddPlatform(verb, arguments.platforms);
  AddOutput(verb, arguments.output, "Write it here, not to standard output");
  verb->add_flag("--json", arguments.json, "Say as JSON what was written to FILE");
  AddConnection(verb, arguments.connection);
  verb->callback([&] { run = [&] { return RecordPull(arguments); }; });
}

void AddShow(CLI::App& record, RecordArguments& arguments, Run& run) {
  CLI::App* verb = AddVerb(record, "show", "Show what a record holds: a file, or that of an image",
                           "soci-index record show app.record --extents");
  verb->add_option("record", arguments.target, "FILE, or an image as elsewhere")->required()->type_name("");
  AddPlatform(verb, arguments.platforms);
  verb->add_flag("--extents", arguments.extents, "What is needed, in order of need, too");
  verb->add_flag("--json", arguments.json, "As JSON");
  AddConnection(verb, arguments.connection);
  verb->callback([&] { run = [&] { return RecordShow(arguments); }; });
}

void AddMerge(CLI::App& record, RecordArguments& arguments, Run& run) {
  CLI::App* verb = AddVerb(record, "merge", "Make one record of those of several runs of an image",
                           "soci-index record merge train.record serve.record -o app.record");
  verb->add_option("files", arguments.files, "Records of one image")->required()->type_name("");
  verb->add_option("-o,--output", arguments.output, "Write it here")->required()->type_name("FILE");
  verb->add_flag("--json", arguments.json, "Say as JSON what was written");
  verb->callback([&] { run = [&] { return RecordMerge(arguments); }; });
}

void AddTransfer(CLI::App& record, RecordArguments& arguments, Run& run) {
  CLI::App* verb = AddVerb(record, "transfer", "Make the record of an image serve its next version",
                           "soci-index record transfer registry.example.com/team/app:1.5 old.record -o new.record");
  AddImage(verb, arguments.target);
  AddFile(verb, arguments.files);
  AddPlatform(verb, arguments.platforms);
  verb->add_option("-o,--output", arguments.output, "Write it here")->required()->type_name("FILE");
  verb->add_flag("--json", arguments.json, "Say as JSON what was written");
  AddConnection(verb, arguments.connection);
  verb->callback([&] { run = [&] { return RecordTransfer(arguments); }; });
}

}  // namespace

void AddRecord(CLI::App& app, RecordArguments& arguments, Run& run) {
  CLI::App* record = AddVerb(app, "record", "Records: what a program needs of an image, in order of need",
                             "soci-index record push registry.example.com/team/app:1.4 app.record");
  record->require_subcommand(1);
  AddPush(*record, arguments, run);
  AddPull(*record, arguments, run);
  AddShow(*record, arguments, run);
  AddMerge(*record, arguments, run);
  AddTransfer(*record, arguments, run);
}

}  // namespace soci::cli
