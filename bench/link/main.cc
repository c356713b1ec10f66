// soci-link: a TCP proxy on loopback with delay and rates. Prints its port, and its counters at SIGUSR1 and at the end.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>

#include "bench/link/calibration.h"
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

// Fails if the link misses its own figures by more than 5 %: what is measured through it would not be believed.
int RunCalibration(const soci::LinkOptions& options) {
  const auto calibration = soci::Calibrate(options);
  if (!calibration.ok()) return Fail(calibration.status());
  std::printf("link: %s\ncalibrated: %s\n", soci::LinkText(options).c_str(), calibration->ToText().c_str());
  if (calibration->Within(0.05)) return 0;
  std::fprintf(stderr, "soci-link: the link misses its figures by more than 5 %%; is the machine busy?\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "A TCP proxy on loopback that adds delay and limits rates.\n\n"
      "  soci-link --upstream 127.0.0.1:5000 --link 30ms,90MB/s,125MB/s\n"
      "  soci-link --calibrate --link A");
  std::string upstream, link_text = "0ms,0,0";
  bool calibrate = false;
  uint16_t port = 0;
  app.add_option("--upstream", upstream, "HOST:PORT to forward to");
  app.add_option("--port", port, "port on 127.0.0.1; 0 lets the system choose");
  app.add_option("--link", link_text,
                 "DELAY,CONNECTION_RATE,TOTAL_RATE, or profile A, B or C; then p99=TIME (of the first byte), redirect, "
                 "token=TIME, 503=, reset=, "
                 "stall=, flip=SHARE, stall-for=TIME, seed=NUMBER");
  app.add_flag("--calibrate", calibrate, "download through the link and say what it does; nothing is forwarded");
  CLI11_PARSE(app, argc, argv);

  auto options = soci::ParseLink(link_text);
  if (!options.ok()) return Fail(options.status());
  if (options->disk_bytes_per_second > 0) {
    return Fail(absl::InvalidArgumentError("a disk can be limited only by soci-bench run, not by a link alone"));
  }
  if (calibrate) return RunCalibration(*options);
  const size_t colon = upstream.rfind(':');
  if (colon == std::string::npos) return Fail(absl::InvalidArgumentError("--upstream needs HOST:PORT"));
  options->upstream_host = upstream.substr(0, colon);
  options->upstream_port = static_cast<uint16_t>(std::strtoul(upstream.c_str() + colon + 1, nullptr, 10));
  options->listen_port = port;
  return Run(*std::move(options));
}
