// One direction of the floor's relay; holds a buffer or a pipe only while bytes are under way.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace stile::bench {

struct Pipe;

class Pump {
 public:
  enum class Result {
    dry,       // nothing to read for now
    full,      // the sink takes nothing for now; bytes are kept here
    unspent,   // there is more, but others shall have their turn
    finished,  // the source has ended and all of it is delivered
    broken
  };

  Pump();
  ~Pump();

  // `ending`: the source's end was announced, so a short read is not yet all.
  Result copy(int from, int to, bool ending);
  Result splice(int from, int to);

  // Bytes that go to the sink before anything else.
  void prepend(std::string bytes);

 private:
  Result flush_text(int to);
  Result flush_pipe(int to);

  std::unique_ptr<std::string> text_;
  std::unique_ptr<Pipe> pipe_;
};

}  // namespace stile::bench
