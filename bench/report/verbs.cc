#include "bench/report/verbs.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "bench/report/compare.h"
#include "bench/report/guard.h"
#include "bench/report/page.h"
#include "bench/report/terminal.h"
#include "bench/result/codec.h"
#include "indexer/base/file_io.h"

namespace soci::bench {
namespace {

struct Paths {
  std::string first, second, html;
};

Status WritePage(const std::string& path, const std::string& page) {
  SOCI_RETURN_IF_ERROR(ReplaceFile(path, page));
  std::printf("\nwritten: %s\n", path.c_str());
  return OkStatus();
}

Status Report(const Paths& paths) {
  SOCI_ASSIGN_OR_RETURN(const Result result, ReadResult(paths.first));
  std::fputs(TerminalReport(result).c_str(), stdout);
  return paths.html.empty() ? OkStatus() : WritePage(paths.html, HtmlReport(result));
}

Status Compare(const Paths& paths) {
  SOCI_ASSIGN_OR_RETURN(const Result a, ReadResult(paths.first));
  SOCI_ASSIGN_OR_RETURN(const Result b, ReadResult(paths.second));
  std::fputs(CompareText(a, b).c_str(), stdout);
  return paths.html.empty() ? OkStatus() : WritePage(paths.html, CompareHtml(a, b));
}

// What the guard does not look at would be most of the file.
Status Keep(const Paths& paths) {
  SOCI_ASSIGN_OR_RETURN(Result result, ReadResult(paths.first));
  for (Scenario& scenario : result.scenarios) {
    for (Run& run : scenario.runs) {
      if (!run.error.empty()) {
        return absl::FailedPreconditionError(
            fmt::format("{}: {}, {} failed: {}", paths.first, scenario.name, run.mode, run.error));
      }
      run.bytes_over_time.clear();
      run.read_milliseconds.clear();
    }
  }
  return WriteResult(result, paths.second);
}

Status CheckAgainstKept(const Paths& paths) {
  SOCI_ASSIGN_OR_RETURN(const Result now, ReadResult(paths.second));
  SOCI_ASSIGN_OR_RETURN(const Result kept, FindKept(paths.first, now));
  const GuardVerdict verdict = Guard(kept, now);
  std::fputs(verdict.text.c_str(), stdout);
  if (verdict.Holds()) return OkStatus();
  return absl::FailedPreconditionError(verdict.losses.empty() ? "nothing of the kept result could be compared"
                                                              : "lost against the kept result: " + verdict.losses[0]);
}

void OnRun(CLI::App* verb, std::shared_ptr<Paths> paths, int& exit_code, Status (*run)(const Paths&)) {
  verb->callback([paths = std::move(paths), &exit_code, run] {
    const Status status = run(*paths);
    exit_code = status.ok() ? 0 : 1;
    if (!status.ok()) std::fprintf(stderr, "soci-bench: %s\n", std::string(Message(status)).c_str());
  });
}

}  // namespace

void AddReportVerbs(CLI::App& app, int& exit_code) {
  {
    auto paths = std::make_shared<Paths>();
    CLI::App* verb = app.add_subcommand("report", "print a result's tables, and write its page with plots");
    verb->add_option("RESULT", paths->first, "a result's JSON")->required();
    verb->add_option("--html", paths->html, "also write a page that needs nothing beside it");
    OnRun(verb, std::move(paths), exit_code, Report);
  }
  {
    auto paths = std::make_shared<Paths>();
    CLI::App* verb = app.add_subcommand("compare", "set two results beside each other, point by point");
    verb->add_option("A", paths->first, "the result to compare with")->required();
    verb->add_option("B", paths->second, "the result to compare")->required();
    verb->add_option("--html", paths->html, "also write a page that needs nothing beside it");
    OnRun(verb, std::move(paths), exit_code, Compare);
  }
  {
    auto paths = std::make_shared<Paths>();
    CLI::App* verb = app.add_subcommand("keep", "write a result without its long series, for the guard's folder");
    verb->add_option("RESULT", paths->first, "a result's JSON, without a run that failed")->required();
    verb->add_option("KEPT", paths->second, "the file to write")->required();
    OnRun(verb, std::move(paths), exit_code, Keep);
  }
  {
    auto paths = std::make_shared<Paths>();
    CLI::App* verb = app.add_subcommand("guard", "fail if requests, bytes or other counts grew by more than 10 %");
    verb->add_option("KEPT", paths->first, "a kept result, or a folder of them")->required();
    verb->add_option("NEW", paths->second, "the result to judge")->required();
    OnRun(verb, std::move(paths), exit_code, CheckAgainstKept);
  }
}

}  // namespace soci::bench
