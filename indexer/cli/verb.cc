#include "indexer/cli/verb.h"

#include <CLI/CLI.hpp>

namespace soci::cli {

CLI::App* AddVerb(CLI::App& app, const std::string& name, const std::string& what, const std::string& example) {
  CLI::App* verb = app.add_subcommand(name, what);
  verb->set_help_flag("-h,--help")->group("");  // who reads the help knows it; the page is one screen
  verb->footer("Example:\n  " + example);
  return verb;
}

void AddImage(CLI::App* verb, std::string& target) {
  verb->add_option("image", target, "HOST/REPO[:TAG], oci:DIR, oci-archive:FILE or docker-archive:FILE")
      ->required()
      ->type_name("");
}

CLI::Option* AddRepeatable(CLI::App* verb, const std::string& name, std::vector<std::string>& values,
                           const std::string& what) {
  return verb->add_option(name, values, what)->allow_extra_args(false);
}

void AddConnection(CLI::App* verb, ConnectionArguments& connection) {
  verb->add_flag("--plain-http", connection.plain_http, "Speak http to the registry");
  AddRepeatable(verb, "--ca", connection.ca_files, "Trust the certificates in this file too")->type_name("FILE");
  verb->add_option("--hosts-dir", connection.hosts_directory, "Mirrors: HOST/hosts.toml (/etc/containerd/certs.d)")
      ->type_name("DIR");
}

void AddPlatform(CLI::App* verb, std::vector<std::string>& platforms) {
  AddRepeatable(verb, "--platform", platforms, "Only this platform; repeatable")->type_name("OS/ARCH");
}

}  // namespace soci::cli
