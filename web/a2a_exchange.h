// A2aExchange: one request of an A2A caller to one worker, through the spawner's socket.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "a2a/request.h"
#include "a2a/task.h"
#include "a2a/text.h"
#include "web/client.h"
#include "web/control_link.h"

namespace stile::web {

// What all exchanges share.
struct A2aBackend {
  // The spawner lets one user have 32 connections; others need some of them.
  static constexpr std::size_t max_waiting = 16;

  ControlLink& spawner;
  // The request of that agent that waits for a person; null: none does.
  std::function<const a2a::OpenAsk*(std::string_view agent)> ask_of;
  std::shared_ptr<std::size_t> waiting = std::make_shared<std::size_t>(0);
};

struct A2aRequest {
  std::string worker;
  a2a::HttpRequest http;      // refers to the client's buffer
  std::string authorization;  // the header
  std::string last_event;     // the header Last-Event-ID
  std::string known_tag;      // the header If-None-Match
  std::string url;            // where the routes of this worker begin
};

class A2aExchange : public std::enable_shared_from_this<A2aExchange> {
 public:
  A2aExchange(A2aBackend& backend, std::shared_ptr<WebClient> client, A2aRequest request)
      : backend_{backend}, client_{std::move(client)}, request_{std::move(request)} {}
  ~A2aExchange();
  A2aExchange(const A2aExchange&) = delete;
  A2aExchange& operator=(const A2aExchange&) = delete;

  void start();

 private:
  // How far the output of the task is read.
  enum class Goal : std::uint8_t { now, until_interrupted, until_end, stream };
  using Clock = std::chrono::steady_clock;
  using Then = std::function<void(const std::string& answer)>;

  void send_card(a2a::CardForm form);
  void authorise();
  void serve();
  // Asks the spawner, with the token: it is checked each time. An answer with an error ends the
  // exchange with `problem`.
  void ask(std::string line, a2a::Problem problem, Then then);
  void load_worker(std::function<void()> then);
  [[nodiscard]] bool find_task();
  void send();
  void run();
  void list(std::size_t next);
  void cancel();
  void subscribe();
  void follow_latest();
  void pass_on(std::string line);

  [[nodiscard]] bool take_place();
  void read_output(Goal goal);
  void poll();
  void take_piece(const a2a::Piece& piece);
  [[nodiscard]] bool is_read(const a2a::Piece& piece, const a2a::Task& task) const;
  void begin_stream();
  void send_piece(const a2a::Piece& piece, const a2a::Task& task);
  void add_event(std::string& out, std::string_view name, const std::string& data) const;
  [[nodiscard]] a2a::Task task_of(const a2a::RunStatus& run) const;
  void finish(const a2a::Task& task);

  void reply(const std::string& result);
  void fail(const a2a::Fault& fault);

  A2aBackend& backend_;
  std::shared_ptr<WebClient> client_;
  A2aRequest request_;
  std::string token_;
  a2a::Read read_{};
  a2a::Call call_{};
  a2a::WorkerStatus worker_{};
  a2a::TaskPage page_;
  std::uint64_t run_ = 0, cursor_ = 0;
  Goal goal_ = Goal::now;
  a2a::TaskOutput output_{};
  std::optional<a2a::State> shown_;  // the last state that the stream told
  bool has_sent_output_ = false, has_place_ = false, is_streaming_ = false;
  Clock::time_point deadline_{}, last_sent_{};
};

}  // namespace stile::web
