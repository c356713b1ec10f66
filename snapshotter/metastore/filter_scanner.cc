#include "snapshotter/metastore/filter_scanner.h"

#include <fmt/format.h>

#include <cstdint>

namespace soci {
namespace {

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool IsFieldCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool IsQuote(char c) { return c == '"' || c == '/' || c == '|'; }
bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

unsigned DigitValue(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return 16;
}

void AppendUtf8(uint32_t rune, std::string& out) {
  if (rune < 0x80) {
    out += static_cast<char>(rune);
  } else if (rune < 0x800) {
    out += static_cast<char>(0xc0 | (rune >> 6));
    out += static_cast<char>(0x80 | (rune & 0x3f));
  } else if (rune < 0x10000) {
    out += static_cast<char>(0xe0 | (rune >> 12));
    out += static_cast<char>(0x80 | ((rune >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (rune & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (rune >> 18));
    out += static_cast<char>(0x80 | ((rune >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((rune >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (rune & 0x3f));
  }
}

}  // namespace

Status FilterScanner::ErrorHere(std::string_view what) const {
  constexpr size_t kShown = 200;
  const std::string_view shown = input_.substr(0, kShown);
  return absl::InvalidArgumentError(
      fmt::format("filter [{}{}], character {}: {}", shown, shown.size() < input_.size() ? "..." : "", at_ + 1, what));
}

void FilterScanner::SkipSpaces() {
  while (at_ < input_.size() && IsSpace(input_[at_])) ++at_;
}

Status FilterScanner::Expect(char separator) {
  if (AtEnd() || Peek() != separator) return ErrorHere(fmt::format("expected '{}'", separator));
  ++at_;
  return OkStatus();
}

Result<std::string> FilterScanner::Field() {
  SkipSpaces();
  if (Peek() == '"') return Quoted();
  const size_t start = at_;
  while (at_ < input_.size() && IsFieldCharacter(input_[at_])) ++at_;
  if (at_ == start) return ErrorHere("expected a field");
  return std::string(input_.substr(start, at_ - start));
}

Result<char> FilterScanner::Operator() {
  SkipSpaces();
  const std::string_view next = input_.substr(at_, 2);
  const bool longer =
      at_ + 2 < input_.size() && std::string_view("=!~").find(input_[at_ + 2]) != std::string_view::npos;
  if ((next != "==" && next != "!=" && next != "~=") || longer) return ErrorHere("expected ==, != or ~=");
  at_ += 2;
  return next[0];
}

Result<std::string> FilterScanner::Value(bool alternative_quotes) {
  SkipSpaces();
  if (IsQuote(Peek())) {
    if (Peek() != '"' && !alternative_quotes) return ErrorHere("this quote is for regular expressions only");
    return Quoted();
  }
  const size_t start = at_;
  if (std::string_view(",.=!~").find(Peek()) != std::string_view::npos) return ErrorHere("expected a value");
  while (at_ < input_.size() && input_[at_] != ',' && !IsSpace(input_[at_]) && !IsControl(input_[at_])) ++at_;
  if (at_ == start) return ErrorHere("expected a value");
  return std::string(input_.substr(start, at_ - start));
}

Result<std::string> FilterScanner::Quoted() {
  const char quote = input_[at_++];
  std::string text;
  while (at_ < input_.size()) {
    const char c = input_[at_];
    if (c == quote) {
      ++at_;
      return text;
    }
    if (c == '\n' || c == '\0') break;
    ++at_;
    if (c == '\\') {
      SOCI_RETURN_IF_ERROR(Escape(quote, text));
    } else {
      text += c;
    }
  }
  return ErrorHere("the quoted text does not end");
}

Status FilterScanner::Escape(char quote, std::string& out) {
  constexpr std::string_view kNames = "abfnrtv\\";
  constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\";
  if (AtEnd()) return ErrorHere("the quoted text does not end");
  const char c = input_[at_];
  if (c >= '0' && c <= '7') return Digits(8, 3, false, out);
  ++at_;
  if (c == quote) {
    out += c;
    return OkStatus();
  }
  if (const size_t known = kNames.find(c); known != std::string_view::npos) {
    out += kMeanings[known];
    return OkStatus();
  }
  if (c == 'x') return Digits(16, 2, false, out);
  if (c == 'u') return Digits(16, 4, true, out);
  if (c == 'U') return Digits(16, 8, true, out);
  return ErrorHere("no such escape");
}

Status FilterScanner::Digits(unsigned base, unsigned count, bool as_rune, std::string& out) {
  uint64_t value = 0;
  for (unsigned i = 0; i < count; ++i, ++at_) {
    if (AtEnd() || DigitValue(input_[at_]) >= base) return ErrorHere("expected another digit");
    value = value * base + DigitValue(input_[at_]);
  }
  if (value > (as_rune ? 0x10ffffu : 0xffu)) return ErrorHere("no such character");
  if (as_rune) {
    AppendUtf8(static_cast<uint32_t>(value), out);
  } else {
    out += static_cast<char>(value);
  }
  return OkStatus();
}

}  // namespace soci
