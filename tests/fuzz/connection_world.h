// World: the proxy's session code between clients and origins that a fuzzer or a unit test plays.
//
// The judge looks at what the ends received and at the audit log; what the code under test
// believes of itself is not asked.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/session/context.h"
#include "tests/fuzz/connection_ends.h"
#include "tests/fuzz/connection_judge.h"
#include "tests/fuzz/connection_policy.h"
#include "tests/fuzz/simulation.h"

namespace stile::fuzz {

class World : private Simulation {
 public:
  World();
  // Plays until there is no move left and everything is closed, then judges the whole.
  void run();

 protected:
  ~World();

  // What happens next, by means of what follows; false: nothing any more.
  virtual bool move() = 0;
  // A line that lets a request out is written; the request itself has not gone on yet.
  virtual void after_open_line() {}

  using Simulation::disk, Simulation::Disk;
  static constexpr std::size_t max_clients = 3;
  void open_client();
  [[nodiscard]] End& client();
  void choose_client(std::size_t number);
  [[nodiscard]] Origin* origin();  // null: none yet
  void choose_origin(std::size_t number) { origin_ = number; }
  // What the next connect(2) says: 0, EINPROGRESS (and then works), ECONNREFUSED, or ETIMEDOUT
  // (nothing is ever heard of it).
  void set_dial_result(int result) { dial_result_ = result; }
  [[nodiscard]] std::size_t origin_count() const noexcept { return origins_.size(); }
  [[nodiscard]] const std::vector<RequestLine>& lines() const noexcept { return lines_; }
  void let_clients_read(bool may) { clients_read_ = may; }
  // New decisions are by it at once; what is open is judged again now, or `later`: when time passes
  // or the policy changes once more.
  enum class Round : std::uint8_t { now, later };
  void change_policy(Stage stage, Round round);
  void pass(std::chrono::milliseconds time);
  void drain();

 private:
  void on_idle() override;
  int on_connect(int fd, const acl::Address& address, std::uint16_t port) override;
  void on_log_write() override;
  void on_lines(std::string_view text);
  void judge_what_is_open();
  bool origins_read();
  void judge_reach(Origin& origin, std::string_view bytes);
  void judge_whole() const;
  void close();

  std::shared_ptr<acl::Account> account_ = std::make_shared<acl::Account>();
  Stage stage_ = Stage::all;
  Stage round_stage_ = Stage::all;  // by which what is open was judged last
  bool is_round_due_ = false;
  std::uint64_t generation_ = 0;
  Loop* loop_ = nullptr;
  session::Shared* shared_ = nullptr;
  session::Context* context_ = nullptr;
  std::vector<End> clients_;
  std::vector<std::unique_ptr<Origin>> origins_;
  std::vector<UniqueFd> silent_;  // ends of connections of which nothing is heard
  std::vector<RequestLine> lines_;
  // When it was dialled last under a policy that lets it through.
  std::size_t client_ = 0, origin_ = 0;
  int dial_result_ = 0, closing_turns_ = 0;
  bool clients_read_ = true, has_ended_ = false, lines_were_lost_ = false;
};

}  // namespace stile::fuzz
