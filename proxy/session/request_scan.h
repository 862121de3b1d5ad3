// RequestScan: step 13, the search through all that one request carries.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/task.h"
#include "proxy/http/head.h"
#include "proxy/http/websocket.h"
#include "proxy/session/client.h"
#include "proxy/session/request.h"
#include "scan/search.h"

namespace stile::session {

// What was read of a body before anything of it goes on.
struct HeldBody {
  std::string_view text;
  bool is_whole = false;
};

class RequestScan {
 public:
  using Reason = acl::Reason;
  // A body is held until it is clean up to here. What follows is cut where something is found.
  static constexpr std::size_t most_held = 64 * 1024;

  RequestScan(Client& client, Request& request) noexcept : client_{client}, request_{request} {}

  struct Carried {
    const http::RequestHead& head;
    std::span<const std::string> strip;  // fields that do not go on
    std::string_view target;             // path and query
    HeldBody body;
  };
  // Looks at the head and what is held of the body, unless that was done under the scans in force.
  // They may be others when this returns. None: the request goes on.
  Task<Reason> judge(const Carried& carried);
  // The scans in force are those of the last judge().
  [[nodiscard]] bool is_current() const noexcept {
    return scanned_by_ == request_.judged_by->watch;
  }

  // Something is looked for.
  [[nodiscard]] bool is_on() const noexcept { return search_.has_value(); }
  // The body has to pass look_at().
  [[nodiscard]] bool awaits_body() const noexcept { return search_ && !is_clean_; }
  // Looks at the next piece of the body. None: clean() may be sent, and then be dropped.
  Task<Reason> look_at(std::string_view piece, bool is_end);
  [[nodiscard]] std::string_view clean() const noexcept {
    return std::string_view{held_back_}.substr(0, clean_bytes_);
  }
  void drop_clean() { held_back_.erase(0, std::exchange(clean_bytes_, 0)); }
  // Looks at the next frames of a WebSocket, and turns them into what may be sent now.
  Task<Reason> look_at_frames(std::string& bytes);

 private:
  Task<Reason> begin(const Carried& carried);
  [[nodiscard]] Reason judge_head(const Carried& carried);
  Task<> look_through(scan::Search& search, std::string_view text, scan::Search::More more);
  [[nodiscard]] Reason judge_search(std::string_view place);
  [[nodiscard]] Reason judge_found(scan::Found found, std::string_view place);
  void note_trial();
  void hold_frames(std::string& bytes, std::size_t payload_bytes);

  Client& client_;
  Request& request_;
  std::shared_ptr<const scan::Watch> scanned_by_;  // null: the request is not scanned
  std::shared_ptr<const scan::Texts> texts_;
  std::optional<scan::Search> search_;          // of the body, or of what a WebSocket carries
  std::optional<scan::Search> control_search_;  // of its control frames
  scan::Found found_ = 0;
  std::size_t seen_ = 0;         // bytes of the body that were looked at while they were held
  bool is_clean_ = false;        // all of the body was looked at
  std::string held_back_;        // is not sent yet
  std::size_t fresh_ = 0;        // bytes at its end that were not looked at
  std::size_t clean_bytes_ = 0;  // bytes at its beginning that may be sent
  http::FrameReader frames_;
  // Of a WebSocket, held_back_ has frames; these are its pieces.
  struct HeldPiece {
    std::size_t bytes = 0, payload_bytes = 0;
  };
  std::vector<HeldPiece> held_pieces_;
  std::size_t message_bytes_ = 0;  // payload of the message that is not whole yet
};

}  // namespace stile::session
