#include "bench/image/make/image_maker.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "bench/image/trace.h"
#include "indexer/base/file_io.h"

namespace soci::bench {
namespace {

constexpr char kFormat[] = "1";  // of images: a new one makes old folders count as not made

void ThrowIfWrong(const Status& status) {
  if (!status.ok()) throw std::runtime_error(std::string(Message(status)));
}

void AddProgram(const ImageRecipe& recipe, const std::string& trace, const std::string& program, LayerWriter& layer) {
  layer.Add({TreeEntry::Type::kDirectory, "bench"});
  layer.AddFile(kProgramPath, program, true);
  layer.AddFile(kRecipePath, ToText(recipe), false);
  layer.AddFile(kTracePath, trace, false);
}

// Runs the tasks on so many threads, in order; the first exception is thrown here, when all threads have ended.
void RunAll(const std::vector<std::function<void()>>& tasks, size_t threads) {
  std::atomic<size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;  // of `failure`
  const auto run = [&] {
    for (size_t i = next++; i < tasks.size(); i = next++) {
      try {
        tasks[i]();
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = tasks.size();
      }
    }
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < threads; ++i) others.emplace_back(run);
  run();
  for (std::thread& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

std::vector<WrittenLayer> MakeImage(const ImageRecipe& recipe, const std::string& folder, const MakeOptions& options) {
  const std::string wrong = WhatIsWrong(recipe);
  if (!wrong.empty()) throw std::runtime_error("recipe " + recipe.name + ": " + wrong);
  const auto program = ReadFile(options.program);
  ThrowIfWrong(program.status());
  const std::string stamp = fmt::format("image {}, level {}\n{}program {}\n", kFormat, options.level, ToText(recipe),
                                        oci::Digest::Of(*program).ToString());
  const auto known = ReadFile(folder + "/stamp");
  if (known.ok() && *known == stamp) return {};
  ThrowIfWrong(MakeDirectories(folder));
  std::filesystem::remove(folder + "/stamp");

  const std::vector<PlannedLayer> planned = PlanLayers(recipe);
  const std::string trace = ToText(MakeImportTrace(recipe, planned));
  std::vector<size_t> by_size(planned.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t one, size_t other) { return planned[one].bytes() > planned[other].bytes(); });
  std::vector<WrittenLayer> written(planned.size() + 1);
  std::vector<std::function<void()>> tasks;
  for (const size_t i : by_size) {
    tasks.push_back([&, i] {
      LayerWriter layer(folder, planned[i].name, recipe.seed, options.level);
      for (const TreeEntry& entry : planned[i].entries) layer.Add(entry);
      written[i] = layer.Finish();
    });
  }
  tasks.push_back([&] {
    LayerWriter layer(folder, fmt::format("{:02}-program", planned.size()), recipe.seed, options.level);
    AddProgram(recipe, trace, *program, layer);
    written.back() = layer.Finish();
  });
  RunAll(tasks, options.threads);
  std::string order;
  for (const WrittenLayer& layer : written) order += layer.name + "\n";
  ThrowIfWrong(ReplaceFile(folder + "/LAYERS", order));
  ThrowIfWrong(ReplaceFile(folder + "/stamp", stamp));
  return written;
}

Result<ImageRecipe> FindRecipe(const std::string& name_or_path) {
  if (const auto known = KnownRecipe(name_or_path)) return *known;
  SOCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(name_or_path, 1 << 20));
  const auto wrong = [&](std::string_view what) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", name_or_path, what));
  };
  ImageRecipe recipe;
  try {
    const toml::table table = toml::parse(text);
    recipe.name = table["name"].value_or(std::filesystem::path(name_or_path).stem().string());
    for (const auto& [key, value] : table) {
      const std::string name(key.str());
      if (name == "name") continue;
      uint64_t* const number = NumberOf(recipe, name);
      if (number == nullptr) return wrong("no recipe has a \"" + name + "\"");
      const auto given = value.value<int64_t>();
      if (!given || *given < 0) return wrong(name + " is no whole number");
      *number = static_cast<uint64_t>(*given);
    }
  } catch (const toml::parse_error& error) {
    return wrong(error.description());
  }
  if (recipe.name.find_first_of("\n/") != std::string::npos) return wrong("the name is none");
  const std::string what = WhatIsWrong(recipe);
  if (!what.empty()) return wrong(what);
  return recipe;
}

}  // namespace soci::bench
