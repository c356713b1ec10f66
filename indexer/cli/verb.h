// How verbs are put on the command line: what many of them have in common, and those that have a file of their own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "indexer/cli/commands.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace soci::cli {

// Fills the arguments of one verb and says which function it is.
using Run = std::function<ExitCode()>;

CLI::App* AddVerb(CLI::App& app, const std::string& name, const std::string& what, const std::string& example);
void AddImage(CLI::App* verb, std::string& target);
// An option that may be given several times, with one value each.
CLI::Option* AddRepeatable(CLI::App* verb, const std::string& name, std::vector<std::string>& values,
                           const std::string& what);
void AddConnection(CLI::App* verb, ConnectionArguments& connection);
void AddPlatform(CLI::App* verb, std::vector<std::string>& platforms);

void AddRecord(CLI::App& app, RecordArguments& arguments, Run& run);

}  // namespace soci::cli
