#include "indexer/oci/json_writer.h"

#include <fmt/format.h>

namespace soci::oci {
namespace {

// Bytes of the UTF-8 character at the start of `text`, 0 if there is none (overlong forms and surrogates are none).
size_t CharacterLength(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  auto follows = [&](size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80, high = lead == 0xED ? 0x9F : 0xBF;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned low = lead == 0xF0 ? 0x90 : 0x80, high = lead == 0xF4 ? 0x8F : 0xBF;
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

void AppendAscii(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      if (static_cast<unsigned char>(c) < 0x20 || c == '<' || c == '>' || c == '&') {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
      } else {
        out.push_back(c);
      }
  }
}

}  // namespace

void AppendJsonString(std::string& out, std::string_view value) {
  out.push_back('"');
  while (!value.empty()) {
    const size_t length = CharacterLength(value);
    const std::string_view character = value.substr(0, length == 0 ? 1 : length);
    if (length == 0) {
      out += "\\ufffd";
    } else if (length == 1) {
      AppendAscii(out, character[0]);
    } else if (character == "\u2028") {
      out += "\\u2028";
    } else if (character == "\u2029") {
      out += "\\u2029";
    } else {
      out += character;
    }
    value.remove_prefix(character.size());
  }
  out.push_back('"');
}

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  text_.push_back(bracket);
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  text_.push_back(bracket);
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  Separate();
  AppendJsonString(text_, name);
  text_.push_back(':');
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view value) {
  Separate();
  AppendJsonString(text_, value);
  return *this;
}

JsonWriter& JsonWriter::Integer(int64_t value) { return Raw(std::to_string(value)); }
JsonWriter& JsonWriter::Unsigned(uint64_t value) { return Raw(std::to_string(value)); }
JsonWriter& JsonWriter::Bool(bool value) { return Raw(value ? "true" : "false"); }

JsonWriter& JsonWriter::Raw(std::string_view json) {
  Separate();
  text_ += json;
  return *this;
}

void JsonWriter::Separate() {
  if (!first_ && !after_key_) text_.push_back(',');
  first_ = false;
  after_key_ = false;
}

}  // namespace soci::oci
