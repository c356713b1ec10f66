#include "bench/image/pools.h"

#include <array>
#include <string_view>
#include <vector>

#include "bench/image/random.h"

namespace soci::bench {
namespace {

constexpr size_t kSize = kPoolBytes + kPieceBytes;

// Names as programs have them.
std::vector<std::string> Words(Random& random) {
  static constexpr std::string_view kLetters = "etaoinsrhldcumfpgwybvkxjqz";
  std::vector<std::string> words;
  for (int i = 0; i < 1500; ++i) {
    std::string word;
    for (uint64_t left = 2 + random.Below(8); left > 0; --left) word += kLetters[random.Skewed(kLetters.size())];
    words.push_back(word);
  }
  return words;
}

// Source code: most of it turns of phrase that come again and again, the rest names.
std::string MakeText() {
  Random random(1);
  const std::vector<std::string> words = Words(random);
  const auto word = [&]() -> const std::string& { return words[random.Skewed(words.size())]; };
  std::vector<std::string> phrases = {"def __init__(self, ", "return self.",       "import ",
                                      "from . import ",      "for i in range(",    "if not isinstance(",
                                      "raise ValueError(",   "\"\"\"Returns the ", "None, "};
  while (phrases.size() < 500) {
    std::string phrase = word();
    for (uint64_t left = 1 + random.Below(5); left > 0; --left) phrase += " ._(=,"[random.Below(6)] + word();
    phrases.push_back(phrase);
  }
  std::string text;
  while (text.size() < kSize) {
    text.append(4 * random.Below(4), ' ');
    for (uint64_t left = 1 + random.Below(3); left > 0; --left) {
      text += random.Below(8) == 0 ? word() : phrases[random.Skewed(phrases.size())];
      text += " ._(),=:"[random.Below(8)];
    }
    text += '\n';
  }
  text.resize(kSize);
  return text;
}

// Machine code: sequences of instructions that compilers like, with numbers between them, and padding.
std::string MakeCode() {
  static constexpr std::string_view kOpcodes("\x48\x89\x8b\x0f\xe8\x24\x45\x8d\x83\xff\x00\x44\x4c\x85\x74\x5d", 16);
  Random random(2);
  std::vector<std::string> sequences;
  for (int i = 0; i < 1200; ++i) {
    std::string sequence;
    for (uint64_t left = 2 + random.Below(14); left > 0; --left) sequence += kOpcodes[random.Skewed(kOpcodes.size())];
    sequences.push_back(sequence);
  }
  std::string code;
  while (code.size() < kSize) {
    if (random.Below(300) == 0) code.append(random.Below(256), '\0');
    code += sequences[random.Skewed(sequences.size())];
    for (uint64_t left = random.Below(3); left > 0; --left) code += static_cast<char>(random.Next());
    if (random.Below(3) == 0) code.append(2, '\0');
  }
  code.resize(kSize);
  return code;
}

// Numbers of two bytes whose exponents are alike.
std::string MakeWeights() {
  static constexpr std::array<uint8_t, 16> kExponents = {0x3c, 0x3c, 0x3c, 0x3c, 0xbc, 0xbc, 0xbc, 0xbc,
                                                         0x3b, 0x3b, 0xbb, 0xbb, 0x3d, 0xbd, 0x3a, 0xba};
  Random random(3);
  std::string weights;
  while (weights.size() < kSize) {
    const uint64_t number = random.Next();
    weights += static_cast<char>(number);
    weights += static_cast<char>(kExponents[(number >> 8) % kExponents.size()]);
  }
  return weights;
}

std::string MakeNoise() {
  Random random(4);
  std::string noise;
  while (noise.size() < kSize) noise += static_cast<char>(random.Next());
  return noise;
}

}  // namespace

const std::string& Pool(ContentKind kind) {
  static_assert(kSize % 2 == 0);
  switch (kind) {
    case ContentKind::kText: {
      static const std::string text = MakeText();
      return text;
    }
    case ContentKind::kCode: {
      static const std::string code = MakeCode();
      return code;
    }
    case ContentKind::kWeights: {
      static const std::string weights = MakeWeights();
      return weights;
    }
    case ContentKind::kNoise:
      break;
  }
  static const std::string noise = MakeNoise();
  return noise;
}

}  // namespace soci::bench
