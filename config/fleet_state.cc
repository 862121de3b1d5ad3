// FleetState: its text, and the strict reading of it.
#include <initializer_list>

#include "base/json.h"
#include "config/fleet_layer.h"
#include "config/json_loader.h"

namespace stile::config {
namespace {

constexpr int state_version = 1;

// The members of one object: all of these, and no others.
class Fields {
 public:
  Fields(const Node& node, std::initializer_list<std::string_view> names) : node_{node} {
    const auto* table = node.as<Node::Table>();
    is_good_ = table != nullptr && table->size() == names.size();
    for (const auto name : names) is_good_ = is_good_ && node.find(name) != nullptr;
  }
  [[nodiscard]] bool is_good() const noexcept { return is_good_; }

  void text(std::string_view name, std::string& into) {
    if (const auto* value = get<std::string>(name)) into = *value;
  }
  void flag(std::string_view name, bool& into) {
    if (const auto* value = get<bool>(name)) into = *value;
  }
  template <class Number>
  void number(std::string_view name, Number& into) {
    const auto* value = get<std::int64_t>(name);
    if (value != nullptr && *value < 0) is_good_ = false;
    if (value != nullptr) into = static_cast<Number>(*value);
  }
  template <class Read>
  void each(std::string_view name, Read&& read) {
    const auto* list = get<Node::Array>(name);
    if (list == nullptr) return;
    for (const auto& element : *list) is_good_ = is_good_ && read(element);
  }

 private:
  template <class T>
  const T* get(std::string_view name) {
    const T* value = is_good_ ? node_.get<T>(name) : nullptr;
    if (value == nullptr) is_good_ = false;
    return value;
  }

  const Node& node_;
  bool is_good_;
};

bool read_policy(const Node& node, FleetState& state) {
  FleetPolicy policy;
  Fields fields{node, {"name", "serial", "not_after", "body"}};
  fields.text("name", policy.name);
  fields.number("serial", policy.serial);
  fields.number("not_after", policy.not_after);
  fields.text("body", policy.body);
  state.layer.policies.push_back(std::move(policy));
  return fields.is_good();
}

bool read_slice(const Node& node, FleetState& state) {
  std::string agent;
  FleetSlice slice;
  Fields fields{node, {"agent", "bytes_up", "exhausted"}};
  fields.text("agent", agent);
  fields.number("bytes_up", slice.bytes);
  fields.number("exhausted", slice.exhausted);
  return fields.is_good() && state.layer.slices.emplace(std::move(agent), slice).second;
}

bool read_object(const Node& node, FleetState& state) {
  FleetObject object;
  Fields fields{node, {"name", "serial", "envelope"}};
  fields.text("name", object.name);
  fields.number("serial", object.serial);
  fields.text("envelope", object.envelope);
  state.objects.push_back(std::move(object));
  return fields.is_good();
}

bool read_refusal(const Node& node, FleetState& state) {
  FleetRefusal refusal;
  Fields fields{node, {"name", "reason"}};
  fields.text("name", refusal.name);
  fields.text("reason", refusal.reason);
  state.refused.push_back(std::move(refusal));
  return fields.is_good();
}

}  // namespace

// One line per policy and object: readable, and easy to diff.
std::string fleet_text(const FleetState& state) {
  std::string out;
  {
    JsonObject object{out};
    object.add("version", state_version).add("offline", state.offline);
    {
      JsonArray policies{object.key("policies")};
      for (const auto& policy : state.layer.policies) {
        JsonObject member{policies.next() += '\n'};
        member.add("name", policy.name).add("serial", policy.serial);
        member.add("not_after", policy.not_after).add("body", policy.body);
      }
    }
    {
      JsonArray slices{object.key("slices")};
      for (const auto& [agent, slice] : state.layer.slices) {
        JsonObject member{slices.next()};
        member.add("agent", agent).add("bytes_up", slice.bytes).add("exhausted", slice.exhausted);
      }
    }
    {
      JsonArray objects{object.key("objects")};
      for (const auto& one : state.objects) {
        JsonObject member{objects.next() += '\n'};
        member.add("name", one.name).add("serial", one.serial).add("envelope", one.envelope);
      }
    }
    JsonArray refused{object.key("refused")};
    for (const auto& one : state.refused) {
      JsonObject{refused.next()}.add("name", one.name).add("reason", one.reason);
    }
  }
  return out + '\n';
}

Result<FleetState> parse_fleet(std::string_view text) {
  if (text.size() > max_fleet_bytes) return Error{"the fleet's policy is larger than 32 MiB"};
  const auto document = parse_json(text, "fleet");
  if (!document) return Error{document.error().text()};
  FleetState state;
  int version = 0;
  Fields fields{*document, {"version", "offline", "policies", "slices", "objects", "refused"}};
  fields.number("version", version);
  fields.flag("offline", state.offline);
  fields.each("policies", [&](const Node& node) { return read_policy(node, state); });
  fields.each("slices", [&](const Node& node) { return read_slice(node, state); });
  fields.each("objects", [&](const Node& node) { return read_object(node, state); });
  fields.each("refused", [&](const Node& node) { return read_refusal(node, state); });
  if (!fields.is_good() || version != state_version) {
    return Error{"not the state of a fleet of version 1"};
  }
  return state;
}

}  // namespace stile::config
