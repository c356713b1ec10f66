// Builds JSON text in the one canonical form that decides digests: no white space, members in the order in which they
// are written, and the reference tools' escapes (see docs/formats.md).
//
// It writes what it is told: the caller pairs Begin with End and gives each member of an object a key. One thread at a
// time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace soci::oci {

class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  // The name of the value that is written next.
  JsonWriter& Key(std::string_view name);

  JsonWriter& String(std::string_view value);
  JsonWriter& Integer(int64_t value);
  JsonWriter& Unsigned(uint64_t value);
  JsonWriter& Bool(bool value);
  // Text that is JSON already.
  JsonWriter& Raw(std::string_view json);

  // Key and String at once.
  JsonWriter& Member(std::string_view name, std::string_view value) { return Key(name).String(value); }

  const std::string& text() const { return text_; }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  void Separate();

  std::string text_;
  bool first_ = true;       // nothing was written yet in the innermost object or array
  bool after_key_ = false;  // the next value belongs to a key
};

// Appends a quoted string. Bytes that are not UTF-8 become \ufffd.
void AppendJsonString(std::string& out, std::string_view value);

}  // namespace soci::oci
