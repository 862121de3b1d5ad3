// Commands: dispatches requests, and serves those that only read.
#include "proxy/commands/commands.h"

#include <memory>
#include <utility>

#include "base/quoted.h"
#include "control/log_lines.h"
#include "proxy/base/clock.h"
#include "proxy/base/task.h"
#include "proxy/commands/actions.h"
#include "proxy/commands/answers.h"
#include "proxy/commands/explain.h"

namespace stile::commands {

using control::ErrorCode;

Commands::Commands(boost::asio::io_context& context, control::PolicyEditor& editor,
                   AskService& asks, audit::Log& log, WorkerPorts workers, Daemon daemon)
    : context_{context},
      editor_{editor},
      asks_{asks},
      log_{log},
      workers_{std::move(workers)},
      daemon_{std::move(daemon)},
      tail_{context} {
  tail_.attach(log);
}

void Commands::serve(const Request& request, const Client& client) {
  const control::Action& action = *request.action;
  if (daemon_.is_run && action.place == control::Action::Place::daemon) {
    return client->fail(
        {ErrorCode::forbidden,
         "this is a `stile run`, not a daemon: it does not support " + std::string{action.name},
         "stile status   # its policy comes from the flags of its command line"});
  }
  // The answer comes after the lines that were written before the request.
  tail_.deliver();
  action.serve(*this, request, client);
}

const control::Actions& Commands::actions() const { return commands::actions(); }

const control::LivePolicy::Running* Commands::find(const std::string& id,
                                                   const Client& client) const {
  const auto* found = editor_.policy().find(id);
  if (found == nullptr) {
    client->fail({ErrorCode::unknown_agent, "there is no agent " + in_quotes(id)});
  }
  return found;
}

PingView Commands::ping_view() const {
  PingView view = view_ping(editor_.policy());
  view.version = daemon_.version;
  view.program = daemon_.program;
  view.uptime = std::chrono::steady_clock::now() - started_;
  view.workers = workers_.size();
  if (daemon_.drain_time_left) view.drain_time_left = daemon_.drain_time_left();
  view.is_capturing = daemon_.is_capturing();
  for (const auto& [id, noted] : checks_) {
    const auto* running = editor_.policy().find(id);
    if (running == nullptr || noted.account.lock() != running->account) continue;
    ++view.containment.checked;
    if (noted.view.holds) continue;
    if (++view.containment.failed == 1) view.containment.problem = id + ": " + noted.view.problem;
  }
  return view;
}

void Commands::ping(const Request&, const Client& client) { client->answer(json(ping_view())); }

void Commands::status(const Request&, const Client& client) {
  gather<session::Report>(context_, workers_, session::report,
                          [this, client](const std::vector<session::Report>& reports) {
                            StatusView view = view_status(editor_.policy(), sum_up(reports));
                            view.ping = ping_view();
                            view.fleet = fleet_view();
                            view.asks = asks_.open().size();
                            view.connections = daemon_.connections_open();
                            view.audit_events = log_.events();
                            view.audit_gaps = log_.gaps();
                            view.audit_problem = log_.problem();
                            client->answer(json(view));
                          });
}

void Commands::agents(const Request&, const Client& client) {
  gather<session::Report>(context_, workers_, session::report,
                          [this, client](const std::vector<session::Report>& reports) {
                            auto views =
                                view_agents(editor_.policy(), sum_up(reports), unix_micros());
                            for (auto& view : views) add_check(view);
                            client->answer(json(views));
                          });
}

void Commands::agent(const Request& request, const Client& client) {
  if (find(request.agent, client) == nullptr) return;
  gather<session::Report>(
      context_, workers_, session::report,
      [this, client, id = request.agent](const std::vector<session::Report>& reports) {
        const auto* running = find(id, client);
        if (running == nullptr) return;
        auto view =
            view_agent_detail(editor_.policy(), *running, sum_up(reports)[id], unix_micros());
        add_check(view.agent);
        client->answer(json(view));
      });
}

void Commands::add_check(AgentView& view) const {
  const auto noted = checks_.find(view.id);
  const auto* running = editor_.policy().find(view.id);
  if (noted == checks_.end() || running == nullptr) return;
  if (noted->second.account.lock() == running->account) view.check = noted->second.view;
}

void Commands::connections(const Request& request, const Client& client) {
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
  gather<Part>(context_, workers_, ask,
               [client](const std::vector<Part>& parts) { client->answer(json(parts)); });
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

void Commands::explain(const Request& request, const Client& client) {
  auto explained = commands::explain(*editor_.policy().snapshot(), request, unix_micros());
  if (!explained) return client->fail(explained.error());
  if (log_.must_refuse()) explain_failing_log(*explained, log_.problem());
  if (!request.resolve || explained->name.empty()) {
    return client->answer(json(*explained));
  }
  auto explanation = std::make_shared<Explanation>(std::move(*explained));
  workers_.front()->post([this, explanation, client](session::Context& context) {
    look_up(context, explanation, [this, explanation, client] {
      boost::asio::post(context_, [explanation, client] { client->answer(json(*explanation)); });
    });
  });
}

void Commands::tail(const Request& request, const Client& client) {
  client->hold();
  tail_.add(client, request);  // first: the answer may find the client gone, and closes it
  client->answer(json(Done{}));
  if (!log_.healthy()) tail_.announce(client, json(control::LogNews{true, 0, log_.problem()}));
}

void Commands::announce(const control::LogNews& news) { tail_.announce(json(news)); }

void Commands::log(const Request& request, const Client& client) {
  const auto& path = editor_.settings().audit.path;
  if (path == "-") {
    return client->fail({ErrorCode::bad_request,
                         "the audit log goes to standard output; where systemd starts the daemon: "
                         "journalctl -u stiled -o cat"});
  }
  auto opened = control::LogLines::open({path, request.rotated, request.agent});
  if (!opened) return client->fail({ErrorCode::internal, opened.error().message});
  auto lines = std::make_shared<control::LogLines>(std::move(*opened));
  client->answer_in_pieces(
      [lines, begin = json(Named{"path", path}) + '\n'](std::string& out) mutable {
        out += std::exchange(begin, {});
        const bool has_more = lines->append_some(out);
        if (!has_more) out.append(end_of_lines).append("\n");
        return has_more;
      });
}

void Commands::config(const Request& request, const Client& client) {
  if (request.on_disk && !client->peer().may_change) {  // reading everything delays a reload
    return client->fail({ErrorCode::forbidden, "this socket shows only the config in force"});
  }
  editor_.write_config(request.on_disk,
                       [client](const control::Outcome<control::WrittenConfig>& config) {
                         if (config) {
                           client->answer(json(*config));
                         } else {
                           client->fail(config.error());
                         }
                       });
}

void Commands::on_closed(control::Connection& client) {
  tail_.remove(client);
  asks_.unfollow(client);
  const auto [first, last] = lent_.equal_range(&client);
  for (auto it = first; it != last; ++it) {
    const Lent& lent = it->second;
    workers_[lent.worker]->release(lent.number);
    if (!lent.is_own_agent) continue;
    control::Edit edit;
    edit.cards[lent.agent] = nullptr;
    edit.agents[lent.agent] = nullptr;
    editor_.commit(edit,
                   {audit::Event::policy, lent.agent, client.peer().name,
                    "remove-agent: its listener was closed", true},
                   [](const control::Outcome<void>&) {});
  }
  lent_.erase(first, last);
}

}  // namespace stile::commands
