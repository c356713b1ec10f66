// `soci-bench image make`: an image from a recipe, as a folder of layers.
#pragma once

namespace CLI {
class App;
}

namespace soci::bench {

// `exit_code` is 0 when the image is there, 1 when it could not be made, 2 for a recipe that makes no sense.
void AddImageVerbs(CLI::App& app, int& exit_code);

}  // namespace soci::bench
