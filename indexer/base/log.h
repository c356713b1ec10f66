// One line per event, to stderr: time, level, message. Any thread.
//
// Messages are built with fmt: log::Info("mounted layer {} at {}", digest, path). Nothing secret goes in.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace soci::log {

enum class Level { kDebug, kInfo, kWarning, kError };

// Lines below this level are dropped. kInfo at the start.
void SetLevel(Level level);
bool Enabled(Level level);
void Write(Level level, std::string_view line);

template <typename... Args>
void Debug(fmt::format_string<Args...> format, Args&&... args) {
  if (Enabled(Level::kDebug)) Write(Level::kDebug, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void Info(fmt::format_string<Args...> format, Args&&... args) {
  if (Enabled(Level::kInfo)) Write(Level::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void Warning(fmt::format_string<Args...> format, Args&&... args) {
  if (Enabled(Level::kWarning)) Write(Level::kWarning, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void Error(fmt::format_string<Args...> format, Args&&... args) {
  if (Enabled(Level::kError)) Write(Level::kError, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace soci::log
