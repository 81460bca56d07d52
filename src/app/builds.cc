#include "app/builds.h"

#include <filesystem>

#include "code/cmake.h"
#include "code/patch.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostInBuild = 20'000;  // Of a build folder.
// Its arguments: the source, the build folder and the target, then what to set.
constexpr const char* kCmakeScript =
    "source=$1 build=$2 target=$3; shift 3; cmake -S \"$source\" -B \"$build\" \"$@\" && "
    "cmake --build \"$build\" --target \"$target\" --parallel 2";
enum MakeWord : std::size_t { kMakeFolder = 3, kMakeTarget = 4, kMakeWords = 5 };
enum CmakeWord : std::size_t {
  kCmakeSource = 4,
  kCmakeBuild = 5,
  kCmakeTarget = 6,
  kCmakeWords = 7
};

bool is_by_make(const std::vector<std::string>& build) {
  return build.size() == kMakeWords && build[0] == "make" && build[2] == "-C";
}
bool is_by_cmake(const std::vector<std::string>& build) {
  return build.size() >= kCmakeWords && build[0] == "sh" && build[2] == kCmakeScript;
}

// Below the repo, "." for itself; empty if it lies elsewhere.
std::string inside_of(const fs::path& path, const fs::path& repo) {
  const std::string inside = path.lexically_relative(repo).string();
  return inside.starts_with("..") ? "" : inside;
}

std::vector<std::string> by_make(const fs::path& program, const fs::path& folder,
                                 const fs::path& repo) {
  for (const std::string_view name : code::kMakefiles) {
    const auto makefile = os::read_file((folder / name).string());
    if (!makefile) continue;
    const auto maker = code::maker_of(*makefile, program.lexically_relative(folder).string());
    if (!maker) return {};
    return {"make", "-s", "-C", inside_of(folder, repo), *maker};
  }
  return {};
}

// The folder that CMake keeps a target's flags in; empty if there is none.
fs::path cmake_folder_of(const std::string& target, const fs::path& build) {
  std::error_code failed;
  std::size_t seen = 0;
  fs::recursive_directory_iterator it(build, fs::directory_options::skip_permission_denied, failed);
  for (; !failed && it != fs::recursive_directory_iterator(); it.increment(failed)) {
    if (++seen > kMostInBuild) break;
    if (it->path().filename() == target + ".dir" && it->is_directory(failed)) return it->path();
  }
  return {};
}

std::vector<std::string> by_cmake(const fs::path& program, const fs::path& folder,
                                  const fs::path& repo) {
  const auto text = os::read_file((folder / "CMakeCache.txt").string());
  const auto cache = text ? code::read_cmake_cache(*text) : std::nullopt;
  if (!cache) return {};
  std::error_code failed;
  const std::string source = inside_of(fs::weakly_canonical(cache->source, failed), repo);
  if (source.empty()) return {};
  const std::string name = program.filename().string();
  std::vector<std::string> command{
      "sh", "-c", kCmakeScript, "build", source, inside_of(folder, repo), "all"};
  if (!cmake_folder_of(name, folder).empty()) command[kCmakeTarget] = name;
  command.insert(command.end(), cache->settings.begin(), cache->settings.end());
  return command;
}

std::optional<BuildPatch> patch_of(const std::string& path, const std::string& text,
                                   const std::optional<code::FasterBuild>& faster) {
  if (!faster) return std::nullopt;
  BuildPatch made{path, code::unified_diff(path, text, faster->edits), faster->before,
                  faster->line};
  return made.patch.empty() ? std::nullopt : std::optional(std::move(made));
}

std::optional<BuildPatch> faster_by_make(const model::Spec& spec, code::Rounding rounding) {
  for (const std::string_view name : code::kMakefiles) {
    const std::string path = (fs::path(spec.build[kMakeFolder]) / name).lexically_normal().string();
    const auto makefile = os::read_file((fs::path(spec.repo) / path).string());
    if (!makefile) continue;
    return patch_of(path, *makefile,
                    code::faster_build(*makefile, spec.build[kMakeTarget], rounding));
  }
  return std::nullopt;
}

// As CMake wrote them for the target; else as its cache has them.
std::string flags_of(const fs::path& build, const std::string& target) {
  const fs::path folder = cmake_folder_of(target, build);
  for (const fs::path& file : {folder / "flags.make", build / "build.ninja"}) {
    const auto written = os::read_file(file.string());
    const std::string flags = written ? code::cmake_flags(*written, target) : "";
    if (!flags.empty()) return flags;
  }
  const auto text = os::read_file((build / "CMakeCache.txt").string());
  const auto cache = text ? code::read_cmake_cache(*text) : std::nullopt;
  return cache ? cache->flags : "";
}

std::optional<BuildPatch> faster_by_cmake(const model::Spec& spec, code::Rounding rounding) {
  const std::string path =
      (fs::path(spec.build[kCmakeSource]) / "CMakeLists.txt").lexically_normal().string();
  const auto lists = os::read_file((fs::path(spec.repo) / path).string());
  if (!lists) return std::nullopt;
  const std::string flags =
      flags_of(fs::path(spec.repo) / spec.build[kCmakeBuild], spec.build[kCmakeTarget]);
  return patch_of(path, *lists, code::faster_cmake(*lists, flags, rounding));
}

}  // namespace

std::vector<std::string> build_command_of(const model::Spec& spec) {
  if (spec.repo.empty() || spec.command.empty()) return {};
  std::error_code failed;
  const fs::path program = fs::weakly_canonical(fs::path(spec.workdir) / spec.command[0], failed);
  const fs::path repo = fs::weakly_canonical(spec.repo, failed);
  const auto head = os::read_head(program.string(), 4);
  if (!head || *head != "\x7f\x45LF") return {};
  for (fs::path folder = program.parent_path(); !inside_of(folder, repo).empty();
       folder = folder.parent_path()) {
    // CMake writes makefiles, too.
    std::vector<std::string> command = by_cmake(program, folder, repo);
    if (command.empty() && !os::exists((folder / "CMakeFiles").string())) {
      command = by_make(program, folder, repo);
    }
    if (!command.empty() || folder == folder.parent_path()) return command;
  }
  return {};
}

std::optional<BuildPatch> faster_build_of(const model::Spec& spec, code::Rounding rounding) {
  if (spec.repo.empty()) return std::nullopt;
  if (is_by_make(spec.build)) return faster_by_make(spec, rounding);
  return is_by_cmake(spec.build) ? faster_by_cmake(spec, rounding) : std::nullopt;
}

}  // namespace amdahl::app
