#include "indexer/oci/json_writer.h"

#include <gtest/gtest.h>

#include "indexer/oci/base64.h"

namespace soci::oci {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(out, text);
  return out;
}

TEST(JsonWriter, EscapesAsTheReferenceToolsDo) {
  EXPECT_EQ(Quoted("a<b>&c"), R"("a\u003cb\u003e\u0026c")");
  EXPECT_EQ(Quoted("\"\\/+\x7f"), "\"\\\"\\\\/+\x7f\"");
  EXPECT_EQ(Quoted(std::string_view("\b\f\n\r\t\x01\x1f\0", 8)), R"("\b\f\n\r\t\u0001\u001f\u0000")");
  EXPECT_EQ(Quoted("\u2028\u2029"), R"("\u2028\u2029")");
  EXPECT_EQ(Quoted("h\u00e9\u65e5\U0001f600"), "\"h\u00e9\u65e5\U0001f600\"");
}

TEST(JsonWriter, EachByteThatIsNotUtf8BecomesAReplacementCharacter) {
  EXPECT_EQ(Quoted("a\xffz"), R"("a\ufffdz")");
  EXPECT_EQ(Quoted("\xc0\x80"), R"("\ufffd\ufffd")");                      // overlong
  EXPECT_EQ(Quoted("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")");            // surrogate
  EXPECT_EQ(Quoted("\xf4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")");  // beyond Unicode
  EXPECT_EQ(Quoted("\xe6\x97"), R"("\ufffd\ufffd")");                      // cut off
}

TEST(JsonWriter, SeparatesMembersAndItems) {
  JsonWriter json;
  json.BeginObject().Member("a", "x").Key("b").BeginArray().Integer(-1).Bool(true).BeginObject().EndObject().EndArray();
  json.Key("c").BeginArray().EndArray().Key("d").Unsigned(~uint64_t{0}).EndObject();
  EXPECT_EQ(json.text(), R"({"a":"x","b":[-1,true,{}],"c":[],"d":18446744073709551615})");
}

TEST(Base64, ComesBackAsItWasForEveryLength) {
  for (std::string_view text : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
    EXPECT_EQ(DecodeBase64(EncodeBase64(text)), text);
  }
  EXPECT_EQ(EncodeBase64("fooba"), "Zm9vYmE=");
}

TEST(Base64, RefusesWhatIsNotExactlyBase64) {
  for (std::string_view text : {"Zg", "Zg=", "Z===", "Zm9v!mFy", "=Zm9", "Zg==Zg=="}) {
    EXPECT_EQ(DecodeBase64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace soci::oci
