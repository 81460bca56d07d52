// folder.h: where the files of one run are.
#pragma once

#include <string>

namespace amdahl::launch::local {

class Folder {
 public:
  Folder(const std::string& state_dir, const std::string& reservation)
      : path_{state_dir + "/runs/" + reservation} {}
  explicit Folder(std::string path) : path_{std::move(path)} {}

  const std::string& path() const { return path_; }
  std::string request() const { return path_ + "/request.json"; }
  std::string claim() const { return path_ + "/claim"; }
  std::string started() const { return path_ + "/started.json"; }
  std::string done() const { return path_ + "/done.json"; }
  std::string arm(const std::string& name) const { return path_ + "/" + name; }
  std::string receipt(const std::string& arm) const { return path_ + "/" + arm + "/receipt.json"; }
  std::string state_dir() const;  // The folder that holds runs/.

 private:
  std::string path_;
};

inline std::string Folder::state_dir() const {
  const auto reservation = path_.rfind('/');
  return path_.substr(0, path_.rfind('/', reservation - 1));
}

}  // namespace amdahl::launch::local
