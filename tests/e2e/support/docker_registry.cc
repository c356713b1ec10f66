#include "tests/e2e/support/docker_registry.h"

#include <crypt.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "tests/e2e/support/http.h"

namespace soci::test {
namespace {

// Combined log format; the path is what stands between the method and " HTTP/".
bool ParseLine(const std::string& line, LoggedRequest& request) {
  static const std::regex pattern(
      R"re(^\S+ \S+ \S+ \[[^\]]*\] "([A-Z]+) (\S+) HTTP/[0-9.]+" ([0-9]+) ([0-9]+|-) "[^"]*" "([^"]*)")re");
  std::smatch match;
  if (!std::regex_search(line, match, pattern)) return false;
  request = {match[1], match[2], std::stoi(match[3]), match[4] == "-" ? 0 : std::stoull(match[4]), match[5]};
  return request.path != "/v2/" && request.path.find("barrier=") == std::string::npos;
}

}  // namespace

DockerRegistry::DockerRegistry(const Sandbox& sandbox, DockerRegistryOptions options)
    : options_(std::move(options)), folder_(sandbox / options_.folder), port_(options_.port) {
  std::filesystem::create_directories(folder_);
  Start();
}

void DockerRegistry::Start() {
  const std::string config = folder_ + "/config.yml", log = folder_ + "/log";
  std::ofstream(config) << Config();
  const size_t start = std::filesystem::exists(log) ? std::filesystem::file_size(log) : 0;
  process_ = std::make_unique<Process>(std::vector<std::string>{"docker-registry", "serve", config}, log,
                                       ProcessOptions{{{"OTEL_TRACES_EXPORTER", "none"}}, folder_});
  static const std::regex listening(R"(listening on 127\.0\.0\.1:([0-9]+))");
  const bool up = WaitUntil([&] {
    const std::string text = ReadLog().substr(start);
    std::smatch match;
    if (!std::regex_search(text, match, listening)) return !process_->Running();
    port_ = static_cast<uint16_t>(std::stoi(match[1]));
    return true;
  });
  if (!up || !process_->Running())
    throw std::runtime_error("docker-registry does not start: " + ReadLog().substr(start));
}

std::string DockerRegistry::Config() const {
  std::string text = "version: 0.1\nlog:\n  level: info\n  accesslog:\n    disabled: false\n";
  text += "storage:\n  filesystem:\n    rootdirectory: " + folder_ + "/storage\n    maxthreads: 200\n";
  text += "  delete:\n    enabled: true\n";
  if (!options_.htpasswd.empty()) {
    std::ofstream(folder_ + "/htpasswd") << options_.htpasswd;
    text += "auth:\n  htpasswd:\n    realm: test\n    path: " + folder_ + "/htpasswd\n";
  }
  text += "http:\n  addr: 127.0.0.1:" + std::to_string(port_) + "\n  secret: of-this-test\n";
  if (!options_.certificate.empty()) {
    text += "  tls:\n    certificate: " + options_.certificate + "\n    key: " + options_.key + "\n";
  }
  if (!options_.proxy_remote.empty()) text += "proxy:\n  remoteurl: " + options_.proxy_remote + "\n";
  return text;
}

void DockerRegistry::Stop() { process_->Stop(); }

std::string DockerRegistry::ReadLog() const {
  std::ifstream stream(folder_ + "/log");
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::vector<LoggedRequest> DockerRegistry::LoggedRequests() const {
  // A line is written after its answer was sent. A request of ours that began later is the sign that they are all
  // there.
  static int number = 0;
  const std::string barrier = "barrier=" + std::to_string(++number) + "-" + std::to_string(port_);
  HttpRequest("GET", url() + "/v2/?" + barrier);
  std::string text;
  if (!WaitUntil([&] { return (text = ReadLog()).find(barrier + " HTTP") != std::string::npos; })) {
    throw std::runtime_error("docker-registry does not log");
  }
  std::vector<LoggedRequest> requests;
  std::istringstream lines(text.substr(forgotten_));
  for (std::string line; std::getline(lines, line);) {
    LoggedRequest request;
    if (ParseLine(line, request)) requests.push_back(request);
  }
  return requests;
}

std::vector<LoggedRequest> DockerRegistry::BlobGets(std::string_view digest) const {
  std::vector<LoggedRequest> gets;
  for (const LoggedRequest& request : LoggedRequests()) {
    if (request.method == "GET" && request.path.find("/blobs/" + std::string(digest)) != std::string::npos) {
      gets.push_back(request);
    }
  }
  return gets;
}

uint64_t DockerRegistry::BlobBytes() const {
  uint64_t bytes = 0;
  for (const LoggedRequest& get : BlobGets("sha256:")) bytes += get.bytes;
  return bytes;
}

void DockerRegistry::ForgetRequests() {
  LoggedRequests();
  forgotten_ = ReadLog().size();
}

std::string HtpasswdLine(const std::string& user, const std::string& password) {
  crypt_data work{};
  char salt[CRYPT_GENSALT_OUTPUT_SIZE];
  // The cheapest cost there is: the registry computes it at every request.
  crypt_gensalt_rn("$2y$", 4, "0123456789abcdef", 16, salt, sizeof salt);
  return user + ":" + crypt_r(password.c_str(), salt, &work) + "\n";
}

}  // namespace soci::test
