#include "snapshotter/metastore/filter.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <optional>

#include "indexer/base/log.h"
#include "snapshotter/metastore/filter_scanner.h"

namespace soci {

struct SnapshotFilter::Selector {
  enum class Operator { kPresent, kEqual, kNotEqual, kMatches };

  std::string field;
  std::string label;  // with field "labels"
  Operator op = Operator::kPresent;
  std::string value;
  std::unique_ptr<RE2> pattern;

  bool Matches(const Snapshot& snapshot) const;
};

namespace {

std::string_view KindName(SnapshotKind kind) {
  switch (kind) {
    case SnapshotKind::kView:
      return "view";
    case SnapshotKind::kActive:
      return "active";
    case SnapshotKind::kCommitted:
      return "committed";
  }
  return "";
}

std::optional<std::string_view> FieldOf(const Snapshot& snapshot, const std::string& field, const std::string& label) {
  if (field == "name") return snapshot.name;
  if (field == "parent") return snapshot.parent;
  if (field == "kind") return KindName(snapshot.kind);
  if (field != "labels") return std::nullopt;
  const auto found = snapshot.labels.find(label);
  if (found == snapshot.labels.end()) return std::nullopt;
  return found->second;
}

}  // namespace

bool SnapshotFilter::Selector::Matches(const Snapshot& snapshot) const {
  const std::optional<std::string_view> found = FieldOf(snapshot, field, label);
  switch (op) {
    case Operator::kPresent:
      return found.has_value();
    case Operator::kEqual:
      return found && *found == value;
    case Operator::kNotEqual:
      return found.value_or("") != value;
    case Operator::kMatches:
      return pattern->ok() && RE2::PartialMatch({found.value_or("").data(), found.value_or("").size()}, *pattern);
  }
  return false;
}

Result<SnapshotFilter> SnapshotFilter::Parse(const std::vector<std::string>& filters) {
  using Operator = Selector::Operator;
  auto read_selector = [](FilterScanner& scanner) -> Result<std::shared_ptr<const Selector>> {
    auto selector = std::make_shared<Selector>();
    SOCI_ASSIGN_OR_RETURN(selector->field, scanner.Field());
    // What follows the first dot is one label key, however many parts it was written in.
    for (bool first = true; scanner.Peek() == '.'; first = false) {
      SOCI_RETURN_IF_ERROR(scanner.Expect('.'));
      SOCI_ASSIGN_OR_RETURN(std::string part, scanner.Field());
      selector->label += first ? part : "." + part;
    }
    if (scanner.AtEnd() || scanner.Peek() == ',') return selector;
    SOCI_ASSIGN_OR_RETURN(char op, scanner.Operator());
    selector->op = op == '=' ? Operator::kEqual : op == '!' ? Operator::kNotEqual : Operator::kMatches;
    SOCI_ASSIGN_OR_RETURN(selector->value, scanner.Value(selector->op == Operator::kMatches));
    if (selector->op == Operator::kMatches) {
      selector->pattern = std::make_unique<RE2>(selector->value, RE2::Quiet);
      // containerd's own answer to a broken expression is "matches nothing", so it is ours.
      if (!selector->pattern->ok()) log::Warning("filter: broken regular expression {}", selector->pattern->error());
    }
    return selector;
  };

  SnapshotFilter parsed;
  for (const std::string& text : filters) {
    Conjunction all_of;
    FilterScanner scanner(text);
    while (!scanner.AtEnd()) {
      SOCI_ASSIGN_OR_RETURN(std::shared_ptr<const Selector> selector, read_selector(scanner));
      all_of.push_back(std::move(selector));
      if (scanner.AtEnd()) break;
      SOCI_RETURN_IF_ERROR(scanner.Expect(','));
      if (scanner.AtEnd()) return scanner.ErrorHere("expected a field");
    }
    parsed.any_of_.push_back(std::move(all_of));
  }
  return parsed;
}

bool SnapshotFilter::Matches(const Snapshot& snapshot) const {
  if (any_of_.empty()) return true;
  for (const Conjunction& all_of : any_of_) {
    bool all = true;
    for (const auto& selector : all_of) all = all && selector->Matches(snapshot);
    if (all) return true;
  }
  return false;
}

}  // namespace soci
