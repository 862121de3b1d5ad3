// ControlService: dispatches requests, and serves those that only read.
#include "proxy/server/control_service.h"

#include <memory>
#include <utility>

#include "base/json.h"
#include "base/quoted.h"
#include "control/log_lines.h"
#include "proxy/base/clock.h"
#include "proxy/base/task.h"
#include "proxy/server/control_answers.h"
#include "proxy/server/explain.h"
#include "proxy/server/log_health.h"
#include "proxy/server/version.h"

namespace stile::server {

using control::Action, control::ErrorCode;

ControlService::ControlService(boost::asio::io_context& context, PolicyDesk& desk, audit::Log& log,
                               Workers& workers, Daemon daemon)
    : context_{context},
      desk_{desk},
      log_{log},
      workers_{workers},
      daemon_{std::move(daemon)},
      tail_{context} {
  tail_.attach(log);
}

void ControlService::serve(const Request& request, const Client& client) {
  switch (request.action) {
    case Action::ping:
      return ping(client);
    case Action::status:
      return status(client);
    case Action::agents:
      return agents(client);
    case Action::agent:
      return agent(request, client);
    case Action::connections:
      return connections(request, client);
    case Action::explain:
      return explain(request, client);
    case Action::tail:
      return tail(request, client);
    case Action::log:
      return log(request, client);
    case Action::config:
      return config(request, client);
    case Action::put_agent:
      return put_agent(request, client);
    case Action::remove_agent:
      return remove_agent(request, client);
    case Action::allow:
      return allow(request, client);
    case Action::revoke:
      return revoke(request, client);
    case Action::mode:
      return set_mode(request, client);
    case Action::budget_reset:
      return reset_budget(request, client);
    case Action::reload:
      return reload(client);
    case Action::rotate:
      return rotate(client);
    case Action::drain:
      client->answer(R"({"ok":true})");
      return daemon_.drain();
    case Action::adopt_listener:
      return adopt_listener(request, client);
  }
  client->fail({ErrorCode::internal, "nobody serves this action"});
}

const control::LivePolicy::Running* ControlService::find(const std::string& id,
                                                         const Client& client) const {
  const auto* found = desk_.policy().find(id);
  if (found == nullptr) {
    client->fail({ErrorCode::unknown_agent, "there is no agent " + in_quotes(id)});
  }
  return found;
}

std::string ControlService::head_of_status() const {
  StatusHead head;
  head.uptime = std::chrono::steady_clock::now() - started_;
  head.workers = workers_.size();
  if (daemon_.drain_time_left) head.drain_time_left = daemon_.drain_time_left();
  return status_head(desk_.policy(), head);
}

void ControlService::ping(const Client& client) { client->answer('{' + head_of_status() + '}'); }

void ControlService::status(const Client& client) {
  gather<Report>(context_, workers_, &Worker::report,
                 [this, client](const std::vector<Report>& reports) {
                   const StatusTail tail{daemon_.connections_open(), log_.events(), log_.gaps(),
                                         log_.problem()};
                   client->answer('{' + head_of_status() + ',' +
                                  status_totals(desk_.policy(), sum_up(reports), tail) + '}');
                 });
}

void ControlService::agents(const Client& client) {
  gather<Report>(context_, workers_, &Worker::report,
                 [this, client](const std::vector<Report>& reports) {
                   client->answer(agents_text(desk_.policy(), sum_up(reports), unix_micros()));
                 });
}

void ControlService::agent(const Request& request, const Client& client) {
  if (find(request.agent, client) == nullptr) return;
  gather<Report>(
      context_, workers_, &Worker::report,
      [this, client, id = request.agent](const std::vector<Report>& reports) {
        const auto* running = find(id, client);
        if (running == nullptr) return;
        client->answer(agent_text(desk_.policy(), *running, sum_up(reports)[id], unix_micros()));
      });
}

void ControlService::connections(const Request& request, const Client& client) {
  if (!request.agent.empty() && find(request.agent, client) == nullptr) return;
  using Part = std::vector<session::ConnectionInfo>;
  const auto ask = [id = request.agent](session::Context& context) {
    Part part;
    for (const session::Live& live : context.live) {
      session::ConnectionInfo info;
      if (live.describe(info) && (id.empty() || info.agent == id)) part.push_back(std::move(info));
    }
    return part;
  };
  gather<Part>(context_, workers_, ask, [client](const std::vector<Part>& parts) {
    client->answer(connections_text(parts));
  });
}

namespace {

// On a worker, with its resolver: looks the name up as a request of that agent would.
Task<> find_addresses(session::Context& context, Explanation& explanation) {
  std::vector<acl::Address> addresses;
  dns::ResolvedPtr resolved = context.resolver.known(explanation.name);
  if (!resolved) {
    dns::Resolver::Waiter waiter{context.loop};
    const bool asked = context.resolver.ask(explanation.name, explanation.agent->account, waiter);
    if (asked) {
      co_await waiter.event;
      resolved = waiter.result;
    }
  }
  if (resolved) addresses = resolved->addresses;
  explain_addresses(explanation, addresses, *context.own_addresses);
}

Detached look_up(session::Context& context, std::shared_ptr<Explanation> explanation,
                 std::function<void()> done) {
  try {
    co_await find_addresses(context, *explanation);
    done();
  } catch (const std::exception&) {
    // No memory: the client gets no answer, and the worker continues.
  }
}

}  // namespace

void ControlService::explain(const Request& request, const Client& client) {
  auto explained = server::explain(*desk_.policy().snapshot(), request, unix_micros());
  if (!explained) return client->fail(explained.error());
  if (log_.must_refuse()) explain_failing_log(*explained, log_.problem());
  if (!request.resolve || explained->name.empty()) {
    return client->answer(explanation_text(*explained));
  }
  auto explanation = std::make_shared<Explanation>(std::move(*explained));
  workers_.front()->post([this, explanation, client](session::Context& context) {
    look_up(context, explanation, [this, explanation, client] {
      boost::asio::post(context_,
                        [explanation, client] { client->answer(explanation_text(*explanation)); });
    });
  });
}

void ControlService::tail(const Request& request, const Client& client) {
  client->hold();
  tail_.add(client, request);  // first: the answer may find the client gone, and closes it
  client->answer(R"({"ok":true})");
  if (!log_.healthy()) tail_.announce(client, audit_failing_event(log_.problem()));
}

void ControlService::announce(const LogNews& news) {
  tail_.announce(news.is_failing ? audit_failing_event(news.text) : audit_restored_event(news));
}

void ControlService::log(const Request& request, const Client& client) {
  const auto& path = desk_.settings().audit.path;
  if (path == "-") {
    return client->fail({ErrorCode::bad_request,
                         "the audit log goes to standard output; where systemd starts the daemon: "
                         "journalctl -u stiled -o cat"});
  }
  auto opened = control::LogLines::open({path, request.rotated, request.agent});
  if (!opened) return client->fail({ErrorCode::internal, opened.error().message});
  auto lines = std::make_shared<control::LogLines>(std::move(*opened));
  client->answer_in_pieces(
      [lines, begin = answer_with("path", path) + '\n'](std::string& out) mutable {
        out += std::exchange(begin, {});
        const bool has_more = lines->append_some(out);
        if (!has_more) out += "{\"event\":\"end\"}\n";
        return has_more;
      });
}

void ControlService::config(const Request& request, const Client& client) {
  if (request.on_disk && !client->peer().may_change) {  // reading everything delays a reload
    return client->fail({ErrorCode::forbidden, "this socket shows only the config in force"});
  }
  desk_.write_config(request.on_disk, [client](const control::Outcome<WrittenConfig>& config) {
    if (config) {
      client->answer(config_text(*config));
    } else {
      client->fail(config.error());
    }
  });
}

void ControlService::on_closed(control::Connection& client) {
  tail_.remove(client);
  const auto [first, last] = lent_.equal_range(&client);
  for (auto it = first; it != last; ++it) {
    const Lent& lent = it->second;
    workers_[lent.worker]->release(lent.number);
    if (!lent.is_own_agent) continue;
    control::Edit edit;
    edit.cards[lent.agent] = nullptr;
    edit.agents[lent.agent] = nullptr;
    desk_.commit(edit,
                 {audit::Event::policy, lent.agent, client.peer().name,
                  "remove-agent: its listener was taken back", true},
                 [](const control::Outcome<void>&) {});
  }
  lent_.erase(first, last);
}

}  // namespace stile::server
