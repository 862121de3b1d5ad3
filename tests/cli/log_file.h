// LogFile: an audit log of the requests that a test names, in a folder of its own.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/seen.h"

namespace stile::cli {

class LogFile {
 public:
  LogFile() {
    std::string name = (std::filesystem::temp_directory_path() / "stile-cli-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~LogFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  // `rest` is JSON from "event" on: R"("event":"open","agent":"alpha",…)".
  void add(const std::string& rest) {
    std::ofstream file{path(), std::ios::app};
    file << R"({"ts":"2026-11-16T09:00:00.000000Z","seq":)" << ++seq_ << ',' << rest << "}\n";
  }
  void request(const std::string& agent, const std::string& host, int port,
               const std::string& verdict, const std::string& reason = {},
               const std::string& scheme = "connect") {
    const bool is_open = verdict != "deny";
    add(std::string{"\"event\":\""} + (is_open ? "open" : "deny") + "\"" +
        (agent.empty() ? "" : ",\"agent\":\"" + agent + '"') +
        ",\"src\":\"10.0.0.9:40000\",\"scheme\":\"" + scheme + "\",\"host\":\"" + host +
        "\",\"port\":" + std::to_string(port) + ",\"verdict\":\"" + verdict + '"' +
        (reason.empty() ? "" : ",\"reason\":\"" + reason + '"'));
  }
  void add_raw(const std::string& bytes) {
    std::ofstream file{path(), std::ios::app};
    file << bytes;
  }

  [[nodiscard]] std::string path() const { return (folder_ / "audit.jsonl").string(); }
  [[nodiscard]] Seen seen() const {
    Seen result;
    if (!result.read(path())) std::abort();
    return result;
  }

 private:
  std::filesystem::path folder_;
  int seq_ = 0;
};

}  // namespace stile::cli
