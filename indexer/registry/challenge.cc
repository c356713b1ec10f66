#include "indexer/registry/challenge.h"

#include "indexer/net/text.h"

namespace soci {
namespace {

constexpr size_t kMostChallenges = 16;
constexpr size_t kMostParams = 32;

bool IsTokenChar(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool AtEnd() const { return text_.empty(); }
  void Skip(std::string_view set) {
    while (!text_.empty() && set.find(text_.front()) != std::string_view::npos) text_.remove_prefix(1);
  }
  void SkipOne() {
    if (!text_.empty()) text_.remove_prefix(1);
  }
  std::string_view Token() {
    size_t i = 0;
    while (i < text_.size() && IsTokenChar(text_[i])) ++i;
    std::string_view token = text_.substr(0, i);
    text_.remove_prefix(i);
    return token;
  }
  // True at "name =" (a parameter), false at the next challenge's scheme.
  bool AtParameter() const {
    Scanner ahead(text_);
    if (ahead.Token().empty()) return false;
    ahead.Skip(" \t");
    return !ahead.text_.empty() && ahead.text_.front() == '=';
  }
  // After the "=": a quoted string or whatever stands up to the next separator.
  std::string Value() {
    std::string value;
    if (!text_.empty() && text_.front() == '"') {
      text_.remove_prefix(1);
      while (!text_.empty() && text_.front() != '"') {
        if (text_.front() == '\\' && text_.size() > 1) text_.remove_prefix(1);
        value += text_.front();
        text_.remove_prefix(1);
      }
      SkipOne();
      return value;
    }
    while (!text_.empty() && text_.front() != ',' && text_.front() != ' ' && text_.front() != '\t') {
      value += text_.front();
      text_.remove_prefix(1);
    }
    return value;
  }

 private:
  std::string_view text_;
};

void ReadParameters(Scanner& scanner, Challenge& challenge) {
  while (scanner.AtParameter() && challenge.params.size() < kMostParams) {
    std::string name = ToLower(scanner.Token());
    scanner.Skip(" \t");
    scanner.SkipOne();  // "="
    scanner.Skip(" \t");
    challenge.params.emplace(std::move(name), scanner.Value());
    scanner.Skip(", \t");
  }
}

}  // namespace

std::vector<Challenge> ParseChallenges(std::string_view header) {
  std::vector<Challenge> challenges;
  Scanner scanner(header);
  while (challenges.size() < kMostChallenges) {
    scanner.Skip(", \t");
    if (scanner.AtEnd()) break;
    std::string_view scheme = scanner.Token();
    if (scheme.empty()) {
      scanner.SkipOne();
      continue;
    }
    Challenge challenge{ToLower(scheme), {}};
    scanner.Skip(" \t");
    ReadParameters(scanner, challenge);
    challenges.push_back(std::move(challenge));
  }
  return challenges;
}

}  // namespace soci
