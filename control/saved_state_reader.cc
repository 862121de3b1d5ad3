// SavedState: reads it, strictly.

#include "base/contains.h"
#include "base/quoted.h"
#include "config/json_loader.h"
#include "config/values.h"
#include "control/saved_state.h"

namespace stile::control {
namespace {

using config::Node, config::Reader;

// The members of one object. Reading a member twice is an error of the caller; an unread member is
// an error in the file.
class Members {
 public:
  Members(const Node& node, Reader& reader) : reader_{reader}, node_{node} {
    if (node.as<Node::Table>() == nullptr) reader_.wrong_type(node, "an object");
  }
  ~Members() { check_known(); }
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  const Node* find(std::string_view name) {
    known_.push_back(name);
    reader_.key = std::string{name};
    return node_.find(name);
  }

  void text(std::string_view name, std::string& into) {
    if (const auto* node = find(name)) into = config::Text::read(*node, reader_).value_or("");
  }
  void count(std::string_view name, std::uint64_t& into) {
    if (const auto value = integer(name)) into = static_cast<std::uint64_t>(*value);
  }
  void count(std::string_view name, std::optional<std::uint64_t>& into) {
    if (const auto value = integer(name)) into = static_cast<std::uint64_t>(*value);
  }
  std::optional<std::int64_t> integer(std::string_view name) {
    const auto* node = find(name);
    return node == nullptr ? std::nullopt : config::read_integer(*node, reader_, 0, INT64_MAX);
  }
  void mode(std::string_view name, std::optional<acl::Mode>& into) {
    if (const auto* node = find(name)) into = config::ModeWord::read(*node, reader_);
  }
  void texts(std::string_view name, std::vector<std::string>& into) {
    each(name, [&](const Node& node) {
      if (auto value = config::Text::read(node, reader_)) into.push_back(std::move(*value));
    });
  }
  void patterns(std::string_view name, std::vector<acl::Pattern>& into) {
    each(name, [&](const Node& node) {
      const auto value = config::Text::read(node, reader_);
      auto pattern = acl::Pattern::parse(value.value_or(""));
      if (pattern) {
        into.push_back(std::move(*pattern));
      } else {
        reader_.error(node, pattern.error().message);
      }
    });
  }
  template <class Read>
  void each(std::string_view name, Read&& read) {
    const auto* node = find(name);
    if (node == nullptr) return;
    if (const auto* list = node->as<Node::Array>()) {
      for (const auto& element : *list) read(element);
    } else {
      reader_.wrong_type(*node, "a list");
    }
  }
  [[nodiscard]] Reader& reader() const noexcept { return reader_; }

 private:
  void check_known() {
    const auto* table = node_.as<Node::Table>();
    if (table == nullptr) return;
    for (const auto& member : *table) {
      if (contains(known_, member.key)) continue;
      reader_.key = printable(member.key.substr(0, 64));
      reader_.error(member.value, "is not known here");
    }
  }

