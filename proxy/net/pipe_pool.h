// PipePool: pipes for splice(2), lent to a relay only while bytes are in them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/unique_fd.h"

namespace stile::net {

struct Pipe {
  UniqueFd read_end, write_end;
  std::size_t bytes = 0;  // in the pipe
};

class PipePool {
 public:
  PipePool() { kept_.reserve(max_kept); }
  // Null if the process is out of descriptors or the user out of pipe memory: the relay then
  // copies.
  [[nodiscard]] std::unique_ptr<Pipe> borrow();
  // A pipe that still holds bytes is closed, never reused: the bytes belong to one connection.
  void give_back(std::unique_ptr<Pipe> pipe) noexcept;

 private:
  static constexpr std::size_t max_kept = 64;
  std::vector<std::unique_ptr<Pipe>> kept_;
};

}  // namespace stile::net
