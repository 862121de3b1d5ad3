// GitPush: the commands at the beginning of a push (git-receive-pack over HTTP), and the answer
// that makes git print why a push was refused. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "acl/git_push.h"

namespace stile::http {

// Reads the body of a POST to git-receive-pack up to the end of its commands, however it is cut.
// Push certificates and push options are malformed here: the first contain commands of their own,
// the second make some servers do more than change refs.
class PushReader {
 public:
  static constexpr std::size_t max_bytes = 64 * 1024;  // of all commands together

  enum class State : std::uint8_t { need_more, complete, bad };
  State feed(std::string_view bytes);
  [[nodiscard]] State state() const noexcept { return state_; }
  // Why it is `bad`, or that it ended too early.
  [[nodiscard]] const char* fault() const noexcept { return fault_; }
  // None: the client only tries whether it may send something (a lone flush packet).
  [[nodiscard]] const std::vector<acl::PushCommand>& commands() const noexcept { return commands_; }
  // It is complete without commands: the body has to end here.
  [[nodiscard]] bool must_end() const noexcept {
    return state_ == State::complete && commands_.empty();
  }
  [[nodiscard]] bool wants_report() const noexcept { return wants_report_; }
  [[nodiscard]] bool has_sideband() const noexcept { return has_sideband_; }

 private:
  [[nodiscard]] State read_packet(std::string_view line);
  [[nodiscard]] State read_command(std::string_view line);
  void read_capabilities(std::string_view list);
  State fail(const char* fault) noexcept;

  State state_ = State::need_more;
  const char* fault_ = "its commands are not complete";
  std::string buffer_;  // of a packet that is not complete
  std::size_t seen_ = 0;
  bool has_capabilities_ = false, wants_report_ = false, has_sideband_ = false,
       has_options_ = false;
  std::vector<acl::PushCommand> commands_;
};

// The body of an answer in which every command has failed. `message` is one line for people.
[[nodiscard]] std::string write_push_refusal(const PushReader& push, std::string_view reason,
                                             std::string_view message);

}  // namespace stile::http
