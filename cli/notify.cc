// stile notify: a process of its own that tells a webhook what waits for a person.
#include <poll.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <memory>
#include <thread>

#include "audit/line.h"
#include "base/quoted.h"
#include "cli/command_list.h"
#include "cli/control_command.h"
#include "cli/notices.h"
#include "control/follower.h"
#include "notify/webhook.h"

namespace stile::cli {
namespace {

using std::chrono::seconds, std::chrono::steady_clock;

constexpr seconds first_pause{1}, longest_pause{60}, budget_interval{30}, reconnect_pause{2};
constexpr std::size_t max_messages = 50;

struct NotifyOptions {
  ControlOptions control;
  std::string webhook, format = "json", ca_file;
};

volatile std::sig_atomic_t must_stop_notifying = 0;
void stop_notifying(int) { must_stop_notifying = 1; }

WebhookFormat format_of(const std::string& word) {
  if (word == "slack") return WebhookFormat::slack;
  return word == "ntfy" ? WebhookFormat::ntfy : WebhookFormat::json;
}

// Messages in their order. One that was not taken is sent again, later and later; what the other
// side refuses for good is dropped and logged.
class Sender {
 public:
  Sender(notify::WebhookOptions options, WebhookFormat format)
      : options_{std::move(options)}, format_{format} {}

  void add(Message message) {
    if (waiting_.size() >= max_messages) {
      std::cerr << "stile notify: a message is dropped: " << max_messages << " wait already\n";
      return;
    }
    waiting_.push_back(std::move(message));
  }

  void send_due() {
    while (!waiting_.empty() && steady_clock::now() >= next_ && must_stop_notifying == 0) {
      const auto written = write_message(waiting_.front(), format_);
      const auto status = notify::post(options_, written.headers, written.body);
      const bool is_done = status && *status >= 200 && *status < 300;
      const bool is_refused =
          status && *status >= 400 && *status < 500 && *status != 408 && *status != 429;
      if (is_done || is_refused) {
        if (is_refused) {
          std::cerr << "stile notify: the webhook refuses a message with " << *status
                    << "; it is dropped\n";
        }
        waiting_.pop_front();
        pause_ = first_pause;
        continue;
      }
      std::cerr << "stile notify: "
                << (status ? "the webhook answers " + std::to_string(*status)
                           : printable(status.error().message))
                << "; trying again in " << pause_.count() << " s\n";
      next_ = steady_clock::now() + pause_;
      pause_ = std::min(pause_ * 2, longest_pause);
    }
  }

 private:
  notify::WebhookOptions options_;
  WebhookFormat format_;
  std::deque<Message> waiting_;
  seconds pause_ = first_pause;
  steady_clock::time_point next_{};
};

// One connection to the daemon: what is there, then what follows.
class Watching {
 public:
  static CommandOutcome<std::unique_ptr<Watching>> open(const ControlOptions& options,
                                                        Notices& notices) {
    auto client = connect(options, Access::look);
    auto asks = connect(options, Access::look);
    auto tail = connect(options, Access::look);
    for (const auto* one : {&client, &asks, &tail}) {
      if (!*one) return one->error();
    }
    const auto open_asks = send_request(*asks, {{"action", "asks"}, {"follow", true}});
    if (!open_asks) return open_asks.error();
    const auto tailing = send_request(*tail, {{"action", "tail"}, {"verdict", "deny"}});
    if (!tailing) return tailing.error();
    notices.take_asks(list_of(open_asks->json, "asks"), steady_clock::now());
    return std::unique_ptr<Watching>{
        new Watching{std::move(*client), std::move(*asks), std::move(*tail), notices}};
  }

  // False: the daemon has gone.
  bool wait() {
    std::array<pollfd, 2> ready{pollfd{asks_.fd(), POLLIN, 0}, pollfd{tail_.fd(), POLLIN, 0}};
    ::poll(ready.data(), ready.size(), 500);
    const auto now = steady_clock::now();
    const auto asks = asks_.take(), lines = tail_.take();
    for (const auto& line : asks.lines) notices_.take_ask_event(Json::parse(line), now);
    for (const auto& text : lines.lines) take_line(text, now);
    if (now >= next_budgets_) {
      next_budgets_ = now + budget_interval;
      const auto agents = send_request(client_, {{"action", "agents"}});
      if (agents) notices_.take_agents(list_of(agents->json, "agents"), now);
    }
    return !asks.is_over && !lines.is_over;
  }

 private:
  Watching(control::ControlClient client, control::ControlClient asks, control::ControlClient tail,
           Notices& notices)
      : client_{std::move(client)},
        asks_{std::move(asks)},
        tail_{std::move(tail)},
        notices_{notices} {}

  void take_line(const std::string& text, steady_clock::time_point now) {
    audit::Line line;
    if (audit::read_line(text, line) != audit::LineKind::whole) return;
    const auto count = line.number(audit::Key::count);
    notices_.take_denial(line.text(audit::Key::agent), line.text(audit::Key::reason),
                         count > 0 ? count : 1, now);
  }

  control::ControlClient client_;
  control::Follower asks_, tail_;
  Notices& notices_;
  steady_clock::time_point next_budgets_{};
};

int run_notify(const NotifyOptions& options) {
  notify::WebhookOptions webhook;
  const auto url = notify::parse_url(options.webhook);
  if (!url) return misuse("notify", url.error().message);
  webhook.url = *url;
  webhook.ca_file = options.ca_file;
  for (const char* name : {"HTTPS_PROXY", "https_proxy"}) {
    const char* proxy = std::getenv(name);
    if (proxy == nullptr || *proxy == 0 || !url->is_tls) continue;
    auto way = notify::parse_proxy(proxy);
    if (!way) return misuse("notify", std::string{name} + ": " + way.error().message);
    webhook.proxy = std::move(*way);
    break;
  }
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, stop_notifying);
  Notices notices;
  Sender sender{std::move(webhook), format_of(options.format)};
  std::unique_ptr<Watching> watching;
  bool was_there = false;
  while (must_stop_notifying == 0) {
    if (!watching) {
      auto opened = Watching::open(options.control, notices);
      if (!opened && !was_there) return report(opened.error(), options.control);
      if (opened) {
        watching = std::move(*opened);
        was_there = true;
      } else {
        std::this_thread::sleep_for(reconnect_pause);
      }
    } else if (!watching->wait()) {
      std::cerr << "stile notify: the connection to the daemon has ended; trying again\n";
      watching.reset();
    }
    if (auto message = notices.due(steady_clock::now())) sender.add(std::move(*message));
    sender.send_due();
  }
  return fine;
}

}  // namespace

void add_notify(Command& stile) {
  auto options = std::make_shared<NotifyOptions>();
  auto command = stile.add("notify", "post asks, bursts of refusals and low budgets to a webhook");
  command.option("--webhook", options->webhook, "where to: https://…").shown_as("URL").required();
  command.option("--format", options->format, "json, slack or ntfy (default: json)")
      .one_of({"json", "slack", "ntfy"});
  command.option("--ca", options->ca_file, "a PEM file with more roots for the webhook's TLS")
      .shown_as("FILE");
  add_control_options(command, options->control);
  command.examples(
      "Examples:\n"
      "  stile notify --webhook https://ntfy.example.org/stile --format ntfy\n"
      "  HTTPS_PROXY=http://127.0.0.1:3128 stile notify --webhook https://hooks.example.org/x\n"
      "Runs until it is ended. Repeats a message that was not accepted; each event has an id that\n"
      "stays the same. What an agent wrote, paths and queries are never sent.");
  command.does([options] { return run_notify(*options); });
}

}  // namespace stile::cli
