// soci-link: a TCP proxy on loopback with delay and rates. Prints its port, and its counters at SIGUSR1 and at the end.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>

#include "bench/link/link.h"
#include "bench/link/options.h"

namespace {

int Fail(const soci::Status& status) {
  std::fprintf(stderr, "soci-link: %s\n", std::string(soci::Message(status)).c_str());
  return 2;
}

int Run(soci::LinkOptions options) {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  auto link = soci::Link::Start(std::move(options));
  if (!link.ok()) return Fail(link.status());
  std::printf("listening on 127.0.0.1:%u\n", unsigned{(*link)->port()});
  for (int signal = SIGUSR1; signal == SIGUSR1;) {
    std::fflush(stdout);
    sigwait(&signals, &signal);
    std::printf("%s\n", (*link)->counters().ToJson().c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "A TCP proxy on loopback that adds delay and limits rates.\n\n"
      "  soci-link --upstream 127.0.0.1:5000 --delay 30ms --connection-rate 90MB/s --total-rate 125MB/s");
  std::string upstream, delay = "0ms", connection_rate = "0", total_rate = "0";
  soci::LinkOptions options;
  app.add_option("--upstream", upstream, "HOST:PORT to forward to")->required();
  app.add_option("--port", options.listen_port, "port on 127.0.0.1; 0 lets the system choose");
  app.add_option("--delay", delay, "per connection and per answer, such as 30ms");
  app.add_option("--connection-rate", connection_rate, "per connection, such as 90MB/s");
  app.add_option("--total-rate", total_rate, "for all connections together");
  CLI11_PARSE(app, argc, argv);

  const size_t colon = upstream.rfind(':');
  if (colon == std::string::npos) return Fail(absl::InvalidArgumentError("--upstream needs HOST:PORT"));
  options.upstream_host = upstream.substr(0, colon);
  options.upstream_port = static_cast<uint16_t>(std::strtoul(upstream.c_str() + colon + 1, nullptr, 10));
  auto delay_value = soci::ParseDelay(delay);
  auto connection_value = soci::ParseRate(connection_rate);
  auto total_value = soci::ParseRate(total_rate);
  for (const soci::Status& status : {delay_value.status(), connection_value.status(), total_value.status()}) {
    if (!status.ok()) return Fail(status);
  }
  options.delay = *delay_value;
  options.connection_bytes_per_second = *connection_value;
  options.total_bytes_per_second = *total_value;
  return Run(std::move(options));
}
