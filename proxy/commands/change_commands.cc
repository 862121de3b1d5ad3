// Commands: the requests that change something.
#include <fcntl.h>
#include <sys/socket.h>

#include <random>
#include <utility>

#include "base/joined.h"
#include "base/passed_descriptors.h"
#include "base/quoted.h"
#include "base/random.h"
#include "config/card.h"
#include "control/grants.h"
#include "proxy/base/clock.h"
#include "proxy/commands/answers.h"
#include "proxy/commands/commands.h"
#include "proxy/net/sockaddr.h"

namespace stile::commands {
namespace {

using control::AgentOverlay, control::ErrorCode, control::Failure;

std::string words_of(const std::vector<acl::Pattern>& patterns) {
  return joined_texts(
      patterns, [](const acl::Pattern& pattern) { return pattern.text(); }, " ");
}

control::AgentOverlayPtr shared(AgentOverlay overlay) {
  return std::make_shared<const AgentOverlay>(std::move(overlay));
}

std::string limits_text(const control::ControlRequest& request) {
  std::string text;
  if (request.ttl_seconds) text += " for " + std::to_string(*request.ttl_seconds) + "s";
  if (request.max_requests) text += ", " + std::to_string(*request.max_requests) + " requests";
  if (request.bytes_up) text += ", " + std::to_string(*request.bytes_up) + " bytes up";
  if (!request.reason.empty()) text += "; " + request.reason;
  return text;
}

}  // namespace

void Commands::commit(const control::Edit& edit, control::ChangeLine line, const Client& client,
                      std::string answer) {
  editor_.commit(edit, std::move(line),
                 [client, answer = std::move(answer)](const control::Outcome<void>& outcome) {
                   if (outcome) {
                     client->answer(answer);
                   } else {
                     client->fail(outcome.error());
                   }
                 });
}

void Commands::put_agent(const Request& request, const Client& client) {
  const auto card =
      std::make_shared<const control::PutCard>(control::PutCard{request.card, unix_micros(), true});
  const auto settings = config::parse_card(card->text, {"put-agent", card->received, std::nullopt});
  if (!settings) return client->fail({ErrorCode::bad_request, settings.error().text()});
  const std::string& id = settings->id;
  const auto& policy = editor_.policy();
  const auto* before = policy.find(id);
  control::Edit edit;
  edit.cards[id] = card;
  const auto overlay =
      control::inherit(*policy.overlay(id),
                       before == nullptr ? std::nullopt : std::optional{before->entry->identity},
                       control::identify(*settings));
  edit.agents[id] = shared(overlay);
  commit(edit, {audit::Event::policy, id, client->peer().name, "put-agent", false}, client,
         json(Named{"agent", id}));
}

void Commands::remove_agent(const Request& request, const Client& client) {
  const auto* running = find(request.agent, client);
  if (running == nullptr) return;
  const auto& policy = editor_.policy();
  control::Edit edit;
  AgentOverlay overlay;
  if (policy.is_put(request.agent)) {
    edit.cards[request.agent] = nullptr;
    overlay.removed = policy.overlay(request.agent)->removed;  // the entry below stays removed
  } else {
    overlay.removed = running->entry->identity.entry;
  }
  edit.agents[request.agent] = shared(std::move(overlay));
  commit(edit, {audit::Event::policy, request.agent, client->peer().name, "remove-agent", true},
         client, json(Named{"agent", request.agent}));
}

void Commands::allow(const Request& request, const Client& client) {
  const auto* running = find(request.agent, client);
  if (running == nullptr) return;
  const control::Asked asked{client->peer().name, unix_micros(), random_hex(6)};
  auto permission = control::allow(*running->entry->policy,
                                   *editor_.policy().overlay(request.agent), request, asked);
  if (!permission) return client->fail(permission.error());
  const AllowView view{permission->is_granted ? asked.id : "", permission->restored};
  std::string detail = "allow " + words_of(request.hosts) + limits_text(request);
  if (!permission->restored.empty()) detail += "; restored " + joined(permission->restored, " ");
  if (permission->is_granted) detail += " (grant " + asked.id + ")";
  control::Edit edit;
  edit.agents[request.agent] = shared(std::move(permission->overlay));
  commit(edit, {audit::Event::grant, request.agent, client->peer().name, std::move(detail), false},
         client, json(view));
}

void Commands::revoke(const Request& request, const Client& client) {
  const auto* running = find(request.agent, client);
  if (running == nullptr) return;
  auto revocation =
      control::revoke(*running->entry->policy, *editor_.policy().overlay(request.agent), request);
  if (!revocation) return client->fail(revocation.error());
  const RevokeView view{revocation->ended, revocation->denied};
  std::string detail =
      "revoke " + (request.grant.empty() ? words_of(request.hosts) : "grant " + request.grant);
  if (!revocation->ended.empty()) detail += "; ended grants " + joined(revocation->ended, " ");
  if (!revocation->denied.empty()) detail += "; denied " + joined(revocation->denied, " ");
  control::Edit edit;
  edit.agents[request.agent] = shared(std::move(revocation->overlay));
  commit(edit, {audit::Event::grant, request.agent, client->peer().name, std::move(detail), true},
         client, json(view));
}

// Setting the mode that the files have removes the override.
void Commands::set_mode(const Request& request, const Client& client) {
  const auto& policy = editor_.policy();
  control::Edit edit;
  if (request.agent.empty()) {
    const auto file = policy.base().loaded.settings.egress.mode;
    edit.mode = request.mode == file ? std::nullopt : std::optional{request.mode};
  } else {
    const auto* running = find(request.agent, client);
    if (running == nullptr) return;
    AgentOverlay overlay = *policy.overlay(request.agent);
    const auto file = running->entry->settings.mode;
    // An offline agent stays offline when the mode of the others changes.
    const bool is_as_before = file ? *file == request.mode
                                   : request.mode != acl::Mode::offline && !policy.set_mode() &&
                                         request.mode == policy.base().loaded.settings.egress.mode;
    overlay.mode = is_as_before ? std::nullopt : std::optional{request.mode};
    edit.agents[request.agent] = shared(std::move(overlay));
  }
  commit(edit,
         {audit::Event::policy, request.agent, client->peer().name,
          "mode " + std::string{acl::text(request.mode)}, request.mode == acl::Mode::offline},
         client, json(Named{"mode", acl::text(request.mode)}));
}

void Commands::reset_budget(const Request& request, const Client& client) {
  const auto* running = find(request.agent, client);
  if (running == nullptr) return;
  const acl::AgentPolicy& policy = *running->policy;
  if (!policy.bytes_up && !policy.bytes_down && policy.budgets.empty()) {
    return client->fail({ErrorCode::conflict, "agent " + request.agent + " has no budgets"});
  }
  const auto used = [](const std::optional<std::uint64_t>& total, const acl::Allowance& left) {
    return total ? static_cast<std::int64_t>(*total) - left.balance() : 0;
  };
  control::Edit edit;
  edit.budgets[request.agent] = {used(policy.bytes_up, running->account->bytes_up),
                                 used(policy.bytes_down, running->account->bytes_down)};
  for (const acl::HostBudget& budget : policy.budgets) {
    const acl::HostUsage& usage = *budget.usage;
    edit.budgets[request.agent].hosts[budget.host] = {used(budget.max_requests, usage.requests),
                                                      used(budget.tokens, usage.tokens),
                                                      -usage.owed_tokens.load()};
  }
  commit(edit, {audit::Event::grant, request.agent, client->peer().name, "budget-reset", false},
         client, json(Named{"agent", request.agent}));
}

// Only a note for people: it changes no policy, and a restart forgets it.
void Commands::note_check(const Request& request, const Client& client) {
  const auto* running = find(request.agent, client);
  if (running == nullptr) return;
  std::erase_if(checks_, [](const auto& noted) { return noted.second.account.expired(); });
  checks_[request.agent] = {{unix_micros(), request.holds, request.reason}, running->account};
  client->answer(json(Done{}));
}

void Commands::reload(const Request&, const Client& client) {
  editor_.reload(client->peer().name,
                 [this, client](const control::Outcome<control::ReloadResult>& outcome) {
                   if (outcome) {
                     client->answer(json(view_reload(editor_.policy(), *outcome)));
                   } else {
                     client->fail(outcome.error());
                   }
                 });
}

void Commands::rotate(const Request&, const Client& client) {
  const auto old = daemon_.rotate();
  if (!old) return client->fail({ErrorCode::internal, old.error().message});
  client->answer(json(*old));
}

// Who takes over gets the tunnels of all agents, so being an operator is not enough.
void Commands::take_over(const Request&, const Client& client) {
  UniqueFd link = client->take_descriptor();
  const uid_t uid = client->peer().uid;
  if (uid != 0 && uid != ::geteuid()) {
    return client->fail({ErrorCode::forbidden, "only root and the daemon's own user take over"});
  }
  if (!link) return client->fail({ErrorCode::bad_request, "a socket has to come with the request"});
  const auto begun = daemon_.take_over(std::move(link), client->peer().pid);
  if (!begun) return client->fail(begun.error());
  client->answer(json(Done{}));
}

void Commands::drain(const Request&, const Client& client) {
  client->answer(json(Done{}));
  daemon_.drain();
}

namespace {

// Accepts only a listener that is safe to serve as an agent: one that no other client can reach.
control::Outcome<void> check_listener(const UniqueFd& listener) {
  const auto bad = [](const char* message) { return Failure{ErrorCode::bad_request, message}; };
  if (!listener) return bad("exactly one socket has to come with the request (SCM_RIGHTS)");
  int is_listening = 0;
  int type = 0;
  socklen_t size = sizeof is_listening;
  if (::getsockopt(listener.get(), SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) != 0 ||
      is_listening == 0) {
    return bad("what came with the request is not a listening socket");
  }
  size = sizeof type;
  if (::getsockopt(listener.get(), SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) {
    return bad("what came with the request is not a stream socket");
  }
  net::SockAddr address;
  if (::getsockname(listener.get(), address.get(), address.size_for_kernel()) != 0) {
    return bad("the socket has no address");
  }
  if (address.family() == AF_UNIX) {
    refuse_descriptors(listener.get());
    return boost::system::in_place_value;
  }
  const auto loopback = acl::Prefix::parse("127.0.0.0/8");
  const auto bound = address.address().unmapped();
  const bool is_loopback =
      bound == acl::Address::parse("::1") || (loopback && loopback->contains(bound));
  if (!is_loopback) return bad("a TCP listener of an agent is on a loopback address");
  return boost::system::in_place_value;
}

}  // namespace

void Commands::adopt_listener(const Request& request, const Client& client) {
  auto listener = std::make_shared<UniqueFd>(client->take_descriptor());
  if (const auto checked = check_listener(*listener); !checked) {
    return client->fail(checked.error());
  }
  if (request.card.empty()) {
    if (find(request.agent, client) == nullptr) return;
    return lend(std::move(*listener), request.agent, false, client);
  }
  const auto card = std::make_shared<const control::PutCard>(
      control::PutCard{request.card, unix_micros(), false});
  const auto settings =
      config::parse_card(card->text, {"adopt-listener", card->received, std::nullopt});
  if (!settings) return client->fail({ErrorCode::bad_request, settings.error().text()});
  if (editor_.policy().find(settings->id) != nullptr) {
    return client->fail({ErrorCode::conflict, in_quotes(settings->id) + " is taken"});
  }
  control::Edit edit;
  edit.cards[settings->id] = card;
  editor_.commit(
      edit,
      {audit::Event::policy, settings->id, client->peer().name,
       "put-agent with a listener of its own", false},
      [this, client, listener, id = settings->id](const control::Outcome<void>& outcome) {
        if (!outcome) return client->fail(outcome.error());
        lend(std::move(*listener), id, true, client);
      });
}

void Commands::lend(UniqueFd listener, const std::string& agent, bool is_own_agent,
                    const Client& client, const std::optional<acl::Address>& name_server) {
  Lent lent{next_number_++, 0, agent, is_own_agent};
  lent.worker = lent.number % workers_.size();
  lent_.emplace(client.get(), lent);
  if (!client->is_open()) return on_closed(*client);  // it left while this was being saved
  client->hold();
  // A worker accepts until the queue is empty; on a blocking socket it would block there.
  ::fcntl(listener.get(), F_SETFL, ::fcntl(listener.get(), F_GETFL) | O_NONBLOCK);
  if (name_server) {
    workers_[lent.worker]->lend_capture(lent.number, std::move(listener), agent, *name_server);
  } else {
    workers_[lent.worker]->lend(lent.number, std::move(listener), agent);
  }
  client->answer(json(Named{"agent", agent}));
}

}  // namespace stile::commands
