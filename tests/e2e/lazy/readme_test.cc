// The README's commands, run as they stand there but for where registry, sockets and namespace are.
#include "tests/e2e/support/readme.h"

#include <gmock/gmock.h>

#include <iterator>
#include <sstream>

#include "tests/e2e/support/lazy_start.h"

namespace soci::test {
namespace {

std::vector<std::string> Words(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

class Readme : public LazyStart {
 protected:
  // What the reader has by installation, the test says by flags.
  CommandResult Type(const std::string& command, const std::string& reference) {
    std::vector<std::string> words = Words(command);
    for (std::string& word : words) {
      if (word == kImageInReadme) word = reference;
    }
    const std::string program = words[0], verb = words[1];
    if (program == "ctr")
      return containerd_.Run("soci", reference, words[words.size() - 3], {words.end() - 2, words.end()});
    words[0] = Daemon::Program(program);
    std::vector<std::string> flags = {"--plain-http"};
    if (verb == "pull") {
      flags.insert(flags.end(), {"--containerd", containerd_.address(), "--namespace", containerd_.name_space()});
    } else if (verb == "status") {
      flags = {"--socket", daemon_.run() + "/admin.sock"};
    }
    words.insert(words.begin() + 2, flags.begin(), flags.end());
    return RunCommand(words);
  }
};

TEST_F(Readme, ItsCommandsLeadFromAPushedImageToARunningContainer) {
  const TestImage image = TestImage()
                              .Add(GzipLayer(BusyboxTar().Finish()))
                              .Add(GzipLayer(TarBuilder().File("weights", NoiseBytes(12 << 20, 1)).Finish()));
  const std::string reference = Push(image, "team/train", "1.4");
  auto sections = ReadmeCommands();
  // What is typed nowhere else is typed here, in this order; tests/e2e/bench has the rest.
  std::string outputs;
  for (const char* section : {"Index in a pipeline", "Pull"}) {
    ASSERT_FALSE(sections[section].empty()) << section;
    for (const std::string& command : sections[section]) {
      const CommandResult result = Type(command, reference);
      EXPECT_EQ(Failure(result), "") << command << "\n" << daemon_.Log();
      outputs += result.out;
    }
    sections.erase(section);
  }
  EXPECT_THAT(sections, ::testing::ElementsAre(::testing::Key("Prove it on your own image")));
  EXPECT_THAT(outputs, ::testing::HasSubstr("started\n"));
  EXPECT_THAT(outputs, ::testing::HasSubstr(image.layers()[1].digest.ToString().substr(0, 19)));
}

}  // namespace
}  // namespace soci::test
