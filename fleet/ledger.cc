// Ledger: which objects count.
#include "fleet/ledger.h"

#include <utility>

#include "base/sha256.h"
#include "base/units.h"
#include "config/json_loader.h"

namespace stile::fleet {
namespace {

using config::Node;

constexpr std::string_view policy_prefix = "policy/";

ObjectJudgement refused(std::string reason) {
  return {ObjectJudgement::Kind::refused, std::move(reason)};
}

std::optional<std::uint64_t> size_in(const Node& node, std::string_view key) {
  const Node* found = node.find(key);
  if (found == nullptr) return std::nullopt;
  if (const auto* number = found->as<std::int64_t>()) {
    return *number < 0 ? std::nullopt : std::optional{static_cast<std::uint64_t>(*number)};
  }
  const auto* text = found->as<std::string>();
  const auto size = text == nullptr ? Result<std::uint64_t>{Error{}} : parse_size(*text);
  return size ? std::optional{*size} : std::nullopt;
}

}  // namespace

Ledger Ledger::restore(const std::vector<config::FleetObject>& objects, const Signers& signers,
                       const FleetMember& member) {
  Ledger ledger;
  for (const auto& object : objects) {
    if (!is_object_name(object.name)) continue;
    Entry entry{object.serial, std::nullopt};
    auto envelope = parse_envelope(object.envelope);
    if (envelope && envelope->serial == object.serial && signers.verify(object.name, *envelope) &&
        applies_to(*envelope, member.host, member.labels)) {
      entry.envelope = std::move(*envelope);
    }
    ledger.entries_[object.name] = std::move(entry);
  }
  return ledger;
}

ObjectJudgement Ledger::judge(std::string_view name, std::string_view text, const Signers& signers,
                              UnixMicros now) const {
  if (!is_object_name(name)) return refused("not the name of an object");
  auto envelope = parse_envelope(text);
  if (!envelope) return refused(envelope.error().message);
  // First: what a stranger wrote says nothing about serials.
  if (const auto verified = signers.verify(name, *envelope); !verified) {
    return refused(verified.error().message);
  }
  if (name == "switch" && !switch_of(envelope->body)) {
    return refused("the body of a switch is {\"mode\":\"offline\"} or {\"mode\":\"online\"}");
  }
  const auto seen = entries_.find(std::string{name});
  if (seen == entries_.end() && entries_.size() >= max_objects) {
    return refused("more than 1024 objects");
  }
  if (seen != entries_.end()) {
    const Entry& entry = seen->second;
    if (envelope->serial < entry.serial) {
      return refused("rolled back: serial " + std::to_string(envelope->serial) + " after serial " +
                     std::to_string(entry.serial));
    }
    if (envelope->serial == entry.serial && entry.envelope) {
      if (*envelope == *entry.envelope) return {ObjectJudgement::Kind::unchanged};
      return refused("serial " + std::to_string(entry.serial) + " again, with another content");
    }
  }
  if (now >= envelope->not_after) {
    return refused("expired " + time_text(envelope->not_after));
  }
  const auto kind =
      now < envelope->not_before ? ObjectJudgement::Kind::early : ObjectJudgement::Kind::accepted;
  std::string reason;
  if (kind == ObjectJudgement::Kind::early)
    reason = "valid from " + time_text(envelope->not_before);
  return {kind, std::move(reason), std::move(*envelope)};
}

void Ledger::accept(const std::string& name, Envelope envelope, const FleetMember& member) {
  Entry entry{envelope.serial, std::nullopt};
  if (applies_to(envelope, member.host, member.labels)) entry.envelope = std::move(envelope);
  entries_[name] = std::move(entry);
}

std::vector<config::FleetObject> Ledger::objects() const {
  std::vector<config::FleetObject> objects;
  for (const auto& [name, entry] : entries_) {
    objects.push_back(
        {name, entry.serial, entry.envelope ? envelope_text(*entry.envelope) : std::string{}});
  }
  return objects;
}

config::FleetState state_of(const Ledger& ledger,
                            const std::map<std::string, config::FleetSlice>& slices,
                            std::vector<config::FleetRefusal> refused) {
  config::FleetState state;
  state.refused = std::move(refused);
  state.objects = ledger.objects();
  state.layer.slices = slices;
  for (const auto& [name, entry] : ledger.entries()) {
    if (!entry.envelope) continue;
    if (name == "switch") {
      state.offline = switch_of(entry.envelope->body) == Switch::offline;
    } else {
      state.layer.policies.push_back({name.substr(policy_prefix.size()), entry.serial,
                                      entry.envelope->not_after, entry.envelope->body});
    }
  }
  return state;
}

std::optional<Switch> switch_of(std::string_view body) {
  if (body == switch_body(Switch::offline)) return Switch::offline;
  if (body == switch_body(Switch::online)) return Switch::online;
  return std::nullopt;
}

std::string switch_body(Switch mode) {
  return mode == Switch::offline ? R"({"mode":"offline"})" : R"({"mode":"online"})";
}

std::string trial_id(std::string_view text) { return sha256_text(text).substr(0, 32); }

std::map<std::string, std::uint64_t> fleet_budgets(const Ledger& ledger) {
  std::map<std::string, std::uint64_t> budgets;
  for (const auto& [name, entry] : ledger.entries()) {
    if (!entry.envelope || name == "switch") continue;
    const auto body = config::json_or_null(entry.envelope->body);
    for (const auto& agent : body.list("agent")) {
      const auto* id = agent.get<std::string>("id");
      if (id == nullptr) id = agent.get<std::string>("agent_id");
      const auto bytes = size_in(agent, "bytes_up");
      if (id != nullptr && bytes) budgets.emplace(*id, *bytes);  // the first one counts
    }
  }
  return budgets;
}

}  // namespace stile::fleet
