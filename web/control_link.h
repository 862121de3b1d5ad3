// ControlLink: requests to the daemon's or the spawner's socket, without blocking.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stile::web {

class ControlLink {
 public:
  struct Limits {
    std::size_t calls = 32;             // at the same time; more fail at once
    std::chrono::seconds patience{20};  // a `mode` waits for the disk of the daemon
  };
  // A list of many agents is megabytes.
  static constexpr std::size_t max_answer_bytes = std::size_t{8} << 20;

  // The socket is the first of the paths on which a process listens.
  ControlLink(boost::asio::io_context& context, std::vector<std::string> paths, Limits limits);

  // The answer line; nullopt: no daemon, or no answer in time.
  using Done = std::function<void(std::optional<std::string> answer)>;
  void ask(std::string request, Done done);

  // Calls on_line for each line, the first answer included, and on_end once.
  using OnLine = std::function<void(std::string_view line)>;
  void follow(std::string request, OnLine on_line, std::function<void()> on_end);

  // The same, until on_line returns false.
  using TakeLine = std::function<bool(std::string_view line)>;
  void read(std::string request, TakeLine on_line, std::function<void()> on_end);

 private:
  boost::asio::io_context& context_;
  std::vector<std::string> paths_;
  Limits limits_;
  std::shared_ptr<std::size_t> calls_;
};

}  // namespace stile::web
