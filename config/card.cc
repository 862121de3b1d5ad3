// Agent cards: one [[agent]] entry as JSON.
#include "config/card.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/contains.h"
#include "base/quoted.h"
#include "config/json_loader.h"
#include "config/schema.h"
#include "config/settings_reader.h"
#include "config/values.h"

namespace stile::config {
namespace {

constexpr std::int64_t most_ttl_seconds = 100LL * 366 * 86'400;
constexpr std::size_t max_instance_length = 64;

// The [[agent]] name of a card's key.
std::string_view agent_name(std::string_view card_name) {
  for (const auto& key : card_keys()) {
    if (key.name == card_name && !key.same_as.empty()) return key.same_as;
  }
  return card_name;
}

bool is_for_launchers(std::string_view name) {
  const auto keys = launcher_keys();
  return contains(keys, name);
}

std::vector<std::string_view> known_names() {
  std::vector<std::string_view> names;
  for (const auto& key : agent_keys()) names.push_back(key.name);
  for (const auto& key : card_keys()) names.push_back(key.name);
  names.insert(names.end(), launcher_keys().begin(), launcher_keys().end());
  return names;
}

std::optional<std::string> read_instance(const Node& node, const Reader& reader) {
  auto text = Text::read(node, reader);
  if (text && text->size() > max_instance_length) return reader.error(node, "longer than 64 bytes");
  return text;
}

// Reads the members of one card.
class CardReader {
 public:
  CardReader(const CardOrigin& origin, Diagnostics& problems)
      : reader_{problems, origin.name, origin.directory, {}}, since_{origin.since} {}

  AgentSettings read(const Node& node, const Node::Table& table) {
    agent_.place = reader_.place(node.position);
    for (const auto& member : table) {
      reader_.key = printable(member.key.substr(0, 64));
      if (!is_for_launchers(member.key)) read_member(member);
    }
    reader_.key.clear();
    if (written_.count("id") == 0) reader_.error(node, "agent_id is missing");
    limit_life();
    return std::move(agent_);
  }

 private:
  void read_member(const Member& member) {
    const auto name = agent_name(member.key);
    const auto [other, is_first] = written_.emplace(name, member.key);
    if (!is_first) {
      reader_.error(member.value, "is here also as " + other->second, "leave one out");
    } else if (name == "ttl_seconds") {
      ttl_seconds_ = read_integer(member.value, reader_, 0, most_ttl_seconds).value_or(0);
      ttl_position_ = member.position;
    } else if (name == "created") {
      since_ = Expiry::read(member.value, reader_).value_or(since_);
    } else if (name == "instance") {
      agent_.instance = read_instance(member.value, reader_).value_or("");
    } else if (!read_agent_key(name, member, reader_, agent_)) {
      unknown_key(member, reader_, known_names());
    }
  }

  // An absolute time, so that reading the card again does not renew it. If there are two ends, the
  // earlier one counts.
  void limit_life() {
    if (ttl_seconds_ == 0) return;
    const auto end = since_ + ttl_seconds_ * micros_per_second;
    if (agent_.expires && *agent_.expires <= end) return;
    agent_.expires = end;
    std::erase_if(agent_.keys, [](const KeyPlace& key) { return key.name == "expires"; });
    agent_.keys.push_back({"agent", "expires", ttl_position_.line, ttl_position_.column});
  }

  Reader reader_;
  UnixMicros since_;
  std::int64_t ttl_seconds_ = 0;
  Position ttl_position_;
  std::map<std::string_view, std::string> written_;  // name in [[agent]] to the spelling used
  AgentSettings agent_;
};

// The policy of a fleet is one line, made from the file of the person who signed it: its number
// says nothing.
void forget_lines(Node& node) {
  node.position = {};
  if (auto* list = std::get_if<Node::Array>(&node.value)) {
    for (Node& element : *list) forget_lines(element);
  } else if (auto* table = std::get_if<Node::Table>(&node.value)) {
    for (Member& member : *table) {
      member.position = {};
      forget_lines(member.value);
    }
  }
}

}  // namespace

Checked<AgentSettings> parse_card(std::string_view text, const CardOrigin& origin) {
  Diagnostics problems;
  if (text.size() > max_card_bytes) {
    problems.error({origin.name, 0, 0}, "", "larger than 64 KiB");
    return problems;
  }
  auto document = parse_json(text, origin.name);
  if (!document) return document.error();
  if (origin.is_of_fleet) forget_lines(*document);
  const auto* table = document->as<Node::Table>();
  if (table == nullptr) {
    problems.error({origin.name, 1, 1}, "", "a card is one JSON object");
    return problems;
  }
  auto agent = CardReader{origin, problems}.read(*document, *table);
  if (problems.has_errors()) return problems;
  return agent;
}

std::string card_id(std::string_view text) {
  if (text.size() > max_card_bytes) return {};
  const auto document = parse_json(text, "");
  const auto* table = document ? document->as<Node::Table>() : nullptr;
  if (table == nullptr) return {};
  for (const auto& member : *table) {
    const auto* id = member.value.as<std::string>();
    if (agent_name(member.key) == "id" && id != nullptr) return printable(id->substr(0, 64));
  }
  return {};
}

}  // namespace stile::config
