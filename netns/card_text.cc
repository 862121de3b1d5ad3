// card_text: the card that binds an agent to its address.
#include "netns/card_text.h"

#include <string_view>

#include "base/json.h"
#include "base/unix_time.h"
#include "config/card.h"
#include "config/json_loader.h"

namespace stile::netns {
namespace {

using config::Node;

Node list_of(const std::vector<std::string>& texts) {
  Node::Array items;
  for (const auto& text : texts) items.push_back({text, {}});
  return {items, {}};
}

config::Diagnostics problem(const CardRequest& request, std::string_view key, std::string what) {
  config::Diagnostics problems;
  problems.error({request.file.value_or("create"), 0, 0}, std::string{key}, std::move(what));
  return problems;
}

}  // namespace

config::Checked<Node> read_template(const CardRequest& request, const std::string& id) {
  Node card{Node::Table{}, {}};
  if (request.file) {
    auto parsed = config::parse_json(request.text, *request.file);
    if (!parsed) return parsed.error();
    if (parsed->as<Node::Table>() == nullptr) {
      return problem(request, "", "a card is one JSON object");
    }
    card = std::move(*parsed);
  }
  for (const std::string_view key : {"agent_id", "id"}) {
    const auto* value = card.find(key);
    const auto* text = value == nullptr ? nullptr : value->as<std::string>();
    if (value != nullptr && (text == nullptr || *text != id)) {
      return problem(request, key, "this is not the card of agent " + id);
    }
  }
  if (card.find("id") == nullptr) card.set("agent_id", {id, {}});
  return card;
}

config::Checked<Node> read_bound_card(const std::string& text) {
  return config::parse_json(text, "the card in force");
}

Result<std::optional<acl::Address>> address_in(const Node& card) {
  const auto* source = card.find("source");
  if (source == nullptr) return std::optional<acl::Address>{};
  const auto* items = source->as<Node::Array>();
  if (items != nullptr && items->empty()) return std::optional<acl::Address>{};
  const auto* text =
      items != nullptr && items->size() == 1 ? items->front().as<std::string>() : nullptr;
  const auto address = text == nullptr ? std::nullopt : acl::Address::parse(*text);
  if (!address) return Error{"source: an agent in a namespace has exactly one address"};
  return address;
}

config::Checked<std::string> bound_card(Node card, const CardRequest& request, const Agent& agent,
                                        UnixMicros now) {
  constexpr UnixMicros second = 1'000'000;
  const auto created = time_text(now - now % second);
  if (!request.allow.empty()) {
    card.remove("allow");
    card.set("allowed_hosts", list_of(request.allow));
  }
  if (request.ttl) {
    card.set("ttl_seconds", {std::int64_t{request.ttl->count()}, {}});
    card.set("created", {created, {}});
  } else if (card.find("created") == nullptr) {
    card.set("created", {created, {}});
  }
  card.set("source", list_of({agent.address.text()}));
  card.set("instance", {agent.instance, {}});
  auto text = config::json_text(card);
  const auto checked = config::parse_card(text, {request.file.value_or("create"), now, {}});
  if (!checked) return checked.error();
  return text;
}

}  // namespace stile::netns