  Reader& reader_;
  const Node& node_;
  std::vector<std::string_view> known_;
};

GrantState read_grant(const Node& node, Reader& reader) {
  GrantState grant;
  std::uint64_t requests_used = 0;
  std::uint64_t bytes_used = 0;
  {
    Members members{node, reader};
    members.text("id", grant.id);
    members.patterns("hosts", grant.hosts);
    grant.created = members.integer("created").value_or(0);
    grant.expires = members.integer("expires");
    members.count("max_requests", grant.max_requests);
    members.count("requests_used", requests_used);
    members.count("bytes_up", grant.bytes_up);
    members.count("bytes_up_used", bytes_used);
    members.text("reason", grant.reason);
    members.text("actor", grant.actor);
    acl::GrantedRequest only;
    members.text("method", only.method);
    members.text("path", only.path);
    if (!only.method.empty()) grant.made.only = std::move(only);
  }
  if (grant.id.empty() || grant.hosts.empty()) reader.error(node, "a grant has an id and hosts");
  if (const auto made = make_grant(grant); !made) {
    reader.error(node, made.error().message);
  } else {
    start_count(grant.made.lease->requests, grant.max_requests, requests_used);
    start_count(grant.made.lease->bytes_up, grant.bytes_up, bytes_used);
  }
  return grant;
}

SavedHostUsage read_host_usage(const Node& node, Reader& reader) {
  SavedHostUsage used;
  Members members{node, reader};
  members.text("host", used.host);
  members.count("requests", used.requests);
  members.count("tokens", used.tokens);
  members.count("minute", used.minute.start);
  members.count("minute_requests", used.minute.count);
  return used;
}

SavedAgent read_agent(const Node& node, Reader& reader) {
  SavedAgent agent;
  {
    Members members{node, reader};
    members.text("id", agent.id);
    members.text("instance", agent.identity.instance);
    members.texts("source", agent.identity.sources);
    members.text("entry", agent.identity.entry);
    members.mode("mode", agent.overlay.mode);
    members.text("removed", agent.overlay.removed);
    members.count("used_up", agent.used_up);
    members.count("used_down", agent.used_down);
    members.patterns("denied", agent.overlay.denied);
    members.each("used_hosts",
                 [&](const Node& used) { agent.hosts.push_back(read_host_usage(used, reader)); });
    members.each("grants", [&](const Node& grant) {
      agent.overlay.grants.push_back(read_grant(grant, reader));
    });
  }
  if (agent.id.empty()) reader.error(node, "an agent has an id");
  return agent;
}

PutCard read_card(const Node& node, Reader& reader) {
  PutCard card;
  Members members{node, reader};
  card.received = members.integer("received").value_or(0);
  members.text("card", card.text);
  return card;
}

SavedAsk read_ask(const Node& node, Reader& reader) {
  SavedAsk saved;
  Ask& ask = saved.ask;
  std::string state, reason;
  std::uint64_t port = 0;
  {
    Members members{node, reader};
    members.text("id", ask.id);
    members.text("agent", ask.agent);
    members.text("instance", saved.identity.instance);
    members.texts("source", saved.identity.sources);
    members.text("state", state);
    members.text("reason", reason);
    members.text("scheme", ask.scheme);
    members.text("host", ask.host);
    members.count("port", port);
    members.text("method", ask.method);
    members.text("path", ask.path);
    members.text("agent_reason", ask.agent_reason);
    members.text("looks_like", ask.looks_like);
    members.text("asked_by", ask.asked_by);
    members.count("count", ask.count);
    ask.first_seen = members.integer("first_seen").value_or(0);
    ask.expires = members.integer("expires").value_or(0);
  }
  ask.port = static_cast<std::uint16_t>(port);
  const auto known = acl::reason_named(reason);
  const auto read_state = ask_state_named(state);
  if (ask.id.empty() || ask.agent.empty() || ask.host.empty() || port == 0 || port > 65535 ||
      !known || !read_state) {
    reader.error(node, "an ask has an id, an agent, a host, a port, a reason and a state");
    return saved;
  }
  ask.reason = *known;
  ask.state = *read_state;
  return saved;
}

}  // namespace

Result<SavedState> parse_state(std::string_view text, const std::string& file) {
  const auto document = config::parse_json(text, file);
  if (!document) return Error{document.error().text()};
  config::Diagnostics problems;
  Reader reader{problems, file, {}, {}};
  SavedState state;
  {
    Members members{*document, reader};
    const auto version = members.integer("version");
    if (version != SavedState::version) {
      return Error{file + ": is not a state file of version 1"};
    }
    members.mode("mode", state.mode);
    members.count("audit_seq", state.audit_seq);
    members.text("audit_hash", state.audit_hash);
    members.each("cards",
                 [&](const Node& node) { state.cards.push_back(read_card(node, reader)); });
    members.each("agents",
                 [&](const Node& node) { state.agents.push_back(read_agent(node, reader)); });
    members.each("asks", [&](const Node& node) { state.asks.push_back(read_ask(node, reader)); });
  }
  if (problems.has_errors()) return Error{problems.text()};
  return state;
}

}  // namespace stile::control
