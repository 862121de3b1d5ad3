// Judge: what must hold of a connection, whatever its two ends send and however it is timed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/chunked.h"
#include "proxy/http/head.h"

namespace stile::fuzz {

// An audit line that tells of a request.
struct RequestLine {
  enum class Event : std::uint8_t { open, deny, close };
  Event event = Event::open;
  std::uint64_t conn = 0, port = 0;
  std::string agent, method, host, sni, reason;
};
[[nodiscard]] std::vector<RequestLine> lines_in(std::string_view text);

// Reads what a plain-HTTP origin received: requests for it and nothing else, without the fields
// that are to be stripped.
class RequestReader {
 public:
  void add(std::string_view bytes, std::string_view own_host,
           const std::vector<std::string>& stripped);
  [[nodiscard]] std::uint64_t begun() const noexcept { return begun_; }

 private:
  void read_head(std::string_view own_host, const std::vector<std::string>& stripped);
  enum class Part : std::uint8_t { none, head, length, chunks };
  std::string buffer_;
  http::HeadScanner scanner_;
  http::ChunkedDecoder chunks_{0};
  Part part_ = Part::none;
  std::uint64_t left_ = 0, begun_ = 0;
};

// `received` is at most one answer for each decision (open or deny) in order, and nothing else.
// Returns what came after the 200 of a CONNECT. With lines lost, an answer may have none.
[[nodiscard]] std::string_view judge_answers(std::string_view received,
                                             const std::vector<RequestLine>& lines,
                                             bool lines_were_lost);

// Every line that lets bytes out is followed by one that tells how it ended.
void judge_ends(const std::vector<RequestLine>& lines, bool lines_were_lost);

// What a client got through its tunnel is the beginning of what its origin sent; an alert may
// follow, or stand alone.
[[nodiscard]] bool is_relayed(std::string_view received, std::string_view sent_by_origin);

}  // namespace stile::fuzz
