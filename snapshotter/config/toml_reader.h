// Puts what a TOML document says into a Config. Every key must be known and of the right type.
#pragma once

#include <string>

#include "snapshotter/config/config.h"

namespace soci {

// kInvalidArgument: "<name>:<line>: <what>". Hostile input is refused, never a crash.
Status ReadToml(const std::string& toml, const std::string& name, Config& config);

}  // namespace soci
